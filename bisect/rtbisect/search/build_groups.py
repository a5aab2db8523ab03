# SPDX-License-Identifier: GPL-2.0-or-later
"""Two groups of builds compared: a build is one observation, however often it booted.

Builds of one code differ by where functions and data lie, and all boots of a build share that. Many
boots of two builds therefore show with any certainty that the builds differ, and nothing about
their code (pseudoreplication: Hurlbert, 1984; for benchmarks Kalibera and Jones, 2013). A small
change is proved on builds that the search has not booted: it chose the commit by those that it has.
"""

from __future__ import annotations

import itertools
import math
import statistics
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
import scipy

from rtbisect.judge.scale import by_mean, effect_floor, effect_of
from rtbisect.judge.verdict import effect_found
from rtbisect.model.campaign import Judgement, Level, Sample, Threshold
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Judged, Told
from rtbisect.model.kinds.search import Checks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rtbisect.search.ledger import Ledger
    from rtbisect.search.likelihood.features import Kernel

#: Alpha of the comparison for all its looks together: the search has named the commit at its own
#: confidence before.
ALPHA = 0.05
LOOKS = 3
#: Power of the second look for a shift as large as that of the ends.
POWER = 0.9
#: Builds a side: at the first look, and at most at the second and at the last one.
FEWEST, MOST, LAST = 4, 12, 18
#: Share of the builds of the second look that the first one has.
FIRST_SHARE = 0.6
#: Builds of both sides below which nobody can say how builds scatter.
ENOUGH = 4
#: Builds that surely differ by less than this share of what the ends differ by do not show it. So
#: much the last look has to see: a range is searched because its ends differ, by luck, too, and so
#: by more than the culprit does. Where builds make a fifth of the variance that look leaves 1 in
#: 1000 open of what the ends show, and 57 without it, for the same 15 builds in the mean.
LEAST_SHARE = 0.5
#: Boots of one build, at most; and by how much more than their mean the median of few boots
#: scatters (of the variance; for Student-t with 4 degrees of freedom it is less).
MOST_BOOTS, MEDIAN_COST = 6, 1.3


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildPlan:
    """Which builds the comparison of builds may take, and how many."""

    #: Kernels that the search has not booted, of the side that should be better and of the one that
    #: should be worse; those to take first in front.
    better: tuple[Kernel, ...]
    worse: tuple[Kernel, ...]
    #: Number of boots of each build.
    boots: int
    #: Builds a side at the first look.
    builds: int
    #: Difference of the ends, in badness.
    shift: float
    #: Signatures of booted kernels: what equals one is no further build.
    known: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Groups:
    """How far a comparison of builds is."""

    #: Kernels, each with the boots that it should have in all; () when the comparison is over.
    wanted: tuple[tuple[Kernel, int], ...]
    #: What the last finished look says; None before the first, and where there are too few builds.
    judgement: Judgement | None = None
    #: Standard deviation of builds of one side, in badness, with what few boots leave open.
    spread: float = math.inf
    #: Undecided, and there are no builds that a further look could take.
    exhausted: bool = False


def builds_needed(shift: float, spread: float, most: int = MOST) -> int:
    """Builds a side with which a one-sided t test sees a shift in POWER of all cases, where builds
    of a side have this standard deviation; `most` where that would take more.
    """
    if spread <= 0:
        return FEWEST
    for builds in range(FEWEST, most):
        free = 2 * builds - 2
        if scipy.stats.nct.sf(_asked(free), free, shift / spread * math.sqrt(builds / 2)) >= POWER:
            return builds
    return most


@lru_cache
def _asked(free: int) -> float:
    """The t that a look asks for with so many degrees of freedom."""
    return float(scipy.stats.t.ppf(1 - ALPHA / LOOKS, free))


# A search asks again after every boot, and the ends have not changed.
@lru_cache(maxsize=64)
def cheapest(
    shift: float, tau: float, sigma: float, *, build_s: float, boot_s: float
) -> tuple[int, int]:
    """Boots of each build and builds a side that see the shift for the least time: of builds that
    differ by `tau` and boots that differ by `sigma`, both standard deviations.
    """
    found = []
    for boots in range(1, MOST_BOOTS + 1):
        variance = tau**2 + MEDIAN_COST * sigma**2 / boots
        builds = builds_needed(shift, math.sqrt(variance))
        cost_s = build_s + boots * boot_s
        # If nothing reaches POWER, take what tells most per second.
        worth = variance * cost_s if builds == MOST else builds * cost_s
        found.append((builds == MOST, worth, boots, builds))
    _, _, boots, builds = min(found)
    return boots, builds


def examine(
    plan: BuildPlan,
    ledger: Ledger,
    threshold: Threshold,
    effect: Callable[[float], Finding] | None = None,
) -> Groups:
    """How the comparison stands after the boots of `ledger`, whose figure `threshold` judges. The
    reason tells the effect as in `judge`.
    """
    tell = effect or partial(effect_found, threshold)
    looked: tuple[tuple[Kernel, ...], tuple[Kernel, ...]] = ((), ())
    groups = Groups(())
    builds = asked = plan.builds
    for look in range(LOOKS):
        asked = builds
        sides = tuple(_first(plan, side, ledger, builds) for side in (plan.better, plan.worse))
        if not all(sides) or sum(map(len, sides)) < ENOUGH or sides == looked:
            return replace(groups, exhausted=True)
        wanted = tuple((kernel, plan.boots) for side in sides for kernel in side)
        if any(len(ledger.views.get(kernel, ())) < boots for kernel, boots in wanted):
            return replace(groups, wanted=wanted)
        looked = (sides[0], sides[1])
        groups = _judged(plan, ledger, threshold, looked, tell)
        assert groups.judgement is not None
        if groups.judgement.level is not Level.UNDECIDED:
            return groups
        shift, most = (LEAST_SHARE * plan.shift, LAST) if look else (plan.shift, MOST)
        builds = max(builds + 1, builds_needed(shift, groups.spread, most))
    return replace(groups, exhausted=any(len(side) < asked for side in looked))


def _first(
    plan: BuildPlan, side: Sequence[Kernel], ledger: Ledger, builds: int
) -> tuple[Kernel, ...]:
    """So many kernels of a side that can be booted and are no two of the same build."""
    return tuple(itertools.islice(_usable(plan, side, ledger), builds))


def _usable(plan: BuildPlan, side: Sequence[Kernel], ledger: Ledger) -> Iterator[Kernel]:
    seen = set(plan.known)
    for sha, layout in side:
        broken = ledger.untestable(sha) or (layout and sha in ledger.layouts_failed)
        # A boot that failed does not remove a build that has booted before.
        if broken and not ledger.views.get((sha, layout)):
            continue
        signature = ledger.signature_of((sha, layout))
        if signature in seen:
            continue
        if signature:
            seen.add(signature)
        yield sha, layout


def _judged(
    plan: BuildPlan,
    ledger: Ledger,
    threshold: Threshold,
    sides: tuple[tuple[Kernel, ...], tuple[Kernel, ...]],
    tell: Callable[[float], Finding],
) -> Groups:
    """A look at these builds: one value each, the middle of its boots."""
    middle: Callable[[Sequence[float]], float] = (
        statistics.fmean if by_mean(threshold) else statistics.median
    )
    values, shown = [], []
    for side in sides:
        boots = [ledger.views[kernel][: plan.boots] for kernel in side]
        values.append([middle([boot[0] for boot in seen]) for seen in boots])
        raw = [ledger.observations[kernel][: plan.boots] for kernel in side]
        shown.append(Sample(tuple(middle([each.value for each in seen]) for seen in raw)))
    better, worse = (np.asarray(side) for side in values)
    free = better.size + worse.size - 2
    squares = sum(float(((side - side.mean()) ** 2).sum()) for side in (better, worse))
    spread = math.sqrt(squares / free)
    error = spread * math.sqrt(1 / better.size + 1 / worse.size)
    shift = float(worse.mean() - better.mean())
    # No scatter at all: a t test is not defined, and any difference decides.
    p = float(scipy.stats.t.sf(shift / error, free)) if error else float(shift <= 0)
    reach = float(scipy.stats.t.ppf(0.975, free)) * error
    ends = [effect_of(threshold, shift - reach), effect_of(threshold, shift + reach)]
    judgement = Judgement(
        key=threshold.key,
        level=Level.UNDECIDED,
        base=shown[0],
        new=shown[1],
        effect=effect_of(threshold, shift),
        interval=(min(ends), max(ends)),
        p=p,
        reason=Finding.of(Checks.OPEN),
    )
    shifts = shift, shift + reach, LEAST_SHARE * plan.shift
    return Groups((), _with_level(threshold, judgement, shifts, tell(judgement.effect)), spread)


def _with_level(
    threshold: Threshold, judgement: Judgement, shifts: tuple[float, float, float], effect: Finding
) -> Judgement:
    """Level and reason; `shifts` are shift, the largest that the interval leaves, and the least
    that counts as what the ends differ by, all in badness.
    """
    shift, worst, least = shifts
    floor, alpha, p = effect_floor(threshold), ALPHA / LOOKS, judgement.p
    if shift >= floor and p <= alpha:
        level, reason = Level.REGRESSED, Finding.of(Judged.REGRESSED, effect=effect, p=p)
    elif worst < floor:
        level, reason = Level.PASS, Finding.of(Judged.EXCLUDED, effect=effect)
    elif worst < least:
        level, reason = Level.PASS, Finding.of(Checks.SURELY_LESS, effect=effect)
    elif shift >= floor:
        level = Level.UNDECIDED
        reason = Finding.of(Judged.ABOVE_ALPHA, effect=effect, p=p, alpha=alpha)
    else:
        level, reason = Level.UNDECIDED, Finding.of(Judged.INCLUDED, effect=effect)
    return replace(judgement, level=level, reason=reason)


def without_direction(effect: Finding) -> Finding:
    """How large an effect is: what luck does has no direction."""
    if effect.kind == Told.RATIO:
        ratio = effect.data["ratio"]
        assert isinstance(ratio, float)
        return Finding.of(Told.SHIFT_RATIO, ratio=max(ratio, 1 / ratio))
    difference = effect.data["difference"]
    assert isinstance(difference, float)
    return Finding.of(Told.SHIFT, difference=abs(difference), unit=effect.data["unit"])
