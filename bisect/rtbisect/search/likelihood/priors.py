# SPDX-License-Identifier: GPL-2.0-or-later
"""What may be known of the noise before the search: priors, and where their nodes lie.

Every grid integrates the same prior: location uniform over twice the span of the data and as much
more as builds reach, log scale uniform, tau as TAU_PRIOR. Only the nodes lie where the boots of the
calibration have mass. What "no regression" and a culprit have in common has the same nodes for
both, so that neither wins by where they happen to lie.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.judge.stats import OF_MAD
from rtbisect.search.likelihood.grids import Grids
from rtbisect.search.likelihood.two_level import BootGrid

if TYPE_CHECKING:
    from rtbisect.search.ancestry import Floats

#: A scale is never below the effect divided by this: figures that are rounded or stand
#: still (all boots equal) say nothing about the next boot to the last digit.
RESOLUTION = 20.0
#: Prior weight of builds that add nothing, and slope of the rest, which is spread over log(tau)
#: from far below the noise of a boot to beyond the effect.
TAU_PRIOR = (0.4, 0.6)
#: The same when there is no regression although the ends differ: luck, or builds that differ
#: about as much as the ends do.
NONE_TAU_PRIOR = (0.2, 5.0)
#: Prior weight of equal scales on both sides; the rest lets each side have its own.
EQUAL_SCALES = 0.6
#: A boot further from the middle of its end than so many scales is a stray: it says nothing about
#: where the others lie, however far away it is.
STRAY = 8.0
#: One boot of so many may be a stray, and one in any case; more of them are a state of their own.
_STRAYS = 20
#: Differences below this share of the largest figure are rounding.
_ROUNDING = 1e-9
#: A commit that explains less than this share of what the ends differ in is not looked for.
LEAST = 0.25
#: How far the nodes of location reach, in scales and in tau.
_REACH = 2.5
#: The extent of the priors: location over so many spans of the boots, scales up to so many of them
#: (and so many steps above the floor, where the boots have no span).
_SPANS, _FLOORS = 2.0, 4.0
#: A stray boot may lie anywhere in so many spans.
STRAY_SPANS = 3.0
#: Nodes of a scale reach so many times below and above what the boots of the ends scatter by, those
#: of tau from this share of it to so many effects.
_SCALE_REACH = 4.0
_TAU_FROM, _TAU_TO = 0.2, 1.3
#: A scale is not taken to be below this share of the standard deviation: where half of the boots
#: are equal their median deviation is 0.
_OF_DEVIATION = 0.5
#: Nodes: location, location shared by both sides, step of log scale, values to compare.
_MU_NODES = 23
_SHARED_NODES = 33
_SIGMA_STEP = 0.3
_TAU_STEP = 0.5
_BINS = 64
#: Values that are compared reach this share of the extent beyond it.
_MARGIN = 0.5


@dataclass(frozen=True)
class _Extent:
    """Where the prior lives: location within twice the span and what builds add to it, scale from
    `floor` to `top`.
    """

    low: float
    high: float
    floor: float

    @property
    def span(self) -> float:
        return self.high - self.low

    def room(self, tau: Floats) -> Floats:
        """Width of the prior of location for each tau. Were it the same for all, large offsets
        of builds would have more than their share of the prior, once for each side.
        """
        return _SPANS * self.span + 2 * _REACH * tau

    @property
    def top(self) -> float:
        return max(_SPANS * self.span, _FLOORS * self.floor)


def boot_grids(
    good: tuple[float, ...],
    bad: tuple[float, ...],
    effect_floor: float,
    *,
    shifted: bool = True,
    build_noise: bool = True,
) -> Grids:
    """Grids that cover what the calibration boots of the two ends allow. `shifted`: the bad side
    is worse in its location, by LEAST of what the ends differ in at least; `build_noise`: tau may
    be more than 0.
    """
    ends = ordinary(good), ordinary(bad)
    shift = float(np.median(ends[1]) - np.median(ends[0]))
    effect = max(abs(shift), effect_floor, step(*ends))
    low = float(min(values[0] for values in ends))
    high = float(max(values[-1] for values in ends))
    slack = max(0.0, effect - (high - low)) / 2
    extent = _Extent(low - slack, high + slack, effect / RESOLUTION)
    spreads = [_spread(values, extent.floor) for values in ends]
    typical = float(np.sqrt(spreads[0] * spreads[1]))
    highest = _TAU_TO * max(effect, typical)
    tau = np.array([0.0, *(_axis(_TAU_FROM * typical, highest, _TAU_STEP) if build_noise else ())])
    lowest = max(extent.floor, min(spreads) / _SCALE_REACH)
    highest = min(_SCALE_REACH * max(spreads), extent.top)
    scales = _axis(lowest, highest, _SIGMA_STEP)
    sides = []
    for values, spread in zip(ends, spreads, strict=True):
        centre = float(np.median(values))
        reach = np.hypot(_REACH * spread, _REACH * tau)
        mu = centre + reach[:, None] * np.linspace(-1, 1, _MU_NODES)
        sides.append(_grid(mu, scales, tau, extent))
    # The prior of tau stands once: with the good side, and with the shared one.
    sides[0].prior[...] += tau_prior(tau, TAU_PRIOR)
    middle, half = (low + high) / 2, (high - low) / 2
    reach = half + np.hypot(_REACH * typical, _REACH * tau) / 2
    mu = middle + reach[:, None] * np.linspace(-1, 1, _SHARED_NODES)
    shared = _grid(mu, _extended(scales, extent), tau, extent)
    shared.prior[...] += tau_prior(tau, NONE_TAU_PRIOR)
    shared.prior[...] += _log_density(shared.sigma, extent)[None, :, None]
    beyond = _MARGIN * extent.span
    y = np.linspace(extent.low - beyond, extent.high + beyond, _BINS)
    least_shift = max(effect_floor, LEAST * effect)
    ahead = _ahead(sides[0].mu, sides[1].mu, least_shift, extent.room(tau)) if shifted else None
    return Grids(
        good=sides[0],
        bad=sides[1],
        shared=shared,
        couple=_coupled(scales, extent),
        y=y,
        layout=tau > 0,
        ahead=ahead,
    )


def ordinary(values: tuple[float, ...]) -> Floats:
    """The boots of one end that are no strays, sorted."""
    ordered = np.sort(np.asarray(values))
    away = np.abs(ordered - np.median(ordered))
    # The scale is that of all but the furthest few: otherwise a stray hides itself.
    near = np.sort(away)[: -max(1, away.size // _STRAYS)]
    scale = max(OF_MAD * float(np.median(away)), float(np.sqrt((near**2).mean())))
    return ordered[away <= STRAY * scale] if scale else ordered


def step(*ends: Floats) -> float:
    """The smallest difference of two boots that is more than rounding: what is finer is not known
    to be measured.
    """
    both = np.unique(np.concatenate(ends))
    least = max(_ROUNDING * float(np.abs(both).max(initial=0.0)), 1e-300)
    gaps = np.diff(both)
    gaps = gaps[gaps > least]
    return float(gaps.min(initial=math.inf)) if gaps.size else least


def _ahead(good: Floats, bad: Floats, least: float, room: Floats) -> Floats:
    """The prior of both locations (t, a) together over the independent one, (t, a, a): the bad one
    lies above the good one, by `least` at least. `room` (t,) is what each of them has.
    """
    # Of two locations that are uniform over the room this share lies so: a triangle. `least` is at
    # most the effect, and the room at least _SPANS of it.
    prior_share = (1 - least / room) ** 2 / 2
    worse = bad[:, None, :] - good[:, :, None] >= least
    return worse / prior_share[:, None, None]


def _spread(values: Floats, floor: float) -> float:
    """A robust scale of a few boots."""
    centre = float(np.median(values))
    deviation = OF_MAD * float(np.median(np.abs(values - centre)))
    return max(deviation, _OF_DEVIATION * float(values.std()), floor)


def tau_prior(tau: Floats, prior: tuple[float, float]) -> Floats:
    """Log prior of the nodes of tau, the first of which is 0; shape (t, 1, 1)."""
    zero, slope = prior
    if tau.size == 1:
        return np.zeros((1, 1, 1))
    rest = np.linspace(1, slope, tau.size - 1)
    log: Floats = np.log(np.concatenate([[zero], (1 - zero) * rest / rest.sum()]))
    return log[:, None, None]


def _axis(low: float, high: float, step: float) -> Floats:
    """Scales from `low` to `high` with equal steps of the logarithm, at most `step`."""
    count = max(3, int(np.ceil(np.log(high / low) / step)) + 1)
    scales: Floats = np.geomspace(low, high, count)
    return scales


def _extended(narrow: Floats, extent: _Extent) -> Floats:
    """The same scales and others at the same distance, to both ends of the prior. Many boots know
    their scale better than the nodes lie: with other nodes than the sides, "no regression" would
    win or lose by where they happen to be.
    """
    step = float(np.log(narrow[1] / narrow[0]))
    below = math.floor(np.log(narrow[0] / extent.floor) / step + 1e-9)
    above = math.floor(np.log(extent.top / narrow[-1]) / step + 1e-9)
    scales: Floats = narrow[0] * np.exp(step * np.arange(-below, narrow.size + above))
    return scales


def _grid(mu: Floats, sigma: Floats, tau: Floats, extent: _Extent) -> BootGrid:
    """Nodes with the prior of location; that of scale and tau is added by the caller."""
    prior = np.log((mu[:, 1] - mu[:, 0]) / extent.room(tau))
    cube = np.zeros((tau.size, sigma.size, mu.shape[1])) + prior[:, None, None]
    return BootGrid(
        mu=mu, sigma=sigma, tau=tau, prior=cube, outlier=1 / (STRAY_SPANS * extent.span)
    )


def _log_density(sigma: Floats, extent: _Extent) -> Floats:
    """Log prior of each node of an axis of scales."""
    step = np.log(sigma[1] / sigma[0])
    return np.full(sigma.size, np.log(step / np.log(extent.top / extent.floor)))


def _coupled(sigma: Floats, extent: _Extent) -> Floats:
    """Log prior of the scales of both sides: mostly equal, else independent."""
    prior = np.exp(_log_density(sigma, extent))
    independent = (1 - EQUAL_SCALES) * np.outer(prior, prior)
    log: Floats = np.log(independent + EQUAL_SCALES * np.diag(prior))
    return log
