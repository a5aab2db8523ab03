# SPDX-License-Identifier: GPL-2.0-or-later
"""The tested revisions of a search as two lines of characters: figures above, marks below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.words.strip import level

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Drawn where a revision has no figure.
NO_FIGURE = " "


@dataclass(frozen=True, slots=True)
class Column:
    """One revision."""

    #: The middle of its runs; None where it has none.
    value: float | None
    #: One character, drawn below the column.
    mark: str
    #: The revision that the search is about: its column stays where not all columns fit.
    named: bool = False


def fitting(columns: Sequence[Column], width: int) -> tuple[Column, ...]:
    """At most `width` columns in a row: those around the named one, else around the middle."""
    if len(columns) <= width:
        return tuple(columns)
    middle = next((i for i, column in enumerate(columns) if column.named), len(columns) // 2)
    begin = min(max(0, middle - width // 2), len(columns) - width)
    return tuple(columns[begin : begin + width])


def chart(columns: Sequence[Column], *, ascii_only: bool = False) -> tuple[str, str]:
    """The two lines, a character a column. Figures that are all the same stand half way up."""
    values = [column.value for column in columns if column.value is not None]
    low, high = min(values, default=0.0), max(values, default=0.0)

    def drawn(value: float | None) -> str:
        if value is None:
            return NO_FIGURE
        share = (value - low) / (high - low) if high > low else 0.5
        return level(share, ascii_only=ascii_only)

    above = "".join(drawn(column.value) for column in columns)
    return above, "".join(column.mark for column in columns)
