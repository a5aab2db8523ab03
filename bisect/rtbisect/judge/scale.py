# SPDX-License-Identifier: GPL-2.0-or-later
"""Badness: a value on the scale that its threshold compares on, turned so that more is worse."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from rtbisect.errors import ConfigError
from rtbisect.judge import stats
from rtbisect.model.campaign import Better, Scale, Statistic, Threshold


def badness(threshold: Threshold, value: float) -> float:
    """`value` (in `threshold.unit`) as badness: log(value + floor) on LOG, the value itself
    on LINEAR, negated where higher is better (a share is taken from 1). ValueError where
    there is no such number.
    """
    if not math.isfinite(value):
        raise ValueError(f"{threshold.key}: {value} is not finite")
    if threshold.scale is Scale.LOG:
        if value + threshold.floor <= 0:
            raise ValueError(f"{threshold.key}: {value} has no logarithm")
        value = math.log(value + threshold.floor)
    if threshold.better is Better.LOWER:
        return value
    return 1 - value if threshold.statistic is Statistic.FRACTION else -value


def all_badness(threshold: Threshold, values: Sequence[float]) -> tuple[float, ...]:
    """The values as badness (higher is worse), in the same order."""
    return tuple(badness(threshold, value) for value in values)


def centre(threshold: Threshold, values: Sequence[float]) -> float:
    """The middle of boots: their median; the mean of pass/fail results, of counts and of what
    else has a median that stands still while it changes.
    """
    return stats.mean(values) if by_mean(threshold) else stats.median(values)


def halfway(threshold: Threshold, base: Sequence[float], new: Sequence[float]) -> float:
    """The value half way between the middles of two sides, both with boots, on the scale that they
    are compared on: in `threshold.unit`.
    """
    sides = (centre(threshold, all_badness(threshold, side)) for side in (base, new))
    between = sum(sides) / 2
    if threshold.better is not Better.LOWER:
        between = 1 - between if threshold.statistic is Statistic.FRACTION else -between
    if threshold.scale is Scale.LOG:
        return math.exp(between) - threshold.floor
    return between


def separation(threshold: Threshold, base: Sequence[float], new: Sequence[float]) -> float:
    """By how much the new side, of boots as the other one, is worse: the distance of the medians in
    units of the spread within both.
    """
    better, worse = (all_badness(threshold, side) for side in (base, new))
    spread = math.hypot(statistics.pstdev(better), statistics.pstdev(worse))
    return (stats.median(worse) - stats.median(better)) / max(spread, 1e-9)


def digits(value: float, sign: str = "") -> str:
    """A figure for a sentence: three digits, and never an exponent for a large one; `sign` as in a
    format.
    """
    return f"{value:{sign}.0f}" if abs(value) >= 100 else f"{value:{sign}.3g}"


def unit_behind(threshold: Threshold) -> str:
    """The unit behind a number, with its space; ratios and shares have none to say."""
    return "" if threshold.unit == "1" else f" {threshold.unit}"


def counted(threshold: Threshold) -> bool:
    """Whether a value is a number of events (`statistic: count`) of which more are worse."""
    return threshold.statistic is Statistic.COUNT and threshold.better is Better.LOWER


def by_mean(threshold: Threshold) -> bool:
    """Whether the average of boots is their mean; else it is the median."""
    return threshold.statistic is not Statistic.MEDIAN


def effect_floor(threshold: Threshold) -> float:
    """Smallest change of badness that counts; ConfigError for an impossible `min_effect`."""
    if threshold.scale is Scale.LOG:
        if not 1 <= threshold.min_effect < math.inf:
            raise ConfigError(
                f"{threshold.key}: min_effect {threshold.min_effect} is no ratio",
                "on the log scale give 1.5 for a change by half",
            )
        return math.log(threshold.min_effect)
    if not 0 <= threshold.min_effect < math.inf:
        raise ConfigError(
            f"{threshold.key}: min_effect {threshold.min_effect} is negative or not finite",
            f"give a difference in {threshold.unit}",
        )
    return threshold.min_effect


def shift_of(threshold: Threshold, good: Sequence[float], share: float) -> float:
    """The shift of badness that is `share` of the level of `good` (badness of boots); 0 for pass
    and fail, which have no such level.
    """
    if threshold.statistic is Statistic.FRACTION:
        return 0.0
    if threshold.scale is Scale.LOG or not good or math.isinf(share):
        return math.log1p(share)
    return share * abs(centre(threshold, good))


def effect_of(threshold: Threshold, shift: float) -> float:
    """A shift of badness as new/base (LOG) or new - base (LINEAR)."""
    change = shift if threshold.better is Better.LOWER else -shift
    return math.exp(change) if threshold.scale is Scale.LOG else change


def shift_behind(threshold: Threshold, effect: float) -> float:
    """The shift of badness that is this effect (`effect_of`)."""
    change = math.log(effect) if threshold.scale is Scale.LOG else effect
    return change if threshold.better is Better.LOWER else -change
