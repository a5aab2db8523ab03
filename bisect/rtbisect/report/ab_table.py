# SPDX-License-Identifier: GPL-2.0-or-later
"""Two kernels in every figure that both were measured in, as an answer prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.report.averages import spread
from rtbisect.report.text import Column, grouped, many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.campaign import TableRow

#: Figures of an answer.
MOST_FIGURES = 14


def compared(before: Sequence[TableRow], after: Sequence[TableRow]) -> tuple[str, ...]:
    """Figure by figure, under a heading for each suite and window, in the order of `before`; of
    more than MOST_FIGURES the first are shown, and how many are not. () where there is none.
    """
    others = {row.metric: row for row in after}
    found = [(row, others[row.metric]) for row in before if row.metric in others]
    if not found:
        return ()
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for old, new in found[:MOST_FIGURES]:
        before_text = spread(old.sample, mean=old.mean)
        after_text = spread(new.sample, new.unit, mean=new.mean)
        cells = (old.metric.name, before_text, after_text)
        groups.setdefault(f"{old.metric.suite} in {old.metric.window}", []).append(cells)
    # Suite and window stand above, so that names have room beside wide figures.
    columns = (Column("figure"), Column("before", right=True), Column("after", right=True))
    lines = grouped(columns, groups)
    left = len(found) - MOST_FIGURES
    return (*lines, f"  and {many(left, 'figure')} more") if left > 0 else lines
