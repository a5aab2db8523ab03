# SPDX-License-Identifier: GPL-2.0-or-later
"""How much of a figure is made by where the functions of a kernel lie: boots of one kernel in
several code layouts, each booted several times, in rounds.

One-way random effects: badness = layout + boot, both normal. What a round adds is taken out before,
so that a drift of the host is no layout.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from rtbisect.judge.blocks import offsets
from rtbisect.judge.boots import Boots
from rtbisect.judge.scale import badness, effect_floor
from rtbisect.judge.stats import LEVEL, SAMPLED_SPLITS, holm
from rtbisect.model.campaign import Role
from rtbisect.model.layouts import LayoutAdvice, LayoutFigure, LayoutResult, LayoutSpread, MoreBoots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.judge.stats import Floats
    from rtbisect.model.campaign import Threshold
    from rtbisect.model.lab import Run

#: Of the tests that say that layouts differ, over all primary figures of a host.
ALPHA = 0.05
#: Two builds of one code differ by at most so many standard deviations of layouts in 95 of 100
#: cases: 1.96 times the square root of 2 (the reproducibility limit of ISO 5725).
DIFFER = 2.77
#: The chance with which as many boots as are told decide it.
TELLS = 0.8
#: The most layouts, and boots of each, that are told.
MOST_LAYOUTS, MOST_BOOTS = 64, 100


class LayoutBoot(NamedTuple):
    """A boot of a layout in a round; both are numbers from 0."""

    layout: int
    round: int
    run: Run


class Cell(NamedTuple):
    """The figure of one boot."""

    layout: int
    round: int
    value: float


@dataclass(frozen=True, slots=True)
class _Means:
    """Means of layouts without what rounds add, and mean squares."""

    #: Mean square of the means of layouts, as a variance of single values.
    between: float
    #: Mean square of single boots, without what rounds add.
    within: float
    #: Degrees of freedom of both.
    free: tuple[int, int]
    #: Boots of a layout, harmonic mean.
    boots: float


def figures_of(
    thresholds: Sequence[Threshold], booted: Sequence[LayoutBoot], *, seed: int = 0
) -> tuple[LayoutFigure, ...]:
    """What boots say of each figure, in the order of the thresholds. P values are adjusted over the
    primary ones (Holm); the others have no result, and neither has one that no boot tells.
    """
    cells = [_cells(threshold, booted) for threshold in thresholds]
    spreads = [spread_of(each, seed=seed) for each in cells]
    primary = [n for n, each in enumerate(thresholds) if each.role is Role.PRIMARY and cells[n]]
    adjusted = dict(
        zip(primary, holm([s.p if (s := spreads[n]) else 1.0 for n in primary]), strict=True)
    )
    found = []
    for n, (threshold, spread) in enumerate(zip(thresholds, spreads, strict=True)):
        effect, result, more = effect_floor(threshold), None, None
        if n in adjusted:
            result = result_of(spread, adjusted[n], effect)
        if result is LayoutResult.UNDECIDED and spread:
            more = boots_that_tell(spread, effect, ALPHA / len(primary))
        found.append(
            LayoutFigure(
                threshold=threshold, values=_by_layout(cells[n], threshold, booted), spread=spread,
                effect=effect, p_adjusted=adjusted.get(n), result=result, more=more,
            )
        )  # fmt: skip
    return tuple(found)


def advice_of(figures: Sequence[LayoutFigure]) -> LayoutAdvice:
    """What the site should do, by its primary figures."""
    results = {figure.result for figure in figures if figure.result is not None}
    if LayoutResult.MATTERS in results:
        return LayoutAdvice.RELINK
    return LayoutAdvice.FIXED if results == {LayoutResult.NEGLIGIBLE} else LayoutAdvice.MORE_BOOTS


def result_of(spread: LayoutSpread | None, p: float, effect: float) -> LayoutResult:
    """Whether layouts matter, by an adjusted p and the least effect that counts. Layouts that
    surely set no two builds that far apart do not matter, however surely they differ.
    """
    if spread is None:
        return LayoutResult.UNDECIDED
    if DIFFER * spread.high < effect:
        return LayoutResult.NEGLIGIBLE
    return LayoutResult.MATTERS if p <= ALPHA else LayoutResult.UNDECIDED


def spread_of(cells: Sequence[Cell], *, seed: int = 0) -> LayoutSpread | None:
    """How boots and layouts differ, in the unit of the values; None where too few boots tell it: at
    least two layouts, and one boot more than layouts and rounds need.
    """
    level = _without_rounds(cells)
    means = _means_of(cells, level)
    if means is None:
        return None
    noise = means.within / means.boots
    low, high = _interval(means.between, noise, means.free)
    groups = [
        np.array([c.value for c in cells if c.layout == n]) for n in {c.layout for c in cells}
    ]
    squares = sum(float(((each - each.mean()) ** 2).sum()) for each in groups)
    return LayoutSpread(
        layouts=len(groups),
        boots=len(cells),
        boots_sd=math.sqrt(squares / (len(cells) - len(groups))),
        error_sd=math.sqrt(means.within),
        layouts_sd=math.sqrt(max(0.0, means.between - noise)),
        low=low,
        high=high,
        p=_exchange_p(cells, level, seed),
    )


def boots_that_tell(spread: LayoutSpread, effect: float, alpha: float) -> MoreBoots | None:
    """The fewest boots that decide it with a chance of TELLS, if boots and layouts differ as they
    were seen to; None where not even the most do.
    """
    layouts = [spread.layouts * times for times in (1, 2, 4, 8)]
    plans = sorted(
        (MoreBoots(layouts=k, boots=b) for k in layouts if k <= MOST_LAYOUTS
         for b in range(2, MOST_BOOTS + 1) if k * b > spread.boots),
        key=lambda plan: plan.layouts * plan.boots,
    )  # fmt: skip
    return next((plan for plan in plans if _tells(spread, plan, effect, alpha)), None)


def _tells(spread: LayoutSpread, plan: MoreBoots, effect: float, alpha: float) -> bool:
    """Whether boots of a plan decide it: F of the layouts is so many times one of luck."""
    between, noise = spread.layouts_sd**2, spread.error_sd**2 / plan.boots
    free = plan.layouts - 1, (plan.layouts - 1) * (plan.boots - 1)
    larger = 1 + between / noise if noise else math.inf
    seen = scipy.stats.f.sf(scipy.stats.f.isf(alpha, *free) / larger, *free)
    if between and seen >= TELLS:
        return True
    scatter = (between + noise) * scipy.stats.chi2.ppf(TELLS, free[0]) / free[0]
    return DIFFER * _interval(float(scatter), noise, free)[1] < effect


def _cells(threshold: Threshold, booted: Sequence[LayoutBoot]) -> list[Cell]:
    """The figure as badness; a boot whose figure has none is left out."""
    found = []
    for layout, number, run in booted:
        for seen in Boots((run,)).figure(threshold.key):
            try:
                found.append(Cell(layout, number, badness(threshold, seen.value)))
            except ValueError:
                continue
    return found


def _by_layout(
    cells: Sequence[Cell], threshold: Threshold, booted: Sequence[LayoutBoot]
) -> tuple[tuple[float, ...], ...]:
    """The figure in its unit, of each layout in the order of its boots."""
    there = {(cell.layout, cell.round) for cell in cells}
    told: dict[int, list[float]] = {layout: [] for layout in sorted({b.layout for b in booted})}
    for layout, number, run in booted:
        if (layout, number) in there:
            told[layout] += [each.value for each in Boots((run,)).figure(threshold.key)]
    return tuple(tuple(values) for values in told.values())


def _without_rounds(cells: Sequence[Cell]) -> Floats:
    """The values, without what their rounds add."""
    added = offsets([(str(cell.layout), str(cell.round), cell.value) for cell in cells])
    return np.array([cell.value - added[str(cell.round)] for cell in cells])


def _means_of(cells: Sequence[Cell], level: Floats) -> _Means | None:
    """Unweighted means (Thomas and Hultquist, 1978): exact where all layouts have as many boots."""
    sizes = Counter(cell.layout for cell in cells)
    rounds = len({cell.round for cell in cells})
    free = len(sizes) - 1, len(cells) - len(sizes) - (rounds - 1)
    if min(free) < 1:
        return None
    layout = np.array([cell.layout for cell in cells])
    sides = [level[layout == each] for each in sizes]
    squares = sum(float(((side - side.mean()) ** 2).sum()) for side in sides)
    return _Means(
        between=float(np.var([side.mean() for side in sides], ddof=1)),
        within=squares / free[1],
        free=free,
        boots=len(sides) / sum(1 / side.size for side in sides),
    )


def _interval(between: float, noise: float, free: tuple[int, int]) -> tuple[float, float]:
    """95% interval of the standard deviation of layouts (Williams, 1962), by the variance of their
    means and the part of it that boots make. Means that lie closer than that are so by luck.
    """
    tail = (1 - LEVEL) / 2
    ends = []
    for seen, at in ((between, 1 - tail), (max(between, noise), tail)):
        luck = noise * scipy.stats.f.ppf(at, *free)
        squared = free[0] * (seen - luck) / scipy.stats.chi2.ppf(at, free[0])
        ends.append(math.sqrt(max(0.0, float(squared))))
    return ends[0], ends[1]


def _exchange_p(cells: Sequence[Cell], level: Floats, seed: int) -> float:
    """P value of the F of layouts: boots change places within their round, drawn, with the +1
    correction. All else that F is made of stays the same, so it grows with the means' squares.
    """
    layout = np.unique([cell.layout for cell in cells], return_inverse=True)[1].reshape(-1)
    number = np.array([cell.round for cell in cells])
    values, rng = level - level.mean(), np.random.default_rng(seed)
    size = np.bincount(layout)
    sums = np.zeros((SAMPLED_SPLITS, size.size))
    for each in np.unique(number):
        inside = number == each
        drawn = rng.permuted(np.tile(values[inside], (SAMPLED_SPLITS, 1)), axis=1)
        sums[:, layout[inside]] += drawn
    observed = np.bincount(layout, values)
    seen, luck = float((observed**2 / size).sum()), (sums**2 / size).sum(axis=1)
    slack = 1e-9 * float((values**2).sum())
    return (int(np.count_nonzero(luck >= seen - slack)) + 1) / (SAMPLED_SPLITS + 1)
