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

from rtbisect.search import lenses as looking
from rtbisect.search.grids import logsumexp, normal

if TYPE_CHECKING:
    from rtbisect.search.graph import Ancestry, Bools, Floats
    from rtbisect.search.grids import Grids
    from rtbisect.search.lenses import Seen
    from rtbisect.search.model import SearchState
    from rtbisect.search.views import Views

#: Patterns that hold this share of the mass shape the predictive densities, so many at most.
_SHAPING = 0.98
_CELLS = 4


@dataclass(frozen=True)
class Kernel:
    """A kernel that booted: revisions that are equal, and all views of all boots of them. A
    `layout` other than 0 is a build of its own.
    """

    shas: tuple[str, ...]
    boots: tuple[Views, ...]
    layout: int = 0

    def values(self, view: int) -> tuple[float, ...]:
        return tuple(boot[view] for boot in self.boots)


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
    likeliest patterns and `shared` (t, s, a) the nodes of "no regression", both through
    the likeliest lens: `grid` and `view` are its.
    """

    commits: Floats
    none: float
    kernels: tuple[Kernel, ...]
    cells: tuple[Cell, ...]
    grid: Grids | None
    shared: Floats
    view: int = 0

    @property
    def possible(self) -> bool:
        return bool(self.commits.any())

    @property
    def best(self) -> int:
        return int(self.commits.argmax())

    @property
    def layout(self) -> float:
        """If there is no regression: the probability that builds differ by their layout."""
        if self.grid is None:
            return 0.0
        return float(self.shared[self.grid.layout].sum())

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
        values = self.kernels[number].values(self.view)
        if cell is None:
            found = self.grid.shared.again(self.grid.y, values, self.shared)
        elif cell.sides[number]:
            found = self.grid.bad.again(self.grid.y, values, cell.bad)
        else:
            found = self.grid.good.again(self.grid.y, values, cell.good)
        whole: Floats = found / found.sum()
        return whole


def _binned(density: Floats, node: Floats) -> Floats:
    found: Floats = density.reshape(density.shape[0], -1) @ node.ravel()
    whole: Floats = found / found.sum()
    return whole


def kernels(state: SearchState) -> tuple[Kernel, ...]:
    """Every kernel that booted, revisions of one signature together, in a fixed order."""
    ledger = state.ledger
    found: dict[tuple[str, ...], Kernel] = {}
    for sha, layout in sorted(ledger.views):
        shas = ledger.kin.get(sha, (sha,))
        if not layout and shas not in found:
            boots = [b for one in sorted(shas) for b in ledger.views.get((one, 0), ())]
            found[shas] = Kernel(shas, tuple(boots))
    others = [
        Kernel((sha,), boots, layout)
        for (sha, layout), boots in sorted(ledger.views.items())
        if layout and boots
    ]
    return (*found.values(), *others)


def posterior(state: SearchState) -> Posterior:
    """Needs the calibration boots of both ends: they decide where the grids lie."""
    spec, ancestry = state.spec, state.ancestry
    lenses = looking.lenses(state)
    booted = kernels(state)
    sides = np.array([ancestry.side(kernel.shas[0]) for kernel in booted], dtype=np.bool_)
    pattern, member = patterns(sides)
    seen = [looking.seen(lens, [kernel.boots for kernel in booted], pattern) for lens in lenses]
    weights = looking.against_none(lenses, seen)
    weight = np.full(ancestry.size, np.log((1 - spec.prior_none) / ancestry.size))
    weight[~allowed(ancestry, state.ledger.twins, state.ledger.assumed)] = -np.inf
    through = weights[:, member] + weight
    weight = logsumexp(through.T)
    if not np.isfinite(weight.max()):
        return Posterior(np.zeros_like(weight), 0.0, booted, (), None, seen[0].shared)
    none = float(np.log(spec.prior_none))
    top = max(float(weight.max()), none)
    commits = np.exp(weight - top)
    total = float(commits.sum() + np.exp(none - top))
    commits /= total
    first = int(logsumexp(through).argmax())
    cells = _cells(seen[first], commits, pattern, member)
    return Posterior(
        commits, float(np.exp(none - top)) / total, booted, cells, lenses[first].grid,
        normal(seen[first].shared, 3), lenses[first].view,
    )  # fmt: skip


def _cells(
    seen: Seen, commits: Floats, pattern: Bools, member: npt.NDArray[np.intp]
) -> tuple[Cell, ...]:
    """The likeliest patterns and their nodes."""
    mass = np.zeros(len(pattern))
    np.add.at(mass, member, commits)
    found = []
    for p in _shaping(mass):
        joint = np.exp(seen.scales[p] - seen.likelihood[p])
        found.append(
            Cell(
                np.where(member == p, commits, 0.0),
                pattern[p],
                normal(seen.good[p]) * joint.sum(axis=2)[:, :, None],
                normal(seen.bad[p]) * joint.sum(axis=1)[:, :, None],
            )
        )
    return tuple(found)


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


def patterns(sides: Bools) -> tuple[Bools, npt.NDArray[np.intp]]:
    """Distinct columns of `sides` as rows (p, k), and for each commit which one it has."""
    packed = np.ascontiguousarray(np.packbits(sides, axis=0).T)
    keys = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]
    _, first, member = np.unique(keys, return_index=True, return_inverse=True)
    return sides[:, first].T, member.reshape(-1)


@lru_cache(maxsize=16)
def allowed(
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
