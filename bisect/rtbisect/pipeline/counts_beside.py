# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of instructions as evidence beside another figure: does the commit execute more, or is it
where the code lies, and what it waits for?
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rtbisect.judge.differs import EXPLAINS, share_of
from rtbisect.model.campaign import Outcome
from rtbisect.model.command import CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.counts import Counts
from rtbisect.model.kinds.search import Untestable
from rtbisect.model.lab import Run
from rtbisect.model.subject import Measured, RunOrder
from rtbisect.pipeline.count_search import SMALLEST, counted, spread

if TYPE_CHECKING:
    from rtbisect.model.campaign import Threshold
    from rtbisect.pipeline.answer import Answer
    from rtbisect.pipeline.steps import Steps

#: Runs of each of the two revisions.
RUNS = 2
#: A difference of counts that vary has to be so many times what two runs differ by: with two runs
#: that says little, and a wrapper in Python alone moves them by 0.03%.
CLEAR = 5
#: Two revisions that cannot differ by more than this share execute as many instructions, where that
#: explains nothing of the change of the figure either.
AS_MANY = 0.005


def beside(steps: Steps, threshold: Threshold, answer: Answer) -> tuple[Finding, ...]:
    """What counts say of the commit and its parent, of both ends where none is named; () where
    nobody asks for them, or nothing is left to run, from the beginning or meanwhile.
    """
    request = steps.setup.request
    if steps.traits.measured is not Measured.COMMAND or not CommandRequest.of(request).count:
        return ()
    if counted(steps) or answer.outcome is Outcome.NOOP or not steps.budget.boots_left:
        return ()
    older, newer = request.older, request.newer
    judgement = None
    if answer.culprit:
        result = answer.result()
        older, newer, judgement = (
            _parent_of(steps, answer, answer.culprit),
            answer.culprit,
            result.judgement,
        )
    steps.tell(Counts.BY, counter=CommandRequest.of(request).count)
    counts: dict[str, tuple[float, ...]] = {}
    for sha in (older, newer):
        values = _counted(steps, sha)
        if values is None:
            return ()
        if isinstance(values, Finding):
            return (steps.tell(Counts.UNCOUNTED, revision=sha, why=values),)
        counts[sha] = values
    apart = max(map(spread, counts.values()))
    before, after = min(counts[older]), min(counts[newer])
    share = (after - before) / max(1.0, before)
    change, low, high = share_of(threshold, judgement) or (None, None, None)
    return (
        steps.tell(
            _kind(share, apart, change), older=older, newer=newer, share=share, spread=apart,
            metric=str(threshold.key), change=change, low=low, high=high,
        ),
    )  # fmt: skip


def _kind(share: float, apart: float, change: float | None) -> Counts:
    """What a difference of counts says beside the change of the figure; all are shares."""
    least = max(SMALLEST, CLEAR * apart)
    if abs(share) > least:
        return Counts.BESIDE
    most = AS_MANY if change is None else min(AS_MANY, EXPLAINS * abs(change))
    return Counts.SAME if least <= max(SMALLEST, most) else Counts.UNSURE


def _parent_of(steps: Steps, answer: Answer, culprit: str) -> str:
    """Its own parent, which may have come into the graph in the course of the search."""
    request = steps.setup.request
    graph = answer.graph or steps.graph(request.older, request.newer)
    return graph.parents_of(culprit)[0]


def _counted(steps: Steps, sha: str) -> tuple[float, ...] | Finding | None:
    """Counts of a revision, or why it has none; None where the time is over meanwhile."""
    if not steps.may_build(sha):
        return None
    build, journal = steps.build(sha), steps.ports.journal
    if not build.ok:
        return Finding.of(Untestable.NO_BUILD)
    values: list[float] = []
    for number in range(1, RUNS + 1):
        steps.further.heed_stop()
        if not steps.budget.boots_left:
            return None
        identity = f"{journal.campaign}-c{sha[:12]}-{number}"
        order = RunOrder(run_id=identity, number=number, count=True)
        run = journal.step(
            f"count/{sha}/{number}", Run, partial(steps.ports.subject.run, build, order)
        )
        if not run.complete:
            return run.reason or Finding.of(Untestable.INVALID, runs=1)
        values += [seen.value for seen in run.measurements]
    return tuple(values)
