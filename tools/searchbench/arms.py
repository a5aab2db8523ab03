# SPDX-License-Identifier: GPL-2.0-or-later
"""The arms of the benchmark: ours, ours without a part, the oracle; the others register here."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np

from rtbisect.model.campaign import Observation, Outcome, Sample
from rtbisect.model.lab import RunStatus
from rtbisect.pipeline.expectation import wanted_boots
from rtbisect.pipeline.proof import most_boots
from rtbisect.pipeline.search_and_proof import likely, tells_more
from rtbisect.pipeline.search_loop import (
    SearchEnd,
    probability_with_proof,
    proof_events,
)
from rtbisect.search import engine, stop, verification
from rtbisect.search.ancestry import candidates_between, forks
from rtbisect.search.events import Booted, Built
from rtbisect.search.likelihood import hypotheses
from rtbisect.search.parts import WHOLE_MODEL, Parts
from rtbisect.search.siblings import boots_to_keep, build_plan, builds_decide
from rtbisect.search.stop import LEADING
from rtbisect.search.verify_spec import VerifySpec
from searchbench import bayesect, git_arms, noisy
from searchbench.calibration import AMPLE, OF_RUN, OF_SITE, ample, spec_of
from searchbench.oracle import known_grids
from searchbench.scoring import Said, nameable, right, said, strict
from searchbench.simulate import carry_on, rehearse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rtbisect.model.campaign import Limits
    from rtbisect.search.events import Event
    from rtbisect.search.search_state import SearchState
    from rtbisect.search.spec import SearchAnswer, SearchSpec
    from searchbench.world import World

#: Limits of the arms with a proof where they are not those of the cell: one proof at most, those of
#: a site that says nothing and of `rtbisect run`, and no other builds where each boot is relinked.
PROVED: dict[str, Limits | None] = {
    "ours-proved": None,
    "ours-proved-once": replace(AMPLE, proofs=1),
    "ours-proved-as-calm": AMPLE,
    "ours-proved-no-speeds": AMPLE,
    "ours-proved-no-lots": AMPLE,
    "ours-proved-no-drift": AMPLE,
    "ours-proved-no-rounded": None,
    "ours-proved-no-share-reach": None,
    "ours-site": OF_SITE,
    "ours-run": OF_RUN,
    "ours-run-no-other-kernels": OF_RUN,
    "ours-relinked": replace(AMPLE, layout_below=0.0),
    "oracle-proved": None,
}
#: Arms of ours without a part (no world of these has figures of CPUs), and of the oracle: controls
#: tell of noise, which it knows.
PARTS = {
    "ours-run": Parts(layouts=False),
    "ours-run-no-other-kernels": Parts(layouts=False, other_kernels=False),
    "ours-relinked": Parts(layouts=False),
    "ours-no-controls": Parts(controls=False),
    "ours-no-layouts": Parts(layouts=False),
    "ours-no-cost": Parts(costs=False),
    "ours-no-h0": Parts(none=False),
    "ours-no-build-noise": Parts(build_noise=False),
    "ours-no-pairs": Parts(two_culprits=False),
    "ours-no-gradual": Parts(gradual=False),
    "ours-no-states": Parts(states=False),
    "ours-no-end-layouts": Parts(end_layouts=False),
    "ours-no-split-builds": Parts(split_builds=False),
    "ours-no-spent-builds": Parts(spent_builds=False),
    "ours-no-share-looks": Parts(share_looks=False),
    "ours-proved-no-share-reach": Parts(share_reach=False),
    "ours-no-failing-last": Parts(failing_last=False),
    "ours-no-ties": Parts(ties=False),
    "ours-proved-no-speeds": Parts(speeds=False),
    "ours-proved-no-lots": Parts(speeds_by_lot=False),
    "ours-proved-no-drift": Parts(drift=False),
    "ours-proved-no-rounded": Parts(rounded=False),
    "ours-as-calm": Parts(disturbed=False),
    "ours-proved-as-calm": Parts(disturbed=False),
    "oracle": Parts(controls=False),
    "oracle-proved": Parts(controls=False),
}


@dataclass(frozen=True)
class Row:
    """What one arm did in one trial: `right` and `strict` as in `scoring`; of the `size` commits
    that it named `first` is the likeliest and `holds` says whether a culprit is among them;
    `nameable`: somebody could have named the culprit alone.
    """

    cell: str
    arm: str
    trial: int
    outcome: str
    right: bool
    strict: bool
    first: str
    size: int
    holds: bool
    has_culprit: bool
    nameable: bool
    confidence: float
    boots: int
    runs: int
    builds: int
    hours: float
    cpu_s: float
    calibration: int
    reproduced: bool

    def data(self) -> dict[str, object]:
        return asdict(self)


@dataclass
class Played:
    """What a search of an arm may spend, in a world."""

    world: World
    limits: Limits
    #: Whether there is a proof, for which it leaves something.
    proof: bool
    #: Whether the search was forecast.
    forecast: bool = False

    def left(self, state: SearchState) -> int:
        """Boots that the search may still take."""
        left = self._left(state)
        if self.proof and state.ends.reproduced and not (left and self.forecast):
            self.forecast = True
            if self.limits.grows:
                self.grow(wanted_boots(self.limits, state, self.world.boots))
                left = self._left(state)
        return left

    def within(self, state: SearchState) -> SearchState:
        """The same search with what it may have in all by now."""
        most = state.ledger.boots + self.left(state)
        return state.with_limits(max_boots=most, max_builds=self.limits.max_builds)

    def _left(self, state: SearchState) -> int:
        kept = self.limits.kept_with(boots_to_keep(state)) if self.proof else 0
        return max(0, self.boots - kept)

    def grow(self, wanted: int) -> bool:
        """Whether it may spend more, for what wants so many boots in all."""
        before = self.limits.max_boots
        if (most := self.limits.grown(wanted)) <= before:
            return False
        self.limits = self.limits.with_boots(most)
        return True

    @property
    def boots(self) -> int:
        return max(0, self.limits.max_boots - self.world.boots)


def ours(world: World, arm: str, limits: Limits | None = None) -> Said:
    """Our engine, whole, without a part, or (the oracle) told the distributions; with the limits of
    the arm, or others.
    """
    play = Played(world, limits or PROVED.get(arm) or ample(world.cell), proof=arm in PROVED)
    spec = replace(spec_of(world, play.limits), parts=PARTS.get(arm, WHOLE_MODEL))
    # What the answer says of kernels that it does not explain is not a part of what is measured.
    unread = mock.patch("rtbisect.search.engine.contradictions", return_value=())
    with _told(world, arm), unread:
        state, _ = rehearse(spec, world, play.within)
        world.calibration, world.reproduced = state.ends.used, bool(state.ends.reproduced)
        answer = engine.answer(state)
        if answer.between:
            return split(play, spec, answer.between)
        if play.proof and answer.outcome is Outcome.CULPRIT:
            return proved(play, SearchEnd(answer, state))
    return _said(answer)


def _said(answer: SearchAnswer) -> Said:
    """What a search says: its culprit, all of its set, or nothing."""
    named: tuple[str, ...] = (answer.culprit,) if answer.culprit else ()
    if answer.outcome is Outcome.CULPRIT_SET:
        named = tuple(sha for sha, _ in answer.candidates)
    return Said(answer.outcome.value, named, answer.confidence)


def split(play: Played, spec: SearchSpec, between: str) -> Said:
    """Two culprits: the parts before and after the split are searched with what is left."""
    graph = play.world.graph
    before, after = (graph.older, between), (between, graph.newer)
    named = (_of_part(play, spec, *before) or {}) | (_of_part(play, spec, *after) or {})
    if not named:
        return said(Outcome.INCONCLUSIVE)
    return Said(Outcome.MULTIPLE_CULPRITS.value, tuple(named), min(named.values()))


def _of_part(play: Played, spec: SearchSpec, good: str, bad: str) -> dict[str, float] | None:
    """What a part of the range names, and how sure of it; None where that is left open. A merge of
    a branch that lacks what `good` has is named if nothing on that branch is found to differ.
    """
    if play.boots < 2 * spec.calibrate_min:
        return None
    world = play.world
    part, builds = candidates_between(world.graph, good, bad), play.limits.max_builds
    half = replace(spec, graph=part, max_boots=play.boots, max_builds=builds)
    answer = engine.answer(rehearse(half, world)[0])
    if not answer.culprit:
        return None if answer.outcome is Outcome.INCONCLUSIVE else {}
    branches = [
        _of_part(play, spec, world.graph.older, parent)
        for parent in forks(world.graph, good, answer.culprit)
    ]
    on_branches = {sha: sure for branch in branches if branch for sha, sure in branch.items()}
    if on_branches or None in branches:
        return on_branches or None
    return {answer.culprit: answer.confidence}


def proved(play: Played, found: SearchEnd) -> Said:
    """What is said after a proof of what a search has named; where that leaves it open, after the
    search has gone on with its boots, and so on.
    """
    world, again = play.world, play.limits.proves_again
    for proofs_left in range(play.limits.proofs - 1, -1, -1):
        outcome, confidence, heard, refuted = proof_of(play, found)
        if outcome is Outcome.CULPRIT:
            return replace(_said(found.answer), confidence=confidence)
        state = engine.with_proof(found.state, heard)
        if not (proofs_left and play.left(state)):
            break
        state, _ = carry_on(state, world, play.within)
        after = SearchEnd(engine.answer(state), state)
        if not tells_more(found, heard, after):
            if not again or refuted or not likely(after):
                break
            again = False
        found = after
        if found.answer.between:
            return split(play, state.spec, found.answer.between)
        if found.answer.outcome is not Outcome.CULPRIT:
            return _said(found.answer)
    return said(outcome)


def proof_of(play: Played, found: SearchEnd) -> tuple[Outcome, float, tuple[Event, ...], bool]:
    """What fresh boots of the culprit and its parents say, and of other builds where builds of one
    code differ; how sure of it that makes; what the search can make of these boots; and whether a
    check denies it.
    """
    answer, state, world = found.answer, found.state, play.world
    culprit = answer.culprit
    assert culprit is not None
    spec, graph = state.spec, state.spec.graph
    parents = next(commit.parents for commit in graph.commits if commit.sha == culprit)
    check = VerifySpec(
        culprit=culprit,
        parents=parents,
        threshold=spec.threshold,
        seed=spec.seed,
        revert=None,
        tip=graph.newer,
        endpoints=(
            Sample.of(state.ledger.observations[graph.older, 0]),
            Sample.of(state.ledger.observations[graph.newer, 0]),
        ),
        builds=build_plan(state, culprit) if builds_decide(state, sure=answer.sure) else None,
        boots_max=most_boots(state.ends.used),
        calm=state.calm,
        before=state.before,
        share_reach=spec.parts.share_reach,
    )
    proof = verification.start(check)
    while (step := verification.propose(proof)) is not None:
        if not (play.boots or play.grow(world.boots + 2 * check.boots_max)):
            break
        for event in _of_boot(world, step):
            proof = verification.apply(proof, event)
    checks, heard = verification.verifications(proof), proof_events(found, proof)
    if not verification.confirmed(proof):
        gone = verification.follows_layout(checks)
        outcome = Outcome.LAYOUT_SENSITIVE if gone else Outcome.INCONCLUSIVE
        return outcome, 0.0, heard, verification.denied(checks)
    probability, enough = probability_with_proof(found, proof, checks)
    sure = answer.sure and check.builds is None and probability >= LEADING
    outcome = Outcome.CULPRIT if sure or enough else Outcome.INCONCLUSIVE
    return outcome, probability, heard, False


def _of_boot(world: World, step: verification.Boot) -> tuple[Event, ...]:
    """What a boot of a proof says; only that it does not build, where it does not."""
    if world.build(step.revision) is None:
        return (Built(step.revision, False, "", 0.0),)  # noqa: FBT003
    value = world.values(step.revision, 1, step.layout)[0]
    return (
        Booted(
            revision=step.revision,
            status=RunStatus.COMPLETE,
            observation=Observation(value=value, host=world.host),
            seconds=0.0,
            layout=step.layout,
        ),
    )


@contextmanager
def _told(world: World, arm: str) -> Iterator[None]:
    """What the oracle is told: the distributions, which forced layouts tell of, too."""
    if not arm.startswith("oracle"):
        yield
        return
    lens = hypotheses.Lens(0, 0.0, 0.0, known_grids(world.cell))
    told = mock.patch.object(hypotheses, "fit", return_value=(lens,))
    with told, mock.patch.object(stop, "LAYOUTS", 0):
        yield


ARMS: dict[str, Callable[[World, str], Said]] = {
    "ours": ours,
    **dict.fromkeys((*PROVED, *PARTS), ours),
    "bayesect": bayesect.arm,
    "bayesect-fed": bayesect.arm,
    "bayesect-tuned": bayesect.arm,
    **noisy.ARMS,
    **git_arms.ARMS,
}


def run(world: World, arm: str, trial: int, limits: Limits | None = None) -> Row:
    """One arm in one world; inconclusive stays in, as not right. `limits` see `ours`, the only one
    that has any.
    """
    begin = time.process_time()
    answer = ours(world, arm, limits) if limits else ARMS[arm](world, arm)
    return Row(
        cell=world.cell.name,
        arm=arm,
        trial=trial,
        outcome=answer.outcome,
        right=right(world, answer),
        strict=strict(world, answer),
        first=next(iter(answer.named), ""),
        size=len(answer.named),
        holds=not world.truth.isdisjoint(answer.named),
        has_culprit=bool(world.truth),
        nameable=nameable(world),
        confidence=float(np.round(answer.confidence, 6)),
        boots=world.boots,
        runs=world.runs,
        builds=len(world.built),
        hours=world.hours,
        cpu_s=round(time.process_time() - begin, 3),
        calibration=world.calibration,
        reproduced=world.reproduced,
    )
