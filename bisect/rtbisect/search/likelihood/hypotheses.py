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

from rtbisect.judge.scale import FRACTION, counted, effect_floor
from rtbisect.model.campaign import Better, Scale
from rtbisect.search.likelihood.counts import CountGrid, chance_grids, count_grids
from rtbisect.search.likelihood.features import common
from rtbisect.search.likelihood.grids import logsumexp, normal
from rtbisect.search.likelihood.mixture import state_grids
from rtbisect.search.likelihood.priors import boot_grids

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbisect.model.campaign import Threshold
    from rtbisect.search.ancestry import Bools, Floats
    from rtbisect.search.likelihood.features import Views
    from rtbisect.search.likelihood.grids import Grid, Grids

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


@dataclass(frozen=True, eq=False)
class Lens:
    """`view` is the place of the figure in the views of a boot, `share` and `family` the log
    prior weights of that view and of this family.
    """

    view: int
    share: float
    family: float
    grid: Grids


@dataclass(frozen=True, eq=False, kw_only=True)
class Seen:
    """All boots through one lens. `likelihood` (p,) is the log likelihood of each pattern of
    sides, `none` that of no regression; `scales` (p, t, s, s), `good`, `bad` (p, t, s, a) and
    `shared` (t, s, a) are log weights of the nodes.
    """

    likelihood: Floats
    none: float
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


def seen(lens: Lens, boots: list[tuple[Views, ...]], pattern: Bools) -> Seen:
    """Likelihood of the `boots` of each kernel (k,) under each pattern (p, k) of bad ones."""
    grid, view = lens.grid, lens.view
    good = np.array([loglik(grid.good, each, view) for each in boots])
    bad = np.array([loglik(grid.bad, each, view) for each in boots])
    nodes_good = np.tensordot(~pattern, good, 1) + grid.good.prior
    nodes_bad = np.tensordot(pattern, bad, 1) + grid.bad.prior
    one, two = logsumexp(nodes_good), logsumexp(nodes_bad)
    scales = one[:, :, :, None] + two[:, :, None, :] + grid.couple
    if grid.ahead is not None:
        scales += _ahead(grid.ahead, scales, nodes_good, nodes_bad)[:, :, None, None]
    shared = sum((loglik(grid.shared, each, view) for each in boots), grid.shared.prior)
    if len(boots) <= 2:
        # Whether two kernels differ by their layout alone no search can tell: with nothing to
        # compare them with it is a question for the verification.
        shared = np.where(grid.layout[:, None, None], -np.inf, shared)
    return Seen(
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
    one = np.einsum("pts,ptsa->pta", weight.sum(axis=3), normal(good))
    two = np.einsum("pts,ptsa->pta", weight.sum(axis=2), normal(bad))
    found: Floats = np.log(np.maximum(np.einsum("pta,tab,ptb->pt", one, ahead, two), 1e-12))
    return found


def against_none(lenses: tuple[Lens, ...], found: list[Seen]) -> Floats:
    """Log weight of each pattern under each lens (l, p), in units of the likelihood of "no
    regression". What a lens does not look at is the same with and without a regression, so
    that lenses on different figures can be compared by this ratio.
    """
    none: dict[int, float] = {}
    for lens, each in zip(lenses, found, strict=True):
        none[lens.view] = np.logaddexp(none.get(lens.view, -np.inf), lens.family + each.none)
    return np.array([
        lens.share + lens.family + each.likelihood - none[lens.view]
        for lens, each in zip(lenses, found, strict=True)
    ])  # fmt: skip


def lenses(
    threshold: Threshold,
    good: tuple[Views, ...],
    bad: tuple[Views, ...],
    every: Iterable[tuple[Views, ...]],
    *,
    shifted: bool,
) -> tuple[Lens, ...]:
    """The lenses of a search, by the boots that its calibration decided on: `good` and `bad`. Of
    `every` kernel's boots only matters whether all are small numbers of something; `shifted`: the
    ends differ in their level.
    """
    if threshold.statistic == FRACTION:
        return (Lens(0, 0.0, 0.0, chance_grids()),)
    if counted(threshold):
        return (Lens(0, 0.0, 0.0, count_grids(good, bad)),)
    plain = threshold.scale is Scale.LINEAR and threshold.better is Better.LOWER
    return fit(
        good,
        bad,
        effect_floor(threshold),
        common((*good, *bad)),
        shifted=shifted,
        events=plain and all(_is_count(boot[0]) for boots in every for boot in boots),
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
) -> tuple[Lens, ...]:
    """The lenses that the boots of both ends leave, with their grids. `events`: the whole of every
    boot is a small number of something.
    """
    found = []
    if events:
        share = 1.0 if views == 1 else COMMON
        grid = count_grids(good, bad, timed=False)
        found.append(Lens(0, float(np.log(share)), float(np.log(EVENTS)), grid))
    for view in range(views):
        share = 1.0 if views == 1 else COMMON if view == 0 else (1 - COMMON) / (views - 1)
        one = tuple(boot[view] for boot in good)
        two = tuple(boot[view] for boot in bad)
        log = float(np.log(share))
        found.append(
            Lens(view, log, float(np.log(USUAL)), boot_grids(one, two, floor, shifted=shifted))
        )
        if (states := state_grids(one, two, floor)) is not None:
            among, too_much = states
            found.append(Lens(view, log, float(np.log(1 - USUAL)) + too_much, among))
    ends = np.array([[False, True]])
    looks = [seen(lens, [good, bad], ends) for lens in found]
    weight = against_none(tuple(found), looks)[:, 0]
    kept = weight >= weight.max() + np.log(_KEPT)
    return tuple(lens for lens, keep in zip(found, kept.tolist(), strict=True) if keep)
