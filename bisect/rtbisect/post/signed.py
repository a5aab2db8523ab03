# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose DKIM signature our mail server found good: its Authentication-Results: header (RFC 8601).

The header is by that server, but much of what it repeats is by who sent the mail: addresses, quoted
strings, comments. What is not plainly a result of its own counts for nothing.
"""

from __future__ import annotations

import re

_DOMAIN = re.compile(
    r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)+"
)
_PASSED = re.compile(r"dkim(/1)?=pass", re.IGNORECASE)


def signers(header: str) -> tuple[str, tuple[str, ...]]:
    """The server that speaks, and the domains (lower case) whose signature it found good; ("", ())
    for a header that cannot be read.
    """
    parts = _parts(header)
    if not parts or not parts[0].split():
        return "", ()
    found = []
    for part in parts[1:]:
        words = re.sub(r"\s*=\s*", "=", part.strip()).split()
        if not words or not _PASSED.fullmatch(words[0]):
            continue
        told = [value for key, _, value in (word.partition("=") for word in words[1:])
                if key.lower() == "header.d"]  # fmt: skip
        # Two of them are not by a server that can be relied on.
        if len(told) == 1 and _DOMAIN.fullmatch(told[0]):
            found.append(told[0].lower())
    return parts[0].split()[0].lower(), tuple(found)


def _parts(header: str) -> list[str]:
    """The header split at its semicolons, comments taken out, and quoted strings made one word; []
    where one of them does not end, or may end elsewhere.
    """
    parts, depth, quoted, escaped = [""], 0, False, False
    for char in header:
        if escaped:
            escaped = False
            parts[-1] += "_" if quoted else ""
        elif char == "\\" and (quoted or depth):
            escaped = True
        elif quoted:
            quoted = char != '"'
            parts[-1] += _plain(char) if quoted else ""
        elif char == "(":
            depth += 1
        elif depth and char == '"':
            # Servers repeat a sender's address in comments: one with quotes may end them early.
            return []
        elif depth:
            depth -= char == ")"
            parts[-1] += "" if depth else " "
        elif char == '"':
            quoted = True
        elif char == ";":
            parts.append("")
        else:
            parts[-1] += char
    return [] if depth or quoted or escaped else parts


def _plain(char: str) -> str:
    """A character of a quoted string, as long as it can be part of a domain."""
    return char if re.fullmatch(r"[A-Za-z0-9.-]", char) else "_"
