# SPDX-License-Identifier: GPL-2.0-or-later
"""Statistics over boots: permutation tests, intervals, Holm, effect sizes.

Samples are sequences of floats, one value a boot, already on the scale that they are
compared on. An empty sample or a value that is not finite raises ValueError.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import chain, combinations
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy

if TYPE_CHECKING:
    from collections.abc import Sequence

    #: Number of boots of base and of new.
    Pair = tuple[Sequence[float], Sequence[float]]

Floats: TypeAlias = npt.NDArray[np.float64]
Alternative = Literal["greater", "less", "two-sided"]

#: Up to this many splits the permutation test enumerates all of them.
EXACT_SPLITS = 50_000
#: Up to this many values the test on ranks counts all splits.
EXACT_RANKS = 120
#: Random splits of the sampled permutation test; its smallest p is 1 / (this + 1).
SAMPLED_SPLITS = 20_000
#: Number of bootstrap resamples.
RESAMPLES = 4_000
_BLOCK = 2_000
#: Standard deviation of a normal distribution in median deviations.
OF_MAD = 1.4826
#: Confidence level of the intervals that are reported.
LEVEL = 0.95


def _checked_array(values: Sequence[float], name: str) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} is empty")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds a value that is not finite")
    return array


def smallest_p(base_n: int, new_n: int) -> float:
    """Smallest p value that a one-sided permutation test of these sizes can give."""
    splits = math.comb(base_n + new_n, new_n)
    return 1 / splits if splits <= EXACT_SPLITS else 1 / (SAMPLED_SPLITS + 1)


def permutation_p(
    base: Sequence[float],
    new: Sequence[float],
    *,
    alternative: Alternative,
    seed: int = 0,
) -> float:
    """P value of the difference of means, new - base; "greater": new is greater.

    Exact up to EXACT_SPLITS splits, else sampled with the +1 correction (Phipson and
    Smyth, 2010). Splits that tie with the observed one count as extreme.
    """
    base_values, new_values = _checked_array(base, "base"), _checked_array(new, "new")
    pooled = np.concatenate([base_values, new_values])
    pooled -= pooled.mean()
    if alternative == "less":
        pooled = -pooled
    # With centred values the difference of means is a multiple of the sum over `new`.
    observed = float(pooled[base_values.size :].sum())
    slack = 1e-9 * float(np.abs(pooled).sum())
    exact = math.comb(pooled.size, new_values.size) <= EXACT_SPLITS
    sums = (
        _all_sums(pooled, new_values.size) if exact else _random_sums(pooled, new_values.size, seed)
    )
    if alternative == "two-sided":
        sums, observed = np.abs(sums), abs(observed)
    extreme = int(np.count_nonzero(sums >= observed - slack))
    return extreme / sums.size if exact else (extreme + 1) / (sums.size + 1)


def fisher_p(base: Sequence[bool], new: Sequence[bool]) -> float:
    """P value of the shares of what is true, in the direction in which they differ: the one-sided
    exact test of Fisher (1934), which `permutation_p` samples.
    """
    every, true, size = len(base) + len(new), sum(base) + sum(new), len(new)
    most = min(size, true)
    seen = sum(new)
    if seen * len(base) >= sum(base) * size:
        extreme = range(seen, most + 1)
    else:
        extreme = range(max(0, size + true - every), seen + 1)
    ways = sum(math.comb(true, n) * math.comb(every - true, size - n) for n in extreme)
    return ways / math.comb(every, size)


def rank_p(
    base: Sequence[float],
    new: Sequence[float],
    *,
    alternative: Alternative,
    seed: int = 0,
) -> float:
    """P value of the same test on mid-ranks (Wilcoxon 1945, with ties): one stray boot weighs no
    more than the worst ordinary one. Exact up to EXACT_RANKS values in all.
    """
    base_values, new_values = _checked_array(base, "base"), _checked_array(new, "new")
    pooled = np.concatenate([base_values, new_values])
    _, value_index, times = np.unique(pooled, return_inverse=True, return_counts=True)
    # Twice the mid-rank is a whole number: 2 + 4 for the first two values, 3 + 3 when they tie.
    twice = (2 * np.cumsum(times) - times + 1)[value_index.reshape(-1)]
    if pooled.size > EXACT_RANKS:
        ranks = twice.tolist()
        return permutation_p(
            ranks[: base_values.size], ranks[base_values.size :], alternative=alternative, seed=seed
        )
    ways = _rank_sums(tuple(np.sort(twice).tolist()), new_values.size)
    sums, observed = np.arange(ways.size), int(twice[base_values.size :].sum())
    middle = new_values.size * (pooled.size + 1)
    if alternative == "two-sided":
        extreme = np.abs(sums - middle) >= abs(observed - middle)
    else:
        extreme = sums >= observed if alternative == "greater" else sums <= observed
    return min(1.0, float(ways[extreme].sum() / ways.sum()))


@lru_cache(maxsize=64)
def _rank_sums(ranks: tuple[int, ...], size: int) -> Floats:
    """How many subsets of `size` of the ranks have each sum: counted by one rank after another."""
    most = sum(ranks[len(ranks) - size :])
    ways = np.zeros((size + 1, most + 1))
    ways[0, 0] = 1.0
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, : most + 1 - rank].copy()
    ways_of_size: Floats = ways[size]
    return ways_of_size


def _all_sums(pooled: Floats, size: int) -> Floats:
    """Sums over every subset of `size` values; the values add up to zero."""
    small = min(size, pooled.size - size)
    picks = np.fromiter(chain.from_iterable(combinations(range(pooled.size), small)), np.intp)
    sums: Floats = pooled[picks.reshape(-1, small)].sum(axis=1)
    return sums if small == size else -sums


def _random_sums(pooled: Floats, size: int, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    sums = []
    for _ in range(SAMPLED_SPLITS // _BLOCK):
        order = rng.random((_BLOCK, pooled.size)).argsort(axis=1)[:, :size]
        sums.append(pooled[order].sum(axis=1))
    return np.concatenate(sums)


def bootstrap_shift(
    base: Sequence[float],
    new: Sequence[float],
    *,
    level: float = 0.95,
    seed: int = 0,
    mean: bool = False,
) -> tuple[float, float]:
    """Percentile bootstrap interval of median(new) - median(base), or of the means."""
    shifts = _shifts(np.random.default_rng(seed), base, new, mean=mean)
    low, high = np.quantile(shifts, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def falls_short(
    whole: Pair,
    part: Pair,
    share: float,
    *,
    level: float,
    mean: bool,
) -> bool:
    """Whether the shift of `part` (base, new) is below `share` of the shift of `whole`, by a
    percentile bootstrap of all four samples with this one-sided level.
    """
    rng = np.random.default_rng(0)
    shortfall = _shifts(rng, *part, mean=mean)
    shortfall -= share * _shifts(rng, *whole, mean=mean)
    return float(np.quantile(shortfall, level)) < 0


def shortfall_p(
    base: Sequence[float], new: Sequence[float], shift: float, *, hosts: int = 1
) -> float:
    """P value of "new is larger than base by `shift` or more": small where it surely is not. The t
    test of Student (1908) of means, for as many values of both; what `hosts` add was estimated of
    them before. With three values a side a bootstrap of medians has less than half the width that
    its level asks for.
    """
    base_values, new_values = _checked_array(base, "base"), _checked_array(new, "new")
    sizes = base_values.size, new_values.size
    free = sum(sizes) - 1 - max(1, hosts)
    if free < 1:
        return 1.0
    squares = sum(float(((side - side.mean()) ** 2).sum()) for side in (base_values, new_values))
    error = math.sqrt(squares / free * sum(1 / size for size in sizes))
    missing = shift - float(new_values.mean() - base_values.mean())
    return float(scipy.stats.t.sf(missing / error, free)) if error else float(missing <= 0)


def chance_of_less(whole: Pair, part: Pair) -> float:
    """Chance that as many boots as `part` has, drawn from those of `whole` (base, new each), have a
    shift of means of at most that of `part`.
    """
    base, new = part
    sizes = len(base), len(new)
    shifts = _shifts(np.random.default_rng(0), *whole, mean=True, sizes=sizes)
    return float(np.mean(shifts <= mean(new) - mean(base) + 1e-9))


def _shifts(
    rng: np.random.Generator,
    base: Sequence[float],
    new: Sequence[float],
    *,
    mean: bool,
    sizes: tuple[int, int] | None = None,
) -> Floats:
    """RESAMPLES draws of median(new) - median(base), or of the means; of so many values of base and
    new as `sizes` says, else of as many as there are.
    """
    base_values, new_values = _checked_array(base, "base"), _checked_array(new, "new")
    base_n, new_n = sizes or (base_values.size, new_values.size)
    centre = np.mean if mean else np.median
    shifts = centre(rng.choice(new_values, (RESAMPLES, new_n)), axis=1)
    shifts -= centre(rng.choice(base_values, (RESAMPLES, base_n)), axis=1)
    return np.asarray(shifts)


def holm(p: Sequence[float]) -> tuple[float, ...]:
    """P values adjusted after Holm (1979), in the order given; empty stays empty."""
    if any(not 0 <= value <= 1 for value in p):
        raise ValueError("a p value lies outside 0..1")
    adjusted = [0.0] * len(p)
    running = 0.0
    for rank, index in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        running = max(running, min(1.0, (len(p) - rank) * p[index]))
        adjusted[index] = running
    return tuple(adjusted)


def mean(values: Sequence[float]) -> float:
    """Mean of a sample."""
    return float(_checked_array(values, "the sample").mean())


def median(values: Sequence[float]) -> float:
    """Median of a sample."""
    return float(np.median(_checked_array(values, "the sample")))


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """95% interval of the median of what the sample is drawn from: between two of its values, by
    their order alone; the whole range where so few have none.
    """
    order, n = sorted(_checked_array(values, "the sample").tolist()), len(values)
    below, outside = 0.0, 0
    for k in range(n // 2):
        below += math.comb(n, k) / 2**n
        if below > (1 - LEVEL) / 2:
            break
        outside = k
    return order[outside], order[n - 1 - outside]


def share_interval(failed: int, of: int) -> tuple[float, float]:
    """95% interval of a share (Wilson, 1927)."""
    interval = scipy.stats.binomtest(failed, of).proportion_ci(LEVEL, method="wilson")
    return float(interval.low), float(interval.high)


def quantile(values: Sequence[float], share: float) -> float:
    """A quantile of a sample, between two values by interpolation."""
    return float(np.quantile(_checked_array(values, "the sample"), share))


def deviations(values: Sequence[float]) -> tuple[float, ...]:
    """Distances from the median of the sample (Brown and Forsythe, 1974)."""
    array = _checked_array(values, "the sample")
    return tuple(np.abs(array - np.median(array)).tolist())
