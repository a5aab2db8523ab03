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
#: Where the limit of a tuned arm lies, from the good level (0) to the bad one (1), and at what it
#: stops. Best of 0.3 to 0.7 and of 0.95, 0.99 and 0.999 on trials 9000 to 9019 of linear-1sd and
#: kernel-1sd: 20 of 20 right, and 3 of 15 (at 0.5 and 0.95 it is 19, and 2).
TUNED_LIMIT, TUNED_TARGET = 0.6, 0.99


def arm(world: World, name: str) -> Said:
    """What git-bayesect names."""
    from git_bayesect import Bisector  # noqa: PLC0415  (only this arm needs it)

    fed = name != "bayesect"  # the tuned arm, too
    graph = world.graph
    ends = calibrated(world)
    if ends is None:
        return said(Outcome.NOT_REPRODUCED)
    good, bad = (statistics.median(end) for end in ends)
    share, target = (TUNED_LIMIT, TUNED_TARGET) if name == "bayesect-tuned" else (0.5, TARGET)
    limit = good + share * (bad - good)
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
        if bisector.distribution[best] >= target:
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
