# SPDX-License-Identifier: GPL-2.0-or-later
"""Two shares of failures, compared at several looks with one p value for all of them.

Runs that pass or fail take few values, so that the exact test of Fisher at a share of alpha a look
uses a fraction of that alpha. Here the p value is computed over all looks together, for whichever
chance of a failure makes it largest (Barnard, 1945), with limits of Wang and Tsiatis (1987).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from rtbisect.judge import blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.judge.blocks import Pair

Floats: TypeAlias = NDArray[np.float64]

#: Runs at a look over runs at the look before: between more looks nearly nothing is saved.
GROWTH = 1.25
#: The limit of a look is the last one's times (last / runs) to this power: half of what Wang and
#: Tsiatis call 1/2 - Delta. 0 would find large differences sooner, and small ones less often.
EARLY = 0.15
#: Chances of a failure that are tried, evenly by their angle, up to one half: above it passes and
#: failures change places.
_CHANCES = 40
#: Numbers of failures further than so many standard deviations from their mean are left out; the
#: p value rises by what they may have, far below 1e-9.
_REACH, _MORE = 8.0, 12


def p_of_looks(values: Pair[float], hosts: Pair[str], looks: Sequence[int], seed: int = 0) -> float:
    """P value of `all_looks_p` of runs that failed (1) or passed (0). On several hosts, and where
    the sides do not have the runs of a look, each look has its share (Bonferroni).
    """
    one, other = values
    plain = {*one, *other} <= {0.0, 1.0} and len(one) == len(other) and len(one) in looks
    if plain and blocks.exchanged_freely(hosts):
        return all_looks_p((round(sum(one)), round(sum(other))), len(one), looks)
    return min(1.0, len(looks) * blocks.exchange_p(values, hosts, ranks=False, seed=seed))


def all_looks_p(failed: tuple[int, int], runs: int, looks: Sequence[int]) -> float:
    """P value of "the second fails more often", of `failed` runs of `runs` a side at one of these
    looks (runs a side, ascending), whichever look it is: in at most this share of pairs that do not
    differ any look is as far out. 1 where the second does not fail more often.
    """
    # What a look shows in the scale of the last one.
    seen = distance(failed, runs) * (runs / looks[-1]) ** EARLY
    return _chance_of(round(seen, 9), tuple(looks)) if seen > 0 else 1.0


def distance(failed: tuple[int, int], runs: int) -> float:
    """By how many standard errors the second share is larger, of `runs` runs a side."""
    return float(_distance(*failed, runs))


def _distance(one: Floats | int, other: Floats | int, runs: int) -> Floats:
    """Difference of the two shares in standard errors of equal ones; 0 where all are the same."""
    pooled = (np.asarray(one, dtype=np.float64) + other) / (2 * runs)
    error = np.sqrt(pooled * (1 - pooled) * 2 / runs)
    apart = (np.asarray(other, dtype=np.float64) - one) / runs
    return np.divide(apart, error, out=np.zeros_like(apart), where=error > 0)


@lru_cache(maxsize=1024)
def _chance_of(seen: float, looks: tuple[int, ...]) -> float:
    """The largest chance, over all chances of a failure, that a look is as far out as `seen`."""
    angles = (np.arange(_CHANCES) + 1) / _CHANCES * np.pi / 4
    return max(_crossing(seen, looks, float(chance)) for chance in np.sin(angles) ** 2)


def _crossing(seen: float, looks: tuple[int, ...], chance: float) -> float:
    """The chance that a look is as far out, where a run fails with this chance on both sides."""
    low, open_chance = 0, np.ones((1, 1))
    before, crossed = 0, 0.0
    for runs in looks:
        first, last = _range(runs, chance)
        failed_before = np.arange(low, low + open_chance.shape[0])
        step = _step(failed_before, (first, last), runs - before, chance)
        open_chance = step.T @ open_chance @ step
        failed = np.arange(first, last + 1, dtype=np.float64)
        limit = seen * (looks[-1] / runs) ** EARLY
        out = _distance(failed[:, None], failed[None, :], runs) >= limit - 1e-9
        crossed += float(open_chance[out].sum())
        open_chance = np.where(out, 0.0, open_chance)
        low, before = first, runs
    return min(1.0, crossed)


def _range(runs: int, chance: float) -> tuple[int, int]:
    """Fewest and most failures of so many runs that are worth a thought."""
    reach = _REACH * math.sqrt(runs * chance * (1 - chance)) + _MORE
    return max(0, math.floor(runs * chance - reach)), min(runs, math.ceil(runs * chance + reach))


def _step(before: NDArray[np.int_], after: tuple[int, int], runs: int, chance: float) -> Floats:
    """The chance of each number of failures after `runs` more, for each before, shape (b, a)."""
    added = np.arange(after[0], after[1] + 1)[None, :] - before[:, None]
    inside = (added >= 0) & (added <= runs)
    of_step = scipy.stats.binom.pmf(np.arange(runs + 1), runs, chance)
    step: Floats = np.where(inside, of_step[np.clip(added, 0, runs)], 0.0)
    return step
