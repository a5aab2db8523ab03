# SPDX-License-Identifier: GPL-2.0-or-later
"""Ways to look at boots: which figure of a boot, and which family of distributions.

A lens says "if there is a regression it shows in this figure, and this figure is distributed
so". Nobody knows which lens is right, so that all of them stay in the posterior with the weight
that the boots give them; those which the calibration rules out are left out for speed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.judge.scale import counted, effect_floor
from rtbisect.model.campaign import Better, Scale, Statistic, Threshold
from rtbisect.search.likelihood.counts import CountGrid, chance_grids, count_grids
from rtbisect.search.likelihood.features import Views, common
from rtbisect.search.likelihood.grids import Grid, Grids, logsumexp, normalized
from rtbisect.search.likelihood.mixture import state_grids
from rtbisect.search.likelihood.priors import boot_grids
from rtbisect.search.rounded import in_wide_steps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbisect.search.ancestry import Bools, Floats
    from rtbisect.search.parts import Parts

#: Prior weight of a regression that all CPUs show; each of the CPUs has its part of the rest.
COMMON = 0.7
#: Prior weight of values that follow the usual shape; the rest is for a few states.
USUAL = 0.9
#: Prior weight of counts beside the usual shape, where all figures are small whole numbers.
EVENTS = 0.5
#: Larger counts look like any other figure.
_MOST_EVENTS = 1000
#: A lens with less than this share of the evidence of the calibration is left out.
_KEPT = 0.01
#: So few kernels differ by their layout as well as by a regression: only more of them say which.
ENDS_ALONE = 2
#: Of the weight of a pattern that `ahead` leaves at least: that the good side lies above the bad
#: one is never quite impossible, for nodes are few.
_LEAST_AHEAD = 1e-12


@dataclass(frozen=True, eq=False)
class Lens:
    """A way to look at boots: a figure and a family of distributions."""

    #: Place of the figure in the views of a boot.
    view: int
    #: Log prior weight of that view, and of this family on it.
    share: float
    family: float
    grid: Grids


@dataclass(frozen=True, eq=False, kw_only=True)
class LensLikelihood:
    """All boots through one lens; everything is a logarithm."""

    #: Likelihood of each pattern of sides (p,), and of no regression.
    likelihood: Floats
    none: float
    #: Weights of the nodes: of the axes s of good and bad together (p, t, s, s), of each side
    #: (p, t, s, a), and without a regression (t, s, a).
    scales: Floats
    good: Floats
    bad: Floats
    shared: Floats


def loglik(side: Grid, boots: tuple[Views, ...], view: int) -> Floats:
    """Log likelihood of the boots of one kernel under each node of a side."""
    if isinstance(side, CountGrid):
        return side.all_of(boots)
    # A boot that lacks a CPU says nothing of it.
    return side.loglik(tuple(boot[view] for boot in boots if view < len(boot)))


def lens_likelihood(lens: Lens, boots: list[tuple[Views, ...]], pattern: Bools) -> LensLikelihood:
    """Likelihood of the `boots` of each kernel (k,) under each pattern (p, k) of bad ones."""
    grid, view = lens.grid, lens.view
    good = np.array([loglik(grid.good, kernel_boots, view) for kernel_boots in boots])
    bad = np.array([loglik(grid.bad, kernel_boots, view) for kernel_boots in boots])
    nodes_good = np.tensordot(~pattern, good, 1) + grid.good.prior
    nodes_bad = np.tensordot(pattern, bad, 1) + grid.bad.prior
    good_scales, bad_scales = logsumexp(nodes_good), logsumexp(nodes_bad)
    scales = good_scales[:, :, :, None] + bad_scales[:, :, None, :] + grid.couple
    if grid.ahead is not None:
        scales += _ahead(grid.ahead, scales, nodes_good, nodes_bad)[:, :, None, None]
    shared = sum(
        (loglik(grid.shared, kernel_boots, view) for kernel_boots in boots), grid.shared.prior
    )
    if len(boots) <= ENDS_ALONE:
        # Whether two kernels differ by their layout alone no search can tell: with nothing to
        # compare them with it is a question for the verification.
        shared = np.where(grid.layout[:, None, None], -np.inf, shared)
    return LensLikelihood(
        likelihood=logsumexp(scales, 3),
        none=float(logsumexp(shared, 3)),
        scales=scales,
        good=nodes_good,
        bad=nodes_bad,
        shared=shared,
    )


def _ahead(ahead: Floats, scales: Floats, good: Floats, bad: Floats) -> Floats:
    """Log of the factor by which `ahead` changes the weight of each pattern and t, (p, t)."""
    weight = np.exp(scales - logsumexp(scales, 2)[:, :, None, None])
    good_weight = np.einsum("pts,ptsa->pta", weight.sum(axis=3), normalized(good))
    bad_weight = np.einsum("pts,ptsa->pta", weight.sum(axis=2), normalized(bad))
    log_factor: Floats = np.log(
        np.maximum(np.einsum("pta,tab,ptb->pt", good_weight, ahead, bad_weight), _LEAST_AHEAD)
    )
    return log_factor


def weights_against_none(lenses: tuple[Lens, ...], likelihoods: list[LensLikelihood]) -> Floats:
    """Log weight of each pattern under each lens (l, p), in units of the likelihood of "no
    regression". What a lens does not look at is the same with and without a regression, so
    that lenses on different figures can be compared by this ratio.
    """
    none: dict[int, float] = {}
    for lens, likelihood in zip(lenses, likelihoods, strict=True):
        none[lens.view] = np.logaddexp(none.get(lens.view, -np.inf), lens.family + likelihood.none)
    return np.array([
        lens.share + lens.family + likelihood.likelihood - none[lens.view]
        for lens, likelihood in zip(lenses, likelihoods, strict=True)
    ])  # fmt: skip


def lenses(
    threshold: Threshold,
    ends: tuple[tuple[Views, ...], tuple[Views, ...]],
    every: Iterable[tuple[Views, ...]],
    *,
    shifted: bool,
    parts: Parts,
) -> tuple[Lens, ...]:
    """The lenses of a search, by the boots that its calibration decided on: those of the good end
    and of the bad one. Of `every` kernel's boots only matters whether all are small numbers of
    something; `shifted`: the ends differ in their level; `parts`: which lenses there are.
    """
    if threshold.statistic is Statistic.FRACTION:
        return (Lens(0, 0.0, 0.0, chance_grids()),)
    good, bad = ends
    if counted(threshold):
        return (Lens(0, 0.0, 0.0, count_grids(good, bad)),)
    plain = threshold.scale is Scale.LINEAR and threshold.better is Better.LOWER
    return fit(
        good,
        bad,
        effect_floor(threshold),
        common((*good, *bad)) if parts.cpus else 1,
        shifted=shifted,
        events=plain and all(_is_count(boot[0]) for boots in every for boot in boots),
        build_noise=parts.build_noise,
        states=parts.states,
        own_shares=parts.rounded
        and parts.build_noise
        and in_wide_steps(threshold, *([boot[0] for boot in boots] for boots in ends)),
    )


def _is_count(value: float) -> bool:
    return value.is_integer() and 0 <= value <= _MOST_EVENTS


@lru_cache(maxsize=2)
def fit(  # noqa: PLR0913  (also the key of what is kept)
    good: tuple[Views, ...],
    bad: tuple[Views, ...],
    floor: float,
    views: int,
    *,
    shifted: bool = True,
    events: bool = False,
    build_noise: bool = True,
    states: bool = True,
    own_shares: bool = False,
) -> tuple[Lens, ...]:
    """The lenses that the boots of both ends leave, with their grids. `events`: the whole of every
    boot is a small number of something; `build_noise`, `states`: as in Parts; `own_shares`: builds
    may differ in how often they meet a state.
    """
    candidates = []
    if events:
        share = 1.0 if views == 1 else COMMON
        grid = count_grids(good, bad, timed=False)
        candidates.append(Lens(0, float(np.log(share)), float(np.log(EVENTS)), grid))
    for view in range(views):
        share = 1.0 if views == 1 else COMMON if view == 0 else (1 - COMMON) / (views - 1)
        good_values = tuple(boot[view] for boot in good)
        bad_values = tuple(boot[view] for boot in bad)
        log = float(np.log(share))
        candidates.append(
            Lens(
                view,
                log,
                float(np.log(USUAL)),
                boot_grids(
                    good_values, bad_values, floor, shifted=shifted, build_noise=build_noise
                ),
            )
        )
        found = (
            state_grids(good_values, bad_values, floor, own_shares=own_shares) if states else None
        )
        if found is not None:
            state_grid, penalty = found
            candidates.append(Lens(view, log, float(np.log(1 - USUAL)) + penalty, state_grid))
    ends = np.array([[False, True]])
    likelihoods = [lens_likelihood(lens, [good, bad], ends) for lens in candidates]
    weight = weights_against_none(tuple(candidates), likelihoods)[:, 0]
    kept = weight >= weight.max() + np.log(_KEPT)
    return tuple(lens for lens, keep in zip(candidates, kept.tolist(), strict=True) if keep)
