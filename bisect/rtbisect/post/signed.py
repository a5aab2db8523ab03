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
        told = [word.partition("=")[::2] for word in words[1:]]
        by = [value for key, value in told if key.lower() == "header.d"]
        # Some servers name the identity alone, whose domain is that of the signature or below it.
        by = by or [v.rpartition("@")[2] for key, v in told if key.lower() == "header.i"]
        # Two of them are not by a server that can be relied on.
        if len(by) == 1 and _DOMAIN.fullmatch(by[0]):
            found.append(by[0].lower())
    return parts[0].split()[0].lower(), tuple(found)


def _parts(header: str) -> list[str]:
    """The header split at its semicolons, without comments, quoted strings made one word; [] where
    it cannot be said where those end.
    """
    text = _without_comments(header)
    if text is None:
        return []
    parts = [""]
    for word in re.findall(r'"(?:[^"\\]|\\.)*"|[^";]+|;', text):
        if word == ";":
            parts.append("")
        else:
            quoted = word.startswith('"')
            parts[-1] += re.sub(r"[^A-Za-z0-9.-]", "_", word[1:-1]) if quoted else word
    return parts


def _without_comments(header: str) -> str | None:
    """Comments nest (RFC 5322, 3.2.2). Servers repeat a sender's address in them, quotes and all:
    where quotes hide a bracket or a semicolon there, nobody can say who wrote what follows.
    """
    kept, depth, quoted, escaped = "", 0, False, False
    for char in header:
        if escaped:
            escaped = False
        elif char == "\\" and (quoted or depth):
            escaped = True
        elif char == '"':
            quoted = not quoted
        elif depth and quoted and char in "();":
            return None
        elif char in "()" and not quoted:
            depth += 1 if char == "(" else -1
            kept += "" if depth else " "
            continue
        kept += "" if depth else char
    return kept if depth == 0 and not quoted and not escaped else None
