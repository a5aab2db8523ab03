# SPDX-License-Identifier: GPL-2.0-or-later
"""What a reader sees first of a mail."""

from __future__ import annotations

from email import message_from_string
from email.policy import default
from itertools import takewhile


def head_of(eml: str) -> tuple[str, tuple[str, ...]]:
    """The subject of a mail in one line, and the lines of its first section."""
    mail = message_from_string(eml, policy=default)
    body = mail.get_body(("plain",))
    lines = body.get_content().splitlines() if body else []
    return str(mail["Subject"] or ""), tuple(takewhile(str.strip, lines))
