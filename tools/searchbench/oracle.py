# SPDX-License-Identifier: GPL-2.0-or-later
"""Grids of one node that know the distributions: what a search could do at best."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.search.likelihood.grids import Grids

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.search.ancestry import Floats
    from searchbench.world import Cell

_DRAWS = 2_000_000
_EDGES = np.linspace(-12, 12, 481)


@lru_cache(maxsize=16)
def _density(boot: float, build: float, tail: str) -> Floats:
    """Density of the noise of one boot without that of its build, in bins of 0.05."""
    rng = np.random.default_rng(1)

    def draw() -> Floats:
        if tail == "normal":
            return rng.standard_normal(_DRAWS)
        return rng.standard_t(3, _DRAWS) / 3**0.5

    noise = boot**0.5 * draw() + (1 - boot - build) ** 0.5 * draw()
    count, _ = np.histogram(noise, _EDGES)
    smooth = np.convolve(count, [0.25, 0.5, 0.25], "same") + 0.5
    found: Floats = (smooth + smooth[::-1]) / 2
    return found / (found.sum() * 0.05)


@dataclass(frozen=True, eq=False)
class KnownGrid:
    """One side whose location `mu`, noise and build noise `tau` are known."""

    mu: float
    tau: float
    table: Floats

    @property
    def prior(self) -> Floats:
        return np.zeros((1, 1, 1))

    def _offsets(self) -> tuple[Floats, Floats]:
        if not self.tau:
            return np.zeros(1), np.ones(1)
        u = np.linspace(-4, 4, 65) * self.tau
        weight = np.exp(-0.5 * (u / self.tau) ** 2)
        return u, weight / weight.sum()

    def _at(self, y: Floats, u: Floats) -> Floats:
        place = (y[:, None] - self.mu - u - _EDGES[0]) / 0.05
        index = np.clip(place.astype(int), 0, self.table.size - 1)
        return self.table[index]

    def _joint(self, values: Sequence[float]) -> Floats:
        """Log weight of each offset with the boots, shape (u,)."""
        u, weight = self._offsets()
        found: Floats = np.log(weight)
        if len(values):
            found = found + np.log(self._at(np.asarray(values), u)).sum(axis=0)
        return found

    def loglik(self, values: Sequence[float]) -> Floats:
        joint = self._joint(values)
        top = joint.max()
        return np.full((1, 1, 1), np.log(np.exp(joint - top).sum()) + top)

    def fresh(self, y: Floats) -> Floats:
        u, weight = self._offsets()
        return (self._at(y, u) @ weight)[:, None, None, None]

    def again(self, y: Floats, values: tuple[float, ...], node: Floats) -> Floats:
        joint = self._joint(values)
        weight = np.exp(joint - joint.max())
        u, _ = self._offsets()
        found: Floats = self._at(y, u) @ (weight / weight.sum()) * node.sum()
        return found


@dataclass(frozen=True, eq=False)
class KnownNone:
    """No regression: what is known but for the kind of the range, a node each."""

    kinds: tuple[KnownGrid, ...]

    @property
    def prior(self) -> Floats:
        return np.full((len(self.kinds), 1, 1), -np.log(len(self.kinds)))

    def loglik(self, values: Sequence[float]) -> Floats:
        return np.concatenate([kind.loglik(values) for kind in self.kinds])

    def fresh(self, y: Floats) -> Floats:
        return np.concatenate([kind.fresh(y) for kind in self.kinds], axis=1)

    def again(self, y: Floats, values: tuple[float, ...], node: Floats) -> Floats:
        parts = [kind.again(y, values, node[t]) for t, kind in enumerate(self.kinds)]
        found: Floats = np.sum(parts, axis=0)
        return found


def known_grids(cell: Cell) -> Grids:
    """Both sides of a cell; and ranges without a culprit as its worlds have them: builds of one
    code differ by the cell's build share, or, in every other one, by as much as the ends do.
    """
    table, tau = _density(cell.boot, cell.build, cell.tail), cell.build**0.5
    good, bad = KnownGrid(0.0, tau, table), KnownGrid(cell.effect, tau, table)
    # Either way the level is that of the good side: a layout moves the ends up or down.
    wide = KnownGrid(0.0, cell.layout_tau, table)
    kinds = (good, wide) if cell.none else (good,)
    return Grids(
        good=good,
        bad=bad,
        shared=KnownNone(kinds),
        couple=np.zeros((1, 1)),
        y=np.linspace(-6, 6 + cell.effect, 96),
        layout=np.array([kind is wide for kind in kinds]),
    )
