# SPDX-License-Identifier: GPL-2.0-or-later
"""git-bayesect 1.2 as an arm: its own Bisector, from the Python package index.

As it is it walks first parents only; `fed` gives it the calibration boots and a linearised list
of all commits, which its author does not claim to support. Its observations are pass or fail:
a run beyond the middle of the calibration fails. What does not build is skipped.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.model.campaign import Outcome
from searchbench.calibration import calibrated
from searchbench.scoring import Said, said

if TYPE_CHECKING:
    from searchbench.world import World

TARGET = 0.95
MOST_RUNS = 900
#: Where the limit of a tuned arm lies, from the good level (0) to the bad one (1).
TUNED = 0.5


def arm(world: World, name: str) -> Said:
    """What git-bayesect names."""
    from git_bayesect import Bisector  # noqa: PLC0415  (only this arm needs it)

    fed = name != "bayesect"
    graph = world.graph
    ends = calibrated(world)
    if ends is None:
        return said(Outcome.NOT_REPRODUCED)
    good, bad = (statistics.median(end) for end in ends)
    limit = good + (TUNED if name == "bayesect-tuned" else 0.5) * (bad - good)
    shas = [c.sha for c in reversed(graph.commits)] if fed else _first_parents(world)
    prior = np.ones(len(shas) + 1)
    prior[-1] = 0.0  # the good end is no candidate
    bisector = Bisector(prior)
    if fed:
        for index, values in ((len(shas), ends[0]), (0, ends[1])):
            for value in values:
                bisector.record(index, value > limit)
    for _ in range(MOST_RUNS):
        best = int(np.argmax(bisector.distribution))
        if bisector.distribution[best] >= TARGET:
            return Said(Outcome.CULPRIT.value, (shas[best],), float(bisector.distribution[best]))
        index = bisector.select()
        sha = shas[index] if index < len(shas) else graph.older
        if world.build(sha) is None:
            bisector.record(index, None)
            continue
        bisector.record(index, world.values(sha, 1)[0] > limit)
    return said(Outcome.INCONCLUSIVE)


def _first_parents(world: World) -> list[str]:
    """From the bad end down to the good one."""
    parents = {c.sha: c.parents for c in world.graph.commits}
    sha, found = world.graph.newer, []
    while sha in parents:
        found.append(sha)
        sha = parents[sha][0]
    return found
