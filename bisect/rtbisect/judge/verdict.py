# SPDX-License-Identifier: GPL-2.0-or-later
"""One metric, two samples of boots, one verdict; and several metrics with Holm."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TypeAlias

import scipy

from rtbisect.judge import blocks, shares, stats
from rtbisect.judge.scale import (
    all_badness,
    by_mean,
    centre,
    effect_floor,
    effect_of,
    shift_behind,
)
from rtbisect.model.campaign import Better, Judgement, Level, Role, Sample, Scale, Sought, Threshold
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Judged, Side, Told

#: Boots of two kernels, the one that should be better first.
Pair: TypeAlias = tuple[Sample, Sample]

#: Fewest boots on a side for "pass": with fewer, the bootstrap interval is too narrow.
PASS_BOOTS = 3

#: Error rate of all tests for an improvement together.
IMPROVED_ALPHA = 0.005

#: Share of the ends' shift below which there is more than this one culprit, and how sure of it the
#: boots have to be: a search for a second culprit that is not there costs a campaign, and one that
#: is missed is still told of by its share. Of true shares of 1 and of a half 3% and 37 to 59% are
#: taken to fall short (8 boots a side, ends 2 to 4 standard deviations apart); of what merely lies
#: below, 23% and 69 to 86% would be.
FULL_RECOVERY = 0.7
SURE_SHORT = 0.8


def judge(
    threshold: Threshold,
    base: Sample,
    new: Sample,
    *,
    alpha: float = 0.01,
    effect: Callable[[float], Finding] | None = None,
) -> Judgement:
    """Is `new` worse than `base`? The reason tells the effect as `effect` does, else as
    `effect_found`.

    regressed: the medians differ by at least `min_effect` in the bad direction and the one-sided
    permutation p (of ranks; of means where these are judged) is at most `alpha`. pass: the 95%
    bootstrap interval of the effect stays below `min_effect`. Otherwise undecided.
    """
    return _judged(threshold, (base, new), alpha, effect, Looks())


@dataclass(frozen=True, slots=True)
class Looks:
    """The looks at shares of failures, which have one p value."""

    #: Runs a side at each of them, ascending.
    runs: tuple[int, ...] = ()
    #: Shares differ by the smallest effect where their interval reaches it, and not only where what
    #: was measured does: of 75 runs a side one pair in twenty that differs by 30 percentage points
    #: shows less than 20.
    reach: bool = False


def judge_shares(
    threshold: Threshold,
    pair: Pair,
    looks: Looks,
    *,
    alpha: float = 0.01,
    effect: Callable[[float], Finding] | None = None,
) -> Judgement:
    """The same of shares of failures at one of these looks: p is that of all of them
    (`shares.all_looks_p`).
    """
    return _judged(threshold, pair, alpha, effect, looks)


def _judged(
    threshold: Threshold,
    pair: Pair,
    alpha: float,
    effect: Callable[[float], Finding] | None,
    looks: Looks,
) -> Judgement:
    base, new = pair
    floor, none = effect_floor(threshold), effect_of(threshold, 0.0)
    judgement = Judgement(
        key=threshold.key,
        level=Level.UNDECIDED,
        base=base,
        new=new,
        effect=none,
        interval=(none, none),
        p=1.0,
        reason=Finding.of(Judged.NO_BOOTS, side=Side.NEW if base.n else Side.BASE),
    )
    if not base.n or not new.n:
        return judgement
    shift, (low, high), p = _compare(threshold, base, new, looks.runs)
    first, second = effect_of(threshold, low), effect_of(threshold, high)
    interval = (min(first, second), max(first, second))
    judgement = replace(judgement, effect=effect_of(threshold, shift), interval=interval, p=p)
    worst = high if min(base.n, new.n) >= PASS_BOOTS else None
    tell = effect or partial(effect_found, threshold)
    told = tell(judgement.effect)
    counts = shift if worst is None or not looks.reach else max(shift, worst)
    return _with_level(threshold, judgement, (counts, floor, worst), alpha, told)


# A verification asks again for each of its looks after every boot, and nothing of them has changed.
@lru_cache(maxsize=256)
def _compare(
    threshold: Threshold, base: Sample, new: Sample, looks: tuple[int, ...]
) -> tuple[float, tuple[float, float], float]:
    """Shift and its interval in badness, and the one-sided p."""
    base_badness, new_badness = sides(threshold, base, new)
    shift = centre(threshold, new_badness) - centre(threshold, base_badness)
    interval = stats.bootstrap_shift(base_badness, new_badness, mean=by_mean(threshold))
    # One stray boot of the parent must not take back what ten others say; what is judged by its
    # mean is compared by its mean.
    badnesses, hosts = (base_badness, new_badness), (base.hosts, new.hosts)
    if looks:
        return shift, interval, shares.p_of_looks(badnesses, hosts, looks)
    p = blocks.exchange_p(badnesses, hosts, ranks=not by_mean(threshold))
    return shift, interval, p


def sides(
    threshold: Threshold, base: Sample, new: Sample
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Badness of both sides, without what their hosts add; means are compared as they are."""
    base_badness, new_badness = (
        all_badness(threshold, base.values),
        all_badness(threshold, new.values),
    )
    if by_mean(threshold) or blocks.exchanged_freely((base.hosts, new.hosts)):
        return base_badness, new_badness
    base_badness, new_badness = blocks.aligned((base_badness, new_badness), (base.hosts, new.hosts))
    return base_badness, new_badness


# As `_compare`, asked for each look after every boot.
@lru_cache(maxsize=256)
def falls_short(threshold: Threshold, whole: Pair, part: Pair) -> bool:
    """Whether the shift of `part` is below FULL_RECOVERY of that of `whole`, by more than what luck
    makes of so few boots.
    """
    one, other = sides(threshold, *whole), sides(threshold, *part)
    return stats.falls_short(one, other, FULL_RECOVERY, level=SURE_SHORT, mean=by_mean(threshold))


def foreseen(threshold: Threshold, judgement: Judgement, *, boots: int, alpha: float) -> Level:
    """The level at so many boots a side if they are like these: the shift stays, its interval and
    its p shrink as the root of the number of boots.
    """
    seen = min(judgement.base.n, judgement.new.n)
    if judgement.level is not Level.UNDECIDED or not seen:
        return judgement.level
    more = math.sqrt(boots / seen)
    shift, *interval = (
        shift_behind(threshold, each) for each in (judgement.effect, *judgement.interval)
    )
    floor = effect_floor(threshold)
    if shift < floor:
        worst = shift + (max(interval) - shift) / more
        return Level.PASS if worst < floor else Level.UNDECIDED
    p = scipy.stats.norm.sf(more * scipy.stats.norm.isf(judgement.p))
    return Level.REGRESSED if p <= alpha else Level.UNDECIDED


def ruled_out(threshold: Threshold, base: Sample, new: Sample, alpha: float) -> bool:
    """Whether `new` is surely not worse by the smallest effect that counts; of boots that are, so
    few say so by luck as `alpha` says, also of three a side.
    """
    hosts = len({*base.hosts, *new.hosts})
    floor = effect_floor(threshold)
    return stats.shortfall_p(*sides(threshold, base, new), floor, hosts=hosts) <= alpha


def smallest_p(base: Sample, new: Sample) -> float:
    """Smallest one-sided p that so many boots on these hosts can have."""
    if blocks.exchanged_freely((base.hosts, new.hosts)):
        return stats.smallest_p(base.n, new.n)
    return blocks.smallest_p(base.hosts, new.hosts)


def judge_all(
    pairs: Sequence[tuple[Threshold, Sample, Sample]], *, alpha: float
) -> tuple[Judgement, ...]:
    """Judge every metric; the p values of the primary ones are adjusted after Holm.

    Guards and shown metrics keep their own p: they warn and never decide alone.
    """
    judgements = [judge(threshold, base, new, alpha=alpha) for threshold, base, new in pairs]
    primary = [i for i, (threshold, _, _) in enumerate(pairs) if threshold.role is Role.PRIMARY]
    adjusted = stats.holm([judgements[i].p for i in primary])
    for index, p in zip(primary, adjusted, strict=True):
        if judgements[index].level is Level.REGRESSED and p > alpha:
            reason = Finding.of(Judged.HOLM, p=p, metrics=len(primary), alpha=alpha)
            judgements[index] = replace(
                judgements[index], level=Level.UNDECIDED, p=p, reason=reason
            )
        else:
            judgements[index] = replace(judgements[index], p=p)
    return tuple(judgements)


def improved(
    judgements: Sequence[Judgement],
    thresholds: Sequence[Threshold],
    sought: Sought = Sought.REGRESSION,
) -> tuple[Judgement, ...]:
    """Figures that got better: no list wants to hear of them, but who keeps the baselines does.

    Of judged primary metrics those that are better by what would count as a regression the
    other way round, judged so: same boots, same smallest effect, Holm over all of them. None
    where that was `sought`: the judgements themselves tell of it.
    """
    if sought is Sought.REPAIR:
        return ()
    limits = {limit.key: limit for limit in thresholds if limit.role is Role.PRIMARY}
    pairs = [
        (limits[judgement.key].toward(Sought.REPAIR), judgement.base, judgement.new)
        for judgement in judgements
        # Of a part of a figure the threshold is another one.
        if judgement.key in limits and judgement.figure is None
    ]
    return tuple(
        judgement
        for judgement in judge_all(pairs, alpha=IMPROVED_ALPHA)
        if judgement.level is Level.REGRESSED
    )


def _with_level(
    threshold: Threshold,
    judgement: Judgement,
    shifts: tuple[float, float, float | None],
    alpha: float,
    effect: Finding,
) -> Judgement:
    """Level and reason; `shifts` are the shift that has to count, its floor, and the worst shift of
    the interval (None: too few boots to trust it), all in badness.
    """
    shift, floor, worst = shifts
    base, new, p = judgement.base, judgement.new, judgement.p
    level = Level.UNDECIDED
    if shift >= floor and p <= alpha:
        level, reason = Level.REGRESSED, Finding.of(Judged.REGRESSED, effect=effect, p=p)
    elif worst is not None and worst < floor:
        level, reason = Level.PASS, Finding.of(Judged.EXCLUDED, effect=effect)
    elif smallest_p(base, new) > alpha:
        reason = Finding.of(Judged.TOO_FEW, effect=effect, base=base.n, new=new.n, alpha=alpha)
    elif shift >= floor:
        reason = Finding.of(Judged.ABOVE_ALPHA, effect=effect, p=p, alpha=alpha)
    else:
        reason = Finding.of(Judged.INCLUDED, effect=effect)
    return replace(judgement, level=level, reason=_with_limit(threshold, judgement, reason))


def effect_found(threshold: Threshold, effect: float) -> Finding:
    """An effect (`Judgement.effect`) in the unit of its figure."""
    if threshold.scale is Scale.LOG:
        return Finding.of(Told.RATIO, ratio=effect)
    return Finding.of(Told.DIFFERENCE, difference=effect, unit=threshold.unit)


def _with_limit(threshold: Threshold, judgement: Judgement, reason: Finding) -> Finding:
    """Tells beside the reason when the new median breaks the absolute limit and the old one kept
    it.
    """
    if threshold.limit is None:
        return reason
    base, new = centre(threshold, judgement.base.values), centre(threshold, judgement.new.values)
    sign = 1 if threshold.better is Better.LOWER else -1
    if sign * new > sign * threshold.limit >= sign * base:
        return Finding.of(
            Judged.LIMIT_BROKEN,
            why=reason,
            limit=threshold.limit,
            base=base,
            new=new,
            unit=threshold.unit,
        )
    return reason
