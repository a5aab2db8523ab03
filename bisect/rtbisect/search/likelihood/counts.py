# SPDX-License-Identifier: GPL-2.0-or-later
"""Likelihood of counts and of pass/fail results.

Both sides differ by one number: the rate of a count, the chance of a failure. It lies on the
axis s, so that `couple` can say that the bad side has more of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy

from rtbisect.judge import stats
from rtbisect.search.likelihood.grids import Grids
from rtbisect.search.likelihood.priors import STRAY_SPANS
from rtbisect.search.likelihood.two_level import CONTAMINATION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.search.ancestry import Floats
    from rtbisect.search.likelihood.features import Views

#: Nodes of a chance, and of a rate: over all that the prior allows, and around each rate that the
#: calibration saw, so many standard errors to both sides in such steps of them.
_CHANCES = 41
_RATES = 25
_AROUND, _RATE_STEP = 4.0, 0.5
#: Shapes of the Gamma that mixes the rate of one boot, from nearly Poisson to very uneven,
#: and what is thought of them before. Many events need a larger one to be nearly Poisson.
SHAPES = (1000.0, 30.0, 8.0, 2.0, 0.7)
SHAPE_PRIOR = (0.3, 0.2, 0.2, 0.15, 0.15)
#: With so many times the most events of a boot the first shape is nearly Poisson.
_NEARLY_POISSON = 10.0
#: Rates that the prior allows, log uniform: from so many events in a usual boot to so many times
#: the most events of one.
_LEAST_EVENTS, _MOST_TIMES = 0.05, 4.0
#: Counts of which a stray boot has each with the same probability: so many beside STRAY_SPANS times
#: the most events.
_STRAY_COUNTS = 10.0
#: Values up to this one are bins of their own, larger ones share them; the last one is so many
#: times the most events, and so many more.
_SINGLE = 24
_BINS = 64
_LAST_TIMES, _LAST_MORE = 8.0, 32.0


@dataclass(frozen=True, eq=False)
class ChanceGrid:
    """Boots that fail (1) or pass (0)."""

    #: Probability of a failure, at each node (s,).
    chance: Floats
    #: Log weight of each node, shape (1, s, 1).
    prior: Floats

    def loglik(self, values: Sequence[float]) -> Floats:
        failed = sum(value > 0.5 for value in values)
        passed = len(values) - failed
        log: Floats = failed * np.log(self.chance) + passed * np.log1p(-self.chance)
        return log[None, :, None]

    def fresh(self, y: Floats) -> Floats:
        probability: Floats = np.where(y[:, None] > 0.5, self.chance, 1 - self.chance)
        return probability[:, None, :, None]

    def again(self, y: Floats, values: tuple[float, ...], node: Floats) -> Floats:  # noqa: ARG002
        """Boots of one kernel are independent once the chance is known."""
        probability: Floats = np.tensordot(self.fresh(y), node, 3)
        return probability


@lru_cache(maxsize=1)
def chance_grids() -> Grids:
    """Chances with the prior of Jeffreys, Beta(1/2, 1/2); a bad kernel fails more often."""
    angle = (np.arange(_CHANCES) + 0.5) * np.pi / 2 / _CHANCES
    chance = np.sin(angle) ** 2
    flat = np.zeros((1, _CHANCES, 1))
    side = ChanceGrid(chance, flat)
    shared = ChanceGrid(chance, flat - np.log(_CHANCES))
    return Grids(
        good=side,
        bad=side,
        shared=shared,
        couple=_rising(np.zeros(_CHANCES)),
        y=np.array([0.0, 1.0]),
        layout=np.zeros(1, bool),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class CountGrid:
    """Counts of a boot: negative binomial, a Poisson whose rate is drawn anew for every boot from a
    Gamma.
    """

    #: Shape of the Gamma (t,); a large one is nearly Poisson.
    shape: Floats
    #: Its mean (s,), in events of a boot with an exposure of 1.
    rate: Floats
    #: Log weight of each node, shape (t, s, 1).
    prior: Floats
    #: Density of a stray boot.
    outlier: float
    #: Exposure of the boots whose counts are asked for.
    exposure: float = 1.0
    #: Boots carry their exposure as their second view.
    timed: bool = True

    def grid_and_events(self, boot: Views) -> tuple[CountGrid, float]:
        """This grid for boots that waited as long as `boot`, and the events of it."""
        exposure = boot[1] if self.timed else 1.0
        return replace(self, exposure=exposure), round(boot[0] * exposure)

    def all_of(self, boots: Sequence[Views]) -> Floats:
        """Log likelihood of all boots of one kernel, shape (t, s, 1)."""
        events: dict[float, list[float]] = {}
        for boot in boots:
            grid, count = self.grid_and_events(boot)
            events.setdefault(grid.exposure, []).append(count)
        log = np.zeros_like(self.prior)
        for exposure, counts in sorted(events.items()):
            log += replace(self, exposure=exposure).loglik(counts)
        return log

    def _density(self, y: Floats) -> Floats:
        """Probability of each count, shape (n, t, s). As nbinom.pmf of scipy, which takes ten times
        as long for a few counts and twenty times for many.
        """
        count = y[:, None, None]
        shape, rate = self.shape[:, None], self.rate[None, :] * self.exposure
        log = (
            scipy.special.gammaln(count + shape)
            - scipy.special.gammaln(shape)
            - scipy.special.gammaln(count + 1)
        )
        log = log + shape * np.log(shape / (shape + rate)) + count * np.log(rate / (shape + rate))
        density: Floats = (1 - CONTAMINATION) * np.exp(log) + CONTAMINATION * self.outlier
        return density

    def loglik(self, values: Sequence[float]) -> Floats:
        if not values:
            return np.zeros_like(self.prior)
        log: Floats = np.log(self._density(np.round(np.asarray(values)))).sum(axis=0)
        return log[:, :, None]

    def fresh(self, y: Floats) -> Floats:
        return self._density(y)[:, :, :, None]

    def again(self, y: Floats, values: tuple[float, ...], node: Floats) -> Floats:  # noqa: ARG002
        """Boots of one kernel are independent once rate and shape are known."""
        probability: Floats = np.tensordot(self.fresh(y), node, 3)
        return probability


def count_grids(good: tuple[Views, ...], bad: tuple[Views, ...], *, timed: bool = True) -> Grids:
    """Grids by the rates and exposures of the calibration: a twentieth of an event in a usual boot
    to four times the largest count, log uniform; the bad side has the higher rate. Zeros at the
    good end are ordinary counts. Boots that are not `timed` have an exposure of 1.
    """
    if not timed:
        good, bad = (tuple((boot[0], 1.0) for boot in end) for end in (good, bad))
    usual = stats.median([exposure for _rate, exposure in (*good, *bad)])
    top = max(1.0, *(rate * usual for rate, _exposure in (*good, *bad)))
    rate = _rates(good, bad, _LEAST_EVENTS / usual, _MOST_TIMES * top / usual)
    width = np.gradient(np.log(rate))
    weight = np.log(width / width.sum())
    prior = np.log(np.asarray(SHAPE_PRIOR))[:, None, None] + np.zeros((1, rate.size, 1))
    outlier = 1 / (STRAY_SPANS * top + _STRAY_COUNTS)
    shape = np.array([max(SHAPES[0], _NEARLY_POISSON * top), *SHAPES[1:]])
    wide = np.round(np.geomspace(_SINGLE, _LAST_TIMES * top + _LAST_MORE, _BINS))
    y = np.unique(np.concatenate([np.arange(_SINGLE), wide]))
    good_side = CountGrid(
        shape=shape, rate=rate, prior=prior, outlier=outlier, exposure=usual, timed=timed
    )
    return Grids(
        good=good_side,
        bad=replace(good_side, prior=np.zeros_like(prior)),
        shared=replace(good_side, prior=prior + weight[:, None]),
        couple=_rising(weight),
        y=y,
        layout=np.zeros(shape.size, bool),
    )


def _rates(good: tuple[Views, ...], bad: tuple[Views, ...], low: float, high: float) -> Floats:
    """Nodes of a rate. With equal steps a thousand events more would fall between two of them: the
    more events, the better is a rate known.
    """
    grids = [np.geomspace(low, high, _RATES)]
    for boots in (good, bad, good + bad):
        waited = sum(exposure for _rate, exposure in boots)
        events = max(1.0, sum(rate * exposure for rate, exposure in boots))
        # Of the logarithm; boots may scatter more than their events alone would.
        scatter = np.std([rate * waited / events for rate, _exposure in boots]) / len(boots) ** 0.5
        relative_error = max(events**-0.5, float(scatter))
        steps = np.arange(-_AROUND, _AROUND + _RATE_STEP / 2, _RATE_STEP)
        grids.append(events / waited * np.exp(relative_error * steps))
    nodes = np.unique(np.clip(np.concatenate(grids), low, high))
    # Nodes of two ends that fall together say nothing more.
    apart = np.diff(np.log(nodes), prepend=-np.inf) > 1e-9
    return nodes[apart]


def _rising(weight: Floats) -> Floats:
    """Log prior of pairs of nodes whose second is larger, by the log prior `weight` (s,) of one."""
    prior = np.exp(weight)
    pairs = np.triu(np.outer(prior, prior), 1)
    with np.errstate(divide="ignore"):
        log: Floats = np.log(pairs / pairs.sum())
    return log
