# SPDX-License-Identifier: GPL-2.0-or-later
"""What makes the figure of a search differ, from all that was measured in it."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from rtbisect.judge.blocks import offsets
from rtbisect.judge.boots import Boots
from rtbisect.judge.bursts import TimedRun, burst_of, outside
from rtbisect.judge.differs import (
    Change,
    Counted,
    Facts,
    Spread,
    change_of_ends,
    difference,
    judged_change,
    spread_of,
)
from rtbisect.model.campaign import Outcome, Statistic
from rtbisect.model.command import CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.counts import Counts
from rtbisect.model.kinds.difference import Differs
from rtbisect.model.result import CheckName, CheckStatus, Difference, DiffersBy
from rtbisect.model.subject import Measured
from rtbisect.pipeline.count_search import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.campaign import Threshold
    from rtbisect.model.result import Verification
    from rtbisect.pipeline.answer import Answer
    from rtbisect.pipeline.steps import Steps

#: Options of `rtbisect run` that tell code from layout.
RELAYOUT, COUNT = "--relayout", "--count instructions"


def difference_of(steps: Steps, threshold: Threshold, answer: Answer) -> Difference | None:
    """What makes it; None where there is nothing to tell."""
    if answer.outcome in (Outcome.NOOP, Outcome.NO_REGRESSION) or answer.outside:
        return None
    if counted(steps):
        steps_found = [each for each in answer.reasons if each.kind == Counts.STEP]
        if not (answer.culprit and steps_found):
            return None
        why = Finding.of(Differs.COUNTS, instructions=steps_found[0].data["share"])
        return Difference(DiffersBy.CODE, why)
    facts = _facts(steps, threshold, answer)
    return difference(facts) if facts else None


def _facts(steps: Steps, threshold: Threshold, answer: Answer) -> Facts | None:
    """None where the figure has no level that a change could be a share of."""
    request = steps.setup.request
    runs = _timed(steps, threshold)
    burst = burst_of(runs, request.seed) if threshold.statistic is not Statistic.FRACTION else None
    older = [run.level for run in runs if run.revision == request.older]
    unit = abs(statistics.median(older)) if older else 0.0
    if not unit:
        return None
    calm = _of_ends(steps, outside(runs, burst), unit)
    named, builds = bool(answer.culprit), _builds(answer)
    change, layouts = _change(steps, threshold, answer, builds) if named else (None, (0, 0))
    if not named:
        change = _of_ends(steps, runs, unit)
        layouts = _sides(steps, runs) if steps.traits.relaid else (0, 0)
    return Facts(
        metric=str(threshold.key),
        better=threshold.better,
        named=named,
        only_layout=answer.outcome is Outcome.LAYOUT_SENSITIVE,
        alike=answer.outcome is Outcome.NOT_REPRODUCED,
        change=change,
        calm=calm,
        counted=_counts(answer),
        layouts=layouts,
        spread=None if named else _spread(steps, outside(runs, burst), builds, unit),
        burst=burst,
        burst_share=burst.shift / unit if burst else None,
        layout_most=_layout_most(steps, builds, named=named),
        helps=_helps(steps),
    )


def _timed(steps: Steps, threshold: Threshold) -> tuple[TimedRun, ...]:
    """All runs with the figure, without what their hosts add."""
    told = [
        (number, run, seen)
        for number, run in enumerate(steps.runs, 1)
        for seen in Boots((run,)).figure(threshold.key)
    ]
    added = offsets(
        [(f"{run.revision} {run.layout}", seen.host, seen.value) for _, run, seen in told]
    )
    return tuple(
        TimedRun(
            number=number,
            revision=run.revision,
            build=f"{run.revision} {run.layout}",
            level=seen.value - added[seen.host],
        )
        for number, run, seen in told
    )


def _levels(steps: Steps, runs: Sequence[TimedRun]) -> tuple[list[float], list[float]]:
    """Of both ends."""
    request = steps.setup.request
    older, newer = (
        [run.level for run in runs if run.revision == end] for end in (request.older, request.newer)
    )
    return older, newer


def _of_ends(steps: Steps, runs: Sequence[TimedRun], unit: float) -> Change | None:
    return change_of_ends(*_levels(steps, runs), unit)


def _sides(steps: Steps, runs: Sequence[TimedRun]) -> tuple[int, int]:
    older, newer = _levels(steps, runs)
    return len(older), len(newer)


def _builds(answer: Answer) -> Verification | None:
    """The check on other builds that were compared."""
    checks = (check for check in answer.checks if check.check is CheckName.BUILDS)
    return next((check for check in checks if check.judgement), None)


def _change(
    steps: Steps, threshold: Threshold, answer: Answer, builds: Verification | None
) -> tuple[Change | None, tuple[int, int]]:
    """The change that the commit makes, and over how many layouts of both sides it is."""
    kernel = steps.traits.measured is Measured.KERNEL
    # Neighbours of a commit are other builds of a command, and may share a layout.
    if kernel and builds and builds.judgement and builds.status is CheckStatus.PASS:
        sides = builds.judgement.base.n, builds.judgement.new.n
        return judged_change(threshold, builds.judgement, by_t=True), sides
    judgement = answer.result().judgement
    sides = (judgement.base.n, judgement.new.n) if judgement and steps.traits.relaid else (0, 0)
    return judged_change(threshold, judgement), sides


def _counts(answer: Answer) -> Counted | None:
    for each in answer.after:
        if each.kind in (Counts.BESIDE, Counts.SAME):
            share = each.data["share"]
            assert isinstance(share, float)
            return Counted(share, each.kind == Counts.SAME)
    return None


def _spread(
    steps: Steps, runs: Sequence[TimedRun], builds: Verification | None, unit: float
) -> Spread | None:
    """How builds whose code makes no difference differ."""
    if steps.traits.relaid:
        return None
    if builds and builds.judgement:
        sides = builds.judgement.base.values, builds.judgement.new.values
        if all(len(side) > 1 for side in sides):
            pooled = statistics.fmean(statistics.variance(side) for side in sides)
            return Spread(pooled**0.5 / unit, None, sum(map(len, sides)))
    groups: dict[str, list[float]] = {}
    for run in runs:
        groups.setdefault(run.build, []).append(run.level)
    return spread_of(groups, unit)


def _layout_most(steps: Steps, builds: Verification | None, *, named: bool) -> float:
    """The largest change that layouts are asked about; 0 where they are not the question."""
    traits, limit = steps.traits, steps.setup.limits.layout_below
    # That no other build of a kernel was tested its mail says itself.
    asked = traits.built_apart or not named or builds is not None
    return limit if asked and traits.builds else 0.0


def _helps(steps: Steps) -> tuple[str, ...]:
    if steps.traits.measured is Measured.KERNEL:
        return ()
    command = CommandRequest.of(steps.setup.request)
    asked = {RELAYOUT: command.relayout, COUNT: bool(command.count)}
    return tuple(option for option, given in asked.items() if not given)
