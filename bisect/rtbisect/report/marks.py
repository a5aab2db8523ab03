# SPDX-License-Identifier: GPL-2.0-or-later
"""What a tested revision is like: the one rule of the screen and of the chart of an answer."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

#: A revision is marked as one end or the other from this probability on.
_MARKED = 0.9


class Mark(StrEnum):
    """What is drawn of a revision."""

    OLDER = "older"
    NEWER = "newer"
    OPEN = "open"
    #: It cannot be tested.
    SKIPPED = "skipped"
    #: The answer names it.
    NAMED = "named"


def mark_of(  # noqa: PLR0913  (what there is to know of a revision)
    sha: str,
    newer: float,
    ends: tuple[str, str],
    *,
    named: Collection[str] = (),
    skipped: bool = False,
    in_doubt: bool = False,
) -> Mark:
    """Of a revision that is so probably like the newer end; `in_doubt`: what says so is refuted.
    The ends are what a person called them.
    """
    if sha in named:
        return Mark.NAMED
    if skipped:
        return Mark.SKIPPED
    if sha in ends:
        return Mark.NEWER if sha == ends[1] else Mark.OLDER
    if in_doubt:
        return Mark.OPEN
    if newer >= _MARKED:
        return Mark.NEWER
    return Mark.OLDER if newer <= 1 - _MARKED else Mark.OPEN


def letter_of(mark: Mark, older: str, newer: str) -> str:
    """The character that stands for it, where the ends are called so."""
    if mark is Mark.OLDER:
        return older[0]
    if mark is Mark.NEWER:
        return newer[0]
    return _LETTERS[mark]


_LETTERS = {Mark.OPEN: "?", Mark.SKIPPED: "x", Mark.NAMED: "C"}
