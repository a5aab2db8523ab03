# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers in a row as characters of different height."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

#: From the lowest to the highest; the second row is for what takes ASCII only.
BLOCKS, DIGITS = "▁▂▃▄▅▆▇█", "12345678"
WIDEST = 3
#: Columns of a strip in a line of text, and what is too little to see, as a share of the highest.
WIDTH, SEEN = 64, 0.02
NOTHING = "."


def level(share: float, *, ascii_only: bool = False) -> str:
    """The character of a height, 0..1."""
    levels = DIGITS if ascii_only else BLOCKS
    return levels[min(len(levels) - 1, int(share * len(levels)))]


def cells(count: int, width: int) -> list[range]:
    """So many places in a row in at most `width` columns: the places of each column. Few places
    have up to WIDEST columns each.
    """
    columns = min(count, max(1, width))
    edges = [count * column // columns for column in range(columns + 1)]
    wide = min(WIDEST, max(1, width // count)) if count else 1
    return [range(begin, end) for begin, end in pairwise(edges) for _ in range(wide)]


def strip(values: Sequence[float], width: int = WIDTH, *, ascii_only: bool = True) -> str:
    """Each column as high as the highest of its values, the highest one full; "" of no values. A
    sum would draw steps where columns have one place more.
    """
    tops = [max(values[place] for place in cell) for cell in cells(len(values), width)]
    highest = max(tops, default=0.0)
    nothing = NOTHING if ascii_only else " "
    return "".join(
        level(each / highest, ascii_only=ascii_only) if each > SEEN * highest else nothing
        for each in tops
    )
