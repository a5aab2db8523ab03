# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of a mail: what a change is made of, and the judged figures of both ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.model.campaign import Judgement, Level
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.report import Columns
from rtbisect.report.headline_figure import medians
from rtbisect.report.kernel_table import headings, notes
from rtbisect.report.origins import sources
from rtbisect.report.text import (
    Column,
    foreign,
    grouped,
    many,
    number,
    table,
)
from rtbisect.report.wording import said, words_of

if TYPE_CHECKING:
    from rtbisect.model.report import ReportInput
    from rtbisect.report.origins import Source

MAX_ENDS = 12
#: Characters of a line of functions.
MAX_SOURCE = 48


def origin_table(report: ReportInput, most: int) -> tuple[str, ...]:
    """What the change of the searched figure is made of: shares and rates of each source."""
    shown = sources(report.result.origins)[:most]
    if not shown:
        return ()
    columns = (
        Column("share", right=True),
        Column("parent", right=True),
        Column("commit", right=True),
        Column("source"),
    )
    rows: list[tuple[str, ...]] = []
    for source in shown:
        first, *more = _source_lines(report, source)
        rates = (number(rate, whole=False) for rate in (source.parent, source.culprit))
        rows.append((f"{100 * source.share:.0f}%", *rates, first))
        rows += [("", "", "", line) for line in more]
    return table(columns, rows)


def _source_lines(report: ReportInput, source: Source) -> list[str]:
    """Who it was, and below that the functions that it was in, MAX_SOURCE characters a line."""
    lines, line = [f"{source.kind}: {said(report, source.who)}"], ""
    for frame in (foreign(name, MAX_SOURCE) for name in source.functions):
        if line and len(line) + len(frame) + 3 > MAX_SOURCE:
            lines.append(f"  {line}")
            line = ""
        line = f"{line} < {frame}" if line else frame if len(lines) == 1 else f"< {frame}"
    return [*lines, f"  {line}"] if line else lines


def ends_table(report: ReportInput, most: int = MAX_ENDS) -> tuple[str, ...]:
    """Judged metrics of the two ends, those that do not pass first and `most` at most; effects
    are in result.json.
    """
    judgements = sorted(report.result.judgements, key=lambda each: each.level is Level.PASS)
    if not judgements:
        return ()
    columns = (
        Column("figure"),
        Column("verdict"),
        Column(" -> ".join(words_of(report).ends), right=True),
        Column("p", right=True),
        Column("n", right=True),
    )
    shown = judgements[:most]
    below = headings([each.key for each in shown], report.result.table)
    groups: dict[str, list[tuple[str, ...]]] = {}
    for each in shown:
        key = each.key
        figure = Finding.of(Columns.IN_SUITE, suite=key.suite, name=key.name, unit="")
        row = (said(report, figure), each.level, medians(report, each), *_p_and_boots(each))
        groups.setdefault(below.above[key.suite, key.window], []).append(row)
    left = len(judgements) - most
    rest = (f"  {many(left, 'more figure')} in result.json",) if left > 0 else ()
    return (*grouped(columns, groups), *rest, *notes(report, below))


def _p_and_boots(judgement: Judgement) -> tuple[str, str]:
    """The p value and the boots of both sides."""
    return f"{judgement.p:.2g}", f"{judgement.base.n}+{judgement.new.n}"
