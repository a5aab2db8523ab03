# SPDX-License-Identifier: GPL-2.0-or-later
"""One metric, two samples of boots, one verdict; and several metrics with Holm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial

from rtbisect.judge import blocks, stats
from rtbisect.judge.scale import (
    all_badness,
    by_mean,
    centre,
    digits,
    effect_floor,
    effect_of,
    unit_behind,
)
from rtbisect.model.campaign import Better, Judgement, Level, Role, Sample, Scale, Sought, Threshold

#: With fewer boots on a side the bootstrap interval is too short to say "pass".
PASS_BOOTS = 3

#: Of all looks for a change to the better together.
IMPROVED_ALPHA = 0.005


def judge(  # noqa: PLR0913  (keyword-only: what the reason is said in)
    threshold: Threshold,
    base: Sample,
    new: Sample,
    *,
    alpha: float = 0.01,
    run: str = "boot",
    effect_words: Callable[[float], str] | None = None,
) -> Judgement:
    """Is `new` worse than `base`? The reason calls a measurement a `run`, and the effect what
    `effect_words` makes of it, else `effect_text`.

    regressed: the medians differ by at least `min_effect` in the bad direction and the one-sided
    permutation p (of ranks; of means where these are judged) is at most `alpha`. pass: the 95%
    bootstrap interval of the effect stays below `min_effect`. Otherwise undecided.
    """
    floor, none = effect_floor(threshold), effect_of(threshold, 0.0)
    judgement = Judgement(
        key=threshold.key,
        level=Level.UNDECIDED,
        base=base,
        new=new,
        effect=none,
        interval=(none, none),
        p=1.0,
        reason=f"no {run}s of {'new' if base.n else 'base'}",
    )
    if not base.n or not new.n:
        return judgement
    shift, (low, high), p = _compare(threshold, base, new)
    first, second = effect_of(threshold, low), effect_of(threshold, high)
    interval = (min(first, second), max(first, second))
    judgement = replace(judgement, effect=effect_of(threshold, shift), interval=interval, p=p)
    worst = high if min(base.n, new.n) >= PASS_BOOTS else None
    words = effect_words or partial(effect_text, threshold)
    effect = words(judgement.effect)
    return _with_level(threshold, judgement, (shift, floor, worst), alpha, (effect, run))


# A verification asks again for each of its looks after every boot, and nothing of them has changed.
@lru_cache(maxsize=256)
def _compare(
    threshold: Threshold, base: Sample, new: Sample
) -> tuple[float, tuple[float, float], float]:
    """Shift and its interval in badness, and the one-sided p."""
    base_badness, new_badness = sides(threshold, base, new)
    shift = centre(threshold, new_badness) - centre(threshold, base_badness)
    interval = stats.bootstrap_shift(base_badness, new_badness, mean=by_mean(threshold))
    # One stray boot of the parent must not take back what ten others say; what is judged by its
    # mean is compared by its mean.
    if _one_host(base, new):
        test = stats.permutation_p if by_mean(threshold) else stats.rank_p
        p = test(base_badness, new_badness, alternative="greater")
    else:
        p = blocks.split_p(
            base_badness, new_badness, base.hosts, new.hosts, ranks=not by_mean(threshold)
        )
    return shift, interval, p


def sides(
    threshold: Threshold, base: Sample, new: Sample
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Badness of both sides, without what their hosts add."""
    base_badness, new_badness = (
        all_badness(threshold, base.values),
        all_badness(threshold, new.values),
    )
    if _one_host(base, new):
        return base_badness, new_badness
    base_badness, new_badness = blocks.aligned((base_badness, new_badness), (base.hosts, new.hosts))
    return base_badness, new_badness


def smallest_p(base: Sample, new: Sample) -> float:
    """Smallest one-sided p that so many boots on these hosts can have."""
    if _one_host(base, new):
        return stats.smallest_p(base.n, new.n)
    return blocks.smallest_p(base.hosts, new.hosts)


def _one_host(base: Sample, new: Sample) -> bool:
    return not base.hosts or not new.hosts or blocks.one_block(base.hosts, new.hosts)


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
            reason = f"p = {p:.2g} after Holm over {len(primary)} metrics is above {alpha:g}"
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
        if judgement.key in limits and not judgement.figure
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
    words: tuple[str, str],
) -> Judgement:
    """Level and reason; `shifts` are shift, its floor, and the worst shift of the interval
    (None: too few boots to trust it), all in badness. `words` are the effect, and what a
    measurement is called.
    """
    effect, run = words
    shift, floor, worst = shifts
    if shift >= floor and judgement.p <= alpha:
        level, reason = Level.REGRESSED, f"{effect}, p = {judgement.p:.2g}"
    elif worst is not None and worst < floor:
        level, reason = (
            Level.PASS,
            f"{effect}; the interval excludes the smallest effect that counts",
        )
    elif smallest_p(judgement.base, judgement.new) > alpha:
        level = Level.UNDECIDED
        reason = (
            f"{effect}; {judgement.base.n}+{judgement.new.n} {run}s cannot reach p <= {alpha:g}"
        )
    elif shift >= floor:
        level, reason = Level.UNDECIDED, f"{effect}, but p = {judgement.p:.2g} is above {alpha:g}"
    else:
        level = Level.UNDECIDED
        reason = f"{effect}; the interval includes the smallest effect that counts"
    return replace(judgement, level=level, reason=reason + _limit_text(threshold, judgement))


def effect_text(threshold: Threshold, effect: float) -> str:
    """`new/base = 2.1` or `new - base = +3 us`; a share has no unit to say."""
    if threshold.scale is Scale.LOG:
        return f"new/base = {effect:.3g}"
    return f"new - base = {digits(effect, '+')}{unit_behind(threshold)}".rstrip()


def _limit_text(threshold: Threshold, judgement: Judgement) -> str:
    """Says when the new median breaks the absolute limit and the old one kept it."""
    if threshold.limit is None:
        return ""
    base, new = centre(threshold, judgement.base.values), centre(threshold, judgement.new.values)
    sign = 1 if threshold.better is Better.LOWER else -1
    if sign * new > sign * threshold.limit >= sign * base:
        return (
            f"; breaks the limit of {threshold.limit:g}{unit_behind(threshold)}"
            f" ({base:.4g} -> {new:.4g})"
        )
    return ""
