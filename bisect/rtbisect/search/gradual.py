# SPDX-License-Identifier: GPL-2.0-or-later
"""A change in many small steps: the level rises over a stretch of the history, at no one commit.

One culprit, or two, explain kernels on the way up by the noise of builds, and the posterior walks
to a wrong commit. Here each candidate adds a little, in each quarter of the history as much as its
share of the shift is, and the level of a kernel follows from the candidates in it. Shares, the
levels of both ends, scale and tau are integrated on the nodes of the posterior, so that the
evidence stands beside that of one culprit, of two and of none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.search.likelihood.grids import Grids, logsumexp
from rtbisect.search.likelihood.two_level import BootGrid
from rtbisect.search.posterior import Posterior, allowed, side_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from rtbisect.search.ancestry import Ancestry, Bools, Floats
    from rtbisect.search.ledger import Ledger
    from rtbisect.search.two_culprits import TwoCulprits

#: Prior probability that a range with a change has it in many steps.
GRADUAL = 0.05
#: From this probability on many steps stand against a commit, and against a cut between two. Below
#: it the proof looks at what is named: in one of many steps it finds no difference.
LIKELIER = 0.5
#: Stretches of the history, with equally many candidates each.
STRETCHES = 4
#: In a shorter range every commit can be tested, and many steps are no thought of their own.
FEWEST = 4 * STRETCHES
#: The share of a stretch is a multiple of one part of so many. None has more than half: that would
#: be a step with small ones beside it.
_PARTS = 8
_MOST = 4
#: Nodes of the level of a kernel, from the lowest node of a good one to the highest of a bad one.
_LEVELS = 61
#: Rows of shares by which it is seen which nodes of noise and ends matter.
_ROUGH = 6
#: Nodes of the noise and of the ends that are this far (in logarithms) below the best ones say
#: nothing.
_WORTH = 9.0
#: A kernel that has this share of the shift, and lacks as much, lies between the ends.
_INSIDE = 0.1
#: Probability left out at each side of the interval of a share.
_TAIL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A part of the history and what of the shift is in it: 1 is all, with an interval of 90%."""

    older: str
    newer: str
    share: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Gradual:
    """Whether the change came in many steps."""

    #: Probability that it did, against all else, 0..1.
    probability: float
    #: If it did, the shares of the shift of all stretches (q, STRETCHES), and how likely each row
    #: is (q,).
    shares: Floats
    weights: Floats
    #: Kernels between the ends that lie between the levels of the ends.
    inside: int

    @property
    def share(self) -> Floats:
        """The expected share of each stretch (STRETCHES,)."""
        mean: Floats = self.weights @ self.shares
        return mean


NOT_GRADUAL = Gradual(0.0, np.full((1, STRETCHES), 1 / STRETCHES), np.ones(1), 0)


@lru_cache(maxsize=1)
def shapes() -> Floats:
    """Every way to share a shift among the stretches (q, STRETCHES)."""
    rows = [s for s in product(range(_MOST + 1), repeat=STRETCHES) if sum(s) == _PARTS]
    return np.array(rows) / _PARTS


@dataclass(frozen=True, eq=False)
class History:
    """Where commits lie in the history, for each candidate (n,)."""

    #: The share of all candidates that a commit has in it, itself too.
    places: Floats
    #: Its stretch: all have equally many candidates, by their places; STRETCHES for commits that
    #: are none.
    stretch: npt.NDArray[np.intp]

    def held(self, sides: Iterable[Bools]) -> Floats:
        """What of each stretch kernels have in them, by their `sides` (see `side_of`): (k,
        STRETCHES). Steps add up where branches are merged, so that a merge alone makes none.
        """
        sizes = np.bincount(self.stretch, minlength=STRETCHES + 1)[:STRETCHES]
        rows = [np.bincount(self.stretch[side], minlength=STRETCHES + 1) for side in sides]
        return np.array(rows)[:, :STRETCHES] / np.maximum(1, sizes)


@lru_cache(maxsize=16)
def _history(
    ancestry: Ancestry,
    twins: tuple[tuple[str, ...], ...],
    assumed: tuple[tuple[str, str], ...],
) -> History:
    candidates = allowed(ancestry, twins, assumed)
    count = max(1, int(candidates.sum()))
    places = ancestry.mass(candidates.astype(np.float64)) / count
    stretch = np.full(ancestry.size, STRETCHES)
    order = places.argsort(kind="stable")
    order = order[candidates[order]]
    stretch[order] = np.arange(order.size) * STRETCHES // count
    return History(places, stretch)


def history_of(ledger: Ledger, ancestry: Ancestry) -> History:
    """The history as far as its commits can be culprits, by the kernels that are equal."""
    return _history(ancestry, ledger.equal.twins, ledger.equal.assumed)


def weigh_gradual(
    ledger: Ledger, ancestry: Ancestry, posterior: Posterior, others: TwoCulprits
) -> Gradual:
    """Weigh many steps against one, two and none. Only for figures with levels, as pairs."""
    nodes = _line(posterior.grid) if posterior.grid is not None else None
    if posterior.grid is None or nodes is None or not np.isfinite(others.evidence):
        return NOT_GRADUAL
    if ancestry.size < FEWEST:
        return NOT_GRADUAL
    good, bad, line = nodes
    sides = [side_of(ledger, ancestry, kernel.shas[0]) for kernel in posterior.kernels]
    held = history_of(ledger, ancestry).held(sides)
    places = held.mean(axis=1)
    values = [kernel.values(posterior.view) for kernel in posterior.kernels]
    inner = (places > 0) & (places < 1)
    if not inner.any():
        return NOT_GRADUAL
    boots = _Boots(
        good=sum((good.loglik(values[k]) for k in np.flatnonzero(places <= 0)), good.prior),
        bad=sum((bad.loglik(values[k]) for k in np.flatnonzero(places >= 1)), bad.prior),
        inner=np.array([line.loglik(values[k]) for k in np.flatnonzero(inner)]),
        ends=(good.mu, bad.mu),
        line=line,
        scale=np.diagonal(posterior.grid.couple),
    )
    evidence = boots.evidence(shapes() @ held[inner].T)
    if not np.isfinite(evidence).any():
        return NOT_GRADUAL
    log = float(logsumexp(evidence)) - np.log(len(evidence)) + np.log(GRADUAL / (1 - GRADUAL))
    weights = np.exp(evidence - evidence.max())
    weights /= weights.sum()
    has = held @ (weights @ shapes())
    original = np.array([not kernel.layout for kernel in posterior.kernels])
    inside = (has > _INSIDE) & (has < 1 - _INSIDE) & original
    return Gradual(
        float(1 / (1 + np.exp(np.clip(others.evidence - log, -700, 700)))),
        shapes(), weights, int(inside.sum()),
    )  # fmt: skip


def farthest(
    ledger: Ledger, ancestry: Ancestry, posterior: Posterior, *, build: bool
) -> str | None:
    """The revision that is farthest, by what it has of the history, from all that booted: where the
    level rises all along, a kernel tells most where none is known. None where none is left; without
    `build` only what is built counts.
    """
    places = history_of(ledger, ancestry).places
    booted = ancestry.places(sha for kernel in posterior.kernels for sha in kernel.shas)
    known = np.unique(np.concatenate([[0.0, 1.0], places[booted]]))
    after = np.searchsorted(known, places).clip(1, known.size - 1)
    away = np.minimum(places - known[after - 1], known[after] - places)
    away[ancestry.places(ledger.untestable_shas)] = 0.0
    if not build:
        built = np.zeros(ancestry.size, dtype=np.bool_)
        built[ancestry.places(ledger.signatures)] = True
        away[~built] = 0.0
    best = int(away.argmax())
    return ancestry.graph.commits[best].sha if away[best] > 0 else None


def stretches_of(ledger: Ledger, ancestry: Ancestry, gradual: Gradual) -> tuple[Stretch, ...]:
    """The stretches with their shares, older ones first. Their ends are commits of the main line,
    the nearest to each quarter; where a merge brings in more than a quarter, there are fewer.
    """
    graph = ancestry.graph
    line = [ancestry.index[graph.newer]]
    while before := ancestry.parents[line[-1]]:
        line.append(before[0])
    history = history_of(ledger, ancestry)
    places = history.places[line]
    quarters = np.arange(1, STRETCHES) / STRETCHES
    nearest = {int(np.abs(places - quarter).argmin()) for quarter in quarters} - {0}
    inner = sorted(nearest, reverse=True)
    ends = [graph.older, *(graph.commits[line[i]].sha for i in inner), graph.newer]
    held = history.held(ancestry.side(sha) for sha in ends)
    each = gradual.shares @ np.diff(held, axis=0).T
    return tuple(
        Stretch(
            older=older, newer=newer, share=float(gradual.weights @ share),
            low=_quantile(share, gradual.weights, _TAIL),
            high=_quantile(share, gradual.weights, 1 - _TAIL),
        )
        for older, newer, share in zip(ends[:-1], ends[1:], each.T, strict=True)
    )  # fmt: skip


def _quantile(values: Floats, weights: Floats, at: float) -> float:
    order = values.argsort(kind="stable")
    total = weights[order].cumsum()
    place = min(int(np.searchsorted(total, at)), len(order) - 1)
    return float(values[order][place])


@dataclass(frozen=True, eq=False, kw_only=True)
class _Boots:
    """What the boots say at each node: of the ends (t, s, a), of each kernel between them at each
    level (k, t, s, m).
    """

    good: Floats
    bad: Floats
    inner: Floats
    #: Levels of both ends, each (t, a), and of kernels between them.
    ends: tuple[Floats, Floats]
    line: BootGrid
    #: Log prior of the scale of both ends together (s,).
    scale: Floats

    def evidence(self, has: Floats) -> Floats:
        """Log likelihood of everything for each row of shares of the shift (q, k) that the kernels
        between the ends have. Scales of both ends are the same: with others the level would not
        be all that changes.
        """
        rows, columns = np.indices(self._shape[2:]).reshape(2, -1)
        found = np.full(len(has), -np.inf)
        # A few rows tell which nodes matter for any.
        few = has[np.linspace(0, len(has) - 1, _ROUGH).astype(np.intp)]
        every, few_groups, groups = np.arange(self._shape[1]), _grouped(few), _grouped(has)
        rough = np.array(
            [self._at(t, every, rows, columns, few_groups) for t in range(self._shape[0])]
        )
        worth = (rough >= rough.max(axis=(0, 1, 2)) - _WORTH).any(axis=3)
        for t in range(self._shape[0]):
            scales = np.flatnonzero(worth[t].any(axis=1))
            pairs = np.flatnonzero(worth[t].any(axis=0))
            if pairs.size:
                nodes = self._at(t, scales, rows[pairs], columns[pairs], groups)
                found = np.logaddexp(found, logsumexp(nodes.transpose(2, 0, 1), 2))
        return found

    @property
    def _shape(self) -> tuple[int, int, int, int]:
        """Nodes of tau, of a scale, and of the levels of both ends."""
        return (*self.good.shape[:2], self.good.shape[2], self.bad.shape[2])

    def _at(
        self,
        t: int,
        scales: npt.NDArray[np.intp],
        good: npt.NDArray[np.intp],
        bad: npt.NDArray[np.intp],
        groups: Sequence[_Group],
    ) -> Floats:
        """Log likelihood at some scales and pairs of levels of the ends (p,), for some rows of
        shares (q): (s, p, q).
        """
        low, high = self.ends[0][t, good], self.ends[1][t, bad]
        ends = self.good[t][scales][:, good] + self.bad[t][scales][:, bad]
        ends += self.scale[scales, None]
        ends[:, high <= low] = -np.inf
        first, last = self.line.mu[t, 0], self.line.mu[t, -1]
        log = np.repeat(ends.T[:, None], groups[0].rows.size, axis=1)
        for group in groups:
            few = np.zeros((low.size, group.kernels[0][1].size, scales.size))
            for numbers, values in group.kernels:
                level = low[:, None] + (high - low)[:, None] * values
                at = np.clip((level - first) / (last - first), 0, 1) * (_LEVELS - 1)
                below = np.minimum(at.astype(np.intp), _LEVELS - 2)
                # Whole rows of scales are fetched: this is where a search spends its time.
                table = np.ascontiguousarray(self.inner[numbers, t][:, scales].sum(axis=0).T)
                few += table.take(below, axis=0)
                rise = np.diff(table, axis=0).take(below, axis=0)
                rise *= (at - below)[..., None]
                few += rise
            log += few.take(group.rows, axis=1)
        return log.transpose(2, 0, 1)


@dataclass(frozen=True, eq=False, slots=True)
class _Group:
    """Kernels that have equally much of the shift in the same rows of shares: of all rows they have
    few different values.
    """

    #: Which of its values a kernel has in each row (q,).
    rows: npt.NDArray[np.intp]
    #: The numbers of kernels that have the same values, and these.
    kernels: list[tuple[list[int], Floats]]


def _grouped(has: Floats) -> list[_Group]:
    """The kernels (columns of `has`, see `_Boots.evidence`) in groups."""
    same: dict[bytes, list[int]] = {}
    for number, column in enumerate(has.T):
        same.setdefault(column.tobytes(), []).append(number)
    groups: dict[bytes, _Group] = {}
    for numbers in same.values():
        values, first, which = np.unique(has[:, numbers[0]], return_index=True, return_inverse=True)
        # By where a value comes first, not by its size, which goes another way in each kernel.
        order = first.argsort()
        rows = order.argsort()[which]
        group = groups.setdefault(rows.tobytes(), _Group(rows, []))
        group.kernels.append((numbers, values[order]))
    return list(groups.values())


@lru_cache(maxsize=2)
def _line(grid: Grids) -> tuple[BootGrid, BootGrid, BootGrid] | None:
    """Nodes of both ends, and of a kernel between them; None where they have no levels."""
    good, bad = grid.good, grid.bad
    if not isinstance(good, BootGrid) or not isinstance(bad, BootGrid) or grid.ahead is None:
        return None
    low, high = good.mu.min(axis=1), bad.mu.max(axis=1)
    if (high <= low).any():
        return None
    mu = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, _LEVELS)
    prior = np.zeros((*good.shape[:2], _LEVELS))
    line = BootGrid(mu=mu, sigma=good.sigma, tau=good.tau, prior=prior, outlier=good.outlier)
    return good, bad, line
