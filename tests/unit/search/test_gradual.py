# SPDX-License-Identifier: GPL-2.0-or-later
"""A change in many small steps has no culprit."""

import random
from dataclasses import replace

import numpy as np
import pytest

from helpers.depth import deep
from helpers.searches import WAIT, chain
from rtbisect.model.campaign import Observation, Outcome, Statistic
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.model.kinds.search import Endings
from rtbisect.model.lab import RunStatus
from rtbisect.search import engine, gradual, stop
from rtbisect.search.ancestry import Ancestry
from rtbisect.search.events import Booted, Built
from rtbisect.search.gradual import FEWEST, NOT_GRADUAL, STRETCHES, farthest, stretches_of
from rtbisect.search.ledger import Ledger
from rtbisect.search.parts import Parts
from rtbisect.search.spec import BootPurpose, SearchSpec, Trial
from searchbench.simulate import rehearse


def spec(size=200, **changes):
    return SearchSpec(
        graph=chain(size), threshold=WAIT, seed=0, calibrate_max=20, max_boots=200, **changes
    )


def steps(count, size=200, seed=1):
    """So many commits anywhere in a line."""
    return sorted(random.Random(seed).sample(range(size), count))


class Rising:
    """A line whose level rises by 1 in all, in equal steps; `noise` is a standard deviation."""

    def __init__(self, culprits, seed=1, noise=0.3):
        self.culprits, self.noise = culprits, noise
        self.rng = random.Random(seed)

    def build(self, sha):
        return f"kernel of {sha}"

    def level(self, sha):
        number = -1 if sha == "good" else int(sha[1:])
        return sum(number >= culprit for culprit in self.culprits) / len(self.culprits)

    def boot(self, sha):
        return RunStatus.COMPLETE, self.level(sha) + self.rng.gauss(0, self.noise)


def log_of(culprits, asked=None, boots=11):
    """A search whose ends and some revisions between had so many boots each."""
    asked, world = asked or spec(), Rising(culprits)
    size = len(asked.graph.commits)
    inner = [f"c{place * size // 12}" for place in range(1, 12)]
    state = engine.start(asked)
    for number in range(boots):
        for sha in ("good", *inner, f"c{size - 1}"):
            if not number:
                state = engine.apply(state, Built(sha, True, sha, 1.0))  # noqa: FBT003
            seen = Observation(value=world.boot(sha)[1])
            event = Booted(revision=sha, status=RunStatus.COMPLETE, observation=seen, seconds=1.0)
            state = engine.apply(state, event)
    return state


@pytest.mark.parametrize("seed", deep([2], [1, 2, 3]))
def test_a_change_in_many_steps_ends_so(seed):
    state, finish = rehearse(spec(max_builds=120), Rising(steps(50, seed=seed), seed, 0.2))
    found = engine.answer(state)
    assert finish.outcome is Outcome.GRADUAL
    assert (found.culprit, found.candidates, found.between) == (None, (), "")
    assert found.confidence >= stop.GRADUAL_ENOUGH
    (reason,) = found.reasons
    assert (reason.kind, reason.data["boots"]) == (Endings.GRADUAL, state.ledger.boots)
    assert reason.data["kernels"] >= stop.INSIDE
    parts = reason.data["stretches"]
    assert len(parts) == STRETCHES
    assert (parts[0].data["older"], parts[-1].data["newer"]) == ("good", "c199")
    assert [part.data["newer"] for part in parts[:-1]] == [part.data["older"] for part in parts[1:]]
    assert sum(part.data["share"] for part in parts) == pytest.approx(1.0)
    assert all(0 <= part.data["low"] <= part.data["high"] <= 0.5 for part in parts)


@pytest.mark.parametrize("culprits", [(61,), (120,), (40, 130), (99, 101)])
def test_one_or_two_culprits_are_not_many_steps(culprits):
    state = log_of(culprits)
    assert state.gradual.probability < 0.01
    assert stop.gradual_finish(state) is None
    assert stop.gradual_probe(state) is None


def test_many_steps_name_nobody_and_cut_nothing():
    state = log_of(steps(50))
    assert state.gradual.probability >= stop.GRADUAL_ENOUGH
    assert state.two.probability < 1 - stop.SPLIT
    assert state.two.commits.max() < 1 - stop.SPLIT
    assert stop.several_finish(state).outcome is Outcome.GRADUAL


def test_shares_follow_where_the_steps_are():
    """All in the second and the third quarter, most in the second."""
    state = log_of([*range(52, 99, 2), *range(105, 150, 5)])
    parts = stretches_of(state.ledger, state.ancestry, state.gradual)
    shares = [part.share for part in parts]
    assert max(shares) == shares[1] <= 0.5
    assert shares[0] + shares[3] < 0.3
    assert all(part.low <= part.share <= part.high for part in parts[1:3])


def test_a_campaign_of_before_knows_no_many_steps():
    now, before = log_of(steps(50)), log_of(steps(50), spec(parts=Parts(gradual=False)))
    assert before.gradual is NOT_GRADUAL
    assert before.two.probability > now.two.probability
    assert (before.belief.commits == now.belief.commits).all()
    assert stop.gradual_finish(now) is not None
    assert stop.gradual_finish(before) is None


def test_a_budget_that_is_spent_tells_many_steps():
    state = log_of(steps(50))
    # Not at a boot at which it would be thought of in any case.
    assert state.ledger.boots % stop.TWO_EVERY
    spent = replace(state, spec=replace(state.spec, max_boots=state.ledger.boots))
    assert stop.stop_in_search(spent).outcome is Outcome.GRADUAL


def test_few_kernels_between_the_ends_are_not_enough():
    state = log_of(steps(50))
    few = replace(state)
    few.__dict__["gradual"] = replace(state.gradual, inside=stop.INSIDE - 1)
    assert stop.gradual_finish(few) is None
    assert stop.gradual_finish(state) is not None


def test_where_it_is_likely_the_widest_gap_is_booted():
    state = log_of(steps(50))
    suspected = replace(state)
    suspected.__dict__["gradual"] = replace(state.gradual, probability=0.5)
    suspected.__dict__["belief"] = replace(state.belief, none=stop.NONE_ENOUGH)
    sha = stop.gradual_probe(suspected)
    assert sha == farthest(state.ledger, state.ancestry, state.belief, build=True)
    booted = [
        int(sha[1:]) for kernel in state.belief.kernels for sha in kernel.shas if sha != "good"
    ]
    assert min(abs(int(sha[1:]) - place) for place in booted) == 8
    assert engine.propose(suspected) == (Trial(sha, BootPurpose.SEARCH, boot=False),)
    # Nothing that is built is left without boots.
    assert farthest(state.ledger, state.ancestry, state.belief, build=False) is None


def test_a_merge_that_brings_in_most_makes_fewer_stretches():
    """Of 100 commits 70 came in by one merge."""
    main = [Commit("m0", ("good",))] + [Commit(f"m{i}", (f"m{i - 1}",)) for i in range(1, 20)]
    side = [Commit("s0", ("good",))] + [Commit(f"s{i}", (f"s{i - 1}",)) for i in range(1, 70)]
    tail = [Commit("t0", ("m19", "s69"))] + [Commit(f"t{i}", (f"t{i - 1}",)) for i in range(1, 10)]
    graph = CommitGraph("good", "t9", (*main, *side, *tail))
    parts = stretches_of(Ledger(WAIT, ()), Ancestry(graph), NOT_GRADUAL)
    assert [(part.older, part.newer) for part in parts] == [
        ("good", "m19"),
        ("m19", "t0"),
        ("t0", "t9"),
    ]
    assert [part.share for part in parts] == pytest.approx([0.2, 0.71, 0.09])


def test_shares_of_failures_have_no_steps():
    asked = spec(40)
    failing = replace(WAIT, statistic=Statistic.FRACTION, min_effect=0.1)
    state = engine.start(replace(asked, threshold=failing))
    rng = np.random.default_rng(1)
    for _ in range(20):
        for sha, chance in (("good", 0.0), ("c19", 0.5), ("c39", 1.0)):
            seen = Observation(value=float(rng.random() < chance))
            event = Booted(revision=sha, status=RunStatus.COMPLETE, observation=seen, seconds=1.0)
            state = engine.apply(state, event)
    assert state.belief.possible
    assert state.gradual is NOT_GRADUAL


def test_a_short_range_has_no_many_steps():
    state = log_of(range(FEWEST - 1), spec(FEWEST - 1))
    assert state.belief.possible
    assert state.gradual is NOT_GRADUAL


def test_kernels_that_share_rows_are_weighed_as_each_alone(monkeypatch):
    """Layouts of one revision, and kernels of one stretch, are summed before rows are spread."""
    state = log_of(steps(50))
    for layout in (1, 2):
        seen = Observation(value=0.5 + layout / 10)
        event = Booted(
            revision="c100", status=RunStatus.COMPLETE, observation=seen, seconds=1.0, layout=layout
        )
        state = engine.apply(state, event)
    together = state.gradual
    groups = gradual._grouped

    def alone(has):
        every = np.arange(len(has))
        return [gradual._Group(every, [([k], has[:, k])]) for k in range(has.shape[1])]

    monkeypatch.setattr(gradual, "_grouped", alone)
    assert sum(len(group.kernels) for group in groups(np.ones((85, 3)))) == 1
    apart = replace(state).gradual
    assert together.probability == pytest.approx(apart.probability, rel=1e-9)
    np.testing.assert_allclose(together.weights, apart.weights, rtol=1e-7)
