# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may hear of a report, and what stands in the way: decided by facts, not by words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.judge.improvements import improved
from rtbisect.model.campaign import Cause, Outcome
from rtbisect.report.headline_figure import (
    claim,
    headline,
)

if TYPE_CHECKING:
    from rtbisect.model.campaign import Judgement
    from rtbisect.model.report import ReportInput


def stands_still(report: ReportInput) -> bool:
    """Whether the figure is that boots stand still, in some of them and not in others."""
    found = claim(report)
    return bool(found and found.base_seen) and report.result.cause is Cause.KERNEL


def better(report: ReportInput) -> tuple[Judgement, ...]:
    """Figures of the newer end that are better, where nothing regressed. Of a search for a repair
    none is: there the newer end is asked to be better.
    """
    result = report.result
    if result.outcome is not Outcome.NO_REGRESSION or report.repair:
        return ()
    return improved(result.judgements, report.thresholds)


def measured(report: ReportInput) -> bool:
    """Whether the figure that a mail opens with was measured on both sides."""
    found = headline(report)
    return found is not None and bool(found[0].base.values and found[0].new.values)


def mailable(report: ReportInput) -> bool:
    """Whether a list may ever get it: real machine, foreign workload, a proven culprit with its
    figure on both sides; of repairs those of boots that stand still. What stands still is not told
    without the words of its console.
    """
    return not what_lacks(report) and (
        not report.device.emulated
        and not report.synthetic_workload
        and report.result.outcome is Outcome.CULPRIT
        and report.culprit is not None
        and (not report.repair or stands_still(report))
        and report.result.cause in {Cause.KERNEL, Cause.WORKLOAD_DEPENDENT}
        and all(gate.ok for gate in report.result.gates)
    )


def what_lacks(report: ReportInput) -> str:
    """What a report on a commit is not told without, "" where it has all."""
    if not measured(report):
        return "It was not measured on both sides"
    if stands_still(report) and not report.excerpt:
        return "No console of what stands still"
    return ""
