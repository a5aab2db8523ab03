# SPDX-License-Identifier: GPL-2.0-or-later
"""The mail as bytes: us-ascii, 7bit, text/plain, headers that foreign text cannot break."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.errors import HeaderParseError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import parseaddr
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InternalError
from rtbisect.model.campaign import Sought
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.report import Symptoms
from rtbisect.model.mail import INTERNAL
from rtbisect.report.commit_view import revision_name
from rtbisect.report.opening import figure_name, symptom
from rtbisect.report.own import mailable
from rtbisect.report.policy import better
from rtbisect.report.text import ascii_line, header_text
from rtbisect.report.wording import said, words_of

if TYPE_CHECKING:
    from rtbisect.model.report import ReportInput
    from rtbisect.report.letter import Bot


class _SingleSpaceFolding(EmailPolicy):
    """Folds at single spaces only, and never right behind the name of the header.

    The standard folding moves a long value to the next line as a whole; it then reads
    back with a space before it. Our values are ASCII words that need no encoding.
    """

    def fold(self, name: str, value: str) -> str:
        words = str(value).split() or [""]
        lines = [f"{name}: {words[0]}"]
        for word in words[1:]:
            if len(lines[-1]) + 1 + len(word) > WIDTH:
                lines.append(f" {word}")
            else:
                lines[-1] += f" {word}"
        return "".join(f"{line}{self.linesep}" for line in lines)


#: Columns of a header line.
WIDTH = 76

#: Never quoted-printable or base64: both split table rows and hide the text from archives.
POLICY = _SingleSpaceFolding(cte_type="7bit", linesep="\n", utf8=False, raise_on_defect=False)

_MESSAGE_ID = re.compile(r"<[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,128}>")
#: Those of other people's mails: one word that a header can hold (RFC 5322 allows much more than
#: anybody should write).
_FOREIGN_ID = re.compile(r"<[!-;=?-~]{1,240}>")
_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")

#: What mail tools take for something else when a line begins with it.
_ACTIVE = re.compile(r"#|>|From |---|diff |Index: |[A-Za-z-]+-by:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """The headers that differ between mails."""

    #: The bot that writes the mail.
    bot: Bot
    #: Recipients as `address` takes them; `cc` likewise.
    to: tuple[str, ...]
    subject: str
    #: ISO 8601.
    date: str
    #: With or without brackets.
    message_id: str
    cc: tuple[str, ...] = ()
    #: The Message-ID that the mail answers, and those before it, oldest first; with brackets.
    parent: str = ""
    thread: tuple[str, ...] = ()
    #: Our own headers: names without `X-rtbisect-`, and what they say.
    marks: tuple[tuple[str, str], ...] = ()


def address(text: str, role: str) -> Address:
    """An address of the site: `Name <user@host>` or `user@host`; ConfigError otherwise, which calls
    it by its `role`.
    """
    name, spec = parseaddr(text)
    problem = f"{role} {ascii_line(text, 60)!r} is not a mail address"
    if not text.isprintable() or not text.isascii() or not _ADDRESS.fullmatch(spec):
        raise ConfigError(problem, "give one as `Name <user@example.org>` in the site file")
    try:
        return Address(display_name=header_text(name, 60), addr_spec=spec)
    except (ValueError, HeaderParseError) as error:
        raise ConfigError(problem, "correct the site file") from error


def message_id(text: str) -> str:
    """The Message-ID with its angle brackets; InternalError when it is none."""
    bracketed = text if text.startswith("<") else f"<{text}>"
    if not _MESSAGE_ID.fullmatch(bracketed):
        raise InternalError(f"not a Message-ID: {ascii_line(text, 80)!r}", "this is a bug")
    return bracketed


def answers_to(text: str) -> str:
    """A Message-ID of somebody's mail as a header has it, "" for one that none can hold."""
    # What looks like an encoded word (RFC 2047) is decoded by who reads the header, and the library
    # does so when it writes it.
    return text if _FOREIGN_ID.fullmatch(text) and "=?" not in text else ""


def date(text: str) -> datetime:
    """ISO 8601 to a time in UTC; InternalError when it is none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InternalError(f"not a date: {ascii_line(text, 40)!r}", "this is a bug") from error
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def subject(report: ReportInput, *, marked: bool = True) -> str:
    """Culprit title and symptom; `[REGRESSION]` only for a mailable one of the kernel's own, and
    where `marked` says that it hurts somebody.
    """
    result = report.result
    if report.culprit is None or result.outcome != "culprit":
        answered = Finding.of(
            Symptoms.ANSWER,
            outcome=result.outcome,
            better=bool(better(report)),
            repair=report.sought is Sought.REPAIR,
            commits=len(result.candidates) or len(report.graph),
            older=revision_name(report, report.older),
            newer=revision_name(report, report.newer),
            metric=figure_name(result.metric) if result.metric else report.tree,
        )
        return header_text(f"{INTERNAL} {said(report, answered)}")
    seen = seen_as(report)
    words, mark = words_of(report), f"{INTERNAL} "
    if mailable(report):
        mark = words.hurting_mark if result.cause == "kernel" and marked else words.mark
    room = 130 - len(mark) - len(seen)
    return header_text(f"{mark}{header_text(report.culprit.subject, room)}: {seen}", 140)


def seen_as(report: ReportInput) -> str:
    """The symptom in a few words."""
    found = symptom(report)
    return said(report, found, 70) if found else str(report.result.metric or "not measured")


def guard(body: str, *, commands: bool = False) -> str:
    """One blank line at most between paragraphs, and no line that a mail tool acts upon; with
    `commands` but those to regzbot, which nothing foreign can write (`text.foreign`).
    """
    lines: list[str] = []
    for line in (raw.rstrip() for raw in body.strip("\n").split("\n")):
        if line or (lines and lines[-1]):
            active = _ACTIVE.match(line) and not (commands and line.startswith("#regzbot "))
            lines.append(f" {line}" if active else line)
    return "\n".join(lines) + "\n"


def own_id(text: str, bot: Bot) -> str:
    """A Message-ID, whose right side is the bot's host where it has none."""
    return text if "@" in text else f"{text}@{bot.address.rpartition('@')[2]}"


def message(envelope: Envelope, body: str) -> str:
    """The complete mail."""
    mail = EmailMessage(policy=POLICY)
    mail["From"] = address(f"{envelope.bot.name} <{envelope.bot.address}>", "the bot's address")
    for name, people in (("To", envelope.to), ("Cc", envelope.cc)):
        if people:
            mail[name] = [address(each, f"the address in {name}:") for each in people]
    mail["Subject"] = envelope.subject
    mail["Date"] = date(envelope.date)
    mail["Message-ID"] = message_id(envelope.message_id)
    if parent := answers_to(envelope.parent):
        mail["In-Reply-To"] = parent
        before = [each for each in map(answers_to, envelope.thread) if each and each != parent]
        mail["References"] = " ".join((*before, parent))
    for name, value in envelope.marks:
        mail[f"X-rtbisect-{name}"] = header_text(value, 100)
    mail.set_content(body, subtype="plain", charset="us-ascii", cte="7bit")
    return mail.as_string(policy=POLICY)
