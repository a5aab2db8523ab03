# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of a mail: tables of kernels by workload, of checks, origins and ends, and what the
workload shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.config.paths import data
from rtbisect.model.campaign import Judgement, Level, Scale, Threshold
from rtbisect.model.lab import site_program
from rtbisect.model.result import KernelRole
from rtbisect.report.averages import (
    boots_with,
    by_mean,
    limit_of,
    metric_name,
    of_boots,
    overlap,
    spread,
    threshold_of,
)
from rtbisect.report.headline_figure import medians
from rtbisect.report.text import (
    TABLE,
    Column,
    foreign,
    grouped,
    many,
    number,
    suffix,
    table,
    unit_text,
)
from rtbisect.report.wording import said, words_of
from rtbisect.suites.base import source_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.report import ReportInput
    from rtbisect.model.result import Origin, TableRow, Verification

#: Rows that a mail prints of the checks and of the ends, and lines of the factor table.
MAX_ROWS = 8
MAX_ENDS = 12
MAX_FACTORS = 12
#: Characters of a line of functions.
MAX_SOURCE = 48


def factor_table(report: ReportInput, most: int) -> tuple[str, ...]:
    """Kernel by workload: a headed group of kernels for each metric and level of the workload,
    the searched metric and its control first; `most` lines at most, and of groups behind the
    first one no part.
    """
    rows = sorted(report.result.table, key=lambda row: not _searched(report, row))
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for row in rows:
        cells = (row.kernel, _figure_cell(row), str(row.sample.n))
        groups.setdefault(_heading(row), []).append(cells)
    if not groups:
        return ()
    columns = (
        Column("kernel"),
        Column("median [min..max]", right=True),
        Column("n", right=True),
    )
    lines = grouped(columns, groups)
    shown, complete = lines[: 2 + most], 2
    for group in groups.values():
        if complete + 1 + len(group) > len(shown):
            break
        complete += 1 + len(group)
    if complete == len(lines):
        return lines
    # A kernel without the one that it is compared with says nothing.
    return (*(shown[:complete] if complete > 2 else shown), "  more in result.json")


def _figure_cell(row: TableRow) -> str:
    """A median with its range; of a figure of boots how many have it."""
    return boots_with(row.metric, row.sample) or spread(row.sample, mean=row.mean)


def _heading(row: TableRow) -> str:
    """What a group of the factor table is of: `ipi.res_per_s in pf-on, /s, beside x:pf`."""
    level = "no workload" if row.workload == "none" else f"beside {row.workload}"
    place = f"{metric_name(row.metric)} in {row.metric.window}"
    parts = (
        place,
        unit_text(row.unit),
        level,
        "mean" if row.mean and not of_boots(row.metric) else "",
    )
    return foreign(", ".join(part for part in parts if part), TABLE - 2)


def _searched(report: ReportInput, row: TableRow) -> bool:
    key = report.result.metric
    limit = threshold_of(report, key) if key is not None else None
    return row.metric == key or (limit is not None and row.metric == limit.control)


def check_table(report: ReportInput, most: int) -> tuple[str, ...]:
    """The checks after the search: medians, effect with interval, p, boots; `most` of them.

    In a parent check the parent stands first, in a revert check the reverted tip. The medians
    stand in the table of what was measured, too: without room they are left out here.
    """
    checks = report.result.verifications[:most]
    if not checks:
        return ()
    limits = [limit_of(report, check.judgement) for check in checks if check.judgement]
    columns = (
        Column("check"),
        Column("status"),
        Column(_middles_word(limits), right=True, spare=True),
        Column("effect [95%]", right=True),
        Column("p", right=True),
        Column("n", right=True),
    )
    rows = [
        (_label(report, check), check.status, *_figures(report, check.judgement))
        for check in checks
    ]
    return table(columns, rows)


def _figures(report: ReportInput, judgement: Judgement | None) -> tuple[str, ...]:
    """Medians, effect with interval, p, boots; each `-` where there is none."""
    if judgement is None:
        return ("-",) * 4
    return medians(report, judgement), _effect(report, judgement), *_p_and_boots(judgement)


def _middles_word(limits: Sequence[Threshold | None]) -> str:
    """What the middles of boots are in these rows."""
    if limits and all(limit is not None and of_boots(limit.key) for limit in limits):
        return "boots"
    return "means" if limits and all(map(by_mean, limits)) else "medians"


def origin_table(report: ReportInput, most: int) -> tuple[str, ...]:
    """What the change of the searched figure is made of: shares and rates of each source."""
    origins = report.result.origins[:most]
    if not origins:
        return ()
    columns = (
        Column("share", right=True),
        Column("parent", right=True),
        Column("commit", right=True),
        Column("source"),
    )
    rows: list[tuple[str, ...]] = []
    for origin in origins:
        first, *more = _source_lines(origin)
        rates = (number(rate, whole=False) for rate in (origin.parent, origin.culprit))
        rows.append((f"{100 * origin.share:.0f}%", *rates, first))
        rows += [("", "", "", line) for line in more]
    return table(columns, rows)


def _source_lines(origin: Origin) -> list[str]:
    """Who it was, and below that the functions that it was in, MAX_SOURCE characters a line."""
    source, functions = source_parts(foreign(origin.name, 400))
    lines, line = [f"{origin.kind}: {source}"], ""
    for frame in functions:
        if line and len(line) + len(frame) + 3 > MAX_SOURCE:
            lines.append(f"  {line}")
            line = ""
        line = f"{line} < {frame}" if line else frame if len(lines) == 1 else f"< {frame}"
    return [*lines, f"  {line}"] if line else lines


def _label(report: ReportInput, check: Verification) -> str:
    """The name of a check, short enough for the table: `parent 1a2b3c4d`."""
    return f"parent {check.parent[:8]}" if check.parent else said(report, check.name)


def ends_table(report: ReportInput) -> tuple[str, ...]:
    """Judged metrics of the two ends, those that do not pass first and MAX_ENDS at most; effects
    are in result.json.
    """
    judgements = sorted(report.result.judgements, key=lambda each: each.level is Level.PASS)
    if not judgements:
        return ()
    columns = (
        Column("metric"),
        Column("verdict"),
        Column(" -> ".join(words_of(report).ends), right=True),
        Column("p", right=True),
        Column("n", right=True),
    )
    lines = table(
        columns,
        [
            (str(j.key), j.level, medians(report, j), *_p_and_boots(j))
            for j in judgements[:MAX_ENDS]
        ],
    )
    left = len(judgements) - MAX_ENDS
    return (*lines, f"  {many(left, 'more metric')} in result.json") if left > 0 else lines


def _effect(report: ReportInput, judgement: Judgement) -> str:
    """Ratio, or difference with its unit, and the interval; `-` when not measured."""
    limit = limit_of(report, judgement)
    if limit is None or not judgement.two_sided:
        return "-"
    effect, low, high = (
        number(value, whole=False) for value in (judgement.effect, *judgement.interval)
    )
    return f"{effect} [{low}..{high}]{suffix(limit.unit) if limit.scale is Scale.LINEAR else ''}"


def _p_and_boots(judgement: Judgement) -> tuple[str, str]:
    """The p value and the boots of both sides."""
    return f"{judgement.p:.2g}", f"{judgement.base.n}+{judgement.new.n}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """Parent and culprit under one level of the workload, as printed."""

    workload: str
    #: Name and digest of the site's own program that the workload is; "" for one of ours.
    of_site: str
    #: Where the source of a workload of ours lies; "" where it has none.
    source: str
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
    control = limit.control if limit else None
    unloaded = control.window if control else ""
    same_figure = [
        row.metric
        for row in report.result.table
        if (row.metric.suite, row.metric.name) == (key.suite, key.name)
    ]
    for wanted in (key, control, *same_figure):
        row_of = {
            row.kernel: row
            for row in reversed(report.result.table)
            if row.metric == wanted and row.sample.values
            if (row.workload != "none" and row.window != unloaded) == loaded
        }
        base, new = row_of.get(KernelRole.PARENT), row_of.get(KernelRole.CULPRIT)
        if base is not None and new is not None:
            overlaps = "" if overlap(base.sample, new.sample) else "do not "
            return Side(
                workload=foreign(base.workload, 40),
                of_site=foreign(site_program(base.workload), 35),
                source=_source_of(base.workload),
                metric=metric_name(base.metric),
                base=_level(base),
                new=_level(new),
                apart=""
                if of_boots(base.metric)
                else f"; the ranges of the boots {overlaps}overlap",
            )
    return None


def _source_of(workload: str) -> str:
    program = workload.partition(":")[0]
    ours = {place.name for place in (data("lava-jobs") / "workloads").iterdir()}
    return f"lava-jobs/workloads/{program}" if program in ours else ""


def _level(row: TableRow) -> str:
    """As printed; of a figure of boots how many have it."""
    share = boots_with(row.metric, row.sample)
    return f"seen in {share}" if share else spread(row.sample, row.unit, mean=row.mean)
