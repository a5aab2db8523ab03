# SPDX-License-Identifier: GPL-2.0-or-later
"""What a DKIM signature covers (RFC 6376). Our mail server says that it is good; the rest of a mail
is anybody's: headers that it does not name can be put on top, taken away or replaced, and behind
the length that it names the body goes on as somebody else likes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.message import Message

from rtbisect.mail.auth_results import MOST, Passed, plain

#: Signatures of one mail; each hop adds one.
_MOST_SIGNATURES = 20


@dataclass(frozen=True, slots=True)
class Cover:
    """What is signed of a mail."""

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
        if not plain(tags.get("b", "")).startswith(plain(passed.begins)):
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
