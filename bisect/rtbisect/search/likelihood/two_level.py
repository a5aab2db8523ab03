# SPDX-License-Identifier: GPL-2.0-or-later
"""Likelihood of boots with noise on two levels, everything unknown integrated on a grid.

A boot of a kernel s on side z has the badness

    y = mu_z + u_s + e,   u_s ~ Normal(0, tau),   e ~ Student-t(4) with scale sigma_z,

mixed with a few stray boots. u_s is what one build adds (code and data layout): every boot of
that kernel shares it, so many boots of one build never tell more than one draw of u.
Point estimates from ten boots make a search overconfident, so mu, sigma and tau are integrated:
they lie on a grid (see `extent`), and u is integrated for every kernel on nodes around its own
boots.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.search.ancestry import Bools, Floats

#: Degrees of freedom of the Student-t.
NU = 4.0
#: Constant of the density of Student-t with 4 degrees of freedom: gamma(5/2) over gamma(2) and
#: sqrt(4 pi).
_T4 = 0.375
#: Share of boots that follow neither side (a stray cron job, a lost clock).
CONTAMINATION = 0.03
#: Nodes of the offset of a build.
_U_NODES = 49
#: Gauss-Hermite rule for the offset of a kernel without boots.
_AT, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
_HERMITE = (_AT, _WEIGHTS / _WEIGHTS.sum())
#: Nodes of the offset lie at sinh(-_BEND .. _BEND): dense in the middle, wide in the tails.
_BEND = 4.0
#: The outermost ones lie so many scales beyond the outermost boot.
_BEYOND = 12.0
_STEP = 2 * _BEND / (_U_NODES - 1)
#: Offsets smaller than this many steps between nodes are summed by the rule above.
_FINE = 1.2
#: Kernels whose predictions are kept: a step thinks of a dozen. Each takes some megabytes.
_RESOLVED_KEPT = 16
#: Sums over boots that are kept; each takes some ten kilobytes.
_OFFSET_LOGLIKS_KEPT = 400


@dataclass(frozen=True, eq=False)
class OffsetNodes:
    """Where the offset of one kernel is integrated: around its boots, for every scale."""

    #: Offsets (s, x), dense near the middle of the boots and wide in the tails.
    at: Floats
    #: Log likelihood of all boots there (s, x), times `width`.
    log: Floats
    #: Width of the interval that each node stands for (s, x).
    width: Floats
    #: The middle of the boots.
    centre: float
    #: Half the width of the dense part (s,).
    inner: Floats

    def fine(self, mu: Floats, tau: float) -> Bools:
        """For each scale and location: do the nodes there see offsets as small as `tau`?"""
        step = _STEP * np.hypot(mu[None, :] - self.centre, self.inner[:, None])
        fine: Bools = tau > _FINE * step
        return fine


@dataclass(frozen=True, eq=False, kw_only=True)
class BootGrid:
    """Nodes of one group of kernels: location, scale of a boot, scale of a build."""

    #: Nodes of the location, for each tau (t, a).
    mu: Floats
    #: (s,), ascending.
    sigma: Floats
    #: (t,), the first of which may be 0: builds add nothing.
    tau: Floats
    #: Log weight of each node, shape (t, s, a).
    prior: Floats
    #: Density of a stray boot.
    outlier: float
    #: What was computed before: `loglik` by values; `_resolve` by values and bins; `_offset_loglik`
    #: by values and t; `_without_offset` by bins.
    _logliks: dict[tuple[float, ...], Floats] = field(default_factory=dict, repr=False)
    _resolved_kernels: dict[tuple[tuple[float, ...], bytes], _Resolved] = field(
        default_factory=dict, repr=False
    )
    _offset_logliks: dict[tuple[tuple[float, ...], int], Floats] = field(
        default_factory=dict, repr=False
    )
    _flat_densities: dict[bytes, Floats] = field(default_factory=dict, repr=False)

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.tau.size, self.sigma.size, self.mu.shape[1]

    def loglik(self, values: Sequence[float]) -> Floats:
        """Log likelihood of all boots of one kernel under each node, shape (t, s, a)."""
        key = tuple(values)
        if key not in self._logliks:
            self._logliks[key] = self._loglik(key)
        return self._logliks[key]

    def _loglik(self, values: tuple[float, ...]) -> Floats:
        log = np.zeros(self.shape)
        if not values:
            return log
        log[0] = self._offset_loglik(values, 0)[0]
        offset_nodes = self.offset_nodes(values)
        top = offset_nodes.log.max(axis=1)
        weight = np.exp(offset_nodes.log - top[:, None])
        for t, tau in enumerate(self.tau.tolist()):
            if not tau:
                continue
            fine = offset_nodes.fine(self.mu[t], tau)
            if not fine.all():
                log[t] = self._small_offsets(values, t)
            if not fine.any():
                continue
            normal = self._normal(t, offset_nodes.at)
            joint = np.einsum("sx,sxa->sa", weight, normal)
            # A kernel that lies beyond the nodes gave nothing but stray boots.
            beyond = np.clip(1 - np.einsum("sx,sxa->sa", offset_nodes.width, normal), 0.0, 1.0)
            stray = len(values) * np.log(CONTAMINATION * self.outlier) - top[:, None]
            joint += beyond * np.exp(np.minimum(stray, 0.0))
            fine_log = np.log(np.maximum(joint, 1e-300)) + top[:, None]
            log[t] = np.where(fine, fine_log, log[t])
        return log

    def _small_offsets(self, values: tuple[float, ...], t: int) -> Floats:
        """Log likelihood where offsets are small beside what the boots leave open, (s, a)."""
        weights = _HERMITE[1]
        stacked = self._offset_loglik(values, t) + np.log(weights)[:, None, None]
        top = stacked.max(axis=0)
        log: Floats = np.log(np.exp(stacked - top).sum(axis=0)) + top
        return log

    def _offset_loglik(self, values: tuple[float, ...], t: int) -> Floats:
        """Log likelihood of boots around the offsets of the rule above, shape (x, s, a). What is
        known of all boots but the last one is added to.
        """
        log = self._offset_logliks.get((values, t))
        if log is None:
            nodes = _HERMITE[0] if self.tau[t] else np.zeros(1)
            at = self.mu[t] + self.tau[t] * nodes[:, None]
            before = self._offset_logliks.get((values[:-1], t))
            new = np.asarray(values if before is None else values[-1:])
            z = (new[:, None, None, None] - at[:, None, :]) / self.sigma[:, None]
            mixed = self._mixed(z)
            log = np.log(mixed).sum(axis=0) if before is None else before + np.log(mixed)[0]
            self._offset_logliks[values, t] = log
            while len(self._offset_logliks) > _OFFSET_LOGLIKS_KEPT:
                del self._offset_logliks[next(iter(self._offset_logliks))]
        return log

    def offset_nodes(self, values: tuple[float, ...]) -> OffsetNodes:
        """Nodes for the offset of a kernel around its boots, for each scale."""
        y = np.asarray(values)
        centre = float(np.median(y))
        reach = float(np.abs(y - centre).max()) + _BEYOND * self.sigma
        inner = reach / np.sinh(_BEND)
        grid = np.linspace(-_BEND, _BEND, _U_NODES)
        at = centre + inner[:, None] * np.sinh(grid)
        width = _STEP * inner[:, None] * np.cosh(grid)
        z = (y[:, None, None] - at) / self.sigma[:, None]
        log = np.log(self._mixed(z)).sum(axis=0) + np.log(width)
        return OffsetNodes(at, log, width, centre, inner)

    def _mixed(self, z: Floats) -> Floats:
        """Density of boots at distances `z` (..., s, x) in units of the scale."""
        density = student(z) / self.sigma[:, None]
        mixed: Floats = (1 - CONTAMINATION) * density + CONTAMINATION * self.outlier
        return mixed

    def _normal(self, t: int, at: Floats) -> Floats:
        """Density of kernels of this side at `at` (s, x) for each location, shape (s, x, a)."""
        z = (at[:, :, None] - self.mu[t]) / self.tau[t]
        density: Floats = np.exp(-0.5 * z * z) / (np.sqrt(2 * np.pi) * self.tau[t])
        return density

    def fresh(self, y: Floats) -> Floats:
        """Density of one boot of a kernel that never booted, shape (b, t, s, a)."""
        density = np.zeros((y.size, *self.shape))
        for t, tau in enumerate(self.tau.tolist()):
            nodes, weights = _HERMITE if tau else (np.zeros(1), np.ones(1))
            for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
                z = (y[:, None, None] - self.mu[t] - tau * node) / self.sigma[:, None]
                density[:, t] += weight * student(z) / self.sigma[:, None]
        mixed: Floats = (1 - CONTAMINATION) * density + CONTAMINATION * self.outlier
        return mixed

    def again(self, y: Floats, values: tuple[float, ...], node: Floats) -> Floats:
        """Density of one more boot of a kernel with boots, given the weight of each node
        (t, s, a) after these boots; shape (b,).
        """
        resolved = self._resolved(y, values)
        offset_weight = np.einsum("tsxa,tsa->sx", resolved.share, node)
        density = resolved.density.reshape(y.size, -1) @ offset_weight.ravel()
        coarse = np.where(resolved.fine, 0.0, node)
        density += self._without_offset(y).reshape(y.size, -1) @ coarse.ravel()
        mixed: Floats = (1 - CONTAMINATION) * density + CONTAMINATION * self.outlier * node.sum()
        return mixed

    def _without_offset(self, y: Floats) -> Floats:
        """Density of one boot of a kernel without an offset of its own, shape (b, t, s, a)."""
        key = y.tobytes()
        if key not in self._flat_densities:
            z = (y[:, None, None, None] - self.mu[:, None, :]) / self.sigma[:, None]
            self._flat_densities[key] = student(z) / self.sigma[:, None]
        return self._flat_densities[key]

    def _resolved(self, y: Floats, values: tuple[float, ...]) -> _Resolved:
        key = (values, y.tobytes())
        resolved = self._resolved_kernels.pop(key, None) or self._resolve(y, values)
        # The last ones asked for stay: a step asks again for all kernels but one.
        self._resolved_kernels[key] = resolved
        while len(self._resolved_kernels) > _RESOLVED_KEPT:
            del self._resolved_kernels[next(iter(self._resolved_kernels))]
        return resolved

    def _resolve(self, y: Floats, values: tuple[float, ...]) -> _Resolved:
        offset_nodes = self.offset_nodes(values)
        weight = np.exp(offset_nodes.log - offset_nodes.log.max(axis=1, keepdims=True))
        share = np.zeros((*self.shape[:2], _U_NODES, self.shape[2]))
        fine = np.zeros(self.shape, dtype=np.bool_)
        for t, tau in enumerate(self.tau.tolist()):
            fine[t] = offset_nodes.fine(self.mu[t], tau)
            if fine[t].any():
                joint = weight[:, :, None] * self._normal(t, offset_nodes.at)
                total = np.maximum(joint.sum(axis=1), 1e-300)
                share[t] = joint * np.where(fine[t], 1 / total, 0.0)[:, None, :]
        z = (y[:, None, None] - offset_nodes.at) / self.sigma[:, None]
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
    density: Floats = _T4 / (tail * tail * np.sqrt(tail))
    return density
