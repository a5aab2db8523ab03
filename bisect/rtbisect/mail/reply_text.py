# SPDX-License-Identifier: GPL-2.0-or-later
"""The text of a reply, and the commands in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import Message
from enum import StrEnum

from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import NoText
from rtbisect.process.command import CHARSETS, printable

#: Says which report a command is about; the word behind is its Message-ID or its campaign.
ABOUT = "for"

_COMMAND = re.compile(r"#rtbisect[ \t]+([a-z]+)(?:[ \t]*:)?(?:[ \t]+(.*))?")

#: Commands of one mail; a person asks for one.
_MOST = 5
_LONGEST = 300
#: Characters of a line that are looked at.
_LONGEST_LINE = 2000


class Asked(StrEnum):
    """What a reply may ask for; the words behind are its argument."""

    TEST = "test"
    BISECT = "bisect"
    RETEST = "retest"
    INVALID = "invalid"
    DUP = "dup"


@dataclass(frozen=True, slots=True)
class ReplyCommand:
    """A command that a line of a reply gives."""

    name: Asked
    #: The words behind it, printable, "" for none.
    argument: str


def text_of(mail: Message) -> tuple[str, Finding | None]:
    """The plain text of a mail, and why there is none."""
    for part in mail.walk():
        if part.get_content_type() == "text/plain" and not part.get_filename():
            payload = part.get_payload(decode=True)
            data = payload if isinstance(payload, bytes) else b""
            charset = part.get_content_charset() or "utf-8"
            # Any other is one of programs that mean harm, or says nothing that a command needs.
            known = charset.lower() in CHARSETS
            return data.decode(charset if known else "utf-8", "replace"), None
    return "", Finding.of(NoText.NOT_PLAIN)


def mends(text: str, identities: Sequence[str]) -> bool:
    """Whether a text has a diff, and before it a tag of its own that says one of these."""
    all_lines = lines(text)
    diff_start = next((n for n, line in enumerate(all_lines) if line.startswith("diff --git ")), 0)
    tags = [line for line in all_lines[:diff_start] if re.match(r"(Fixes|Closes|Link): \S", line)]
    return bool(diff_start) and any(
        identity in line for line in tags for identity in identities if identity
    )


def lines(text: str) -> list[str]:
    """Lines as a mail has them: what else Unicode calls the end of one stands in somebody's text,
    which others quote.
    """
    return re.split(r"\r\n|\r|\n", text)


def commands_in(text: str) -> tuple[ReplyCommand, ...]:
    """Commands that ask for something."""
    names = tuple(Asked)
    commands = [
        ReplyCommand(Asked(name), argument)
        for name, argument in command_lines(text)
        if name in names
    ]
    return tuple(commands[:_MOST])


def command_lines(text: str) -> list[tuple[str, str]]:
    """Commands on lines of their own; what is quoted or indented is somebody else's."""
    commands = []
    for line in lines(text):
        if line.startswith("#rtbisect"):
            match = _COMMAND.fullmatch(line[:_LONGEST_LINE].rstrip())
            if match:
                commands.append((match[1], printable((match[2] or "").strip(), _LONGEST)))
    return commands
