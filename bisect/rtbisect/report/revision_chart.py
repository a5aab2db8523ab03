# SPDX-License-Identifier: GPL-2.0-or-later
"""The tested revisions of a search as two lines of characters: figures above, marks below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.report.marks import Mark, letter_of
from rtbisect.words.strip import level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.words.voice import Voice

#: Drawn where a revision has no figure.
NO_FIGURE = " "


@dataclass(frozen=True, slots=True)
class Column:
    """One revision."""

    #: The middle of its runs; None where it has none.
    value: float | None
    #: Drawn below the column.
    mark: Mark


def fitting(columns: Sequence[Column], width: int) -> tuple[Column, ...]:
    """At most `width` columns in a row: those around the named one, else around the middle."""
    if len(columns) <= width:
        return tuple(columns)
    marks = [column.mark for column in columns]
    middle = marks.index(Mark.NAMED) if Mark.NAMED in marks else len(columns) // 2
    begin = min(max(0, middle - width // 2), len(columns) - width)
    return tuple(columns[begin : begin + width])


def chart(columns: Sequence[Column], voice: Voice, *, ascii_only: bool = False) -> tuple[str, str]:
    """The two lines, a character a column. Figures that are all the same stand half way up."""
    values = [column.value for column in columns if column.value is not None]
    low, high = min(values, default=0.0), max(values, default=0.0)

    def drawn(value: float | None) -> str:
        if value is None:
            return NO_FIGURE
        share = (value - low) / (high - low) if high > low else 0.5
        return level(share, ascii_only=ascii_only)

    above = "".join(drawn(column.value) for column in columns)
    return above, "".join(letter_of(each.mark, voice.older, voice.newer) for each in columns)
