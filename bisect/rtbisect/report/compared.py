# SPDX-License-Identifier: GPL-2.0-or-later
"""Two kernels in every figure that both were measured in, as an answer prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.report.middles import spread
from rtbisect.report.text import TABLE, Column, foreign, table

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
    groups: dict[str, list[tuple[TableRow, TableRow]]] = {}
    for old, new in found[:MOST_FIGURES]:
        groups.setdefault(f"{old.metric.suite} in {old.metric.window}", []).append((old, new))
    # Suite and window stand above, so that names have room beside wide figures.
    columns = (Column("figure"), Column("before", right=True), Column("after", right=True))
    cells = [
        (
            old.metric.name,
            spread(old.sample, mean=old.mean),
            spread(new.sample, new.unit, mean=new.mean),
        )
        for group in groups.values()
        for old, new in group
    ]
    head, rule, *rest = table(columns, cells, TABLE - 2)
    body, lines = iter(rest), [f"  {head}", f"  {rule}"]
    for heading, group in groups.items():
        lines += [f"  {foreign(heading, 60)}", *(f"  {next(body)}" for _ in group)]
    left = len(found) - MOST_FIGURES
    return (*lines, f"  and {left} figures more") if left > 0 else tuple(lines)
