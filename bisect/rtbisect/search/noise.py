# SPDX-License-Identifier: GPL-2.0-or-later
"""Likelihood of boots with noise on two levels, everything unknown integrated on a grid.

A boot of a kernel s on side z has the badness

    y = mu_z + u_s + e,   u_s ~ Normal(0, tau),   e ~ Student-t(4) with scale sigma_z,

mixed with a few stray boots. u_s is what one build adds (code and data layout): every boot of
that kernel shares it, so many boots of one build never tell more than one draw of u.
Point estimates from ten boots make a search overconfident, so mu, sigma and tau are integrated:
they lie on a grid, and u is integrated for every kernel on nodes around its own boots.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.search.grids import Grids

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.search.graph import Bools, Floats

#: Degrees of freedom of the Student-t.
NU = 4.0
#: Constant of the density of Student-t with 4 degrees of freedom.
_T4 = 0.375
#: Share of boots that follow neither side (a stray cron job, a lost clock).
CONTAMINATION = 0.03
#: A scale is never below the effect divided by this: figures that are rounded or stand
#: still (all boots equal) say nothing about the next boot to the last digit.
RESOLUTION = 20.0
#: Prior weight of builds that add nothing, and slope of the rest from a tau far below the noise of
#: a boot to one beyond the effect: builds mostly add little.
TAU_PRIOR = (0.4, 1 / 3)
#: The same when there is no regression although the ends differ: luck, or builds that differ
#: about as much as the ends do.
NONE_TAU_PRIOR = (0.2, 5.0)
#: Prior weight of equal scales on both sides; the rest lets each side have its own.
EQUAL_SCALES = 0.6
#: A commit that explains less than this share of what the ends differ in is not looked for.
LEAST = 0.25
#: Nodes: location, location shared by both sides, step of log scale, offset of a build.
_MU_NODES = 23
_SHARED_NODES = 33
_SIGMA_STEP = 0.3
_TAU_STEP = 0.5
_U_NODES = 49
_BINS = 64
#: Gauss-Hermite rule for the offset of a kernel without boots.
_AT, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
_HERMITE = (_AT, _WEIGHTS / _WEIGHTS.sum())
#: Nodes of the offset lie at sinh(-_BEND .. _BEND): dense in the middle, wide in the tails.
_BEND = 4.0
_STEP = 2 * _BEND / (_U_NODES - 1)
#: Offsets smaller than this many steps between nodes are summed by the rule above.
_FINE = 1.2
#: Kernels whose predictions are kept; each takes about a megabyte.
_SEEN = 40


@dataclass(frozen=True, eq=False)
class Boots:
    """Boots of one kernel: `at` (s, x) are offsets around them for every scale, dense near their
    middle and wide in the tails, `width` (s, x) what each stands for, and `log` (s, x) the log
    likelihood of all boots there times that. `inner` (s,) is half the width of the dense part.
    """

    at: Floats
    log: Floats
    width: Floats
    centre: float
    inner: Floats

    def fine(self, mu: Floats, tau: float) -> Bools:
        """For each scale and location: do the nodes there see offsets as small as `tau`?"""
        step = _STEP * np.hypot(mu[None, :] - self.centre, self.inner[:, None])
        found: Bools = tau > _FINE * step
        return found


@dataclass(frozen=True, eq=False)
class BootGrid:
    """Nodes of one group of kernels: `mu` (t, a) location for each tau, `sigma` (s,), `tau`
    (t,), and `prior`, the log weight of each node, shape (t, s, a).
    """

    mu: Floats
    sigma: Floats
    tau: Floats
    prior: Floats
    outlier: float
    _known: dict[tuple[float, ...], Floats] = field(default_factory=dict, repr=False)
    _seen: dict[tuple[tuple[float, ...], bytes], _Resolved] = field(
        default_factory=dict, repr=False
    )
    _flat: dict[bytes, Floats] = field(default_factory=dict, repr=False)

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.tau.size, self.sigma.size, self.mu.shape[1]

    def loglik(self, values: Sequence[float]) -> Floats:
        """Log likelihood of all boots of one kernel under each node, shape (t, s, a)."""
        key = tuple(values)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._loglik(key)
        return found

    def _loglik(self, values: tuple[float, ...]) -> Floats:
        found = np.zeros(self.shape)
        if not values:
            return found
        y = np.asarray(values)
        found[0] = self._boots_at(y, np.broadcast_to(self.mu[0], found[0].shape))
        boots = self.boots(values)
        top = boots.log.max(axis=1)
        weight = np.exp(boots.log - top[:, None])
        for t, tau in enumerate(self.tau.tolist()):
            if not tau:
                continue
            normal = self._normal(t, boots.at)
            joint = np.einsum("sx,sxa->sa", weight, normal)
            # A kernel that lies beyond the nodes gave nothing but stray boots.
            beyond = np.clip(1 - np.einsum("sx,sxa->sa", boots.width, normal), 0.0, 1.0)
            stray = len(values) * np.log(CONTAMINATION * self.outlier) - top[:, None]
            joint += beyond * np.exp(np.minimum(stray, 0.0))
            found[t] = np.log(np.maximum(joint, 1e-300)) + top[:, None]
            fine = boots.fine(self.mu[t], tau)
            if not fine.all():
                found[t] = np.where(fine, found[t], self._small_offsets(y, t))
        return found

    def _small_offsets(self, y: Floats, t: int) -> Floats:
        """Log likelihood where offsets are small beside what the boots leave open, (s, a)."""
        logs = []
        for node, weight in zip(*_HERMITE, strict=True):
            at = np.broadcast_to(self.mu[t] + self.tau[t] * node, self.shape[1:])
            logs.append(self._boots_at(y, at) + np.log(weight))
        stacked = np.array(logs)
        top = stacked.max(axis=0)
        found: Floats = np.log(np.exp(stacked - top).sum(axis=0)) + top
        return found

    def boots(self, values: tuple[float, ...]) -> Boots:
        """Nodes for the offset of a kernel around its boots, for each scale."""
        y = np.asarray(values)
        centre = float(np.median(y))
        reach = float(np.abs(y - centre).max()) + 12 * self.sigma
        inner = reach / np.sinh(_BEND)
        grid = np.linspace(-_BEND, _BEND, _U_NODES)
        at = centre + inner[:, None] * np.sinh(grid)
        width = _STEP * inner[:, None] * np.cosh(grid)
        return Boots(at, self._boots_at(y, at) + np.log(width), width, centre, inner)

    def _boots_at(self, y: Floats, at: Floats) -> Floats:
        """Log likelihood of boots around the locations `at` (s, x) with scales (s,)."""
        z = (y[:, None, None] - at) / self.sigma[:, None]
        density = student(z) / self.sigma[:, None]
        mixed = (1 - CONTAMINATION) * density + CONTAMINATION * self.outlier
        found: Floats = np.log(mixed).sum(axis=0)
        return found

    def _normal(self, t: int, at: Floats) -> Floats:
        """Density of kernels of this side at `at` (s, x) for each location, shape (s, x, a)."""
        z = (at[:, :, None] - self.mu[t]) / self.tau[t]
        found: Floats = np.exp(-0.5 * z * z) / (np.sqrt(2 * np.pi) * self.tau[t])
        return found

    def fresh(self, y: Floats) -> Floats:
        """Density of one boot of a kernel that never booted, shape (b, t, s, a)."""
        found = np.zeros((y.size, *self.shape))
        for t, tau in enumerate(self.tau.tolist()):
            nodes, weights = _HERMITE if tau else (np.zeros(1), np.ones(1))
            for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
                z = (y[:, None, None] - self.mu[t] - tau * node) / self.sigma[:, None]
                found[:, t] += weight * student(z) / self.sigma[:, None]
        mixed: Floats = (1 - CONTAMINATION) * found + CONTAMINATION * self.outlier
        return mixed

    def again(self, y: Floats, values: tuple[float, ...], node: Floats) -> Floats:
        """Density of one more boot of a kernel with boots, given the weight of each node
        (t, s, a) after these boots; shape (b,).
        """
        there = self._resolved(y, values)
        where = np.einsum("tsxa,tsa->sx", there.share, node)
        found = there.density.reshape(y.size, -1) @ where.ravel()
        coarse = np.where(there.fine, 0.0, node)
        found += self._still(y).reshape(y.size, -1) @ coarse.ravel()
        mixed: Floats = (1 - CONTAMINATION) * found + CONTAMINATION * self.outlier * node.sum()
        return mixed

    def _still(self, y: Floats) -> Floats:
        """Density of one boot of a kernel without an offset of its own, shape (b, t, s, a)."""
        key = y.tobytes()
        found = self._flat.get(key)
        if found is None:
            z = (y[:, None, None, None] - self.mu[:, None, :]) / self.sigma[:, None]
            found = self._flat[key] = student(z) / self.sigma[:, None]
        return found

    def _resolved(self, y: Floats, values: tuple[float, ...]) -> _Resolved:
        key = (values, y.tobytes())
        found = self._seen.pop(key, None) or self._resolve(y, values)
        # The last ones asked for stay: a step asks again for all kernels but one.
        self._seen[key] = found
        while len(self._seen) > _SEEN:
            del self._seen[next(iter(self._seen))]
        return found

    def _resolve(self, y: Floats, values: tuple[float, ...]) -> _Resolved:
        boots = self.boots(values)
        weight = np.exp(boots.log - boots.log.max(axis=1, keepdims=True))
        share = np.zeros((*self.shape[:2], _U_NODES, self.shape[2]))
        fine = np.zeros(self.shape, dtype=np.bool_)
        for t, tau in enumerate(self.tau.tolist()):
            fine[t] = boots.fine(self.mu[t], tau)
            if fine[t].any():
                joint = weight[:, :, None] * self._normal(t, boots.at)
                total = np.maximum(joint.sum(axis=1), 1e-300)
                share[t] = joint * np.where(fine[t], 1 / total, 0.0)[:, None, :]
        z = (y[:, None, None] - boots.at) / self.sigma[:, None]
        return _Resolved(share, fine, student(z) / self.sigma[:, None])


@dataclass(frozen=True, eq=False)
class _Resolved:
    """Where a kernel is by its boots: `share` (t, s, x, a) of each offset for each node that is
    `fine` (t, s, a), and the `density` (b, s, x) of a boot there.
    """

    share: Floats
    fine: Bools
    density: Floats


def student(z: Floats) -> Floats:
    """Density of Student-t with NU degrees of freedom, without a slow power."""
    tail = 1 + z * z / NU
    found: Floats = _T4 / (tail * tail * np.sqrt(tail))
    return found


@dataclass(frozen=True)
class _Extent:
    """Where the prior lives: location within twice the span, scale from `floor` to `top`."""

    low: float
    high: float
    floor: float

    @property
    def span(self) -> float:
        return self.high - self.low

    @property
    def top(self) -> float:
        return max(2 * self.span, 4 * self.floor)


@lru_cache(maxsize=4)
def boot_grids(
    good: tuple[float, ...],
    bad: tuple[float, ...],
    effect_floor: float,
    *,
    shifted: bool = True,
) -> Grids:
    """Grids that cover what the calibration boots of the two ends allow. `shifted`: the bad side
    is worse in its location, by LEAST of what the ends differ in at least.

    Every grid integrates the same prior: location uniform over twice the span of the
    data, log scale uniform, tau as TAU_PRIOR. Only the nodes lie where the boots have mass.
    """
    one, two = np.sort(np.asarray(good)), np.sort(np.asarray(bad))
    effect = max(abs(float(np.median(two) - np.median(one))), effect_floor, 1e-9)
    low, high = float(min(one[0], two[0])), float(max(one[-1], two[-1]))
    slack = max(0.0, effect - (high - low)) / 2
    extent = _Extent(low - slack, high + slack, effect / RESOLUTION)
    spreads = [_spread(values, extent.floor) for values in (one, two)]
    typical = float(np.sqrt(spreads[0] * spreads[1]))
    tau = np.array([0.0, *_axis(0.2 * typical, 1.3 * max(effect, typical), _TAU_STEP)])
    least, most = max(extent.floor, min(spreads) / 4), min(4 * max(spreads), extent.top)
    narrow = _axis(least, most, _SIGMA_STEP)
    found = []
    for values, spread in zip((one, two), spreads, strict=True):
        centre = float(np.median(values))
        reach = np.hypot(2.5 * spread, 2.5 * tau)
        mu = centre + reach[:, None] * np.linspace(-1, 1, _MU_NODES)
        found.append(_grid(mu, narrow, tau, extent))
    # The prior of tau stands once: with the good side, and with the shared one.
    found[0].prior[...] += _tau_prior(tau, TAU_PRIOR)
    middle, half = (low + high) / 2, (high - low) / 2
    reach = half + np.hypot(2.5 * typical, 2.5 * tau) / 2
    mu = middle + reach[:, None] * np.linspace(-1, 1, _SHARED_NODES)
    shared = _grid(mu, _axis(extent.floor, extent.top, _SIGMA_STEP), tau, extent)
    shared.prior[...] += _tau_prior(tau, NONE_TAU_PRIOR)
    shared.prior[...] += _log_density(shared.sigma, extent)[None, :, None]
    y = np.linspace(extent.low - extent.span / 2, extent.high + extent.span / 2, _BINS)
    least = max(effect_floor, LEAST * effect)
    ahead = _ahead(found[0].mu, found[1].mu, least, extent) if shifted else None
    return Grids(found[0], found[1], shared, _coupled(narrow, extent), y, tau > 0, ahead)


def _ahead(good: Floats, bad: Floats, least: float, extent: _Extent) -> Floats:
    """The prior of both locations (t, a) together over the independent one, (t, a, a)."""
    room = 0.5 * max(0.1, 1 - least / (2 * extent.span)) ** 2
    worse = bad[:, None, :] - good[:, :, None] >= least
    return worse / room


def _spread(values: Floats, floor: float) -> float:
    """A robust scale of a few boots."""
    centre = float(np.median(values))
    deviation = 1.4826 * float(np.median(np.abs(values - centre)))
    return max(deviation, 0.5 * float(values.std()), floor)


def _tau_prior(tau: Floats, prior: tuple[float, float]) -> Floats:
    """Log prior of the nodes of tau, the first of which is 0; shape (t, 1, 1)."""
    zero, slope = prior
    rest = np.linspace(1, slope, tau.size - 1)
    found: Floats = np.log(np.concatenate([[zero], (1 - zero) * rest / rest.sum()]))
    return found[:, None, None]


def _axis(low: float, high: float, step: float) -> Floats:
    """Scales from `low` to `high` with equal steps of the logarithm, at most `step`."""
    count = max(3, int(np.ceil(np.log(high / low) / step)) + 1)
    found: Floats = np.geomspace(low, high, count)
    return found


def _grid(mu: Floats, sigma: Floats, tau: Floats, extent: _Extent) -> BootGrid:
    """Nodes with the prior of location; that of scale and tau is added by the caller."""
    prior = np.log((mu[:, 1] - mu[:, 0]) / (2 * extent.span))
    cube = np.zeros((tau.size, sigma.size, mu.shape[1])) + prior[:, None, None]
    return BootGrid(mu, sigma, tau, cube, 1 / (3 * extent.span))


def _log_density(sigma: Floats, extent: _Extent) -> Floats:
    """Log prior of each node of an axis of scales."""
    step = np.log(sigma[1] / sigma[0])
    return np.full(sigma.size, np.log(step / np.log(extent.top / extent.floor)))


def _coupled(sigma: Floats, extent: _Extent) -> Floats:
    """Log prior of the scales of both sides: mostly equal, else independent."""
    one = np.exp(_log_density(sigma, extent))
    apart = (1 - EQUAL_SCALES) * np.outer(one, one)
    found: Floats = np.log(apart + EQUAL_SCALES * np.diag(one))
    return found
