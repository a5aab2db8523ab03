# SPDX-License-Identifier: GPL-2.0-or-later
"""Searches in worlds with noise, up to where the ends are known to differ."""

from dataclasses import replace

import numpy as np

from helpers.searches import chain
from rtbisect.model.campaign import Statistic
from rtbisect.model.lab import RunStatus
from rtbisect.search import engine
from rtbisect.search.spec import SearchSpec
from searchbench.calibration import THRESHOLD
from searchbench.simulate import events

SIZE = 64


class Noisy:
    """A commit that the seed draws makes boots two standard deviations worse, or lets nine of ten
    fail instead of one of twenty.
    """

    def __init__(self, seed, *, failures=False):
        self.rng = np.random.default_rng(seed)
        self.failures = failures
        self.culprit = int(self.rng.integers(SIZE))

    def build(self, sha):
        return f"kernel of {sha}"

    def boot(self, sha):
        bad = sha != "good" and int(sha[1:]) >= self.culprit
        if self.failures:
            return RunStatus.COMPLETE, float(self.rng.random() < (0.9 if bad else 0.05))
        return RunStatus.COMPLETE, float(20 + 2 * bad + self.rng.standard_normal())


def noisy(seed, *, failures=False):
    """A search whose ends are known to differ, and its world, which goes on from there."""
    statistic = Statistic.FRACTION if failures else THRESHOLD.statistic
    spec = SearchSpec(
        graph=chain(SIZE),
        threshold=replace(THRESHOLD, statistic=statistic),
        seed=seed,
        looks_max=40,
        max_boots=500,
        max_builds=200,
    )
    state, world = engine.start(spec), Noisy(seed, failures=failures)
    while not state.ends.reproduced:
        for heard in events(state, world, engine.propose(state)[0]):
            state = engine.apply(state, heard)
    return state, world
