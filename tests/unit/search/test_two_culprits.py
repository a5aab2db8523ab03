# SPDX-License-Identifier: GPL-2.0-or-later
"""More than one culprit, and revisions that one culprit does not explain."""

import random

import pytest

from helpers.depth import deep
from helpers.searches import WAIT, chain
from rtbisect.model.campaign import Observation, Outcome
from rtbisect.model.kinds.search import Endings
from rtbisect.model.lab import RunStatus
from rtbisect.search import engine, stop
from rtbisect.search.events import Booted, Built
from rtbisect.search.predictive import contradictions
from rtbisect.search.spec import Finish, SearchSpec, Trial
from searchbench.simulate import events, rehearse


class Steps:
    """A line whose level rises by one `step` at each culprit; noise of sd 0.3."""

    def __init__(self, culprits, step=1.0, seed=1):
        self.culprits = culprits
        self.step = step
        self.rng = random.Random(seed)

    def build(self, sha):
        return f"kernel of {sha}"

    def level(self, sha):
        number = -1 if sha == "good" else int(sha[1:])
        return self.step * sum(number >= culprit for culprit in self.culprits)

    def boot(self, sha):
        return RunStatus.COMPLETE, self.level(sha) + self.rng.gauss(0, 0.3)


def spec(size):
    return SearchSpec(graph=chain(size), threshold=WAIT, seed=0, calibrate_max=20, max_boots=200)


@pytest.mark.parametrize("seed", range(deep(1, 4)))
def test_one_culprit_is_not_taken_for_two(seed):
    state, finish = rehearse(spec(60), Steps((23,), step=2.0, seed=seed))
    assert finish.outcome is Outcome.CULPRIT
    assert engine.answer(state).culprit == "c23"
    assert state.two.probability < 0.5
    assert state.two.commits[23] >= 0.95
    assert engine.answer(state).unlike == ()


@pytest.mark.parametrize("seed", range(deep(1, 4)))
def test_a_range_with_two_equal_culprits_is_cut_between_them(seed):
    state, finish = rehearse(spec(60), Steps((12, 41), seed=seed))
    found = engine.answer(state)
    if finish.outcome is Outcome.CULPRIT:
        # One of the two was sure before the other one: the verification sees that it is not all.
        assert found.culprit in ("c12", "c41")
        return
    assert finish.outcome is Outcome.MULTIPLE_CULPRITS
    assert 12 <= int(found.between[1:]) < 41
    assert found.culprit is None
    assert finish.reason.kind == Endings.TWO_CULPRITS
    assert finish.reason.data["sha"] == found.between


def test_what_two_culprits_may_explain_does_not_name_a_third_commit():
    for seed in range(deep(1, 8)):
        state, finish = rehearse(spec(60), Steps((20, 24), seed=seed))
        if finish.outcome is Outcome.CULPRIT:
            assert engine.answer(state).culprit in ("c20", "c24")


def log_of(levels, seed=3):
    """A search whose revisions had six boots each at these levels."""
    rng = random.Random(seed)
    state = engine.start(spec(40))
    for number in range(6):
        for sha, level in levels.items():
            if not number:
                state = engine.apply(state, Built(sha, True, sha, 1.0))  # noqa: FBT003
            seen = Observation(value=level + rng.gauss(0, 0.3))
            event = Booted(
                revision=sha,
                status=RunStatus.COMPLETE,
                observation=seen,
                seconds=1.0,
            )
            state = engine.apply(state, event)
    return state


def test_a_revision_on_the_wrong_side_is_told():
    sides = {f"c{n}": 3 * (n >= 20) for n in (3, 6, 10, 13, 16, 19, 20, 22, 25, 28, 32, 39)}
    consistent = log_of({"good": 0, **sides})
    assert contradictions(consistent.belief) == ()
    # Introduced, taken back and introduced again: no single commit explains c10.
    back = log_of({"good": 0, **sides, "c10": 3})
    told = contradictions(back.belief)
    assert [sha for sha, _ in told] == ["c10"]
    assert all(p < 0.01 / 13 for _, p in told)


def test_the_same_engine_searches_both_parts():
    world = Steps((12, 41), seed=5)
    _state, finish = rehearse(SearchSpec(graph=chain(30), threshold=WAIT, seed=0), world)
    assert finish.outcome is Outcome.CULPRIT


class Broken(Steps):
    """A stretch around the culprit does not build."""

    def build(self, sha):
        inside = sha != "good" and 93 <= int(sha[1:]) <= 104
        return None if inside else super().build(sha)


@pytest.mark.parametrize("seed", range(deep(1, 3)))
def test_unbuildable_neighbours_do_not_end_the_search_early(seed):
    spec = SearchSpec(graph=chain(200), threshold=WAIT, seed=0, calibrate_max=20, max_boots=200)
    state, finish = rehearse(spec, Broken((100,), step=0.9, seed=seed))
    assert finish.outcome is Outcome.CULPRIT_SET
    assert {sha for sha, _ in engine.answer(state).candidates} == {f"c{n}" for n in range(93, 106)}


def test_a_suspected_second_culprit_is_booted_again():
    suspected = 0
    for seed in range(3):
        state, world = engine.start(spec(60)), Steps((30,), step=1.0, seed=seed)
        while not isinstance(first := engine.propose(state)[0], Finish):
            if first.boot and state.ends.reproduced:
                again = stop.second_culprit_probe(state)
                if again is not None and state.belief.none <= stop.NONE_AT_MOST:
                    suspected += 1
                    assert first == Trial(again, "search")
                    assert again == state.two.between[0]
            for event in events(state, world, first):
                state = engine.apply(state, event)
    assert suspected
