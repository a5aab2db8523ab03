# SPDX-License-Identifier: GPL-2.0-or-later
"""Parent against culprit with the workload on and off: what the mail says it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.report.averages import (
    boots_with,
    metric_name,
    of_boots,
    overlap,
    spread,
    threshold_of,
)
from rtbisect.report.text import foreign

if TYPE_CHECKING:
    from rtbisect.model.campaign import Sample, TableRow
    from rtbisect.model.report import ReportInput


@dataclass(frozen=True, slots=True)
class Side:
    """Parent and culprit under one level of the workload, as printed."""

    workload: str
    metric: str
    #: The figure of the parent and of the culprit, with the range of the boots.
    base: str
    new: str
    #: Whether those ranges overlap, as what follows; "" where they say nothing.
    apart: str


def side(report: ReportInput, *, loaded: bool) -> Side | None:
    """Parent against culprit with the workload on (`loaded`) or off, from the factor table.

    None unless both kernels were measured in the same window. The searched window goes
    first, then that of its control, then others of the same figure.
    """
    key = report.result.metric
    if key is None:
        return None
    limit = threshold_of(report, key)
    control = limit.control if limit is not None else None
    same_figure = [
        row.metric
        for row in report.result.table
        if (row.metric.suite, row.metric.name) == (key.suite, key.name)
    ]
    unloaded = {"" if control is None else control.window}
    for wanted in (key, *([control] if control is not None else []), *same_figure):
        rows = [
            row
            for row in report.result.table
            if row.metric == wanted and row.sample.values
            if (row.workload != "none" and row.window not in unloaded) == loaded
        ]
        base = next((row for row in rows if row.kernel == "parent"), None)
        new = next((row for row in rows if row.kernel == "culprit"), None)
        if base is not None and new is not None:
            return Side(
                workload=foreign(base.workload, 40),
                metric=metric_name(wanted),
                base=_level(base),
                new=_level(new),
                apart="" if of_boots(wanted) else _overlap_text(base.sample, new.sample),
            )
    return None


def _level(row: TableRow) -> str:
    """As printed; of a figure of boots how many have it."""
    share = boots_with(row.metric, row.sample)
    return f"seen in {share}" if share else spread(row.sample, row.unit, mean=row.mean)


def _overlap_text(base: Sample, new: Sample) -> str:
    return f"; the ranges of the boots {'' if overlap(base, new) else 'do not '}overlap"
