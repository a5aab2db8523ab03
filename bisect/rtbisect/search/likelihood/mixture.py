# SPDX-License-Identifier: GPL-2.0-or-later
"""Likelihood of boots that fall into a few states: quantised figures, or a kernel that is
sometimes fast and sometimes slow.

The states are the same for every kernel, a regression changes how often each is met. A usual
shape with a few strays would take each boot in the other state for a strong word. Builds of one
code may differ in that, too: either all kernels of a side have the same shares, or each has its
own (axis t of the nodes).
States are found once, in the calibration; what that fit is worth too much is taken back
by the Bayesian information criterion (Schwarz 1978), so that families can be compared. The shares
of the states are integrated on nodes that are drawn once: around what the calibration saw,
with the weight that makes them nodes of their prior (importance sampling).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy

from rtbisect.search.likelihood.grids import Grids
from rtbisect.search.likelihood.priors import (
    NONE_TAU_PRIOR,
    RESOLUTION,
    STRAY_SPANS,
    TAU_PRIOR,
    ordinary,
    step,
    tau_prior,
)
from rtbisect.search.likelihood.two_level import CONTAMINATION, student

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.search.ancestry import Floats

#: Most states that are looked for, and boots of the ends for each of them.
MOST, FEWEST_BOOTS = 4, 3
#: What the calibration fits for a state, for the criterion: location and scale; and its share,
#: where numbers of states are compared at their best shares.
FITTED, FITTED_WITH_SHARE = 2, 3
#: Rounds of the fit of these shares (expectation and maximization).
_ROUNDS = 30
#: Parameter of the Dirichlet prior of the shares (Jeffreys).
PRIOR = 0.5
#: Share of the calibration that the nodes follow: less than all of it keeps their tails wide.
TEMPER = 0.7
_NODES = 400
#: Bins around each state, in its scales.
_NEAR = np.array([-6.0, -3.0, -1.5, -0.5, 0.0, 0.5, 1.5, 3.0, 6.0])
_BINS = 64
#: Bins reach this share of the span beyond the boots.
_MARGIN = 0.25


@dataclass(frozen=True, eq=False)
class States:
    """The states that boots fall into."""

    #: Location and scale of each (k,).
    at: Floats
    scale: Floats
    #: Density of a stray boot.
    outlier: float

    def density(self, y: Floats) -> Floats:
        """Density of each value in each state, shape (n, k)."""
        density: Floats = student((y[:, None] - self.at) / self.scale) / self.scale
        return (1 - CONTAMINATION) * density + CONTAMINATION * self.outlier


# A search asks again for each kernel after every boot.
@lru_cache(maxsize=4096)
def own_shares(states: States, values: tuple[float, ...]) -> tuple[float, tuple[float, ...]]:
    """Log likelihood of the boots of a kernel that has shares of its own, and what these are
    expected to be behind them: a Polya urn, in which each boot adds to the states that it may be
    in, by how likely it is in each.
    """
    count, log = np.full(states.at.size, PRIOR), 0.0
    for density in states.density(np.asarray(values)) if values else ():
        member = density * count
        density_of_boot = float(member.sum())
        log += float(np.log(density_of_boot / count.sum()))
        count += member / density_of_boot
    return log, tuple((count / count.sum()).tolist())


@dataclass(frozen=True, eq=False)
class StateGrid:
    """One side: how often it meets each state."""

    states: States
    #: Nodes of the shares of the states (a, k), each of which adds up to 1.
    shares: Floats
    #: Log weights of these nodes (t, 1, a), where kernels are alike and, if t is 2, where each has
    #: shares of its own.
    prior: Floats

    def _density(self, y: Floats) -> Floats:
        """Density of each value under each node, shape (n, a)."""
        density: Floats = self.states.density(y) @ self.shares.T
        return density

    def _with_own(self, alike: Floats, own: Floats) -> Floats:
        """What these are under each node, shape (..., t, 1, a), by that of kernels that are alike
        (..., a) and of one with shares of its own (...).
        """
        beside = np.broadcast_to(own[..., None], alike.shape)
        return np.stack([alike, beside], axis=-2)[..., None, :]

    def loglik(self, values: Sequence[float]) -> Floats:
        if not values:
            return np.zeros_like(self.prior)
        alike: Floats = np.log(self._density(np.asarray(values))).sum(axis=0)
        if len(self.prior) == 1:
            return alike[None, None, :]
        return self._with_own(alike, np.array(own_shares(self.states, tuple(values))[0]))

    def fresh(self, y: Floats) -> Floats:
        alike = self._density(y)
        if len(self.prior) == 1:
            return alike[:, None, None, :]
        return self._with_own(alike, self._own_density(y, ()))

    def again(self, y: Floats, values: tuple[float, ...], node: Floats) -> Floats:
        """Boots of one kernel are independent once its shares are known."""
        density: Floats = self._density(y) @ node[0].ravel()
        if len(node) > 1:
            density += node[1].sum() * self._own_density(y, values)
        return density

    def _own_density(self, y: Floats, values: tuple[float, ...]) -> Floats:
        """Density of each value after these boots of a kernel with shares of its own (b,)."""
        density: Floats = self.states.density(y) @ np.array(own_shares(self.states, values)[1])
        return density


def state_grids(
    good: tuple[float, ...], bad: tuple[float, ...], effect_floor: float, *, own_shares: bool
) -> tuple[Grids, float] | None:
    """Grids of both sides and of both together, and the log of what the fit of the states is
    worth too much; None where there are no states. `own_shares`: each kernel may have its own.
    """
    good_values, bad_values = ordinary(good), ordinary(bad)
    both = np.sort(np.concatenate([good_values, bad_values]))
    span = float(both[-1] - both[0])
    effect = abs(float(np.median(bad_values) - np.median(good_values)))
    floor = max(effect_floor, effect, step(good_values, bad_values)) / RESOLUTION
    outlier = 1 / (STRAY_SPANS * max(span, floor))
    counts = range(2, min(MOST, both.size // FEWEST_BOOTS) + 1)
    if not counts:
        return None
    fits = [_states(both, count, floor, outlier) for count in counts]
    states = max(fits, key=lambda each: _worth(each, both))
    rng = np.random.default_rng(1)
    # Where kernels are alike, builds add nothing (tau = 0).
    tau = np.arange(2.0 if own_shares else 1.0)
    # The prior of tau stands once: with the good side, and with the shared one.
    good_side, bad_side, shared = (
        StateGrid(states, shares, of_tau + weight)
        for of_tau, (shares, weight) in (
            (tau_prior(tau, TAU_PRIOR), _nodes(states, np.asarray(good), rng)),
            (np.zeros((tau.size, 1, 1)), _nodes(states, np.asarray(bad), rng)),
            (tau_prior(tau, NONE_TAU_PRIOR), _nodes(states, np.asarray(good + bad), rng)),
        )
    )
    beyond = _MARGIN * span + floor
    y = np.linspace(both[0] - beyond, both[-1] + beyond, _BINS)
    near = states.at[:, None] + states.scale[:, None] * _NEAR
    y = np.unique(np.concatenate([y, near.ravel()]))
    grids = Grids(
        good=good_side,
        bad=bad_side,
        shared=shared,
        couple=np.zeros((1, 1)),
        y=y,
        layout=tau > 0,
    )
    return grids, -_penalty(FITTED * states.at.size, both)


def _states(both: Floats, count: int, floor: float, outlier: float) -> States:
    """Locations and scales of the groups of sorted values that are tightest (k-means, exact in
    one dimension by dynamic programming: Wang and Song 2011).
    """
    size = both.size
    sums = np.concatenate([[0.0], np.cumsum(both)])
    squares = np.concatenate([[0.0], np.cumsum(both * both)])
    first, last = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    length = np.maximum(last - first + 1, 1)
    total = sums[last + 1] - sums[first]
    cost = np.where(last >= first, squares[last + 1] - squares[first] - total**2 / length, np.inf)
    least_cost, starts = cost[0], []
    for _ in range(count - 1):
        options = np.concatenate([[np.inf], least_cost[:-1]])[:, None] + cost
        starts.append(options.argmin(axis=0))
        least_cost = options.min(axis=0)
    edges, end = [size], size - 1
    for start in reversed(starts):
        edges.append(int(start[end]))
        end = edges[-1] - 1
    groups = np.split(both, sorted(edges[1:]))
    at = np.array([np.median(group) for group in groups])
    width = np.array([max(floor, float(group.std())) for group in groups])
    return States(at, width, outlier)


def _worth(states: States, both: Floats) -> float:
    """Log likelihood of all boots at the best shares, less what the fit is worth too much."""
    density = states.density(both)
    shares = np.full(states.at.size, 1 / states.at.size)
    for _ in range(_ROUNDS):
        member = density * shares
        shares = (member / member.sum(axis=1, keepdims=True)).mean(axis=0)
    log = float(np.log(density @ shares).sum())
    return log - _penalty(FITTED_WITH_SHARE * states.at.size, both)


def _penalty(fitted: int, both: Floats) -> float:
    """What the likelihood at the best values of so many parameters is above the one that integrates
    them, by the criterion: half a log of the number of boots each.
    """
    return 0.5 * fitted * float(np.log(both.size))


def _nodes(states: States, values: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Shares and log weights of the nodes of one side."""
    density = states.density(values)
    count = (density / density.sum(axis=1, keepdims=True)).sum(axis=0)
    prior = np.full(states.at.size, PRIOR)
    proposal = prior + TEMPER * count
    shares = np.maximum(rng.dirichlet(proposal, _NODES), 1e-9)

    def log_density(alpha: Floats) -> Floats:
        norm = scipy.special.gammaln(alpha.sum()) - scipy.special.gammaln(alpha).sum()
        log: Floats = norm + (np.log(shares) * (alpha - 1)).sum(axis=1)
        return log

    weight = log_density(prior) - log_density(proposal) - np.log(_NODES)
    return shares, weight[None, None, :]
