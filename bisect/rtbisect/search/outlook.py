# SPDX-License-Identifier: GPL-2.0-or-later
"""What a search knows, made simple enough to be rehearsed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.search.end_layouts import end_layouts_due, layouts_of_end
from rtbisect.search.likelihood.priors import LEAST
from rtbisect.search.likelihood.two_level import BootGrid, student
from rtbisect.search.spec import NONE_AT_MOST

if TYPE_CHECKING:
    from rtbisect.search.ancestry import Bools, Floats
    from rtbisect.search.posterior import Cell, Posterior
    from rtbisect.search.search_state import SearchState
    from rtbisect.search.spec import SearchSpec

#: A noise of builds that is less likely is left out.
_UNLIKELY = 0.02
#: If there is no regression, builds differ about as much as the ends do: these shares of that.
_NONE_TAU = (0.35, 0.7, 1.2)
#: Values of a boot, in scales around the middle of good and bad.
_Y = np.linspace(-30.0, 30.0, 2001)


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What a search costs and asks for, as in SearchSpec."""

    build_s: float
    boot_s: float
    #: Seconds of a build with another layout; None: there are no such builds.
    layout_s: float | None
    #: Other layouts of both ends that come first, each booted once.
    end_layouts: int = 0
    controls: bool = True
    confidence: float = 0.95
    seed: int = 0

    @classmethod
    def of(cls, spec: SearchSpec) -> Terms:
        return cls(
            build_s=spec.build_cost_s,
            boot_s=spec.boot_cost_s,
            layout_s=spec.layout_cost_s,
            end_layouts=2 * layouts_of_end(spec),
            controls=spec.controls,
            confidence=spec.confidence,
            seed=spec.seed,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Sides:
    """What is known of the level of a side for each possible noise of builds (t,)."""

    #: The level is normal around it, with this standard deviation.
    mean: Floats
    deviation: Floats
    #: Standard deviation of builds, and its probability.
    tau: Floats
    weight: Floats

    @property
    def middle(self) -> float:
        """The level, whatever the noise of builds is."""
        return float((self.weight * self.mean).sum())


@dataclass(frozen=True, eq=False, kw_only=True)
class Outlook:
    """What a search knows, as far as its cost hangs on it."""

    #: Probability of each commit that can be the culprit, in the order of the history (n,).
    commits: Floats
    #: Probability of no regression; it adds up to 1 with those of the commits.
    none: float
    #: Places of built kernels in that line; -1 is the good end.
    built: tuple[int, ...]
    #: Standard deviation of a boot of one build.
    sigma: float
    good: Sides
    bad: Sides
    shared: Sides
    #: The least by which a regression makes the bad side worse.
    least: float
    terms: Terms


def known(state: SearchState) -> Outlook:
    """What a search knows after its looks at the ends. Side branches stand in line."""
    posterior, index = state.belief, state.ancestry.index
    possible = np.flatnonzero(posterior.commits > 0)
    latest = [max(index.get(sha, -1) for sha in kernel.shas) for kernel in posterior.kernels]
    built = np.searchsorted(possible, latest, side="right") - 1
    terms = replace(Terms.of(state.spec), end_layouts=len(end_layouts_due(state)))
    if not state.layouts:
        terms = replace(terms, layout_s=None)
    commits, places = posterior.commits[possible], tuple(built.tolist())
    seen = levels(posterior) or _as_normal(posterior)
    return _outlook(terms, seen, commits, posterior.none, places)


def assumed(terms: Terms, commits: int, effect: float, boots: int) -> Outlook:
    """What a search would know after so many boots of each end, which differ by `effect` standard
    deviations of a boot. Builds of one code differ by up to half of one where there are layouts.
    """
    if terms.layout_s is None:
        tau, weight = np.zeros(1), np.ones(1)
    else:
        tau, weight = np.array([0.0, 0.25, 0.5]), np.array([0.5, 0.25, 0.25])

    def level(mean: float) -> Sides:
        deviation = np.hypot(tau, 1 / math.sqrt(boots))
        return Sides(mean=np.full(tau.size, mean), deviation=deviation, tau=tau, weight=weight)

    # What has passed a look at the ends is hardly luck.
    mass = np.full(commits, (1 - NONE_AT_MOST) / commits)
    levels = level(0.0), level(effect), 1.0
    return _outlook(terms, levels, mass, NONE_AT_MOST, (-1, commits - 1))


def _outlook(
    terms: Terms,
    levels: tuple[Sides, Sides, float],
    commits: Floats,
    none: float,
    built: tuple[int, ...],
) -> Outlook:
    good, bad, sigma = levels
    apart = max(bad.middle - good.middle, 1e-3 * sigma)
    tau = apart * np.array(_NONE_TAU)
    shared = Sides(
        mean=np.full(tau.size, (good.middle + bad.middle) / 2),
        deviation=np.hypot(tau / math.sqrt(2), sigma / 4),
        tau=tau,
        weight=np.full(tau.size, 1 / tau.size),
    )
    return Outlook(
        terms=terms,
        commits=commits,
        none=none,
        built=built,
        sigma=sigma,
        good=good,
        bad=bad,
        shared=shared,
        least=LEAST * apart,
    )


def levels(posterior: Posterior) -> tuple[Sides, Sides, float] | None:
    """Levels of good and bad, and the scale of a boot as of a normal one, if the likeliest sides
    are right; None of shares, counts and states.
    """
    cell = posterior.cells[0]
    sides = sides_of(cell)
    if sides is None:
        return None
    better, worse = sides
    scale = _scale(cell)
    # A boot has longer tails: it tells as much as a normal one that scatters more.
    half = max(worse.middle - better.middle, 1e-3 * scale) / 2
    seen = [student(_Y + sign * half / scale) for sign in (1, -1)]
    return better, worse, 2 * half / same_as_normal(seen[0], seen[1])


def sides_of(cell: Cell) -> tuple[Sides, Sides] | None:
    """Levels of good and bad if these sides are right; None of shares, counts and states."""
    good, bad = cell.grid.good, cell.grid.bad
    if not (isinstance(good, BootGrid) and isinstance(bad, BootGrid)):
        return None
    weight = cell.good.sum(axis=(1, 2))
    kept = weight >= min(_UNLIKELY, float(weight.max()))
    return _side(good, cell.good, kept), _side(bad, cell.bad, kept)


def _scale(cell: Cell) -> float:
    """Scale of a boot, of both sides in the mean."""
    squares = [
        float((node.sum(axis=(0, 2)) * side.sigma**2).sum())
        for side, node in ((cell.grid.good, cell.good), (cell.grid.bad, cell.bad))
        if isinstance(side, BootGrid)
    ]
    return math.sqrt(math.fsum(squares) / len(squares))


def _side(grid: BootGrid, node: Floats, kept: Bools) -> Sides:
    """The level of a side by the weights of its nodes (t, s, a), of which these t are `kept`."""
    mu, weight = grid.mu[kept], node.sum(axis=(1, 2))[kept]
    share = node.sum(axis=1)[kept] / weight[:, None]
    mean = (share * mu).sum(axis=1)
    deviation = np.sqrt((share * (mu - mean[:, None]) ** 2).sum(axis=1))
    # Between two nodes nobody knows.
    deviation = np.maximum(deviation, np.diff(mu, axis=1).mean(axis=1) / 4)
    return Sides(mean=mean, deviation=deviation, tau=grid.tau[kept], weight=weight / weight.sum())


def _as_normal(posterior: Posterior) -> tuple[Sides, Sides, float]:
    """Shares, counts and states, as normal boots that tell as much."""
    apart = max(same_as_normal(posterior.good, posterior.bad), 1e-3)
    boots = max(1, *(len(kernel.boots) for kernel in posterior.kernels))
    deviation, zero, one = np.array([1 / math.sqrt(boots)]), np.zeros(1), np.ones(1)
    good = Sides(mean=zero, deviation=deviation, tau=zero, weight=one)
    bad = Sides(mean=np.array([apart]), deviation=deviation, tau=zero, weight=one)
    return good, bad, 1.0


def same_as_normal(good: Floats, bad: Floats) -> float:
    """By how many standard deviations two normal boots differ that are told apart as well as two
    with these weights over the same values (Bhattacharyya, 1943).
    """
    overlap = float(np.sqrt(good / good.sum() * (bad / bad.sum())).sum())
    return math.sqrt(max(0.0, -8 * math.log(min(1.0, max(overlap, 1e-12)))))
