# SPDX-License-Identifier: GPL-2.0-or-later
"""Posterior over every commit and over "no regression", from all boots so far.

Commit j is bad under culprit c when c is j or one of its ancestors. Two hypotheses that
give the tested kernels the same sides have the same likelihood, so it is computed
once for each pattern of sides, not for each commit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rtbisect.judge.scale import COUNT, FRACTION, effect_floor
from rtbisect.search.counts import chance_grids, count_grids
from rtbisect.search.grids import logsumexp
from rtbisect.search.noise import boot_grids

if TYPE_CHECKING:
    from rtbisect.search.graph import Ancestry, Bools, Floats
    from rtbisect.search.model import SearchState
    from rtbisect.search.grids import Grids

#: Patterns that hold this share of the mass shape the predictive densities, so many at most.
_SHAPING = 0.98
_CELLS = 4


@dataclass(frozen=True)
class Kernel:
    """A kernel that booted: revisions that are equal, and all boots of them. A `layout` other
    than 0 is a build of its own.
    """

    shas: tuple[str, ...]
    values: tuple[float, ...]
    layout: int = 0


@dataclass(frozen=True, eq=False)
class Cell:
    """Hypotheses that give the tested kernels the same sides. `weights` (n,) are their
    probabilities, `sides` (k,) those of the kernels, `good` and `bad` (t, s, a) the
    weights of the nodes of each side, adding up to 1.
    """

    weights: Floats
    sides: Bools
    good: Floats
    bad: Floats


@dataclass(frozen=True, eq=False)
class Posterior:
    """`commits`: probability of each candidate, shape (n,); `none`: of no regression. They
    add up to 1, unless nothing explains the data: then all are 0. `cells` are the
    likeliest patterns; `shared` (t, s, a) the nodes of "no regression".
    """

    commits: Floats
    none: float
    kernels: tuple[Kernel, ...]
    cells: tuple[Cell, ...]
    grid: Grids | None
    shared: Floats

    @property
    def possible(self) -> bool:
        return bool(self.commits.any())

    @property
    def best(self) -> int:
        return int(self.commits.argmax())

    @cached_property
    def good(self) -> Floats:
        """Predictive probabilities of a boot of a new good kernel, shape (b,)."""
        return self._average([self.predict_good(cell) for cell in self.cells])

    @cached_property
    def bad(self) -> Floats:
        """Predictive probabilities of a boot of a new bad kernel, shape (b,)."""
        return self._average([self.predict_bad(cell) for cell in self.cells])

    def _average(self, densities: list[Floats]) -> Floats:
        if not densities:
            return np.ones(1)
        mass = np.array([cell.weights.sum() for cell in self.cells])
        found: Floats = (mass / mass.sum()) @ np.array(densities)
        return found

    def predict_good(self, cell: Cell) -> Floats:
        assert self.grid is not None
        return _binned(self.grid.fresh_good, cell.good)

    def predict_bad(self, cell: Cell) -> Floats:
        assert self.grid is not None
        return _binned(self.grid.fresh_bad, cell.bad)

    def predict_none(self) -> Floats:
        assert self.grid is not None
        return _binned(self.grid.fresh_shared, self.shared)

    def again(self, number: int, cell: Cell | None) -> Floats:
        """Predictive probabilities of one more boot of kernel `number`, in a cell or (None)
        without a regression; shape (b,).
        """
        assert self.grid is not None
        values = self.kernels[number].values
        if cell is None:
            found = self.grid.shared.again(self.grid.y, values, self.shared)
        elif cell.sides[number]:
            found = self.grid.bad.again(self.grid.y, values, cell.bad)
        else:
            found = self.grid.good.again(self.grid.y, values, cell.good)
        normal: Floats = found / found.sum()
        return normal


def _binned(density: Floats, node: Floats) -> Floats:
    found: Floats = density.reshape(density.shape[0], -1) @ node.ravel()
    normal: Floats = found / found.sum()
    return normal


def kernels(state: SearchState) -> tuple[Kernel, ...]:
    """Every kernel that booted, revisions of one signature together, in a fixed order."""
    ledger = state.ledger
    found: dict[tuple[str, ...], Kernel] = {}
    for sha in sorted(ledger.values):
        shas = ledger.kin.get(sha, (sha,))
        if shas not in found:
            values = [v for one in sorted(shas) for v in ledger.values.get(one, ())]
            found[shas] = Kernel(shas, tuple(values))
    others = [
        Kernel((sha,), values, layout)
        for (sha, layout), values in sorted(ledger.layouts.items())
        if values
    ]
    return (*found.values(), *others)


def posterior(state: SearchState) -> Posterior:
    """Needs the calibration boots of both ends: they decide where the grids lie."""
    spec, ancestry = state.spec, state.ancestry
    grid = _grids(state)
    booted = kernels(state)
    sides = np.array([ancestry.side(kernel.shas[0]) for kernel in booted], dtype=np.bool_)
    pattern, member = _patterns(sides)
    good = np.array([grid.good.loglik(kernel.values) for kernel in booted])
    bad = np.array([grid.bad.loglik(kernel.values) for kernel in booted])
    nodes_good = np.tensordot(~pattern, good, 1) + grid.good.prior
    nodes_bad = np.tensordot(pattern, bad, 1) + grid.bad.prior
    scales = _scales(logsumexp(nodes_good), logsumexp(nodes_bad), grid.couple)
    likelihood = logsumexp(scales, 3)
    weight = likelihood[member] + np.log((1 - spec.prior_none) / ancestry.size)
    weight[~_allowed(ancestry, state.ledger.twins, state.ledger.assumed)] = -np.inf
    shared = sum((grid.shared.loglik(kernel.values) for kernel in booted), grid.shared.prior)
    if len(booted) <= 2:
        # Whether two kernels differ by their layout alone no search can tell: with nothing to
        # compare them with it is a question for the verification.
        shared = np.where(grid.layout[:, None, None], -np.inf, shared)
    none = float(logsumexp(shared, 3)) + float(np.log(spec.prior_none))
    top = max(float(weight.max()), none)
    if not np.isfinite(weight.max()):
        return Posterior(np.zeros_like(weight), 0.0, booted, (), None, shared)
    commits = np.exp(weight - top)
    total = float(commits.sum() + np.exp(none - top))
    commits /= total
    mass = np.bincount(member, weights=commits, minlength=len(pattern))
    cells = []
    for p in _shaping(mass):
        joint = np.exp(scales[p] - likelihood[p])
        cells.append(
            Cell(
                np.where(member == p, commits, 0.0),
                pattern[p],
                _nodes(nodes_good[p], joint.sum(axis=2)),
                _nodes(nodes_bad[p], joint.sum(axis=1)),
            )
        )
    normal = np.exp(shared - shared.max())
    return Posterior(
        commits, float(np.exp(none - top)) / total, booted, tuple(cells), grid,
        normal / normal.sum(),
    )  # fmt: skip


def _grids(state: SearchState) -> Grids:
    """Where the grids of the family lie, by the calibration boots alone."""
    spec, values, used = state.spec, state.ledger.values, state.ends.used
    statistic = spec.threshold.statistic
    if statistic == FRACTION:
        return chance_grids()
    good, bad = values[spec.graph.good][:used], values[spec.graph.bad][:used]
    if statistic == COUNT:
        return count_grids(good, bad)
    return boot_grids(good, bad, effect_floor(spec.threshold))


def _scales(good: Floats, bad: Floats, couple: Floats) -> Floats:
    """Log weight of tau and both scales together for each pattern, shape (p, t, s, s)."""
    found: Floats = good[:, :, :, None] + bad[:, :, None, :] + couple
    return found


def _nodes(nodes: Floats, scales: Floats) -> Floats:
    """Weights of all nodes (t, s, a) of one side from the weights of tau and scale (t, s)."""
    top = nodes.max(axis=2, keepdims=True)
    inside = np.exp(nodes - top)
    found: Floats = inside / inside.sum(axis=2, keepdims=True) * scales[:, :, None]
    return found


def _shaping(mass: Floats) -> list[int]:
    """The likeliest patterns."""
    found: list[int] = []
    held = 0.0
    for p in (-mass).argsort(kind="stable")[:_CELLS].tolist():
        if held >= _SHAPING * float(mass.sum()) or mass[p] <= 0:
            break
        found.append(p)
        held += float(mass[p])
    return found


def _patterns(sides: Bools) -> tuple[Bools, npt.NDArray[np.intp]]:
    """Distinct columns of `sides` as rows (p, k), and for each commit which one it has."""
    packed = np.ascontiguousarray(np.packbits(sides, axis=0).T)
    keys = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]
    _, first, member = np.unique(keys, return_index=True, return_inverse=True)
    return sides[:, first].T, member.reshape(-1)


@lru_cache(maxsize=16)
def _allowed(
    ancestry: Ancestry,
    twins: tuple[tuple[str, ...], ...],
    assumed: tuple[tuple[str, str], ...],
) -> Bools:
    """Candidates that do not separate two revisions with the same kernel."""
    allowed = np.ones(ancestry.size, dtype=np.bool_)
    for group in twins:
        first = ancestry.side(group[0])
        for sha in group[1:]:
            allowed &= ancestry.side(sha) == first
    for sha, parent in assumed:
        if len(ancestry.graph.commits[ancestry.index[sha]].parents) == 1:
            allowed[ancestry.index[sha]] = False
        else:
            allowed &= ancestry.side(sha) == ancestry.side(parent)
    allowed.flags.writeable = False
    return allowed
