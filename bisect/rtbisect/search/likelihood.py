# SPDX-License-Identifier: GPL-2.0-or-later
"""Likelihood of boots: Student-t with contamination, location and scale integrated on a grid.

Point estimates of location and scale from ten boots make a search overconfident, so both
are integrated out. Given a hypothesis the two sides are independent, so each side
has a grid of its own, and its marginal likelihood is one sum over that grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.search.graph import Floats

#: Degrees of freedom of the Student-t.
NU = 4.0
#: Constant of the density of Student-t with 4 degrees of freedom.
_T4 = 0.375
#: Share of boots that follow neither side (a stray cron job, a lost clock).
CONTAMINATION = 0.03
#: A scale is never below the effect divided by this: figures that are rounded or stand
#: still (all boots equal) say nothing about the next boot to the last digit.
RESOLUTION = 20.0
_MU_NODES = 41
_SIGMA_NODES = 13


@dataclass(frozen=True, eq=False)
class Grid:
    """Nodes of one group: `mu`, `sigma`, and `prior` (log weight), each of shape (t,)."""

    mu: Floats
    sigma: Floats
    prior: Floats
    outlier: float

    def density(self, y: Floats) -> Floats:
        """Density of each value under each node, shape (len(y), t), per unit of badness."""
        z = (y[:, None] - self.mu) / self.sigma
        tail = 1 + z * z / NU
        # tail ** -(NU + 1) / 2, without a slow power.
        core = _T4 / (tail * tail * np.sqrt(tail) * self.sigma)
        mixed: Floats = (1 - CONTAMINATION) * core + CONTAMINATION * self.outlier
        return mixed

    def loglik(self, y: Sequence[float]) -> Floats:
        """Log likelihood of all values together under each node, shape (t,)."""
        if not len(y):
            return np.zeros_like(self.mu)
        found: Floats = np.log(self.density(np.asarray(y, dtype=np.float64))).sum(axis=0)
        return found


@dataclass(frozen=True, eq=False)
class Grids:
    """Grids of the good side, of the bad side, and of one distribution shared by both (no
    regression); `y` are the nodes (b,) at which predictive densities are compared.
    """

    good: Grid
    bad: Grid
    shared: Grid
    y: Floats

    @cached_property
    def good_density(self) -> Floats:
        return self.good.density(self.y)

    @cached_property
    def bad_density(self) -> Floats:
        return self.bad.density(self.y)


@dataclass(frozen=True)
class _Extent:
    low: float
    high: float
    floor: float

    @property
    def span(self) -> float:
        return self.high - self.low


@lru_cache(maxsize=32)
def grids(good: tuple[float, ...], bad: tuple[float, ...], effect_floor: float) -> Grids:
    """Grids that cover what the boots of the two ends allow.

    Every grid integrates the same prior: location uniform over twice the span of the
    data, log scale uniform. Only the nodes lie where the boots of the group have mass.
    """
    one, two = np.sort(np.asarray(good)), np.sort(np.asarray(bad))
    effect = max(abs(float(np.median(two) - np.median(one))), effect_floor, 1e-9)
    low, high = float(min(one[0], two[0])), float(max(one[-1], two[-1]))
    slack = max(0.0, effect - (high - low)) / 2
    extent = _Extent(low - slack, high + slack, effect / RESOLUTION)
    both = np.concatenate([one, two])
    found_good, found_bad = _grid(one, extent), _grid(two, extent)
    shared = _grid(both, extent, wide=True)
    width = extent.span
    y = np.linspace(extent.low - width / 2, extent.high + width / 2, 161)
    return Grids(found_good, found_bad, shared, y)


def _grid(values: Floats, extent: _Extent, *, wide: bool = False) -> Grid:
    """Nodes for one group of boots; `wide` covers the whole extent."""
    centre = float(np.median(values))
    deviation = 1.4826 * float(np.median(np.abs(values - centre)))
    scale = max(deviation, 0.5 * float(values.std()), extent.floor)
    low, high = centre - 3 * scale, centre + 3 * scale
    sigma_high = 4 * scale
    if wide:
        low, high = extent.low, extent.high
        sigma_high = max(2 * extent.span, 4 * extent.floor)
    mu = np.linspace(low, high, _MU_NODES)
    sigma = np.geomspace(
        extent.floor if wide else max(extent.floor, scale / 4), sigma_high, _SIGMA_NODES
    )
    # Density of the common prior times the volume that a node stands for.
    volume = (mu[1] - mu[0]) / (2 * extent.span)
    volume *= np.log(sigma[1] / sigma[0]) / np.log(
        max(2 * extent.span, 4 * extent.floor) / extent.floor
    )
    all_mu, all_sigma = np.meshgrid(mu, sigma, indexing="ij")
    prior = np.full(all_mu.size, np.log(volume))
    return Grid(all_mu.ravel(), all_sigma.ravel(), prior, 1 / (3 * extent.span))


def logsumexp(values: Floats) -> Floats:
    """log(sum(exp(values))) over the last axis; -inf where all are."""
    top = values.max(axis=-1, keepdims=True)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        found: Floats = np.log(np.exp(values - safe).sum(axis=-1)) + safe[..., 0]
    return found


def information(good: Floats, bad: Floats, share: Floats) -> Floats:
    """Bits that one boot tells about its side, for each probability `share` of bad.

    `good` and `bad` are predictive probabilities over the same bins. This is the
    Jensen-Shannon information H(mix) - share H(bad) - (1 - share) H(good).
    """
    mix = share[:, None] * bad + (1 - share[:, None]) * good
    found: Floats = _entropy(mix) - share * _entropy(bad) - (1 - share) * _entropy(good)
    return np.maximum(found, 0.0)


def _entropy(p: Floats) -> Floats:
    found: Floats = -(p * np.log2(np.maximum(p, 1e-300))).sum(axis=-1)
    return found
