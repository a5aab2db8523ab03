# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs that something else on the machine slowed.

On a shared machine another process takes time for some runs in a row. Such a run is worse than
either end is, and says nothing of its revision. It is told by its height alone: both ends are
booted in turns, so a burst hits them alike, and slow runs that come with the change do not.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy

from rtbisect.judge.scale import by_mean, counted
from rtbisect.judge.stats import OF_MAD
from rtbisect.search.rounded import half_step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.campaign import Threshold
    from rtbisect.search.ancestry import Floats
    from rtbisect.search.likelihood.features import Views

#: A run so many scales above the worse end is worse than its code is.
BEYOND = 6.0
#: What lies beyond both ends by less than this share of what they differ in is at their levels.
OF_SHIFT = 0.25
#: Where the newer end has more of them, by less than this p, they may be what has changed: bursts
#: last, so that they hit one end more often than lots would. The other p is where the older end has
#: none.
ALIKE, NEVER = 0.01, 0.1
#: The newer end has at least this part of the share of calm runs that the older one has.
CALM = 1 / 3
#: Runs of one revision that are all so bad, after which its code is.
ALL_BAD = 6
#: Runs of one revision that are so bad in a row, after better ones: the machine has another level
#: from then on, and no run is told from others by its height.
MOVED = 10
#: Share of the runs of an end that are surely calm, and how many at least: the best ones.
SURELY, FEWEST = 0.3, 3
#: How often these grow.
STEPS = 3


def of_boots(
    threshold: Threshold, *ends: tuple[tuple[Views, ...], tuple[str, ...]], rounded: bool
) -> float:
    """The badness above which a boot was disturbed, by the boots of both ends, the older one first,
    and their hosts; `rounded`: values may be. Shares and counts have no such level, and hosts have
    one each.
    """
    if by_mean(threshold) or counted(threshold) or len({h for _, hosts in ends for h in hosts}) > 1:
        return math.inf
    good, bad = (tuple(boot[0] for boot in boots) for boots, _ in ends)
    return ceiling(good, bad, half_step(threshold, (*good, *bad)) if rounded else 0.0)


@lru_cache(maxsize=64)
def ceiling(good: tuple[float, ...], bad: tuple[float, ...], least_scale: float = 0.0) -> float:
    """The badness above which a run was disturbed, by the runs of the older end and of the newer
    one, whose scale is so much at least; infinite where the newer one has more such runs.
    """
    if not (good and bad):
        return math.inf
    ends = np.sort(good), np.sort(bad)
    limit = _limit(ends, least_scale)
    hit_good, hit_bad = (int((end > limit).sum()) for end in ends)
    if 1 - hit_bad / len(bad) < CALM * (1 - hit_good / len(good)):
        return math.inf
    runs, hits = len(good) + len(bad), hit_good + hit_bad
    p = float(scipy.stats.hypergeom.sf(hit_bad - 1, runs, hits, len(bad)))
    return limit if p > (ALIKE if hit_good else NEVER) else math.inf


def levels(good: tuple[float, ...], bad: tuple[float, ...]) -> tuple[float, float]:
    """Between which badness the runs of a range lie, by those of its ends."""
    middles, scale = _middles_and_scale([np.array(good), np.array(bad)])
    room = max(BEYOND * scale, OF_SHIFT * abs(middles[1] - middles[0]))
    return min(middles) - room, max(middles) + room


def _middles_and_scale(ends: Sequence[Floats]) -> tuple[list[float], float]:
    """The middle of each end, and the scale of the runs around them."""
    middles = [float(np.median(end)) for end in ends]
    away = [np.abs(end - middle) for end, middle in zip(ends, middles, strict=True)]
    return middles, OF_MAD * float(np.median(np.concatenate(away)))


def _limit(ends: tuple[Floats, Floats], least_scale: float) -> float:
    """BEYOND scales above the worse end, and as much as the ends differ by at least, both without
    the runs that lie above that. It grows from the best runs of each end, sorted, since more than
    half of them may be disturbed; in few steps, or it would climb over bursts of all heights.
    """
    calm = [end[: max(FEWEST, math.ceil(SURELY * end.size))] for end in ends]
    limit = math.inf
    for _ in range(STEPS):
        middles, scale = _middles_and_scale(calm)
        # What is less than the change hardly misleads a search for it.
        beyond = BEYOND * max(scale, least_scale)
        limit = max(middles) + max(beyond, abs(middles[1] - middles[0]))
        calm = [end[end <= limit] for end in ends]
        if not all(end.size for end in calm):
            return math.inf
    return limit
