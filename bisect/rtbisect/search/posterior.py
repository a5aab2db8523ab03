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

from rtbisect.search.likelihood import hypotheses as looking
from rtbisect.search.likelihood.grids import logsumexp, normal

if TYPE_CHECKING:
    from rtbisect.model.code import CommitGraph
    from rtbisect.search.ancestry import Ancestry, Bools, Floats
    from rtbisect.search.calibrate import Calibration
    from rtbisect.search.ledger import Ledger
    from rtbisect.search.likelihood.features import Views
    from rtbisect.search.likelihood.grids import Grids
    from rtbisect.search.likelihood.hypotheses import Seen
    from rtbisect.search.spec import SearchSpec

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
        return tuple(boot[view] for boot in self.boots if view < len(boot))


@dataclass(frozen=True, eq=False)
class Cell:
    """Hypotheses that give the tested kernels the same sides. `weights` (n,) are their
    probabilities, `sides` (k,) those of the kernels, `good` and `bad` (t, s, a) the weights of the
    nodes of each side, adding up to 1, on the `grid` that explains the boots best if these are
    the sides.
    """

    weights: Floats
    sides: Bools
    good: Floats
    bad: Floats
    grid: Grids


@dataclass(frozen=True, eq=False, kw_only=True)
class Posterior:
    """`commits`: probability of each candidate, shape (n,); `none`: of no regression. They
    add up to 1, unless nothing explains the data: then all are 0. `grid` and `view` are those of
    the likeliest lens, `cells` the likeliest patterns and `shared` (t, s, a) the nodes of "no
    regression" on `none_grid`, each through its own likeliest lens on that view: a boot tells
    hypotheses apart only as far as each of them predicts something else.
    """

    commits: Floats
    none: float
    kernels: tuple[Kernel, ...]
    cells: tuple[Cell, ...]
    grid: Grids | None
    shared: Floats
    view: int = 0
    none_grid: Grids | None = None

    @property
    def possible(self) -> bool:
        return bool(self.commits.any())

    @property
    def best(self) -> int:
        return int(self.commits.argmax())

    @property
    def layout(self) -> float:
        """If there is no regression: the probability that builds differ by their layout."""
        if self.none_grid is None:
            return 0.0
        return float(self.shared[self.none_grid.layout].sum())

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
        own = cell.grid is self.grid
        return self._binned(
            cell.grid.fresh_good if own else cell.grid.good.fresh(self.grid.y), cell.good
        )

    def predict_bad(self, cell: Cell) -> Floats:
        assert self.grid is not None
        own = cell.grid is self.grid
        return self._binned(
            cell.grid.fresh_bad if own else cell.grid.bad.fresh(self.grid.y), cell.bad
        )

    def predict_none(self) -> Floats:
        assert self.grid is not None
        assert self.none_grid is not None
        own = self.none_grid is self.grid
        found = self.grid.fresh_shared if own else self.none_grid.shared.fresh(self.grid.y)
        return self._binned(found, self.shared)

    def _binned(self, density: Floats, node: Floats) -> Floats:
        return self._share(density.reshape(density.shape[0], -1) @ node.ravel())

    def _share(self, density: Floats) -> Floats:
        """Densities as probabilities of the values that are compared."""
        assert self.grid is not None
        mass = density * self.grid.width
        whole: Floats = mass / mass.sum()
        return whole

    def again(self, number: int, cell: Cell | None) -> Floats:
        """Predictive probabilities of one more boot of kernel `number`, in a cell or (None)
        without a regression; shape (b,).
        """
        assert self.grid is not None
        values, y = self.kernels[number].values(self.view), self.grid.y
        if cell is None:
            assert self.none_grid is not None
            return self._share(self.none_grid.shared.again(y, values, self.shared))
        if cell.sides[number]:
            return self._share(cell.grid.bad.again(y, values, cell.bad))
        return self._share(cell.grid.good.again(y, values, cell.good))


def kernels(graph: CommitGraph, ledger: Ledger) -> tuple[Kernel, ...]:
    """Every kernel that booted, revisions of one signature together, in a fixed order."""
    ends = [b for end in (graph.older, graph.newer) for b in ledger.views.get((end, 0), ())]
    views = {
        # Which CPU a boot lacks is not known: it says something of the whole only.
        key: tuple(boot if len(boot) == len(ends[0]) else boot[:1] for boot in boots)
        for key, boots in ledger.views.items()
    }
    found: dict[tuple[str, ...], Kernel] = {}
    for sha, layout in sorted(views):
        shas = ledger.equal.same_as(sha)
        if not layout and shas not in found:
            boots = [b for one in sorted(shas) for b in views.get((one, 0), ())]
            found[shas] = Kernel(shas, tuple(boots))
    others = [
        Kernel((sha,), boots, layout)
        for (sha, layout), boots in sorted(views.items())
        if layout and boots
    ]
    return (*found.values(), *others)


def side_of(ledger: Ledger, ancestry: Ancestry, sha: str) -> Bools:
    """For each candidate: would `sha` be bad if that were the culprit? A revert has all that its
    tip has but the commit that it takes back.
    """
    revert = ledger.reverts.get(sha)
    if revert is None:
        return ancestry.side(sha)
    found = ancestry.side(revert.tip)
    found[ancestry.places([revert.commit])] = False
    return found


def posterior(spec: SearchSpec, ledger: Ledger, ends: Calibration, ancestry: Ancestry) -> Posterior:
    """Needs the calibration boots of both ends: they decide where the grids lie."""
    good, bad = (ledger.views[end, 0][: ends.used] for end in (spec.graph.older, spec.graph.newer))
    shifted = ends.figure.around is None
    lenses = looking.lenses(spec.threshold, good, bad, ledger.views.values(), shifted=shifted)
    booted = kernels(spec.graph, ledger)
    sides = np.array(
        [side_of(ledger, ancestry, kernel.shas[0]) for kernel in booted], dtype=np.bool_
    )
    pattern, member = patterns(sides)
    seen = [looking.seen(lens, [kernel.boots for kernel in booted], pattern) for lens in lenses]
    weights = looking.against_none(lenses, seen)
    able = allowed(ancestry, ledger.equal.twins, ledger.equal.assumed)
    # That a commit changes nothing says nothing against a regression: the others have its share.
    weight = np.full(ancestry.size, np.log((1 - spec.prior_none) / max(1, able.sum())))
    weight[~able] = -np.inf
    through = weights[:, member] + weight
    weight = logsumexp(through.T)
    if not np.isfinite(weight.max()):
        return Posterior(
            commits=np.zeros_like(weight),
            none=0.0,
            kernels=booted,
            cells=(),
            grid=None,
            shared=seen[0].shared,
        )
    none = float(np.log(spec.prior_none))
    top = max(float(weight.max()), none)
    commits = np.exp(weight - top)
    total = float(commits.sum() + np.exp(none - top))
    commits /= total
    first = lenses[int(logsumexp(through).argmax())]
    same = [i for i, lens in enumerate(lenses) if lens.view == first.view]
    likeliest = [same[int(weights[same, p].argmax())] for p in range(len(pattern))]
    none_lens = max(same, key=lambda i: lenses[i].family + seen[i].none)
    cells = _cells([(lenses[i].grid, seen[i]) for i in likeliest], commits, pattern, member)
    return Posterior(
        commits=commits, none=float(np.exp(none - top)) / total, kernels=booted, cells=cells,
        grid=first.grid,
        shared=normal(seen[none_lens].shared, 3), view=first.view, none_grid=lenses[none_lens].grid,
    )  # fmt: skip


def _cells(
    likeliest: list[tuple[Grids, Seen]],
    commits: Floats,
    pattern: Bools,
    member: npt.NDArray[np.intp],
) -> tuple[Cell, ...]:
    """The likeliest patterns and their nodes, each through its likeliest lens."""
    mass = np.zeros(len(pattern))
    np.add.at(mass, member, commits)
    found = []
    for p in _shaping(mass):
        grid, seen = likeliest[p]
        joint = np.exp(seen.scales[p] - seen.likelihood[p])
        found.append(
            Cell(
                np.where(member == p, commits, 0.0),
                pattern[p],
                normal(seen.good[p]) * joint.sum(axis=2)[:, :, None],
                normal(seen.bad[p]) * joint.sum(axis=1)[:, :, None],
                grid,
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
