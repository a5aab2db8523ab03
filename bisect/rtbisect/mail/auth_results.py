# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose DKIM signature our mail server found good: its Authentication-Results: header (RFC 8601);
and what such a signature covers (RFC 6376).

The header is by that server, but much of what it repeats is by who sent the mail: addresses, quoted
strings, comments. What is not plainly a result of its own counts for nothing. (authres 1.2.0 leaves
out what it cannot read of a result, as a quoted domain that signs, and believes the rest.)

The rest of a mail is anybody's: headers that the signature does not name can be put on top, taken
away or replaced, and behind the length that it names the body goes on as somebody else likes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.message import Message

#: Longest header that is believed, in characters.
MOST = 8000
#: Signatures of one mail; each hop adds one.
_MOST_SIGNATURES = 20
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
        # The blanks around "=" taken away.
        words = " ".join(part.split()).replace(" =", "=").replace("= ", "=").split()
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


def _plain(text: str) -> str:
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
            parts[-1] += _plain(word[1:-1]) if word.startswith('"') else word
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


@dataclass(frozen=True, slots=True)
class Cover:
    """The parts of a mail that a signature covers."""

    #: Names, in small letters.
    headers: frozenset[str]
    #: All of the body, not only its beginning (`l=`).
    whole_body: bool
    #: When it was signed, since 1970; None where it does not say.
    at_s: int | None

    def covers(self, name: str) -> bool:
        return name.lower() in self.headers


def cover(mail: Message, passed: Passed) -> Cover | None:
    """What the signature that was found good covers; None where it is not in the mail. Where a
    server does not tell which one of several it was, what all of them cover.
    """
    headers = [str(each) for each in mail.get_all("DKIM-Signature") or ()]
    if len(headers) > _MOST_SIGNATURES:
        return None
    covers: list[Cover] = []
    for header in headers:
        tags = _tags(header)
        # An identity, which some servers tell alone, may be of a part of the domain that signs.
        signer = tags.get("d", "").lower()
        if not signer or not f".{passed.domain}".endswith(f".{signer}"):
            continue
        if passed.selector and tags.get("s", "").lower() != passed.selector:
            continue
        if not _plain(tags.get("b", "")).startswith(_plain(passed.begins)):
            continue
        names = frozenset(tags.get("h", "").lower().split(":"))
        at = tags.get("t", "")
        at_s = int(at) if re.fullmatch(r"[0-9]{1,12}", at) else None
        covers.append(Cover(names, "l" not in tags, at_s))
    if not covers:
        return None
    times = {each.at_s for each in covers}
    return Cover(
        frozenset.intersection(*(each.headers for each in covers)),
        all(each.whole_body for each in covers),
        times.pop() if len(times) == 1 else None,
    )


def _tags(header: str) -> dict[str, str]:
    """The tags of a signature without any blanks; {} where one stands twice, or it is too long."""
    if len(header) > MOST:
        return {}
    tags: dict[str, str] = {}
    for part in header.split(";"):
        name, equals, value = ("".join(each.split()) for each in part.partition("="))
        if not name and not equals:
            continue
        if name in tags:
            return {}
        tags[name] = value
    return tags
