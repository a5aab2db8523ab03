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
#: Constant of the density of Student-t with 4 degrees of freedom.
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
_STEP = 2 * _BEND / (_U_NODES - 1)
#: Offsets smaller than this many steps between nodes are summed by the rule above.
_FINE = 1.2
#: Kernels whose predictions are kept: a step thinks of a dozen. Each takes some megabytes.
_SEEN = 16
#: Sums over boots that are kept; each takes some ten kilobytes.
_SUMS = 400


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


@dataclass(frozen=True, eq=False, kw_only=True)
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
    _sums: dict[tuple[tuple[float, ...], int], Floats] = field(default_factory=dict, repr=False)
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
        found[0] = self._summed(values, 0)[0]
        boots = self.boots(values)
        top = boots.log.max(axis=1)
        weight = np.exp(boots.log - top[:, None])
        for t, tau in enumerate(self.tau.tolist()):
            if not tau:
                continue
            fine = boots.fine(self.mu[t], tau)
            if not fine.all():
                found[t] = self._small_offsets(values, t)
            if not fine.any():
                continue
            normal = self._normal(t, boots.at)
            joint = np.einsum("sx,sxa->sa", weight, normal)
            # A kernel that lies beyond the nodes gave nothing but stray boots.
            beyond = np.clip(1 - np.einsum("sx,sxa->sa", boots.width, normal), 0.0, 1.0)
            stray = len(values) * np.log(CONTAMINATION * self.outlier) - top[:, None]
            joint += beyond * np.exp(np.minimum(stray, 0.0))
            known = np.log(np.maximum(joint, 1e-300)) + top[:, None]
            found[t] = np.where(fine, known, found[t])
        return found

    def _small_offsets(self, values: tuple[float, ...], t: int) -> Floats:
        """Log likelihood where offsets are small beside what the boots leave open, (s, a)."""
        weights = _HERMITE[1]
        stacked = self._summed(values, t) + np.log(weights)[:, None, None]
        top = stacked.max(axis=0)
        found: Floats = np.log(np.exp(stacked - top).sum(axis=0)) + top
        return found

    def _summed(self, values: tuple[float, ...], t: int) -> Floats:
        """Log likelihood of boots around the offsets of the rule above, shape (x, s, a). What is
        known of all boots but the last one is added to.
        """
        found = self._sums.get((values, t))
        if found is None:
            nodes = _HERMITE[0] if self.tau[t] else np.zeros(1)
            at = self.mu[t] + self.tau[t] * nodes[:, None]
            before = self._sums.get((values[:-1], t))
            new = np.asarray(values if before is None else values[-1:])
            z = (new[:, None, None, None] - at[:, None, :]) / self.sigma[:, None]
            mixed = self._mixed(z)
            found = np.log(mixed).sum(axis=0) if before is None else before + np.log(mixed)[0]
            self._sums[values, t] = found
            while len(self._sums) > _SUMS:
                del self._sums[next(iter(self._sums))]
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
        found: Floats = np.log(self._mixed(z)).sum(axis=0)
        return found

    def _mixed(self, z: Floats) -> Floats:
        """Density of boots at distances `z` (..., s, x) in units of the scale."""
        density = student(z) / self.sigma[:, None]
        found: Floats = (1 - CONTAMINATION) * density + CONTAMINATION * self.outlier
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
