# SPDX-License-Identifier: GPL-2.0-or-later
"""The campaign log: what was asked, what happened, how it ended, told as a story."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.report.averages import metric_name
from rtbisect.report.headline_figure import boots_by
from rtbisect.report.mail_values import cost
from rtbisect.report.posterior import probability, rows
from rtbisect.report.text import ascii_line, foreign, wrap
from rtbisect.report.wording import said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.finding import Finding
    from rtbisect.model.report import ReportInput
    from rtbisect.model.result import Result


def log_text(
    report: ReportInput, story: Sequence[Finding], question: str, *, boots: bool = True
) -> str:
    """The campaign log from what was told: numbered prose at 72 columns, pure ASCII.
    Behind it the posterior over commits, and the `boots` of both sides.
    """
    result = report.result
    parts = ["What was asked", "", wrap(foreign(question, 600), first="  ", rest="  ")]
    if result.metric is not None:
        window = ascii_line(result.metric.window, 30)
        parts.append(f"  metric {metric_name(result.metric)} in window {window}")
    parts += ["", "What happened", "", *_numbered_items(report, story), "", "How it ended", ""]
    parts += _ending(report, result)
    if result.candidates:
        parts += ["", "Posterior over commits", ""]
        parts += rows(result.candidates, report.graph, 12, width=20)
    title, drawn = boots_by(report) if boots else ("", ())
    if drawn:
        parts += ["", title, "", *drawn]
    return "\n".join(parts) + "\n"


def _numbered_items(report: ReportInput, story: Sequence[Finding]) -> list[str]:
    items = [
        wrap(said(report, finding, 600), first=f"{count:>3}. ", rest="     ")
        for count, finding in enumerate(story, 1)
    ]
    return items or ["  nothing was told"]


def _ending(report: ReportInput, result: Result) -> list[str]:
    ending = [f"  outcome     {result.outcome} (cause: {result.cause})"]
    if result.culprit:
        ending.append(f"  culprit     {ascii_line(result.culprit, 40)}")
    return [
        *ending,
        f"  confidence  {probability(result.confidence)}",
        f"  cost        {cost(report.summary)}",
        *(
            wrap(said(report, reason, 300), first="  because     ", rest=" " * 14)
            for reason in result.reasons
        ),
    ]
