# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose DKIM signature our mail server found good: its Authentication-Results: header (RFC 8601).

The header is by that server, but much of what it repeats is by who sent the mail: addresses, quoted
strings, comments. What is not plainly a result of its own counts for nothing. (authres 1.2.0 leaves
out what it cannot read of a result, as a quoted domain that signs, and believes the rest.)
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Of a longer header nothing is believed.
MOST = 8000
#: RFC 1035: a longer one is no domain.
_DOMAIN_LENGTH = 253

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_DOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL}){{1,20}}")
_PASSED = re.compile(r"dkim(/1)?=pass", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Passed:
    """A signature that was found good."""

    #: Of who has signed, in small letters (`d=`, or that of the identity `i=`).
    domain: str
    #: Which key of the domain (`s=`), in small letters; "" where the server does not tell.
    selector: str = ""
    #: First characters of the signature's value (`b=`); "" where the server does not tell.
    begins: str = ""


def results(header: str) -> tuple[str, tuple[Passed, ...]]:
    """The server that speaks, and the signatures that it found good; ("", ()) for a header that
    cannot be read.
    """
    parts = _parts(header) if len(header) <= MOST else []
    if not parts or not parts[0].split():
        return "", ()
    good = []
    for part in parts[1:]:
        words = _words(part)
        if not words or not _PASSED.fullmatch(words[0]):
            continue
        values: dict[str, list[str]] = {}
        for word in words[1:]:
            key, _, value = word.partition("=")
            values.setdefault(key.lower(), []).append(value)
        # Some servers name the identity alone, whose domain is that of the signature or below it.
        identities = [each.rpartition("@")[2] for each in values.get("header.i", ())]
        domains = values.get("header.d") or identities
        selectors, begins = (values.get(key, [""]) for key in ("header.s", "header.b"))
        # Two of them are not by a server that can be relied on.
        if not len(domains) == len(selectors) == len(begins) == 1:
            continue
        (domain,), (selector,), (begin,) = domains, selectors, begins
        if len(domain) <= _DOMAIN_LENGTH and _DOMAIN.fullmatch(domain):
            good.append(Passed(domain.lower(), selector.lower(), begin))
    return parts[0].split()[0].lower(), tuple(good)


def _words(part: str) -> list[str]:
    """Words of a result, with the blanks around "=" taken away."""
    return " ".join(part.split()).replace(" =", "=").replace("= ", "=").split()


def plain(text: str) -> str:
    """Text of which nothing is left that has a meaning in such a header."""
    return re.sub(r"[^A-Za-z0-9.-]", "_", text)


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
            parts[-1] += plain(word[1:-1]) if word.startswith('"') else word
    return parts


def _without_comments(header: str) -> str | None:
    """Comments nest (RFC 5322, 3.2.2). Servers repeat a sender's address in them, quotes and all:
    where quotes hide a bracket or a semicolon there, nobody can say who wrote what follows.
    """
    outside, depth, quoted, escaped = "", 0, False, False
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
            outside += "" if depth else " "
            continue
        outside += "" if depth else char
    return outside if depth == 0 and not quoted and not escaped else None
