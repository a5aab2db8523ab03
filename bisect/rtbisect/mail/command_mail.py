# SPDX-License-Identifier: GPL-2.0-or-later
"""What a reply says: to which report, from whom, and whether its commands count.

Everything in it may be forged but what our own mail server has written on top of it: its
Authentication-Results: header (RFC 8601), which says whose DKIM signature was good. What that
signature covers is by who signed; a genuine mail may come again with everything else replaced.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import getaddresses, parsedate_to_datetime
from typing import TYPE_CHECKING, Protocol

from rtbisect.errors import RtbisectError
from rtbisect.mail import auth_results, dkim, reply_text
from rtbisect.mail.reply_text import ABOUT, Asked
from rtbisect.process.command import printable
from rtbisect.trees import mime

if TYPE_CHECKING:
    from collections.abc import Sequence
    from email.message import Message

    from rtbisect.mail.dkim import Cover

_PROGRAMS = ("X-Autoreply", "X-Autorespond", "X-Autoresponder")
_ID = re.compile(r"<[^\s<>]{1,200}>")
#: RFC 5322, 3.6: each of them stands there once. Two of one name are two mails in one: who checks
#: the signature reads one of them, and who reads the mail the other one.
_ONCE = re.compile(
    r"message-id|in-reply-to|references|date|subject|from|mime-version|content-.*", re.IGNORECASE
)
#: Of more Message-IDs the closest: each is looked up.
_MOST_IDS = 100
#: RFC 5321, 4.5.3.1.
_LONGEST_ADDRESS = 254
#: Clocks of others may be ahead.
_AHEAD = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """`campaign` is the report's, "" where the mail is in no thread of ours; `ignored` says why
    nobody looks at it, "" for one that somebody wrote to us; `untrusted` says why its commands wait
    for a person, "" where they count. `proved` says that who it is from has signed it, and `digest`
    stays the same in every copy of a mail, whatever is put around what was signed.
    """

    message_id: str
    sender: str
    subject: str
    campaign: str
    asked: tuple[Asked, ...]
    ignored: str = ""
    untrusted: str = ""
    proved: bool = False
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderRules:
    """Our own address, those whose commands count, and the servers whose word on DKIM we take; for
    how many days after it was signed a command counts, how many commands of a person count a day,
    and how many mails and bytes a day are kept of all others.
    """

    own: str
    people: Sequence[str] = ()
    servers: Sequence[str] = ()
    days: int = 14
    commands_a_day: int = 10
    others_a_day: int = 100
    others_bytes_a_day: int = 20_000_000


class Threads(Protocol):
    """What a reply may belong to: the campaigns that we have written mails on. Message-IDs have
    their brackets; "" is no campaign.
    """

    def ours(self, message_id: str) -> str:
        """The campaign of a mail or a draft of ours."""

    def answers(self, message_id: str) -> str:
        """That of what somebody has answered, who can give it any Message-ID."""

    def is_ours(self, campaign: str) -> bool:
        """Whether there is a mail or a draft on it."""

    def mends(self, campaign: str) -> Sequence[str]:
        """What a patch says that mends what it has reported: such a patch asks for a test without a
        command.
        """


def read_reply(
    data: bytes, threads: Threads, trust: SenderRules, now: datetime, *, giant: bool = False
) -> Reply:
    """The reply of these bytes, whatever they are; errors are those of `threads` alone. Of a
    `giant` one only the first part is here.
    """
    try:
        return _read(data, threads, trust, now, giant=giant)
    except mime.UnreadableError as error:
        return Reply(
            message_id="", sender="", subject="", campaign="", asked=(), ignored=str(error)
        )
    except RtbisectError:
        raise
    except Exception as error:  # noqa: BLE001  (the parser of the library, on what anybody may send)
        return Reply(
            message_id="",
            sender="",
            subject="",
            campaign="",
            asked=(),
            ignored=f"cannot be read ({type(error).__name__})",
        )


def _read(
    data: bytes, threads: Threads, trust: SenderRules, now: datetime, *, giant: bool
) -> Reply:
    mail = mime.parse(data)
    sender = _sender(mail)
    text, odd = ("", "is too large") if giant else reply_text.text_of(mail)
    campaign = _campaign(mail, text, threads)
    identity = (_ID.findall(_header(mail, "Message-ID")) or [""])[0]
    ignored = _why_ignored(mail, sender, trust)
    if not campaign:
        ignored = ignored or "is in no thread of ours"
    cover, untrusted = _signature(mail, sender, trust) if not ignored else (None, "")
    asked = reply_text.asked(text) if not ignored else ()
    mends = not asked and not ignored and reply_text.mends(text, threads.mends(campaign))
    if mends:
        asked = (Asked("test", ""),)
    if cover is not None and asked:
        # The tags of a patch say themselves what it mends.
        bound = campaign if mends else _bound(mail, text, threads, cover)
        untrusted = _why_not(data, mail, cover, trust, now)
        if not untrusted and bound != campaign:
            untrusted = (
                "its signature does not cover which report it answers: it needs a line"
                f" `#rtbisect {ABOUT} {campaign}`"
            )
    return Reply(
        message_id=printable(identity, 250),
        sender=sender,
        subject=printable(" ".join(_header(mail, "Subject").split()), 120),
        campaign=campaign,
        asked=asked,
        ignored=ignored,
        untrusted=untrusted if asked else odd,
        proved=cover is not None,
        digest=_digest(mail, sender, text, cover) if asked else "",
    )


def _campaign(mail: Message, text: str, threads: Threads) -> str:
    """The campaign whose report a mail answers: as it says itself, else by our last mail that it
    names, else by those of others.
    """
    if said := _about(text, threads):
        return said
    ids = _named(mail, ("In-Reply-To", "References"))
    found = (ask(each) for ask in (threads.ours, threads.answers) for each in ids)
    return next(filter(None, found), "")


def _bound(mail: Message, text: str, threads: Threads, cover: Cover) -> str:
    """The campaign that the signed part of a mail names; "" for none. Message-IDs of others count
    for nothing here: anybody can answer one report under the name of a mail on another.
    """
    if said := _about(text, threads):
        return said
    names = [name for name in ("In-Reply-To", "References") if cover.covers(name)]
    ids = _named(mail, names)
    return next(filter(None, map(threads.ours, ids)), "")


def _about(text: str, threads: Threads) -> str:
    """The campaign that a line of the text names; "" for none, or several."""
    said = {argument for name, argument in reply_text.command_lines(text) if name == ABOUT}
    # One campaign may be named by its name and by the Message-ID of its report.
    if len(said) > 2:
        return ""
    found = {threads.ours(f"<{each.strip('<>')}>") or each for each in said}
    return found.pop() if len(found) == 1 and all(map(threads.is_ours, found)) else ""


def _named(mail: Message, names: Sequence[str]) -> list[str]:
    """The Message-IDs in these headers, the closest first."""
    found: list[str] = []
    for name in names:
        ids = _ID.findall(_header(mail, name))
        found += ids if name == "In-Reply-To" else ids[::-1]
    return found[:_MOST_IDS]


def _header(mail: Message, name: str) -> str:
    return str(mail.get(name, ""))[: auth_results.MOST]


def _sender(mail: Message) -> str:
    """The one address in From:, "" where there is none or are several."""
    if len(mail.get_all("From") or ()) != 1:
        return ""
    found = [address for _, address in getaddresses([_header(mail, "From")]) if address]
    if len(found) != 1 or not found[0].isascii() or len(found[0]) > _LONGEST_ADDRESS:
        return ""
    return found[0].lower()


def _why_ignored(mail: Message, sender: str, trust: SenderRules) -> str:
    """Programs that answer programs make loops (RFC 3834)."""
    names = Counter(name.strip().lower() for name in mail)
    if twice := [name for name, n in names.items() if n > 1 and _ONCE.fullmatch(name)]:
        return f"has two headers {printable(twice[0], 40)}:"
    if not sender:
        return "has no sender"
    if sender == trust.own.lower():
        return "is from ourselves"
    by_program = _header(mail, "Auto-Submitted").split(";")[0].strip().lower() not in ("", "no")
    if by_program or any(name in mail for name in _PROGRAMS):
        return "was sent by a program"
    by_server = _header(mail, "Return-Path").strip() == "<>"
    by_server = by_server or mail.get_content_type() == "multipart/report"
    if by_server or re.match(r"(mailer-daemon|postmaster|no-?reply)@", sender):
        return "was sent by a mail server"
    return ""


def _signature(mail: Message, sender: str, trust: SenderRules) -> tuple[Cover | None, str]:
    """What the sender has signed of a mail, or why nobody knows that."""
    if sender not in {each.lower() for each in trust.people}:
        return None, f"{printable(sender, 80)} is not among those whose commands count"
    # Only the topmost one is by who delivered the mail to us: those below came with it.
    server, found = auth_results.results(str(mail.get("Authentication-Results", "")))
    if not server or server not in {each.lower() for each in trust.servers}:
        return None, "no server that we trust says whether it is signed"
    domain = sender.rpartition("@")[2]
    good = [each for each in found if _aligned(each.domain, domain)]
    if not good:
        return None, f"it has no good DKIM signature of {printable(domain, 80)}"
    covers = [each for each in (dkim.cover(mail, one) for one in good) if each is not None]
    if not covers:
        return None, "the signature that was found good is not in it"
    # Of several good ones the one that says most.
    return max(covers, key=lambda each: (each.whole, len(each.headers))), ""


def _why_not(data: bytes, mail: Message, cover: Cover, trust: SenderRules, now: datetime) -> str:
    """Why the signature of a mail does not prove what it asks for; "" where it does."""
    # Python ends lines and headers there, and those who check signatures do not.
    odd = bool(re.search(rb"\r(?!\n)|\0", data)) or bool(mail.defects)
    odd = odd or any(name.strip() != name or not name.isascii() for name in mail)
    at = _signed_at(mail, cover)
    checks = (
        (odd, "it is malformed"),
        (not cover.whole, "its signature covers a part of the body only"),
        (not cover.covers("From"), "its signature does not cover who wrote it"),
        (
            not _reads_as_signed(mail, cover),
            "its signature does not cover how its text is read (Content-Type:)",
        ),
        (at is None, "its signature does not say when it was written"),
        (at is not None and at > now + _AHEAD, "it was signed in the future"),
        (
            at is not None and at < now - timedelta(days=trust.days),
            f"it was signed more than {trust.days} days ago",
        ),
    )
    return next((why for wrong, why in checks if wrong), "")


def _reads_as_signed(mail: Message, cover: Cover) -> bool:
    """Whether the text is what was signed. Many servers leave out the headers that say how it is
    encoded and where its parts begin: then it has to read the same without them.
    """
    body = mail.get_payload()
    if not cover.covers("Content-Transfer-Encoding"):
        how = _header(mail, "Content-Transfer-Encoding").strip().lower()
        # Of text that is quoted-printable, lines begin where they do not without this header.
        if how not in ("", "7bit", "8bit") or "=\n" in str(body).replace("\r\n", "\n"):
            return False
    if not cover.covers("Content-Type"):
        if mail.get_content_type() != "text/plain" or not isinstance(body, str):
            return False
        # Another type may have made a part of it what nobody was to read as his words.
        lines = [line[:40].lower() for line in reply_text.lines(reply_text.text_of(mail)[0])]
        return not any(re.match(r"content-|</?[a-z!]", line) for line in lines)
    return True


def _signed_at(mail: Message, cover: Cover) -> datetime | None:
    """When a mail was signed, else what is signed of when it was written."""
    try:
        if cover.at_s is not None:
            return datetime.fromtimestamp(cover.at_s, UTC)
        if not cover.covers("Date"):
            return None
        found = parsedate_to_datetime(_header(mail, "Date")[:100])
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError, TypeError):
        return None


def _digest(mail: Message, sender: str, text: str, cover: Cover | None) -> str:
    """The same for all copies of a mail: who wrote what, and when."""
    date = " ".join(_header(mail, "Date").split())
    if cover is not None and not cover.covers("Date"):
        date = str(cover.at_s)
    told = "\0".join((sender, date, *(line.rstrip() for line in reply_text.lines(text))))
    return hashlib.sha256(told.rstrip("\0").encode("utf-8", "backslashreplace")).hexdigest()


def _aligned(signer: str, domain: str) -> bool:
    """Whether a signature of `signer` speaks for `domain`: the same, or what it is a part of; a
    top-level domain speaks for nobody.
    """
    return "." in signer and (domain == signer or domain.endswith(f".{signer}"))
