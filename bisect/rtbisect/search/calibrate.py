# SPDX-License-Identifier: GPL-2.0-or-later
"""Calibration: do the two ends differ at all? Interleaved boots, a fixed schedule of looks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from rtbisect import stats
from rtbisect.errors import ConfigError
from rtbisect.judge.scale import by_mean, effect_floor

if TYPE_CHECKING:
    from rtbisect.search.model import SearchSpec, SearchState

#: Boots at a look over boots at the look before.
GROWTH = 1.6


@dataclass(frozen=True, slots=True)
class Ends:
    """State of the calibration: `reproduced` is None while more boots are due. `used` is
    the number of boots a side at the look that decided; p belongs to the last look.
    """

    reproduced: bool | None
    used: int
    p: float
    shift: float
    swapped: bool


def check_spec(spec: SearchSpec) -> None:
    """ConfigError for a calibration that could never say yes, or a budget below it."""
    first, last = spec.calibrate_min, spec.calibrate_max
    if not 2 <= first <= last:
        raise ConfigError(f"calibration with {first} to {last} boots a side is impossible")
    share = spec.alpha / len(looks(first, last))
    if stats.smallest_p(last, last) > share:
        raise ConfigError(
            f"{last}+{last} boots of the ends cannot reach p <= {share:g}",
            "calibrate with more boots or raise alpha",
        )
    if spec.max_boots < 2 * first:
        raise ConfigError(
            f"{spec.max_boots} boots do not cover the calibration", f"allow at least {2 * first}"
        )
    if not 0.5 < spec.confidence < 1:
        raise ConfigError(f"confidence {spec.confidence} is not between 0.5 and 1")
    if not 0 < spec.prior_none < 1:
        raise ConfigError(f"prior_none {spec.prior_none} is not between 0 and 1")
    if not spec.graph.commits or spec.graph.commits[-1].sha != spec.graph.bad:
        raise ConfigError("there is no commit between good and bad", "give two different revisions")
    effect_floor(spec.threshold)


def looks(first: int, last: int) -> tuple[int, ...]:
    """Boots a side at every look; each look gets an even share of alpha (Bonferroni: the looks
    share data, so that the true rate of false alarms stays below).
    """
    found = [first]
    while found[-1] < last:
        found.append(min(last, math.ceil(GROWTH * found[-1])))
    return tuple(found)


def look(state: SearchState) -> Ends:
    """The decision of the looks that are due. Each look uses the first boots of each side,
    so later boots (controls) never change what it said.
    """
    spec, values = state.spec, state.ledger.values
    last = spec.calibrate_max
    good = values.get(spec.graph.good, ())[:last]
    bad = values.get(spec.graph.bad, ())[:last]
    schedule = looks(spec.calibrate_min, last)
    share = spec.alpha / len(schedule)
    mean = by_mean(spec.threshold)
    rule = _Rule(schedule, effect_floor(spec.threshold), share, spec.seed, mean)
    return _looked(good, bad, rule)


@dataclass(frozen=True, slots=True)
class _Rule:
    looks: tuple[int, ...]
    floor: float
    alpha: float
    seed: int
    mean: bool

    def middle(self, values: tuple[float, ...]) -> float:
        return stats.mean(values) if self.mean else stats.median(values)


@lru_cache(maxsize=64)
def _looked(good: tuple[float, ...], bad: tuple[float, ...], rule: _Rule) -> Ends:
    p, shift, used = 1.0, 0.0, 0
    for boots in rule.looks:
        if min(len(good), len(bad)) < boots:
            return Ends(None, used, p, shift, swapped=False)
        used = boots
        one, two = good[:boots], bad[:boots]
        shift = rule.middle(two) - rule.middle(one)
        p = stats.rank_p(one, two, alternative="greater", seed=rule.seed)
        if p <= rule.alpha and shift >= rule.floor:
            return Ends(reproduced=True, used=boots, p=p, shift=shift, swapped=False)
    reverse = stats.rank_p(one, two, alternative="less", seed=rule.seed)
    swapped = reverse <= rule.alpha and -shift >= rule.floor
    return Ends(reproduced=False, used=used, p=p, shift=shift, swapped=swapped)


def due(state: SearchState, count: int) -> list[str]:
    """The next `count` boots of the ends in ABBA order: good, bad, bad, good, ..."""
    spec, ledger = state.spec, state.ledger
    good = len(ledger.values.get(spec.graph.good, ()))
    bad = len(ledger.values.get(spec.graph.bad, ()))
    schedule = looks(spec.calibrate_min, spec.calibrate_max)
    target = next((boots for boots in schedule if min(good, bad) < boots), schedule[-1])
    found: list[str] = []
    while len(found) < count and min(good, bad) < target:
        if good < bad or (good == bad and good % 2 == 0):
            good += 1
            found.append(spec.graph.good)
        else:
            bad += 1
            found.append(spec.graph.bad)
    return found
