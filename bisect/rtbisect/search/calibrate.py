# SPDX-License-Identifier: GPL-2.0-or-later
"""Calibration: do the two ends differ at all? Interleaved boots, two fixed looks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from rtbisect import stats
from rtbisect.errors import ConfigError
from rtbisect.judge.scale import effect_floor

if TYPE_CHECKING:
    from rtbisect.search.model import SearchSpec, SearchState

#: Looks at the ends; alpha is split evenly between them.
LOOKS = 2


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
    if stats.smallest_p(last, last) > spec.alpha / LOOKS:
        raise ConfigError(
            f"{last}+{last} boots of the ends cannot reach p <= {spec.alpha / LOOKS:g}",
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


def look(state: SearchState) -> Ends:
    """The decision of the looks that are due. Each look uses the first boots of each side,
    so later boots (controls) never change what it said.
    """
    spec, values = state.spec, state.ledger.values
    last = spec.calibrate_max
    good = values.get(spec.graph.good, ())[:last]
    bad = values.get(spec.graph.bad, ())[:last]
    looks = tuple(dict.fromkeys((spec.calibrate_min, last)))
    rule = _Rule(looks, effect_floor(spec.threshold), spec.alpha / LOOKS, spec.seed)
    return _looked(good, bad, rule)


@dataclass(frozen=True, slots=True)
class _Rule:
    looks: tuple[int, ...]
    floor: float
    alpha: float
    seed: int


@lru_cache(maxsize=64)
def _looked(good: tuple[float, ...], bad: tuple[float, ...], rule: _Rule) -> Ends:
    p, shift, used = 1.0, 0.0, 0
    for boots in rule.looks:
        if min(len(good), len(bad)) < boots:
            return Ends(None, used, p, shift, swapped=False)
        used = boots
        one, two = good[:boots], bad[:boots]
        shift = stats.median(two) - stats.median(one)
        p = stats.permutation_p(one, two, alternative="greater", seed=rule.seed)
        if p <= rule.alpha and shift >= rule.floor:
            return Ends(reproduced=True, used=boots, p=p, shift=shift, swapped=False)
    reverse = stats.permutation_p(one, two, alternative="less", seed=rule.seed)
    swapped = reverse <= rule.alpha and -shift >= rule.floor
    return Ends(reproduced=False, used=used, p=p, shift=shift, swapped=swapped)


def due(state: SearchState, count: int) -> list[str]:
    """The next `count` boots of the ends in ABBA order: good, bad, bad, good, ..."""
    spec, ledger = state.spec, state.ledger
    good = len(ledger.values.get(spec.graph.good, ()))
    bad = len(ledger.values.get(spec.graph.bad, ()))
    target = spec.calibrate_min
    if min(good, bad) >= target:
        target = spec.calibrate_max
    found: list[str] = []
    while len(found) < count and min(good, bad) < target:
        if good < bad or (good == bad and good % 2 == 0):
            good += 1
            found.append(spec.graph.good)
        else:
            bad += 1
            found.append(spec.graph.bad)
    return found
