# SPDX-License-Identifier: GPL-2.0-or-later
"""The one table of a mail: parent, commit and revert, by what was measured and beside what."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.model.finding import Finding
from rtbisect.model.kinds.report import Columns
from rtbisect.model.result import ENDS, KernelRole, TableRow
from rtbisect.report.averages import (
    boots_with,
    by_mean,
    centre_of,
    judged_unit,
    level_in,
    limit_of,
    spread,
    threshold_of,
)
from rtbisect.report.commit_view import revision_name
from rtbisect.report.headline_figure import headline
from rtbisect.report.opening import scaled
from rtbisect.report.text import TABLE, Column, cut, foreign, short, table, wrap
from rtbisect.report.wording import said
from rtbisect.words import workloads
from rtbisect.words.numbers import readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rtbisect.model.campaign import MetricKey
    from rtbisect.model.report import ReportInput

#: Columns of figures, as far as they fit.
_MOST = 3
_PAIR = KernelRole.PARENT, KernelRole.CULPRIT
#: Characters of a revision beside them.
_NAME = 16
#: Widest that the table may be before it is known whether the columns fit.
_WIDEST = 200
_KERNELS = {
    KernelRole.BASE: "older end",
    KernelRole.TIP: "newer end",
    KernelRole.PARENT: "parent",
    KernelRole.CULPRIT: "commit",
    KernelRole.REVERTED: "tip, reverted",
    KernelRole.PARENT_WITHOUT_RT: "parent, no RT",
    KernelRole.CULPRIT_WITHOUT_RT: "commit, no RT",
}


def kernel_table(report: ReportInput) -> tuple[str, ...]:
    """A kernel a row, the searched figure first; other figures and doses are on the page. Where the
    searched one has no row, those that have; () where nothing was measured.
    """
    rows = _rows(report)
    metrics = _metrics(report, rows)
    while metrics:
        lines = _lines(report, metrics, rows)
        if all(len(line) <= TABLE for line in lines):
            return lines
        if len(metrics) == 1:
            return tuple(cut(line, TABLE) for line in lines)
        metrics = metrics[:-1]
    return ()


def _rows(report: ReportInput) -> list[TableRow]:
    """All that kernels were measured in; where no row tells it both sides of the headline."""
    rows = [row for row in report.result.table if row.sample.values]
    found = headline(report)
    if rows or found is None or not found[0].two_sided:
        return rows
    judgement, limit = found[0], limit_of(report, found[0])
    parent = any(check.judgement is judgement for check in report.result.verifications)
    kernels = _PAIR if parent else ENDS
    return [
        TableRow(
            kernel=kernel,
            window=judgement.key.window,
            workload="",
            metric=judgement.key,
            unit=judged_unit(report, judgement),
            sample=side,
            mean=by_mean(limit),
        )
        for kernel, side in zip(kernels, (judgement.base, judgement.new), strict=True)
    ]


def _metrics(report: ReportInput, rows: Sequence[TableRow]) -> list[MetricKey]:
    """The searched figure, its control, and the searched figure at other levels; where it was not
    measured what was, judged figures first.
    """
    key = report.result.metric
    measured = list(dict.fromkeys(row.metric for row in rows))
    if key is None or key not in measured:
        judged = {judgement.key for judgement in report.result.judgements}
        return sorted(measured, key=lambda each: each not in judged)[:_MOST]
    limit = threshold_of(report, key)
    control = limit.control if limit else None
    same = [each for each in measured if (each.suite, each.name) == (key.suite, key.name)]
    wanted = dict.fromkeys([key, *([control] if control in measured else []), *same])
    return list(wanted)[:_MOST]


def _lines(
    report: ReportInput, metrics: Sequence[MetricKey], measured: Sequence[TableRow]
) -> tuple[str, ...]:
    rows = [row for row in measured if row.metric in metrics]
    kernels = list(dict.fromkeys(row.kernel for row in rows))
    cells = [[_label(report, kernel)] for kernel in kernels]
    columns = [Column("kernel", over=_middles(report))]
    for metric in metrics:
        of_metric = {row.kernel: row for row in rows if row.metric == metric}
        first = next(iter(of_metric.values()))
        unit, factor = unit_of_rows(list(of_metric.values()))
        figure = Finding.of(Columns.FIGURE, suite=metric.suite, name=metric.name, unit=unit)
        columns.append(Column(beside(first), right=True, over=said(report, figure, 28)))
        for kernel, line in zip(kernels, cells, strict=True):
            line.append(cell(of_metric.get(kernel), factor))
    columns.append(Column("boots", right=True))
    for kernel, line in zip(kernels, cells, strict=True):
        line.append(str(max(row.sample.n for row in rows if row.kernel == kernel)))
    return table(columns, cells, _WIDEST)


def beside(row: TableRow) -> str:
    """The level of the workload; where that is not known the window."""
    return _beside(row.workload, row.window)


def _beside(level: str, window: str) -> str:
    known = level or level_in(window)
    return foreign(workloads.beside(known) if known else f"in its window {window}", 28)


@dataclass(frozen=True, slots=True)
class Headings:
    """The headings above the figures of a table."""

    #: By suite and window: the suite and what runs beside it; of windows that are alike in that
    #: their names, too.
    above: Mapping[tuple[str, str], str]
    #: What the workloads do whose names stand there, each `Columns.WORKLOAD`.
    workloads: tuple[Finding, ...]


def headings(keys: Iterable[MetricKey], rows: Iterable[TableRow]) -> Headings:
    """The headings of figures; what runs beside them is known by the `rows`, or by their window."""
    levels = {(row.metric.suite, row.window): row.workload for row in rows}
    places = dict.fromkeys((key.suite, key.window) for key in keys)
    known = {place: levels.get(place) or level_in(place[1]) for place in places}
    plain = {place: f"{place[0]}, {_beside(level, place[1])}" for place, level in known.items()}
    alike = Counter(plain.values())
    return Headings(
        above={
            place: f"{text} ({place[1]})" if alike[text] > 1 else text
            for place, text in plain.items()
        },
        workloads=tuple(
            Finding.of(Columns.WORKLOAD, workload=level)
            for level in dict.fromkeys(known.values())
            if workloads.does(level)
        ),
    )


def notes(report: ReportInput, found: Headings) -> tuple[str, ...]:
    """Lines below a table that say what the workloads do."""
    told = (wrap(said(report, each), TABLE, "  ", "      ") for each in found.workloads)
    return tuple(line for note in told for line in note.splitlines())


def unit_of_rows(rows: Sequence[TableRow]) -> tuple[str, float]:
    """The unit that figures of several kernels are told in, and by what they are multiplied."""
    middles = [centre_of(row.sample, mean=row.mean) for row in rows if row.sample.values]
    return readable(rows[0].unit, *middles)


def cell(row: TableRow | None, factor: float) -> str:
    """A median with its range; of a figure of boots how many have it."""
    if row is None:
        return "-"
    share = boots_with(row.metric, row.sample)
    return share or spread(scaled(row.sample, factor), mean=row.mean)


def _label(report: ReportInput, kernel: KernelRole) -> str:
    """The kernel, with its revision where it has one; the parent by a tag where that is short."""
    if kernel is KernelRole.CULPRIT and report.culprit:
        return f"{_KERNELS[kernel]} {short(report.culprit.sha)}"
    parents = [check.parent for check in report.result.verifications if check.parent]
    if kernel is not KernelRole.PARENT or not parents:
        return _KERNELS[kernel]
    name = revision_name(report, parents[0])
    return f"{_KERNELS[kernel]} {name if len(name) <= _NAME else short(parents[0])}"


def _middles(report: ReportInput) -> str:
    """What stands in the cells; "" of counts of boots, which say so themselves."""
    found = headline(report)
    if found is None or boots_with(found[0].key, found[0].base):
        return ""
    return said(report, Finding.of(Columns.CELLS))
