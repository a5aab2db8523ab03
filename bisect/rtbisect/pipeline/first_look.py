# SPDX-License-Identifier: GPL-2.0-or-later
"""What the first runs of both ends say of the request: the unit, a figure that never changes, first
runs that differ from later ones, or a change the other way round. Of a command only; who
asks for a kernel's figure takes it from a list.
"""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.errors import MisaskedError
from rtbisect.judge.boots import Boots
from rtbisect.model.campaign import Better, Statistic
from rtbisect.model.command import CommandRequest, Extra
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Ends, Work
from rtbisect.model.lab import REBUILT_S
from rtbisect.model.subject import Measured
from rtbisect.pipeline.boot_queue import BootRequest
from rtbisect.search.spec import BootPurpose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.campaign import Threshold
    from rtbisect.pipeline.steps import Steps


def learn_unit(steps: Steps, older: str) -> None:
    """Make the first run where only the output of a command says the unit of its figure, so that
    all that is told has it; the search has this run, too.
    """
    (*_, threshold) = steps.setup.thresholds
    if threshold.unit or threshold.statistic is Statistic.FRACTION or not _looks(steps):
        return
    if not steps.may_build(older) or not steps.build(older).ok or not steps.budget.boots_left:
        return
    left = 2 * steps.setup.limits.calibrate_min - 1
    run = steps.boot(BootRequest(sha=older, purpose=BootPurpose.CALIBRATE, left=left))
    for seen in run.measurements:
        threshold = replace(threshold, unit=seen.unit)
        steps.setup = replace(steps.setup, thresholds=(threshold,))
        steps.tell(
            Work.FIGURE, purpose=BootPurpose.CALIBRATE, revision=older, variant="",
            metric=str(threshold.key), value=seen.value, unit=seen.unit,
        )  # fmt: skip


def _looks(steps: Steps) -> bool:
    """Not of a kernel, nor of a campaign that began before there was a first look."""
    measured = steps.traits.measured
    return measured is Measured.COMMAND and CommandRequest.of(steps.setup.request).first_look


def heed(steps: Steps, threshold: Threshold, older: str, newer: str) -> bool:
    """Look once both ends have the runs of the first look; whether it was looked, or there is
    nothing to look for. MisaskedError where all runs of the ends differ the other way round.
    """
    request, limits = steps.setup.request, steps.setup.limits
    # A merge base may be like the newer end: then the end that it stands for is looked at. The
    # ends of a part of the range are nobody's words.
    part = (older, newer) != (request.older, request.newer)
    if part or not _looks(steps) or Extra.of(request).given:
        return True
    evidence = steps.evidence()
    if older not in evidence or newer not in evidence:
        return False
    before, after = (
        [seen.value for seen in evidence[end].figure(threshold.key)] for end in (older, newer)
    )
    if min(len(before), len(after)) < limits.calibrate_min:
        return False
    if threshold.statistic is Statistic.FRACTION:
        if all(before) and all(after):
            steps.tell(Ends.ALL_FAIL, boots=len(before), campaign=steps.ports.journal.campaign)
    elif len({*before, *after}) == 1:
        steps.tell(Ends.CONSTANT, boots=len(before), value=before[0], unit=threshold.unit)
    elif not steps.traits.relaid:
        _tell_fresh(steps, threshold.unit, older, newer)
    # `better` is as judged: the sought change makes the figure worse.
    lower, higher = (after, before) if threshold.better is Better.LOWER else (before, after)
    if max(lower) < min(higher):
        good, bad = map(_range, request.sought.ends(before, after))
        raise MisaskedError(
            f"the change is the other way round: the good end has {good}, the bad end {bad}",
            "exchange --good and --bad, or look at --better",
        )
    return True


def all_failed(steps: Steps, threshold: Threshold) -> tuple[Finding, ...]:
    """What an answer that names no commit says where no run of the ends has passed: a command that
    cannot work looks like a test that fails before the change as it does after it.
    """
    if threshold.statistic is not Statistic.FRACTION or not _looks(steps):
        return ()
    request, evidence = steps.setup.request, steps.evidence()
    ends = [evidence.get(end, Boots()) for end in (request.older, request.newer)]
    values = [[seen.value for seen in end.figure(threshold.key)] for end in ends]
    boots = min(map(len, values))
    if not boots or not all(map(all, values)):
        return ()
    campaign = steps.ports.journal.campaign
    return (Finding.of(Ends.ALL_FAILED, boots=boots, campaign=campaign),)


def _tell_fresh(steps: Steps, unit: str, older: str, newer: str) -> None:
    """Tell where runs of files that are new there lie apart from those behind them, at both ends on
    one side: caches are cold, or files are compiled on first use.
    """
    fresh, behind = _by_place(steps, older)
    gap, other_gap = _gap(fresh, behind), _gap(*_by_place(steps, newer))
    if gap * other_gap > 0:
        medians = {"fresh": statistics.median(fresh), "behind": statistics.median(behind)}
        steps.tell(Ends.FRESH_DIFFER, **medians, unit=unit)


def _by_place(steps: Steps, sha: str) -> tuple[list[float], list[float]]:
    """Figures of the runs of a revision right after its checkout or its build, and of all others.
    What has no build of its own is checked out anew after each run of another revision.
    """
    fresh: list[float] = []
    behind: list[float] = []
    at, ran = "", False
    for run in steps.runs:
        if run.revision == sha:
            there = ran if steps.traits.built_apart else at == sha
            place = behind if there and REBUILT_S not in dict(run.facts) else fresh
            place += [seen.value for seen in run.measurements]
            ran = True
        at = run.revision
    return fresh, behind


def _gap(fresh: Sequence[float], behind: Sequence[float]) -> float:
    """How far all of one side are from all of the other, below 0 where the fresh ones are lower; 0
    where that is no more than those behind are from each other, or these are too few.
    """
    if not fresh or len(behind) < 2:
        return 0.0
    above, below = min(fresh) - max(behind), min(behind) - max(fresh)
    if max(above, below) <= max(behind) - min(behind):
        return 0.0
    return above if above > below else -below


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.4g} to {max(values):.4g} in {len(values)} runs"
