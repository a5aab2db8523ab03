# SPDX-License-Identifier: GPL-2.0-or-later
"""A mail as the rules see it; whatever the bytes are, they become something to look at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message
from email.policy import compat32
from typing import TypeAlias

from rtbisect.model.mail import INTERNAL
from rtbisect.process.command import CHARSETS

#: What a rule finds: where (a header, a line of the text counted from 0, or "") and what is wrong.
Problems: TypeAlias = "Iterator[tuple[str | int, str]]"

#: A longer mail is not read by anybody.
MOST_BYTES = 4_000_000
#: Bytes of the text that rules look at; a longer one is told to be too long, and patterns that look
#: for two words take the square of it.
_MOST_TEXT = 32_000


@dataclass(frozen=True, slots=True)
class Fault:
    """What a rule finds in a mail."""

    #: Name of the rule.
    rule: str
    #: A header, or `line N` of the body; "" for the whole mail.
    where: str
    problem: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that mails are held against."""

    name: str
    #: What the rule is good for, one line, with its source.
    why: str
    check: Callable[[Mail], Problems]


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail in the parts that rules look at."""

    #: The message as it came.
    raw: Message
    #: Its first text, decoded as far as that goes, _MOST_TEXT bytes of it at most.
    lines: tuple[str, ...]
    #: The same text before that, all of it.
    text_bytes: bytes

    def header(self, name: str) -> str:
        """A header unfolded, "" where there is none; the first of several."""
        return unfolded(self.raw.get(name, ""))

    def count(self, name: str) -> int:
        return len(self.raw.get_all(name) or ())

    @property
    def subject(self) -> str:
        return self.header("Subject")

    @property
    def body(self) -> str:
        return "\n".join(self.lines)

    @property
    def own_text(self) -> str:
        """The text without the titles of commits, in as many lines: those are no words of ours."""
        return _TITLES.sub(lambda title: re.sub(r"[^\n]", " ", title[0]), self.body)

    @property
    def claim(self) -> str:
        """The first paragraph that says something, on one line: no heading or list."""
        paragraphs = re.split(r"\n[ \t]*\n", self.body.strip())
        # To its operator a report of ours says first why it is for nobody else.
        for paragraph in paragraphs[1 if self.outcome and not self.public else 0 :]:
            words = paragraph.split()
            if len(words) >= _SENTENCE and words[0] != "-":
                return " ".join(words)
        return ""

    @property
    def public(self) -> bool:
        """Whether it goes to others than an operator."""
        return not self.subject.lower().startswith(INTERNAL)

    @property
    def draft(self) -> bool:
        return self.header("X-rtbisect-State") == "draft"

    @property
    def people(self) -> str:
        """Who gets it, in small letters."""
        return " ".join(self.header(name).lower() for name in ("To", "Cc"))

    @property
    def outcome(self) -> str:
        """What the campaign answered; "" where the mail does not say: a person's, or no report."""
        return self.header("X-rtbisect-Outcome").split(";")[0].strip()

    @property
    def cause(self) -> str:
        match = re.search(r"\bcause=([a-z-]+)", self.header("X-rtbisect-Outcome"))
        return match[1] if match else ""

    @property
    def kind(self) -> str:
        """Which kind of our mails this is; "" for a mail of a person."""
        return self.header("X-rtbisect-Kind")

    @property
    def report(self) -> bool:
        """Whether it accuses a commit, or may: a person's mail does unless it says otherwise."""
        accuses = self.outcome in ("", "culprit") and self.cause not in ("tool-induced", "none")
        return self.kind in ("", "backport") and accuses


#: Where titles of commits stand: quoted in brackets, in tags, commands, logs and lists of commits.
_TITLES = re.compile(
    r'\("[^\n]{1,300}(?:\n[^\n]{1,300}){0,2}?"\)'
    r"|^[ \t]*(?:#regzbot title:|Fixes:|# [a-z ]{1,30}(?:\([^()\n]*\) ?)?: ?\[[0-9a-f]+\]).*$"
    r"|^  [0-9a-f]{12} +[<>]?[01]\.[0-9]+ .*$",
    re.MULTILINE,
)
#: Words of a paragraph that is no heading and no greeting.
_SENTENCE = 8


def read(data: bytes) -> Mail:
    """The mail of these bytes; never an error."""
    raw = message_from_bytes(data[:MOST_BYTES], policy=compat32)
    part = next((part for part in raw.walk() if not part.is_multipart()), raw)
    decoded = part.get_payload(decode=True)
    payload = decoded if isinstance(decoded, bytes) else b""
    text = payload[:_MOST_TEXT].decode(_charset(part), "replace").replace("\r\n", "\n")
    return Mail(raw, tuple(text.split("\n")), payload)


def _charset(part: Message) -> str:
    name = (part.get_content_charset() or "us-ascii").lower()
    return name if name in CHARSETS else "ascii"


def unfolded(value: object) -> str:
    """A header on one line; of an endless one the begin."""
    return " ".join(str(value)[:_MOST_TEXT].split())
