# SPDX-License-Identifier: GPL-2.0-or-later
"""What a test of two kernels says, as an answer prints it: the figure of the report, and every one
that both were measured in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbisect.model.campaign import Judgement, Level, Threshold
from rtbisect.model.mail import INTERNAL
from rtbisect.model.result import ENDS
from rtbisect.report.averages import metric_name, middle, spread, unit_of
from rtbisect.report.commit_view import commit_view
from rtbisect.report.headline_figure import effect_text, test_name
from rtbisect.report.mail_values import banner, cost
from rtbisect.report.own import mailable
from rtbisect.report.text import Column, ascii_line, grouped, header_text, many, short
from rtbisect.report.wording import said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.finding import Finding
    from rtbisect.model.report import ReportInput
    from rtbisect.model.result import KernelRole, Result, Summary, TableRow

_VERDICTS = {
    Level.REGRESSED: "takes the effect back",
    Level.PASS: "does not change the figure",
    Level.UNDECIDED: "leaves it open whether the figure changes",
}

#: Figures of an answer.
MOST_FIGURES = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class AbTest:
    """Two kernels that were booted for a report."""

    #: What the newer one is.
    what: Finding
    #: Their full shas.
    base: str
    new: str
    #: Of the figure of the report, turned: REGRESSED takes the effect back.
    judgement: Judgement
    #: How the report judges it.
    limit: Threshold
    #: The campaign that booted them, with what it found and cost.
    check: str
    result: Result
    summary: Summary


def subject(report: ReportInput) -> str:
    """The subject of the answer in the thread of a report."""
    title = header_text(report.culprit.subject if report.culprit else report.tree, 90)
    return f"{'' if mailable(report) else f'{INTERNAL} '}Re: {title}: test result"


def context(report: ReportInput, test: AbTest) -> dict[str, Any]:
    """All names of the template of an answer."""
    judgement, limit, result = test.judgement, test.limit, test.result
    unit = unit_of(report, limit.key)
    measured = any(row.metric == limit.key for row in result.table)
    return {
        "banner": banner(report),
        "what": said(report, test.what),
        "verdict": _VERDICTS[judgement.level] if measured else "was not measured",
        "metric": metric_name(limit.key),
        "base": middle(judgement.base, unit, limit),
        "new": middle(judgement.new, unit, limit),
        "base_short": short(test.base),
        "new_short": short(test.new),
        "base_sha": test.base,
        "new_sha": test.new,
        "effect": effect_text(report, judgement) if judgement.two_sided else "",
        "boots": f"{judgement.base.n} + {judgement.new.n} boots",
        "test": test_name(limit, judgement),
        "p": f"{judgement.p:.2g}",
        "culprit": commit_view(report.culprit) if report.culprit else None,
        "figures": compared(*(_rows_of(result, kernel) for kernel in ENDS)),
        "worse": tuple(
            f"Worse: {ascii_line(str(worse.key), 60)}: {said(report, worse.reason, 160)}"
            for worse in result.judgements
            if worse.level is Level.REGRESSED
        ),
        "check": test.check,
        "cost": cost(test.summary),
    }


def _rows_of(result: Result, kernel: KernelRole) -> list[TableRow]:
    """What was measured of a kernel, judged figures first."""
    judged = {judgement.key for judgement in result.judgements}
    rows = (row for row in result.table if row.kernel == kernel)
    return sorted(rows, key=lambda row: row.metric not in judged)


def compared(before: Sequence[TableRow], after: Sequence[TableRow]) -> tuple[str, ...]:
    """Figure by figure, under a heading for each suite and window, in the order of `before`; of
    more than MOST_FIGURES the first are shown, and how many are not. () where there is none.
    """
    after_rows = {row.metric: row for row in after}
    pairs = [(row, after_rows[row.metric]) for row in before if row.metric in after_rows]
    if not pairs:
        return ()
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for old, new in pairs[:MOST_FIGURES]:
        before_text = spread(old.sample, mean=old.mean)
        after_text = spread(new.sample, new.unit, mean=new.mean)
        cells = (old.metric.name, before_text, after_text)
        groups.setdefault(f"{old.metric.suite} in {old.metric.window}", []).append(cells)
    # Suite and window stand above, so that names have room beside wide figures.
    columns = (Column("figure"), Column("before", right=True), Column("after", right=True))
    lines = grouped(columns, groups)
    left = len(pairs) - MOST_FIGURES
    return (*lines, f"  and {many(left, 'figure')} more") if left > 0 else lines
