# SPDX-License-Identifier: GPL-2.0-or-later
"""Posterior over every commit and over "no regression", from all boots so far.

Commit j is bad under culprit c when c is j or one of its ancestors. Two hypotheses that
give the tested revisions the same sides have the same likelihood, so it is computed
once for each pattern of sides, not for each commit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rtbisect.judge.scale import effect_floor
from rtbisect.search.likelihood import Grids, grids, logsumexp

if TYPE_CHECKING:
    from rtbisect.search.graph import Bools, Floats
    from rtbisect.search.model import SearchState

#: Patterns below this weight do not shape the predictive densities.
_SHAPING = 1e-4


@dataclass(frozen=True, eq=False)
class Posterior:
    """`commits`: probability of each candidate, shape (n,); `none`: of no regression. They
    add up to 1, unless nothing explains the data: then all are 0. `good` and `bad` are
    the predictive probabilities of the next boot of each side over the same bins.
    """

    commits: Floats
    none: float
    good: Floats
    bad: Floats

    @property
    def possible(self) -> bool:
        return bool(self.commits.any())

    @property
    def best(self) -> int:
        return int(self.commits.argmax())


def posterior(state: SearchState) -> Posterior:
    """Needs at least one boot of each end."""
    spec, ledger, ancestry = state.spec, state.ledger, state.ancestry
    good_end, bad_end = spec.graph.good, spec.graph.bad
    grid = grids(ledger.values[good_end], ledger.values[bad_end], effect_floor(spec.threshold))
    known_good: list[float] = []
    searched: list[tuple[str, tuple[float, ...]]] = []
    for sha, values in sorted(ledger.values.items()):
        if sha in ancestry.boundary:
            known_good.extend(values)
        elif sha != bad_end:
            searched.append((sha, values))
    sides = np.array([ancestry.side(sha) for sha, _ in searched], dtype=np.bool_)
    sides = sides.reshape(len(searched), ancestry.size)
    pattern, member = _patterns(sides)
    good = grid.good.loglik(known_good) + grid.good.prior
    bad = grid.bad.loglik(ledger.values[bad_end]) + grid.bad.prior
    for row, (_, values) in zip(pattern.T, searched, strict=True):
        good = good + np.outer(~row, grid.good.loglik(values))
        bad = bad + np.outer(row, grid.bad.loglik(values))
    good, bad = np.atleast_2d(good), np.atleast_2d(bad)
    likelihood = logsumexp(good) + logsumexp(bad)
    weight = likelihood[member] + np.log((1 - spec.prior_none) / ancestry.size)
    weight[~_allowed(state)] = -np.inf
    everything = [value for values in ledger.values.values() for value in sorted(values)]
    none = logsumexp(grid.shared.loglik(sorted(everything)) + grid.shared.prior)
    return _normalised(weight, float(none) + np.log(spec.prior_none), member, (grid, good, bad))


def _patterns(sides: Bools) -> tuple[Bools, npt.NDArray[np.intp]]:
    """Distinct columns of `sides` as rows (p, r), and for each commit which one it has."""
    revisions, size = sides.shape
    if not revisions:
        return np.zeros((1, 0), dtype=np.bool_), np.zeros(size, dtype=np.intp)
    packed = np.ascontiguousarray(np.packbits(sides, axis=0).T)
    keys = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]
    _, first, member = np.unique(keys, return_index=True, return_inverse=True)
    return sides[:, first].T, member.reshape(-1)


def _allowed(state: SearchState) -> Bools:
    """Candidates that do not separate two revisions with the same kernel."""
    allowed = np.ones(state.ancestry.size, dtype=np.bool_)
    for group in state.ledger.classes:
        first = state.ancestry.side(group[0])
        for sha in group[1:]:
            allowed &= state.ancestry.side(sha) == first
    return allowed


def _normalised(
    weight: Floats,
    none: float,
    member: npt.NDArray[np.intp],
    shape: tuple[Grids, Floats, Floats],
) -> Posterior:
    grid, good, bad = shape
    top = float(weight.max())
    if not np.isfinite(top):
        nothing = np.zeros_like(weight)
        return Posterior(nothing, 0.0, np.ones(1), np.ones(1))
    top = max(top, none)
    commits = np.exp(weight - top)
    total = float(commits.sum() + np.exp(none - top))
    commits /= total
    mass: Floats = np.bincount(member, weights=commits, minlength=good.shape[0]).astype(np.float64)
    return Posterior(
        commits,
        float(np.exp(none - top)) / total,
        _predictive(grid.good_density, good, mass),
        _predictive(grid.bad_density, bad, mass),
    )


def _predictive(density: Floats, joint: Floats, mass: Floats) -> Floats:
    """Predictive probabilities over the bins, averaged over patterns by their mass."""
    used = mass > _SHAPING * mass.max()
    theta = np.exp(joint[used] - logsumexp(joint[used])[:, None])
    found: Floats = density @ (mass[used] @ theta)
    normal: Floats = found / found.sum()
    return normal
