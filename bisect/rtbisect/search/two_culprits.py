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

from rtbisect.search.likelihood.grids import logsumexp
from rtbisect.search.likelihood.two_level import BootGrid
from rtbisect.search.posterior import allowed, patterns, side_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from rtbisect.search.ancestry import Ancestry, Bools, Floats
    from rtbisect.search.ledger import Ledger
    from rtbisect.search.likelihood.grids import Grids
    from rtbisect.search.posterior import Posterior

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
    """`probability` of two culprits; `commits` (n,) that each candidate is a culprit, alone or with
    another one. `between` is the booted candidate that most
    surely lies between the levels, with the probability that it does.
    """

    probability: float
    commits: Floats
    between: tuple[str, float]


def two(ledger: Ledger, ancestry: Ancestry, found: Posterior) -> TwoCulprits:
    """Weigh pairs of culprits against single ones. Only for figures with levels: counts, shares
    and states have no pairs here.
    """
    middle = _middle(found.grid) if found.grid is not None and found.possible else None
    if found.grid is None or middle is None:
        return TwoCulprits(0.0, found.commits, ("", 0.0))
    sides = [side_of(ledger, ancestry, kernel.shas[0]) for kernel in found.kernels]
    pattern, member = patterns(np.array(sides, dtype=np.bool_))
    able = allowed(ancestry, ledger.equal.twins, ledger.equal.assumed)
    held = np.bincount(member[able], minlength=len(pattern)).astype(np.float64)
    values = [kernel.values(found.view) for kernel in found.kernels]
    levels = _Levels(
        np.array([found.grid.good.loglik(v) for v in values]),
        np.array([middle.loglik(v) for v in values]),
        np.array([found.grid.bad.loglik(v) for v in values]),
        found.grid,
        middle,
    )
    return _weighed(ancestry, found, _Parts(pattern, member, held, able), levels)


@dataclass(frozen=True, eq=False)
class _Parts:
    """`pattern` (p, k) of sides, `member` (n,) the pattern of each candidate, `held` (p,) how
    many candidates have it, `able` (n,) which candidates count.
    """

    pattern: Bools
    member: npt.NDArray[np.intp]
    held: Floats
    able: Bools


@dataclass(frozen=True, eq=False)
class _Levels:
    """Log likelihood of each kernel at each level, shape (k, t, s, a)."""

    good: Floats
    middle: Floats
    bad: Floats
    grid: Grids
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
        one, other = logsumexp(low) + logsumexp(mid), logsumexp(high)
        return logsumexp(one[:, :, :, None] + other[:, :, None, :] + self.grid.couple, 3)

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
        found: Floats = logsumexp(low) + logsumexp(mid) + logsumexp(high)
        return found


def _weighed(ancestry: Ancestry, found: Posterior, parts: _Parts, levels: _Levels) -> TwoCulprits:
    share = parts.held / max(1, parts.able.sum())
    able = np.flatnonzero(share > 0)
    one, other = (able[index] for index in np.triu_indices(able.size, 1))
    level = _levels_of(parts.pattern[one], parts.pattern[other])
    single = np.where(parts.pattern[able], BOTH, GOOD)
    alone = levels.evidence(single) + np.log((1 - TWO) * share[able])
    # Two culprits with one pattern have no kernel between them: they say the same as a single one.
    if not level.size:
        return TwoCulprits(0.0, found.commits, ("", 0.0))
    prior = np.log(2 * TWO * share[one] * share[other])
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
    none = float(alone.sum()) / (1 - TWO) * found.none / max(1 - found.none, 1e-300)
    total = float(alone.sum() + paired.sum()) + none
    mass = np.zeros(len(parts.held))
    mass[able] = alone / total
    for index in (one[best], other[best]):
        np.add.at(mass, index, paired / total)
    commits = np.where(parts.able, (mass / np.maximum(parts.held, 1))[parts.member], 0.0)
    lies = (paired / total) @ ((level[best] == ONE) | (level[best] == OTHER))
    return TwoCulprits(float(paired.sum()) / total, commits, _between(ancestry, found, lies))


def _levels_of(one: Bools, other: Bools) -> npt.NDArray[np.intp]:
    """The level of each kernel (q, k) by the sides that two culprits give it."""
    level = np.where(one & other, BOTH, GOOD)
    level = np.where(one & ~other, ONE, level)
    alone = other & ~one
    # Of culprits in one line only the older one is in kernels without the other, whichever of both
    # that is; on two branches each is, and what one of them does is what the other leaves.
    branches = (level == ONE).any(axis=1) & alone.any(axis=1)
    return np.where(alone, np.where(branches[:, None], OTHER, ONE), level)


def _between(ancestry: Ancestry, found: Posterior, lies: Floats) -> tuple[str, float]:
    """The candidate whose kernel most surely lies between; of equally sure ones that with most
    boots.
    """
    able = [
        (round(float(p), 3), len(kernel.boots), kernel.shas[0])
        for p, kernel in zip(lies, found.kernels, strict=True)
        if not kernel.layout and kernel.boots and kernel.shas[0] in ancestry.index
    ]
    chance, _boots, sha = max(able, default=(0.0, 0, ""))
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
