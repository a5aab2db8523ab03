# SPDX-License-Identifier: GPL-2.0-or-later
"""Posterior over every commit and over "no regression", from all boots so far.

Commit j is bad under culprit c when c is j or one of its ancestors. Two hypotheses that
give the tested kernels the same sides have the same likelihood, so it is computed
once for each pattern of sides, not for each commit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rtbisect.search.likelihood import hypotheses
from rtbisect.search.likelihood.grids import Grid, Grids, logsumexp, normalized

if TYPE_CHECKING:
    from rtbisect.model.code import CommitGraph
    from rtbisect.search.ancestry import Ancestry, Bools, Floats
    from rtbisect.search.calibrate import Calibration
    from rtbisect.search.ledger import Ledger
    from rtbisect.search.likelihood.features import Views
    from rtbisect.search.likelihood.hypotheses import LensLikelihood
    from rtbisect.search.spec import SearchSpec

#: Patterns that hold this share of the mass shape the predictive densities, so many at most.
_SHAPING = 0.98
_CELLS = 4


@dataclass(frozen=True)
class Kernel:
    """A kernel that booted."""

    #: Revisions that have it, built ones first.
    shas: tuple[str, ...]
    #: Views of all boots of all of them.
    boots: tuple[Views, ...]
    #: Other than 0: a build of its own, of one revision.
    layout: int = 0

    def values(self, view: int) -> tuple[float, ...]:
        return tuple(boot[view] for boot in self.boots if view < len(boot))


@dataclass(frozen=True, eq=False)
class Cell:
    """Hypotheses that give the tested kernels the same sides."""

    #: Probability of each candidate (n,); 0 for those of other cells.
    weights: Floats
    #: Which of the kernels (k,) are bad.
    sides: Bools
    #: Weights of the nodes of each side (t, s, a), adding up to 1.
    good: Floats
    bad: Floats
    #: Of the lens that explains the boots best if these are the sides.
    grid: Grids


@dataclass(frozen=True, eq=False, kw_only=True)
class Posterior:
    """What the boots say of each candidate and of "no regression". `commits` and `none` add up to
    1, unless nothing explains the data: then all are 0. Cells and `shared` have each their own
    likeliest lens on one view: a boot tells hypotheses apart only as far as each predicts something
    else.
    """

    #: Probability of each candidate (n,), and of no regression.
    commits: Floats
    none: float
    #: Every kernel that booted, in the order of `Cell.sides`.
    kernels: tuple[Kernel, ...]
    #: The likeliest patterns of sides, likeliest first; few of them.
    cells: tuple[Cell, ...]
    #: Of the likeliest lens: its bins are those of all predictions. None where nothing is possible.
    grid: Grids | None
    #: Weights of the nodes of "no regression" (t, s, a) on `none_grid`.
    shared: Floats
    #: Place of the figure of the likeliest lens in the views of a boot.
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
        return self._average([self.predict(cell.grid.good, cell.good) for cell in self.cells])

    @cached_property
    def bad(self) -> Floats:
        """Predictive probabilities of a boot of a new bad kernel, shape (b,)."""
        return self._average([self.predict(cell.grid.bad, cell.bad) for cell in self.cells])

    def _average(self, densities: list[Floats]) -> Floats:
        if not densities:
            return np.ones(1)
        mass = np.array([cell.weights.sum() for cell in self.cells])
        average: Floats = (mass / mass.sum()) @ np.array(densities)
        return average

    def predict(self, side: Grid, node: Floats) -> Floats:
        """Predictive probabilities of a boot of a new kernel of a side, given the weights of its
        nodes (t, s, a); shape (b,).
        """
        assert self.grid is not None
        density = self.grid.fresh(side)
        return self._probabilities(density.reshape(density.shape[0], -1) @ node.ravel())

    def _probabilities(self, density: Floats) -> Floats:
        """Densities as probabilities of the values that are compared."""
        assert self.grid is not None
        mass = density * self.grid.width
        probabilities: Floats = mass / mass.sum()
        return probabilities

    def again(self, number: int, cell: Cell | None) -> Floats:
        """Predictive probabilities of one more boot of kernel `number`, in a cell or (None)
        without a regression; shape (b,).
        """
        assert self.grid is not None
        values, y = self.kernels[number].values(self.view), self.grid.y
        side: Grid
        if cell is None:
            assert self.none_grid is not None
            side, node = self.none_grid.shared, self.shared
        elif cell.sides[number]:
            side, node = cell.grid.bad, cell.bad
        else:
            side, node = cell.grid.good, cell.good
        return self._probabilities(side.again(y, values, node))


def kernels(graph: CommitGraph, ledger: Ledger) -> tuple[Kernel, ...]:
    """Every kernel that booted, revisions of one signature together, in a fixed order."""
    ends = [b for end in graph.ends for b in ledger.views.get((end, 0), ())]
    views = {
        # Which CPU a boot lacks is not known: it says something of the whole only.
        key: tuple(boot if len(boot) == len(ends[0]) else boot[:1] for boot in boots)
        for key, boots in ledger.views.items()
    }
    by_class: dict[tuple[str, ...], Kernel] = {}
    for sha, layout in sorted(views):
        shas = ledger.equal.same_as(sha)
        if not layout and shas not in by_class:
            boots = [b for twin in sorted(shas) for b in views.get((twin, 0), ())]
            by_class[shas] = Kernel(shas, tuple(boots))
    other_layouts = [
        Kernel((sha,), boots, layout)
        for (sha, layout), boots in sorted(views.items())
        if layout and boots
    ]
    return (*by_class.values(), *other_layouts)


def side_of(ledger: Ledger, ancestry: Ancestry, sha: str) -> Bools:
    """For each candidate: would `sha` be bad if that were the culprit? A revert has all that its
    tip has but the commit that it takes back.
    """
    revert = ledger.reverts.get(sha)
    if revert is None:
        return ancestry.side(sha)
    side = ancestry.side(revert.tip)
    side[ancestry.places([revert.commit])] = False
    return side


def posterior(spec: SearchSpec, ledger: Ledger, ends: Calibration, ancestry: Ancestry) -> Posterior:
    """Needs the calibration boots of both ends: they decide where the grids lie."""
    older, newer = (ledger.of_first(e, ends.used) for e in spec.graph.ends)
    shifted = ends.figure.around is None
    lenses = hypotheses.lenses(
        spec.threshold, (older, newer), ledger.views.values(), shifted=shifted, parts=spec.parts
    )
    booted = kernels(spec.graph, ledger)
    sides = np.array(
        [side_of(ledger, ancestry, kernel.shas[0]) for kernel in booted], dtype=np.bool_
    )
    pattern, member = patterns(sides)
    likelihoods = [
        hypotheses.lens_likelihood(lens, [kernel.boots for kernel in booted], pattern)
        for lens in lenses
    ]
    weights = hypotheses.weights_against_none(lenses, likelihoods)
    candidates = allowed(ancestry, ledger.equal.twins, ledger.equal.assumed)
    prior_none = spec.prior_none if spec.parts.none else 0.0
    # That a commit changes nothing says nothing against a regression: the others have its share.
    weight = np.full(ancestry.size, np.log((1 - prior_none) / max(1, candidates.sum())))
    weight[~candidates] = -np.inf
    by_lens = weights[:, member] + weight
    weight = logsumexp(by_lens.T)
    if not np.isfinite(weight.max()):
        return Posterior(
            commits=np.zeros_like(weight),
            none=0.0,
            kernels=booted,
            cells=(),
            grid=None,
            shared=likelihoods[0].shared,
        )
    none = float(np.log(prior_none)) if prior_none else -math.inf
    top = max(float(weight.max()), none)
    commits = np.exp(weight - top)
    total = float(commits.sum() + np.exp(none - top))
    commits /= total
    likeliest_lens = lenses[int(logsumexp(by_lens).argmax())]
    same_view = [i for i, lens in enumerate(lenses) if lens.view == likeliest_lens.view]
    likeliest = [same_view[int(weights[same_view, p].argmax())] for p in range(len(pattern))]
    none_lens = max(same_view, key=lambda i: lenses[i].family + likelihoods[i].none)
    cells = _cells([(lenses[i].grid, likelihoods[i]) for i in likeliest], commits, pattern, member)
    return Posterior(
        commits=commits, none=float(np.exp(none - top)) / total, kernels=booted, cells=cells,
        grid=likeliest_lens.grid,
        shared=normalized(likelihoods[none_lens].shared, 3), view=likeliest_lens.view,
        none_grid=lenses[none_lens].grid,
    )  # fmt: skip


def _cells(
    likeliest: list[tuple[Grids, LensLikelihood]],
    commits: Floats,
    pattern: Bools,
    member: npt.NDArray[np.intp],
) -> tuple[Cell, ...]:
    """The likeliest patterns and their nodes, each through its likeliest lens."""
    mass = np.zeros(len(pattern))
    np.add.at(mass, member, commits)
    cells = []
    for p in _shaping(mass):
        grid, likelihood = likeliest[p]
        joint = np.exp(likelihood.scales[p] - likelihood.likelihood[p])
        cells.append(
            Cell(
                np.where(member == p, commits, 0.0),
                pattern[p],
                normalized(likelihood.good[p]) * joint.sum(axis=2)[:, :, None],
                normalized(likelihood.bad[p]) * joint.sum(axis=1)[:, :, None],
                grid,
            )
        )
    return tuple(cells)


def _shaping(mass: Floats) -> list[int]:
    """The likeliest patterns."""
    likeliest: list[int] = []
    held = 0.0
    for p in (-mass).argsort(kind="stable")[:_CELLS].tolist():
        if held >= _SHAPING * float(mass.sum()) or mass[p] <= 0:
            break
        likeliest.append(p)
        held += float(mass[p])
    return likeliest


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
