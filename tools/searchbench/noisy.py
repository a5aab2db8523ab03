# SPDX-License-Identifier: GPL-2.0-or-later
"""Noisy bisection with a Gaussian likelihood: what a good script does that takes the calibration
for the truth. Levels and scale are those of the ends, each commit of the real graph has a
posterior, and the next boot is of the revision that halves it. There is no "no regression".
"""

from __future__ import annotations

import statistics
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.model.campaign import Outcome
from searchbench.calibration import calibrated
from searchbench.scoring import Said, said

if TYPE_CHECKING:
    from collections.abc import Callable

    from searchbench.world import World

MOST_BOOTS = 900
#: A revision that cuts off less of the posterior tells nothing more.
_LEAST = 1e-3


def gauss(target: float, world: World, _arm: str) -> Said:
    """Stops as soon as one commit, or a set that nothing tells apart, has `target`."""
    ends = calibrated(world)
    if ends is None:
        return said(Outcome.NOT_REPRODUCED)
    good, bad = (statistics.fmean(end) for end in ends)
    variance = statistics.fmean(statistics.variance(end) for end in ends)
    ancestry, commits = world.ancestry, world.graph.commits
    log, testable = np.zeros(ancestry.size), np.ones(ancestry.size, dtype=np.bool_)
    for _ in range(MOST_BOOTS):
        weight = np.exp(log - log.max())
        weight /= weight.sum()
        best = int(weight.argmax())
        if weight[best] >= target:
            return Said(Outcome.CULPRIT.value, (commits[best].sha,), float(weight[best]))
        mass = ancestry.mass(weight)
        cuts = np.where(testable, np.minimum(mass, 1 - mass), -1.0)
        place = int(cuts.argmax())
        if cuts[place] < _LEAST:
            order = np.argsort(-weight, kind="stable")
            size = int(np.searchsorted(np.cumsum(weight[order]), target)) + 1
            named = tuple(commits[i].sha for i in order[:size].tolist())
            return Said(Outcome.CULPRIT_SET.value, named, float(weight[order[:size]].sum()))
        sha = commits[place].sha
        if world.build(sha) is None:
            testable[place] = False
            continue
        value = world.values(sha, 1)[0]
        # Log likelihood of bad over good.
        log += np.where(
            ancestry.ancestors_or_self(place),
            (value - (good + bad) / 2) * (bad - good) / variance,
            0.0,
        )
    return said(Outcome.INCONCLUSIVE)


ARMS: dict[str, Callable[[World, str], Said]] = {
    "gauss-95": partial(gauss, 0.95),
    "gauss-99": partial(gauss, 0.99),
}
