# SPDX-License-Identifier: GPL-2.0-or-later
"""What a reply says: to which report, from whom, and whether its commands count.

Everything in it may be forged but what our own mail server has written on top of it: its
Authentication-Results: header (RFC 8601), which says whose DKIM signature was good.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from email import message_from_bytes
from email.policy import compat32
from email.utils import getaddresses
from types import MappingProxyType
from typing import TYPE_CHECKING

from rtbisect.command import CHARSETS, printable
from rtbisect.post.signed import signers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from email.message import Message

#: What a reply may ask for; the words behind are its argument.
COMMANDS = ("test", "bisect", "retest", "invalid", "dup")

_COMMAND = re.compile(r"#rtbisect[ \t]+([a-z]+)(?:[ \t]*:)?(?:[ \t]+(.*))?")
_PROGRAMS = ("X-Autoreply", "X-Autorespond", "X-Autoresponder")
_ID = re.compile(r"<[^\s<>]{1,200}>")
#: Commands of one mail; a person asks for one.
_MOST = 5
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Asked:
    """A command with its argument."""

    name: str
    argument: str


@dataclass(frozen=True, slots=True)
class Reply:
    """`campaign` is the report's, "" where the mail is in no thread of ours; `ignored` says why
    nobody looks at it, "" for one that somebody wrote to us; `untrusted` says why its commands wait
    for a person, "" where they count.
    """

    message_id: str
    sender: str
    subject: str
    campaign: str
    asked: tuple[Asked, ...]
    ignored: str = ""
    untrusted: str = ""


@dataclass(frozen=True, slots=True)
class Trust:
    """Our own address, those whose commands count, and the servers whose word on DKIM we take."""

    own: str
    people: Sequence[str] = ()
    servers: Sequence[str] = ()


def read_reply(
    data: bytes,
    threads: Mapping[str, str],
    trust: Trust,
    *,
    giant: bool,
    mends: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Reply:
    """The reply of these bytes; never an error. `threads` gives the campaign of our Message-IDs,
    `mends` what a patch says that mends what a campaign has reported: such a patch asks for a test
    without a command.
    """
    try:
        return _read(data, threads, trust, mends, giant=giant)
    except Exception as error:  # noqa: BLE001  (the parser of the library, on what anybody may send)
        return Reply("", "", "", "", (), f"cannot be read ({type(error).__name__})")


def _read(
    data: bytes,
    threads: Mapping[str, str],
    trust: Trust,
    mends: Mapping[str, Sequence[str]],
    *,
    giant: bool,
) -> Reply:
    mail = message_from_bytes(data, policy=compat32)
    sender = _sender(mail)
    named = (
        _ID.findall(_header(mail, "In-Reply-To")) + _ID.findall(_header(mail, "References"))[::-1]
    )
    campaign = next((threads[each] for each in named if each in threads), "")
    identity = (_ID.findall(_header(mail, "Message-ID")) or [""])[0]
    ignored = _why_ignored(mail, sender, trust)
    if not campaign:
        ignored = ignored or "is in no thread of ours"
    text, odd = ("", "is too large") if giant else _text(mail)
    asked = _asked(text) if not ignored else ()
    if not asked and not ignored and _mends(text, mends.get(campaign, ())):
        asked = (Asked("test", ""),)
    untrusted = _why_untrusted(mail, sender, trust) if asked else odd
    subject = printable(" ".join(_header(mail, "Subject").split()), 120)
    return Reply(printable(identity, 250), sender, subject, campaign, asked, ignored, untrusted)


def _header(mail: Message, name: str) -> str:
    return str(mail.get(name, ""))[:8000]


def _sender(mail: Message) -> str:
    """The one address in From:, "" where there is none or are several."""
    if len(mail.get_all("From") or ()) != 1:
        return ""
    found = [address for _, address in getaddresses([_header(mail, "From")]) if address]
    return found[0].lower() if len(found) == 1 and found[0].isascii() else ""


def _why_ignored(mail: Message, sender: str, trust: Trust) -> str:
    """Programs that answer programs make loops (RFC 3834)."""
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


def _text(mail: Message) -> tuple[str, str]:
    """The plain text of a mail, and why there is none."""
    for part in mail.walk():
        if part.get_content_type() == "text/plain" and not part.get_filename():
            payload = part.get_payload(decode=True)
            data = payload if isinstance(payload, bytes) else b""
            charset = part.get_content_charset() or "utf-8"
            # Any other is one of programs that mean harm, or says nothing that a command needs.
            known = charset.lower() in CHARSETS
            return data.decode(charset if known else "utf-8", "replace"), ""
    return "", "has no plain text"


def _mends(text: str, said: Sequence[str]) -> bool:
    """Whether a text has a diff, and before it a tag of its own that says one of these."""
    lines = _lines(text)
    diff = next((n for n, line in enumerate(lines) if line.startswith("diff --git ")), 0)
    tags = [line for line in lines[:diff] if re.match(r"(Fixes|Closes|Link): \S", line)]
    return bool(diff) and any(each in line for line in tags for each in said if each)


def _lines(text: str) -> list[str]:
    """Lines as a mail has them: what else Unicode calls the end of one stands in somebody's text,
    which others quote.
    """
    return re.split(r"\r\n|\r|\n", text)


def _asked(text: str) -> tuple[Asked, ...]:
    """Commands on lines of their own; what is quoted or indented is somebody else's."""
    found = []
    for line in _lines(text):
        match = _COMMAND.fullmatch(line.rstrip())
        if match and match[1] in COMMANDS:
            found.append(Asked(match[1], printable((match[2] or "").strip(), _LONGEST)))
    return tuple(found[:_MOST])


def _why_untrusted(mail: Message, sender: str, trust: Trust) -> str:
    if sender not in {each.lower() for each in trust.people}:
        return f"{printable(sender, 80)} is not among those whose commands count"
    # Only the topmost one is by who delivered the mail to us: those below came with it.
    server, found = signers(_header(mail, "Authentication-Results"))
    if not server or server not in {each.lower() for each in trust.servers}:
        return "no server that we trust says whether it is signed"
    domain = sender.rpartition("@")[2]
    if any(_aligned(each, domain) for each in found):
        return ""
    return f"it has no good DKIM signature of {printable(domain, 80)}"


def _aligned(signer: str, domain: str) -> bool:
    """Whether a signature of `signer` speaks for `domain`: the same, or what it is a part of; a
    top-level domain speaks for nobody.
    """
    return "." in signer and (domain == signer or domain.endswith(f".{signer}"))
