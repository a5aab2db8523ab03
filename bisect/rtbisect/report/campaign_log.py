# SPDX-License-Identifier: GPL-2.0-or-later
"""The campaign log: what was asked, what happened, how it ended, told as a story."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.model.campaign import Outcome
from rtbisect.report.headline_figure import boots_by
from rtbisect.report.mail_values import cost
from rtbisect.report.posterior import rows
from rtbisect.report.text import ascii_line, foreign
from rtbisect.report.wording import said
from rtbisect.words.metrics import name_of
from rtbisect.words.numbers import probability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.finding import Finding
    from rtbisect.model.report import ReportInput
    from rtbisect.model.result import Result


def log_text(
    report: ReportInput, story: Sequence[Finding], question: str, *, boots: bool = True
) -> str:
    """The campaign log from what was told, a line each, numbered, pure ASCII.
    Behind it the posterior over commits, and the `boots` of both sides.
    """
    result = report.result
    parts = ["What was asked", "", f"  {foreign(question, 600)}"]
    if result.metric is not None:
        key = str(result.metric)
        parts.append(f"  figure: {foreign(name_of(key), 60)} ({foreign(key, 100)})")
    parts += ["", "What happened", "", *_numbered_items(report, story), "", "How it ended", ""]
    parts += _ending(report, result)
    if result.candidates:
        several = result.outcome is Outcome.MULTIPLE_CULPRITS
        title = "Culprits, each with its probability" if several else "Posterior over commits"
        parts += ["", title, ""]
        parts += rows(result.candidates, report.graph, 12, width=20)
    title, drawn = boots_by(report) if boots else ("", ())
    if drawn:
        parts += ["", title, "", *drawn]
    return "\n".join(parts) + "\n"


def _numbered_items(report: ReportInput, story: Sequence[Finding]) -> list[str]:
    items = [f"{count:>3}. {said(report, told, 600)}" for count, told in enumerate(story, 1)]
    return items or ["  nothing was told"]


def _ending(report: ReportInput, result: Result) -> list[str]:
    ending = [f"  outcome     {result.outcome} (cause: {result.cause})"]
    if result.culprit:
        ending.append(f"  culprit     {ascii_line(result.culprit, 40)}")
    if result.confidence:
        ending.append(f"  confidence  {probability(result.confidence)}")
    if result.difference:
        ending.append(f"  differs     {said(report, result.difference.why, 600)}")
    return [
        *ending,
        f"  cost        {cost(report.summary)}",
        *(f"  because     {said(report, reason, 600)}" for reason in result.reasons),
    ]
