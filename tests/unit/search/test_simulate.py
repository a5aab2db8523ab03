# SPDX-License-Identifier: GPL-2.0-or-later
"""The search on recorded boots of two real kernels, on a graph of 64 commits with merges."""

import csv
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers.campaigns import RES
from helpers.depth import deep
from rtbisect.model.campaign import Outcome, Scale
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.model.lab import RunStatus
from rtbisect.search import engine
from rtbisect.search.ancestry import Ancestry
from rtbisect.search.spec import SearchSpec
from searchbench.simulate import rehearse

POOL = Path(__file__).parents[2] / "data" / "eventpoll-lock-tcg.csv"


def pool(column):
    """Values of the kernel with the rwlock (good) and with the spinlock (bad)."""
    with POOL.open() as source:
        rows = list(csv.DictReader(source))
    return tuple(
        [float(row[column]) for row in rows if row["lock"] == lock]
        for lock in ("rwlock", "spinlock")
    )


def history(size=64, seed=1):
    """A main line with side branches of two to six commits that are merged back."""
    rng = random.Random(seed)
    commits, tip, number = [], "good", 0

    def add(*parents):
        nonlocal number
        name = f"c{number:03d}"
        commits.append(Commit(name, parents))
        number += 1
        return name

    tip = add(tip)
    while number < size - 9:
        if rng.random() < 0.25:
            side = tip
            for _ in range(rng.randint(2, 6)):
                side = add(side)
            tip = add(tip)
            tip = add(tip, side)
        else:
            tip = add(tip)
    while number < size:
        tip = add(tip)
    return CommitGraph("good", tip, tuple(commits))


GRAPH = history()
ANCESTRY = Ancestry(GRAPH)


class Recorded:
    """Draws a recorded boot of the kernel that a revision behaves like."""

    def __init__(self, good, bad, culprit, seed):
        self.good, self.bad = good, bad
        self.culprit = ANCESTRY.index[culprit]
        self.rng = random.Random(seed)

    def build(self, sha):
        return ""

    def boot(self, sha):
        is_bad = ANCESTRY.side(sha)[self.culprit]
        return RunStatus.COMPLETE, self.rng.choice(self.bad if is_bad else self.good)


#: Ten show that the search finds what it looks for, forty how often it does.
TRIALS, RIGHT = deep((5, 5), (40, 38))


def trials(good, bad, count=TRIALS, threshold=RES):
    found = []
    rng = random.Random(7)
    for seed in range(count):
        culprit = rng.choice(GRAPH.commits).sha
        spec = SearchSpec(graph=GRAPH, threshold=threshold, seed=seed)
        state, finish = rehearse(spec, Recorded(good, bad, culprit, seed))
        answer = engine.answer(state)
        boots = state.ledger.boots - 2 * state.ends.used
        found.append((answer.culprit == culprit, finish.outcome, boots, state.ledger.builds))
    return found


def test_the_graph_has_merges():
    assert len(GRAPH) == 64
    assert sum(len(c.parents) > 1 for c in GRAPH.commits) >= 3


def test_recorded_rescheduling_interrupts_find_the_culprit():
    found = trials(*pool("res_per_s_on"))
    assert sum(right for right, *_ in found) >= RIGHT
    assert np.mean([boots for _, _, boots, _ in found]) <= 9
    assert np.mean([builds for *_, builds in found]) <= 11


def test_the_ratio_of_two_counts_finds_the_culprit():
    with POOL.open() as source:
        rows = list(csv.DictReader(source))
    ratio = {
        lock: [
            float(r["res_per_s_on"]) / float(r["iwi_per_s_on"]) for r in rows if r["lock"] == lock
        ]
        for lock in ("rwlock", "spinlock")
    }
    threshold = replace(RES, floor=0.0)
    found = trials(ratio["rwlock"], ratio["spinlock"], threshold=threshold)
    assert sum(right for right, *_ in found) >= RIGHT
    assert np.mean([boots for _, _, boots, _ in found]) <= 9


@pytest.mark.parametrize("column", ["res_per_s_on", "osnoise_max_single_us_off"])
def test_ends_from_the_same_pool_give_no_culprit(column):
    good, _ = pool(column)
    outcomes = {outcome for _, outcome, _, _ in trials(good, good)}
    assert outcomes == {Outcome.NOT_REPRODUCED}


def test_a_quantised_metric_with_a_large_shift_is_no_trap():
    good = [v / 1000 for v in pool("rcu_p50_us")[0]]
    above = replace(RES, min_effect=1.1)
    found = trials(good, [v + 3 for v in good], count=deep(5, 15), threshold=above)
    assert all(right for right, *_ in found)
    constant = trials([6.0], [9.0], count=deep(5, 10), threshold=above)
    assert all(right for right, *_ in constant)


def test_a_small_effect_is_found_with_controls_or_left_open():
    """One standard deviation: confidence is right at least as often as it claims."""
    rng = np.random.default_rng(9)
    good = rng.standard_t(4, size=4000).tolist()
    linear = replace(RES, scale=Scale.LINEAR, min_effect=0.3, floor=0.0)
    named = wrong = controls = 0
    trials, least = deep((5, 2), (12, 6))
    for seed in range(trials):
        culprit = GRAPH.commits[5 * seed].sha
        world = Recorded(good, [v + 2.0 for v in good], culprit, seed)
        spec = SearchSpec(graph=GRAPH, threshold=linear, seed=seed, max_boots=150)
        state, _ = rehearse(spec, world)
        answer = engine.answer(state)
        named += answer.culprit is not None
        wrong += answer.culprit not in (None, culprit)
        ends = len(state.ledger.values["good"]) + len(state.ledger.values[GRAPH.newer])
        controls += ends - 2 * state.ends.used
    assert named >= least
    assert wrong <= 1
    assert controls > trials
