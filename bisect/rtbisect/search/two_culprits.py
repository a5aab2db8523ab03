# SPDX-License-Identifier: GPL-2.0-or-later
"""Two culprits instead of one: a third level between good and bad.

A range in which two commits make things worse has kernels that lie between its ends. Taken
for the noise of builds these shift the posterior to a wrong commit with every boot. So, before a
commit is named, every pair of patterns is weighed against every single one on the same nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.search.likelihood.grids import Grids, logsumexp
from rtbisect.search.likelihood.two_level import BootGrid
from rtbisect.search.posterior import Posterior, allowed, patterns, side_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from rtbisect.search.ancestry import Ancestry, Bools, Floats
    from rtbisect.search.ledger import Ledger

#: Levels of a kernel: it has no culprit, one of both, the other one (where each is in some kernel
#: without the other: then their effects add up to the whole), both.
GOOD, ONE, BOTH, OTHER = range(4)
#: Prior probability that a range with a regression has two.
TWO = 0.1
#: Where the level between both lies, as a share of the way from good to bad, and its nodes.
_BETWEEN = (0.15, 0.85)
_NODES = 15
#: Pairs that are weighed in full: the best ones by the likeliest noise.
_WEIGHED = 200


@dataclass(frozen=True, eq=False)
class TwoCulprits:
    """Whether there are two culprits."""

    #: Probability that there are two culprits, 0..1.
    probability: float
    #: For each candidate (n,): that it is a culprit, alone or with another one.
    commits: Floats
    #: The booted candidate that most surely lies between the levels, and the probability that it
    #: does; ("", 0) where none is.
    between: tuple[str, float]
    #: Log likelihood of all boots, over one culprit, two and none.
    evidence: float = -np.inf

    @classmethod
    def unweighed(cls, posterior: Posterior) -> TwoCulprits:
        """One culprit at most: what the posterior says without pairs."""
        return cls(0.0, posterior.commits, ("", 0.0))


def weigh_pairs(ledger: Ledger, ancestry: Ancestry, posterior: Posterior) -> TwoCulprits:
    """Weigh pairs of culprits against single ones. Only for figures with levels: counts, shares
    and states have no pairs here.
    """
    middle = _middle(posterior.grid) if posterior.grid is not None and posterior.possible else None
    if posterior.grid is None or middle is None:
        return TwoCulprits.unweighed(posterior)
    sides = [side_of(ledger, ancestry, kernel.shas[0]) for kernel in posterior.kernels]
    pattern, member = patterns(np.array(sides, dtype=np.bool_))
    candidates = allowed(ancestry, ledger.equal.twins, ledger.equal.assumed)
    # How many candidates that count have each pattern (p,).
    held = np.bincount(member[candidates], minlength=len(pattern)).astype(np.float64)
    values = [kernel.values(posterior.view) for kernel in posterior.kernels]
    good, bad = posterior.grid.good, posterior.grid.bad
    each = [np.array([side.loglik(v) for v in values]) for side in (good, middle, bad)]
    levels = _Levels(each[0], each[1], each[2], posterior.grid, middle)
    share = held / max(1, candidates.sum())
    held_patterns = np.flatnonzero(share > 0)
    first, second = (held_patterns[index] for index in np.triu_indices(held_patterns.size, 1))
    level = _levels_of(pattern[first], pattern[second])
    single = np.where(pattern[held_patterns], BOTH, GOOD)
    alone = levels.evidence(single) + np.log((1 - TWO) * share[held_patterns])
    # Two culprits with one pattern have no kernel between them: they say the same as a single one.
    if not level.size:
        return TwoCulprits.unweighed(posterior)
    prior = np.log(2 * TWO * share[first] * share[second])
    noise = {levels.noise(single[int(alone.argmax())])}
    # With three levels the noise is smaller than with two: both are looked at.
    guess = levels.screened(level, *next(iter(noise))) + prior
    noise.add(levels.noise(level[int(guess.argmax())]))
    rough = np.max([levels.screened(level, *node) for node in noise], axis=0) + prior
    best = (-rough).argsort(kind="stable")[:_WEIGHED]
    paired = levels.evidence(level[best]) + prior[best]
    top = max(float(alone.max()), float(paired.max()))
    alone, paired = np.exp(alone - top), np.exp(paired - top)
    # "No regression" keeps its odds against a single culprit.
    none = float(alone.sum()) / (1 - TWO) * posterior.none / max(1 - posterior.none, 1e-300)
    total = float(alone.sum() + paired.sum()) + none
    mass = np.zeros(len(held))
    mass[held_patterns] = alone / total
    for index in (first[best], second[best]):
        np.add.at(mass, index, paired / total)
    commits = np.where(candidates, (mass / np.maximum(held, 1))[member], 0.0)
    between = (paired / total) @ ((level[best] == ONE) | (level[best] == OTHER))
    return TwoCulprits(
        float(paired.sum()) / total,
        commits,
        _surest_between(ancestry, posterior, between),
        top + float(np.log(total)),
    )


@dataclass(frozen=True, eq=False)
class _Levels:
    """What the boots say if they lie at each level, at each node of the noise."""

    #: Log likelihood of each kernel (k, t, s, a); `middle` on the nodes of `between`.
    good: Floats
    middle: Floats
    bad: Floats
    grid: Grids
    #: Nodes of the level between both sides.
    between: BootGrid

    def evidence(self, level: npt.NDArray[np.intp]) -> Floats:
        """Log likelihood of everything, for rows of levels (GOOD, ONE, OTHER, BOTH) of the kernels
        (q, k).
        """
        low = np.tensordot(level == GOOD, self.good, 1) + self.grid.good.prior
        mid = np.tensordot(level == ONE, self.middle, 1) + self.between.prior
        # The nodes of the level between lie evenly around the middle.
        mid += np.tensordot(level == OTHER, self.middle[..., ::-1], 1)
        high = np.tensordot(level == BOTH, self.bad, 1) + self.grid.bad.prior
        lower, upper = logsumexp(low) + logsumexp(mid), logsumexp(high)
        return logsumexp(lower[:, :, :, None] + upper[:, :, None, :] + self.grid.couple, 3)

    def noise(self, level: npt.NDArray[np.intp]) -> tuple[int, int]:
        """Nodes (t, s) of the likeliest noise, for one row of levels."""
        low = np.tensordot(level == GOOD, self.good, 1) + self.grid.good.prior
        high = np.tensordot(level == BOTH, self.bad, 1) + self.grid.bad.prior
        both = logsumexp(low) + logsumexp(high) + np.diagonal(self.grid.couple)
        t, s = np.unravel_index(int(both.argmax()), both.shape)
        return int(t), int(s)

    def screened(self, level: npt.NDArray[np.intp], t: int, s: int) -> Floats:
        """The evidence at one node of the noise."""
        low = (level == GOOD) @ self.good[:, t, s] + self.grid.good.prior[t, s]
        mid = (level == ONE) @ self.middle[:, t, s] + self.between.prior[t, s]
        mid += (level == OTHER) @ self.middle[:, t, s, ::-1]
        high = (level == BOTH) @ self.bad[:, t, s] + self.grid.bad.prior[t, s]
        evidence: Floats = logsumexp(low) + logsumexp(mid) + logsumexp(high)
        return evidence


def _levels_of(first: Bools, second: Bools) -> npt.NDArray[np.intp]:
    """The level of each kernel (q, k) by the sides that two culprits give it."""
    level = np.where(first & second, BOTH, GOOD)
    level = np.where(first & ~second, ONE, level)
    second_only = second & ~first
    # Of culprits in one line only the older one is in kernels without the other, whichever of both
    # that is; on two branches each is, and what one of them does is what the other leaves.
    branches = (level == ONE).any(axis=1) & second_only.any(axis=1)
    return np.where(second_only, np.where(branches[:, None], OTHER, ONE), level)


def _surest_between(ancestry: Ancestry, posterior: Posterior, between: Floats) -> tuple[str, float]:
    """The candidate whose kernel most surely lies between; of equally sure ones that with most
    boots.
    """
    booted = [
        (round(float(p), 3), len(kernel.boots), kernel.shas[0])
        for p, kernel in zip(between, posterior.kernels, strict=True)
        if not kernel.layout and kernel.boots and kernel.shas[0] in ancestry.index
    ]
    chance, _boots, sha = max(booted, default=(0.0, 0, ""))
    return sha, chance


@lru_cache(maxsize=2)
def _middle(grid: Grids) -> BootGrid | None:
    """Nodes of the level between both sides; None where there is none."""
    good, bad = grid.good, grid.bad
    if not isinstance(good, BootGrid) or not isinstance(bad, BootGrid) or grid.ahead is None:
        return None
    low, high = float(good.mu[0].mean()), float(bad.mu[0].mean())
    if high <= low:
        return None
    at = low + (high - low) * np.linspace(*_BETWEEN, _NODES)
    mu = np.broadcast_to(at, (good.tau.size, _NODES)).copy()
    prior = np.full((good.tau.size, good.sigma.size, _NODES), -np.log(_NODES))
    return BootGrid(mu=mu, sigma=good.sigma, tau=good.tau, prior=prior, outlier=good.outlier)
