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
from rtbisect.mail import auth_results, reply_text
from rtbisect.mail.reply_text import ABOUT, Asked, ReplyCommand
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Ignored, NoText, Untrusted
from rtbisect.process.command import printable
from rtbisect.trees import mime

if TYPE_CHECKING:
    from collections.abc import Sequence
    from email.message import Message

    from rtbisect.config.schema import Commands
    from rtbisect.mail.auth_results import Cover

_PROGRAMS = ("X-Autoreply", "X-Autorespond", "X-Autoresponder")
_ID = re.compile(r"<[^\s<>]{1,200}>")
#: RFC 5322, 3.6: each of them stands there once. Two of one name are two mails in one: who checks
#: the signature reads one of them, and who reads the mail the other one.
_ONCE = re.compile(
    r"message-id|in-reply-to|references|date|subject|from|mime-version|content-.*", re.IGNORECASE
)
#: Message-IDs of a mail that are looked up: the closest ones, where it names more.
_MOST_IDS = 100
#: RFC 5321, 4.5.3.1.
_LONGEST_ADDRESS = 254
#: Clocks of others may be ahead.
_AHEAD = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A mail that has come in, as far as it concerns us."""

    #: With its brackets; "" where it has none.
    message_id: str = ""
    #: The one address in From:, in small letters; "" where there is none or are several.
    sender: str = ""
    subject: str = ""
    #: That of the report it answers; "" where the mail is in no thread of ours.
    campaign: str = ""
    asked: tuple[ReplyCommand, ...] = ()
    #: Why nobody looks at it; None for one that somebody wrote to us.
    ignored: Finding | None = None
    #: Why its commands wait for a person, or why there is no text to find any in; None where they
    #: count.
    untrusted: Finding | None = None
    #: Who it is from has signed it.
    proved: bool = False
    #: SHA-256 in hex that stays the same in every copy, whatever is put around what was signed; ""
    #: where nothing is asked.
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderRules:
    """Whose commands count, and how much of everybody's mail is kept."""

    #: The address that we write from.
    own: str
    #: Settings for commands of the site file.
    commands: Commands


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
        return Reply(ignored=error.why)
    except RtbisectError:
        raise
    except Exception as error:  # noqa: BLE001  (the parser of the library, on what anybody may send)
        return Reply(ignored=Finding.of(Ignored.UNREADABLE, error=type(error).__name__))


def _read(
    data: bytes, threads: Threads, trust: SenderRules, now: datetime, *, giant: bool
) -> Reply:
    mail = mime.parse(data)
    sender = _sender(mail)
    text, no_text = ("", Finding.of(NoText.TOO_LARGE)) if giant else reply_text.text_of(mail)
    campaign = _answered_campaign(mail, text, threads)
    identity = (_ID.findall(_header(mail, "Message-ID")) or [""])[0]
    ignored = _why_ignored(mail, sender, trust)
    if not campaign:
        ignored = ignored or Finding.of(Ignored.NO_THREAD)
    cover, untrusted = _signature(mail, sender, trust) if not ignored else (None, None)
    commands = reply_text.commands_in(text) if not ignored else ()
    is_fix = not commands and not ignored and reply_text.mends(text, threads.mends(campaign))
    if is_fix:
        commands = (ReplyCommand(Asked.TEST, ""),)
    if cover is not None and commands:
        # The tags of a patch say themselves what it mends.
        signed_campaign = campaign if is_fix else _signed_campaign(mail, text, threads, cover)
        untrusted = _why_untrusted(data, mail, cover, trust, now)
        if not untrusted and signed_campaign != campaign:
            untrusted = Finding.of(Untrusted.THREAD_OPEN, about=ABOUT, campaign=campaign)
    return Reply(
        message_id=printable(identity, 250),
        sender=sender,
        subject=printable(" ".join(_header(mail, "Subject").split()), 120),
        campaign=campaign,
        asked=commands,
        ignored=ignored,
        untrusted=untrusted if commands else no_text,
        proved=cover is not None,
        digest=_digest(mail, sender, text, cover) if commands else "",
    )


def _answered_campaign(mail: Message, text: str, threads: Threads) -> str:
    """The campaign whose report a mail answers: as it says itself, else by our last mail that it
    names, else by those of others.
    """
    if campaign := _campaign_in_text(text, threads):
        return campaign
    ids = _message_ids(mail, ("In-Reply-To", "References"))
    campaigns = (lookup(each) for lookup in (threads.ours, threads.answers) for each in ids)
    return next(filter(None, campaigns), "")


def _signed_campaign(mail: Message, text: str, threads: Threads, cover: Cover) -> str:
    """The campaign that the signed part of a mail names; "" for none. Message-IDs of others count
    for nothing here: anybody can answer one report under the name of a mail on another.
    """
    if campaign := _campaign_in_text(text, threads):
        return campaign
    names = [name for name in ("In-Reply-To", "References") if cover.covers(name)]
    ids = _message_ids(mail, names)
    return next(filter(None, map(threads.ours, ids)), "")


def _campaign_in_text(text: str, threads: Threads) -> str:
    """The campaign that a line of the text names; "" for none, or several."""
    arguments = {argument for name, argument in reply_text.command_lines(text) if name == ABOUT}
    # One campaign may be named by its name and by the Message-ID of its report.
    if len(arguments) > 2:
        return ""
    campaigns = {threads.ours(f"<{reference.strip('<>')}>") or reference for reference in arguments}
    return campaigns.pop() if len(campaigns) == 1 and all(map(threads.is_ours, campaigns)) else ""


def _message_ids(mail: Message, names: Sequence[str]) -> list[str]:
    """The Message-IDs in these headers, the closest first."""
    message_ids: list[str] = []
    for name in names:
        ids = _ID.findall(_header(mail, name))
        message_ids += ids if name == "In-Reply-To" else ids[::-1]
    return message_ids[:_MOST_IDS]


def _header(mail: Message, name: str) -> str:
    return str(mail.get(name, ""))[: auth_results.MOST]


def _sender(mail: Message) -> str:
    """The one address in From:, "" where there is none or are several."""
    if len(mail.get_all("From") or ()) != 1:
        return ""
    addresses = [address for _, address in getaddresses([_header(mail, "From")]) if address]
    if len(addresses) != 1 or not addresses[0].isascii() or len(addresses[0]) > _LONGEST_ADDRESS:
        return ""
    return addresses[0].lower()


def _why_ignored(mail: Message, sender: str, trust: SenderRules) -> Finding | None:
    """Programs that answer programs make loops (RFC 3834)."""
    names = Counter(name.strip().lower() for name in mail)
    if repeated := [name for name, n in names.items() if n > 1 and _ONCE.fullmatch(name)]:
        return Finding.of(Ignored.TWO_HEADERS, header=printable(repeated[0], 40))
    if not sender:
        return Finding.of(Ignored.NO_SENDER)
    if sender == trust.own.lower():
        return Finding.of(Ignored.OURS)
    by_program = _header(mail, "Auto-Submitted").split(";")[0].strip().lower() not in ("", "no")
    if by_program or any(name in mail for name in _PROGRAMS):
        return Finding.of(Ignored.PROGRAM)
    by_server = _header(mail, "Return-Path").strip() == "<>"
    by_server = by_server or mail.get_content_type() == "multipart/report"
    if by_server or re.match(r"(mailer-daemon|postmaster|no-?reply)@", sender):
        return Finding.of(Ignored.MAIL_SERVER)
    return None


def _signature(
    mail: Message, sender: str, trust: SenderRules
) -> tuple[Cover | None, Finding | None]:
    """What the sender has signed of a mail, or why nobody knows that."""
    if sender not in {each.lower() for each in trust.commands.people}:
        return None, Finding.of(Untrusted.STRANGER, sender=printable(sender, 80))
    # Only the topmost one is by who delivered the mail to us: those below came with it.
    server, passed = auth_results.results(str(mail.get("Authentication-Results", "")))
    if not server or server not in {each.lower() for each in trust.commands.trusted}:
        return None, Finding.of(Untrusted.NO_SERVER)
    domain = sender.rpartition("@")[2]
    aligned = [each for each in passed if _aligned(each.domain, domain)]
    if not aligned:
        return None, Finding.of(Untrusted.NO_SIGNATURE, domain=printable(domain, 80))
    covers = [
        each
        for each in (auth_results.cover(mail, signature) for signature in aligned)
        if each is not None
    ]
    if not covers:
        return None, Finding.of(Untrusted.SIGNATURE_GONE)
    # Where several signatures are good, take the one that covers most.
    return max(covers, key=lambda each: (each.whole_body, len(each.headers))), None


def _why_untrusted(
    data: bytes, mail: Message, cover: Cover, trust: SenderRules, now: datetime
) -> Finding | None:
    """Why the signature of a mail does not prove what it asks for; None where it does."""
    # Python ends lines and headers there, and those who check signatures do not.
    malformed = bool(re.search(rb"\r(?!\n)|\0", data)) or bool(mail.defects)
    malformed = malformed or any(name.strip() != name or not name.isascii() for name in mail)
    signed_at = _signed_at(mail, cover)
    checks = (
        (malformed, Untrusted.MALFORMED),
        (not cover.whole_body, Untrusted.BODY_OPEN),
        (not cover.covers("From"), Untrusted.SENDER_OPEN),
        (not _reads_as_signed(mail, cover), Untrusted.TYPE_OPEN),
        (signed_at is None, Untrusted.TIME_OPEN),
        (signed_at is not None and signed_at > now + _AHEAD, Untrusted.FUTURE),
    )
    if why := next((why for wrong, why in checks if wrong), None):
        return Finding.of(why)
    most_days = trust.commands.days
    if signed_at is not None and signed_at < now - timedelta(days=most_days):
        return Finding.of(Untrusted.OLD, most_days=most_days)
    return None


def _reads_as_signed(mail: Message, cover: Cover) -> bool:
    """Whether the text is what was signed. Many servers leave out the headers that say how it is
    encoded and where its parts begin: then it has to read the same without them.
    """
    body = mail.get_payload()
    if not cover.covers("Content-Transfer-Encoding"):
        encoding = _header(mail, "Content-Transfer-Encoding").strip().lower()
        # Of text that is quoted-printable, lines begin where they do not without this header.
        if encoding not in ("", "7bit", "8bit") or "=\n" in str(body).replace("\r\n", "\n"):
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
        date = parsedate_to_datetime(_header(mail, "Date")[:100])
        return date.astimezone(UTC) if date.tzinfo else date.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError, TypeError):
        return None


def _digest(mail: Message, sender: str, text: str, cover: Cover | None) -> str:
    """The same for all copies of a mail: who wrote what, and when."""
    date = " ".join(_header(mail, "Date").split())
    if cover is not None and not cover.covers("Date"):
        date = str(cover.at_s)
    content = "\0".join((sender, date, *(line.rstrip() for line in reply_text.lines(text))))
    return hashlib.sha256(content.rstrip("\0").encode("utf-8", "backslashreplace")).hexdigest()


def _aligned(signer: str, domain: str) -> bool:
    """Whether a signature of `signer` speaks for `domain`: the same, or what it is a part of; a
    top-level domain speaks for nobody.
    """
    return "." in signer and (domain == signer or domain.endswith(f".{signer}"))
