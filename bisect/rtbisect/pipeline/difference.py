# SPDX-License-Identifier: GPL-2.0-or-later
"""What makes the figure of a search differ, from all that was measured in it."""

from __future__ import annotations

import statistics
from dataclasses import replace
from functools import partial
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
    spread_of_layouts,
)
from rtbisect.model.campaign import Outcome, Statistic
from rtbisect.model.command import CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.counts import Counts
from rtbisect.model.kinds.difference import Differs
from rtbisect.model.kinds.pipeline import Work
from rtbisect.model.kinds.search import Endings
from rtbisect.model.lab import Run
from rtbisect.model.result import CheckName, CheckStatus, Difference, DiffersBy
from rtbisect.model.subject import Measured, RunOrder
from rtbisect.pipeline.count_search import counted
from rtbisect.search.spec import BootPurpose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.campaign import Threshold
    from rtbisect.model.code import Build
    from rtbisect.model.ports import Note
    from rtbisect.model.result import Verification
    from rtbisect.pipeline.answer import Answer
    from rtbisect.pipeline.steps import Steps

#: Runs of so many layouts of one revision, each repeated, where each other run has its own: what
#: these differ in is no layout. So many other runs are compared with them at least.
LAYOUTS, REPEATS, ENOUGH_LAYOUTS = 2, 8, 6
#: Marks these runs (`Run.layout`).
REPEATED = 1
#: Options of `rtbisect run` that tell code from layout.
RELAYOUT, COUNT = "--relayout", "--count instructions"
#: Setting of a site file that tells code from layout for kernels.
RELINK = "build.layout: relink"


def difference_of(steps: Steps, threshold: Threshold, answer: Answer) -> Difference | None:
    """What makes the difference; None where there is nothing to tell."""
    if answer.outcome in (Outcome.NOOP, Outcome.NO_REGRESSION) or answer.outside:
        return None
    if any(reason.kind == Endings.SWAPPED for reason in answer.reasons):
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
    named, builds = bool(answer.culprit), _builds(answer)
    if threshold.statistic is Statistic.FRACTION and not named:
        return None
    runs = _timed(steps, threshold)
    older, _newer = _levels(steps, runs)
    unit = abs(statistics.median(older)) if older else 0.0
    if not (unit or named):
        return None
    # A commit is proved by runs in turn, whatever the machine does.
    burst = None if named else burst_of(runs, steps.setup.request.seed)
    alike = answer.outcome is Outcome.NOT_REPRODUCED
    kernel = steps.traits.measured is Measured.KERNEL
    calm_runs = outside(runs, burst)
    spread = None
    if named:
        change, layouts = _change(steps, threshold, answer, builds)
    elif steps.traits.relaid:
        change, layouts = _of_ends(steps, runs, unit), _sides(steps, runs)
        repeated = alike and steps.setup.limits.repeats_layouts and not kernel
        spread = _of_layouts(steps, threshold, calm_runs, unit) if repeated else None
    else:
        change, layouts = _of_ends(steps, runs, unit), (0, 0)
        # Builds of two ends that are alike are of two codes.
        spread = None if alike and not builds else _spread(calm_runs, builds, unit)
    return Facts(
        metric=str(threshold.key),
        # The direction as it was stated: a search for a repair has turned it round.
        better=threshold.toward(steps.setup.request.sought).better,
        named=named,
        only_layout=answer.outcome is Outcome.LAYOUT_SENSITIVE,
        alike=alike,
        change=change,
        calm=None if named else _of_ends(steps, calm_runs, unit),
        counted=_counts(answer),
        layouts=layouts,
        spread=spread,
        burst=burst,
        burst_share=burst.shift / unit if burst else None,
        layout_most=_layout_most(steps, builds, named=named),
        helps=_helps(steps),
    )


def _timed(steps: Steps, threshold: Threshold) -> tuple[TimedRun, ...]:
    """All runs with the figure that are comparable, without what their hosts add."""
    comparable = {id(run) for run in steps.alike}
    told = [
        (number, run, seen)
        for number, run in enumerate(steps.runs, 1)
        if id(run) in comparable
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
    """Levels of the runs of the older end, and of the newer one."""
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


def _spread(runs: Sequence[TimedRun], builds: Verification | None, unit: float) -> Spread | None:
    """How builds whose code makes no difference differ."""
    if builds and builds.judgement:
        sides = builds.judgement.base.values, builds.judgement.new.values
        if all(len(side) > 1 for side in sides):
            pooled = statistics.fmean(statistics.variance(side) for side in sides)
            return Spread(pooled**0.5 / unit, None, sum(map(len, sides)))
    groups: dict[str, list[float]] = {}
    for run in runs:
        groups.setdefault(run.build, []).append(run.level)
    return spread_of(groups, unit)


def _of_layouts(
    steps: Steps, threshold: Threshold, runs: Sequence[TimedRun], unit: float
) -> Spread | None:
    """How layouts of the older end differ; None where nothing is left to run, or the time is over
    meanwhile.
    """
    ends = _levels(steps, runs)
    if min(map(len, ends)) < ENOUGH_LAYOUTS or steps.budget.boots_left < LAYOUTS * REPEATS:
        return None
    repeated: list[list[float]] = [[] for _ in range(LAYOUTS)]
    older, journal, begun = steps.setup.request.older, steps.ports.journal, steps.begun
    build, due = steps.build(older), LAYOUTS * REPEATS
    for number in range(due):
        steps.further.heed_stop()
        what = Finding.of(
            Work.BOOTING, number=begun + number + 1, revision=older, purpose=BootPurpose.LAYOUT
        )
        budget = steps.budget
        if not budget.boots_left:
            return None
        left = budget.left(due - number, due - number)
        steps.ports.progress.step(what, begun + number + 1, begun + due, left)
        # In turn: a stretch of slow runs is one of both.
        layout = number % LAYOUTS
        order = RunOrder(
            run_id=f"{journal.campaign}-l{number}", number=number,
            linked_as=f"{journal.campaign}-l{layout}",
        )  # fmt: skip
        run = journal.step(f"layout/{number}", Run, partial(_linked, steps, build, order))
        repeated[layout] += [seen.value for seen in Boots((run,)).figure(threshold.key)]
    if min(map(len, repeated)) < REPEATS // 2:
        return None
    return spread_of_layouts(ends, repeated, unit)


def _linked(steps: Steps, build: Build, order: RunOrder, note: Note) -> Run:
    """A run of a layout that others have, too: no evidence of what the revision takes."""
    return replace(steps.ports.subject.run(build, order, note), layout=REPEATED)


def _layout_most(steps: Steps, builds: Verification | None, *, named: bool) -> float:
    """The largest change that layouts are asked about; 0 where they are not the question."""
    traits, limit = steps.traits, steps.setup.limits.layout_below
    # The mail of a kernel says itself that no other build of it was tested.
    asked = traits.built_apart or not named or builds is not None
    return limit if asked and traits.builds else 0.0


def _helps(steps: Steps) -> tuple[str, ...]:
    if steps.traits.measured is Measured.KERNEL:
        return () if steps.traits.relaid else (RELINK,)
    return options_that_tell(CommandRequest.of(steps.setup.request))


def options_that_tell(command: CommandRequest) -> tuple[str, ...]:
    """Options of `run` that tell code and layout apart, and were not given. Without --build there
    is nothing that could be linked again.
    """
    useless = {COUNT: bool(command.count), RELAYOUT: command.relayout or not command.build}
    return tuple(option for option, without in useless.items() if not without)
