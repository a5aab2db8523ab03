# SPDX-License-Identifier: GPL-2.0-or-later
"""Foreign mails into messages. The parser of the library compares each line with the boundary of
every part that is open, and makes an object of each part: who nests parts, or writes thousands of
them, makes it work by the square of what was sent. So much is refused before it is parsed.
"""

from __future__ import annotations

import re
from email import message_from_bytes
from email.message import Message
from email.policy import compat32

from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Ignored

#: Bytes of a header that says what a part is; the library splits its parameters by the square.
MOST_HEADER_BYTES = 4000
#: Parts of one mail that may have parts of their own, and parts in all.
MOST_NESTED = 20
MOST_PARTS = 1000

_CONTENT = re.compile(rb"^content-[a-z-]{1,40}:", re.IGNORECASE | re.MULTILINE)
_NESTING = re.compile(rb"multipart/|message/", re.IGNORECASE)


class UnreadableError(ValueError):
    """A mail with more parts or longer headers than real mails have."""

    def __init__(self, why: Ignored, **data: str) -> None:
        super().__init__(why.value)
        self.why = Finding.of(why, **data)


def parse(data: bytes) -> Message:
    """The message of these bytes; UnreadableError where it has too many parts, or a header is too
    long.
    """
    nested = sum(1 for _ in _NESTING.finditer(data))
    if nested > MOST_NESTED:
        raise UnreadableError(Ignored.NESTED_PARTS)
    # Each part begins behind a line with two dashes; diffs have such lines, too.
    if nested and data.count(b"\n--") + data.count(b"\r--") > MOST_PARTS:
        raise UnreadableError(Ignored.MANY_PARTS)
    # One line break for all: a bare CR ends a line of headers for the library.
    plain = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if any(_is_long(plain, header.start()) for header in _CONTENT.finditer(plain)):
        raise UnreadableError(Ignored.ENDLESS_HEADER)
    return message_from_bytes(data, policy=compat32)


def _is_long(data: bytes, begin: int) -> bool:
    """Whether a header is longer than any that says something."""
    head = data[begin : begin + MOST_HEADER_BYTES + 1]
    return len(head) > MOST_HEADER_BYTES and re.search(rb"\n[^ \t]", head) is None
