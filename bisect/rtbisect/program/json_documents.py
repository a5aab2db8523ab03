# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON objects in an output that may have anything around them. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Where an object may begin: at the start of a line.
_BEGIN = re.compile(r'^[ \t]{0,200}(?=\{\s{0,200}["}])', re.MULTILINE)


def repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; several numbers, or lists of them, of one name in it are one list."""
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    found: dict[str, list[Any]] = {}
    for key, each in pairs:
        found.setdefault(key, []).extend(each if isinstance(each, list) else [each])
    numbers = {k: all_ for k, all_ in found.items() if all(isinstance(n, float) for n in all_)}
    return value | {key: all_ for key, all_ in numbers.items() if len(all_) > 1}


#: Numbers of thousands of digits are no integers for Python; a raw line break in a string is
#: harmless.
_DECODER = json.JSONDecoder(strict=False, parse_int=float, object_pairs_hook=repeated)

#: What does not become an object may be read again from its next line on, so many characters for
#: each one of the text and these beside; then the search for objects ends.
_AGAIN = 8
_AGAIN_BESIDE = 1 << 20
#: An attempt that fails costs one of so many characters before it, too: Python counts the lines up
#: to there. So what is read begins at most so far before an attempt.
_BEFORE = 4
_PIECE = 256 << 10


@dataclass(frozen=True, slots=True)
class Document:
    """An object, and where it stands in its text."""

    value: dict[str, Any]
    begin: int
    end: int


class UnreadableError(Exception):
    """What follows the objects that were read is nested too deep, or broken at too many places."""


def documents(text: str, *, strict: bool = False) -> Iterator[Document]:
    """All objects of a text that begin a line, those in others left out; in time that grows as the
    text does. `strict`: UnreadableError where that ends before the text does.
    """
    left, at = _AGAIN * len(text) + _AGAIN_BESIDE, 0
    start, piece = 0, text
    while left > 0 and (found := _BEGIN.search(text, at)):
        begin = found.end()
        if begin - start > _PIECE:
            start, piece = begin, text[begin:]
        try:
            value, end = _DECODER.raw_decode(piece, begin - start)
        except json.JSONDecodeError as error:
            at = begin + 1
            left -= start + error.pos - begin + 1 + error.pos // _BEFORE
        except RecursionError:
            if strict:
                raise UnreadableError from None
            return
        else:
            at = start + end
            yield Document(value, begin, at)
    if strict and left <= 0 and _BEGIN.search(text, at):
        raise UnreadableError


def last_documents(text: str) -> list[Document]:
    """The last object of a text, and those before it with nothing but blanks between them;
    UnreadableError where one that comes last cannot be read.
    """
    every = list(documents(text, strict=True))
    first = max(0, len(every) - 1)
    while first and not text[every[first - 1].end : every[first].begin].strip():
        first -= 1
    return every[first:]
