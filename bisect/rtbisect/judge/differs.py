# SPDX-License-Identifier: GPL-2.0-or-later
"""What makes a figure differ: the code, its layout, the machine, or nobody can tell.

Code executes something else, or is worse in many layouts; layout differs as much between builds of
the same code; a machine shifts runs of one build together. Where facts do not say one of these,
none is named.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import scipy

from rtbisect.judge.stats import OF_MAD, rank_p
from rtbisect.model.campaign import Better, Judgement, Scale, Statistic, Threshold
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.difference import Differs
from rtbisect.model.result import Difference, DiffersBy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbisect.judge.bursts import Burst

#: Counts explain a change of time where they change by this part of it, the same way. Programs
#: execute one to four instructions a cycle; a hundredth of the change is another matter.
EXPLAINS = 0.25
#: Builds differ as much as a change that is so many times their standard deviation at most: of two
#: builds that luck alone sets apart it is more in 3 of 100 cases.
AS_MUCH = 3.0
#: The p, of ranks, at which a change of the ends is there.
THERE = 0.003
#: Few runs, of which ranks say nothing, may be apart where they are by so many standard errors.
APART = 3.0
#: Standard error of a median in those of a mean, of a normal distribution.
OF_MEDIAN = 1.2533
#: The p at which builds differ by more than their runs.
ALPHA = 0.01


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a figure, as a share of what it was."""

    share: float
    #: Its standard error; None where it is not known.
    error: float | None
    #: How often luck alone makes one as clear, either way; None where that is not known.
    p: float | None = None


@dataclass(frozen=True, slots=True)
class Counted:
    """How many more instructions the newer side executes, as a share; `same`: none to speak of."""

    share: float
    same: bool


@dataclass(frozen=True, slots=True)
class Spread:
    """How builds of one code differ, as shares."""

    #: Standard deviations: of builds, and of runs of one build; None where these are not known.
    builds: float
    runs: float | None
    #: Number of builds that this was told by.
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a change at the end of a campaign."""

    metric: str
    better: Better
    #: A commit is proved to make it.
    named: bool
    #: The search or its proof says that builds differ as much.
    only_layout: bool
    #: Both ends are alike.
    alike: bool
    #: By the commit that is named, else between the ends; None where it is no share.
    change: Change | None
    #: Between the ends, without the runs of the burst.
    calm: Change | None
    counted: Counted | None
    #: Code layouts of both sides that the change is of; 0 where each had one build.
    layouts: tuple[int, int]
    #: None where builds differ by no more than their runs, or nobody can tell.
    spread: Spread | None
    burst: Burst | None
    #: The shift of the burst as a share.
    burst_share: float | None
    #: Layout may make a change of this share; 0 where layouts cannot be the question.
    layout_most: float
    #: Options that would tell.
    helps: tuple[str, ...]


def difference(facts: Facts) -> Difference | None:
    """What makes the change; None where there is nothing to tell."""
    if facts.named:
        return _of_commit(facts)
    if found := _layout(facts) or _machine(facts):
        return found
    if facts.alike:
        return None
    # What the proof of a commit shows, ends have to: that the change is there, and more than luck.
    shown = all(facts.layouts) or (_explained(facts) and not facts.only_layout)
    if shown and _there(facts.change):
        return _code(facts)
    return _unclear(facts) if _asks_for_layout(facts) or facts.only_layout else None


def _of_commit(facts: Facts) -> Difference | None:
    if all(facts.layouts) or _explained(facts):
        return _code(facts)
    return _unclear(facts) if _asks_for_layout(facts) else None


def _code(facts: Facts) -> Difference:
    return Difference(DiffersBy.CODE, Finding.of(Differs.CODE, **_figures(facts)))


def _unclear(facts: Facts) -> Difference:
    why = Finding.of(Differs.UNCLEAR, **_figures(facts), helps=facts.helps)
    return Difference(DiffersBy.UNCLEAR, why)


def _figures(facts: Facts) -> dict[str, str | float | None]:
    counted = facts.counted
    base, new = facts.layouts
    return {
        **_change(facts.metric, facts.change),
        "base": base,
        "new": new,
        "instructions": counted.share if counted else None,
        "same": counted.same if counted else False,
    }


def _change(metric: str, change: Change | None) -> dict[str, str | float | None]:
    share, error = (change.share, change.error) if change else (None, None)
    return {"metric": metric, "change": share, "error": error}


def _explained(facts: Facts) -> bool:
    """Whether instructions explain the change."""
    counted, change = facts.counted, facts.change
    if counted is None or counted.same or change is None:
        return False
    slower = change.share if facts.better is Better.LOWER else -change.share
    return counted.share * slower > 0 and abs(counted.share) >= EXPLAINS * abs(slower)


def _there(change: Change | None) -> bool:
    return bool(change and change.p is not None and change.p <= THERE)


def _apart(change: Change) -> bool:
    return change.error is not None and abs(change.share) > APART * change.error


def _asks_for_layout(facts: Facts) -> bool:
    """Whether layout may make a change as large as this one."""
    if not facts.layout_most or facts.change is None:
        return False
    sure = abs(facts.change.share) - 2 * (facts.change.error or 0.0)
    return sure < facts.layout_most


def _layout(facts: Facts) -> Difference | None:
    """Builds of one code differ as much as the ends do."""
    spread, change = facts.spread, facts.change
    if spread is None or change is None or not (facts.only_layout or facts.alike):
        return None
    # What is there over many layouts is no layout.
    if all(facts.layouts) and _there(change):
        return None
    if abs(change.share) > AS_MUCH * spread.builds:
        return None
    figures = {"spread": spread.builds, "noise": spread.runs, "builds": spread.of}
    why = Finding.of(Differs.LAYOUT, **_change(facts.metric, change), **figures)
    return Difference(DiffersBy.LAYOUT, why)


def _machine(facts: Facts) -> Difference | None:
    """Runs of one build shift by more than what the ends differ in without them, which is nothing
    that seems to be there.
    """
    burst, shift, calm = facts.burst, facts.burst_share, facts.calm
    if burst is None or shift is None or calm is None:
        return None
    if _there(calm) or _apart(calm) or abs(shift) <= abs(calm.share):
        return None
    why = Finding.of(
        Differs.MACHINE,
        **_change(facts.metric, calm),
        first=burst.first,
        last=burst.last,
        shift=shift,
        runs=burst.runs,
        revisions=burst.revisions,
        p=burst.p,
    )
    return Difference(DiffersBy.MACHINE, why)


def spread_of(groups: Mapping[str, Sequence[float]], unit: float) -> Spread | None:
    """How builds differ by the levels of their runs (one-way random effects, by moments), as shares
    of `unit`; None where that is no more than what runs of one build differ in.
    """
    sides = [np.asarray(levels) for levels in groups.values() if levels]
    runs = sum(side.size for side in sides)
    between, within = len(sides) - 1, runs - len(sides)
    if between < 1 or within < 1:
        return None
    whole = np.concatenate(sides).mean()
    squares = sum(float(((side - side.mean()) ** 2).sum()) for side in sides)
    noise = squares / within
    scatter = sum(float(side.size * (side.mean() - whole) ** 2) for side in sides) / between
    if scatter <= noise:
        return None
    if noise and scipy.stats.f.sf(scatter / noise, between, within) > ALPHA:
        return None
    mean_runs = (runs - sum(side.size**2 for side in sides) / runs) / between
    tau = math.sqrt((scatter - noise) / mean_runs)
    return Spread(tau / unit, math.sqrt(noise) / unit, len(sides))


def spread_of_layouts(
    sides: Sequence[Sequence[float]], repeated: Sequence[Sequence[float]], unit: float
) -> Spread | None:
    """How layouts of one revision differ, by the levels of runs with a layout each (of several
    revisions) and of several runs of the same one, in their order, as shares of `unit`; None where
    they differ by no more than these. A test of ranks, and medians: runs of a machine that is
    shared have long tails.
    """
    apart = [each for levels in sides for each in _in_a_row(levels)]
    within = [each for levels in repeated for each in _in_a_row(levels)]
    if rank_p(within, apart, alternative="greater") > ALPHA:
        return None
    all_of_it, noise = (OF_MAD * statistics.median(each) for each in (apart, within))
    builds = math.sqrt(max(0.0, all_of_it**2 - noise**2))
    return Spread(builds / unit, noise / unit, sum(map(len, sides)))


def _in_a_row(levels: Sequence[float]) -> list[float]:
    """How far runs in a row lie apart, in their standard deviation. The machine has hardly drifted
    from one to the next (von Neumann, 1941), however long all of them took.
    """
    return [abs(later - earlier) / math.sqrt(2) for earlier, later in pairwise(levels)]


def change_of_ends(base: Sequence[float], new: Sequence[float], unit: float) -> Change | None:
    """The change between two sides by the levels of their runs, as a share of `unit`."""
    if not base or not new:
        return None
    share = (statistics.median(new) - statistics.median(base)) / unit
    if min(len(base), len(new)) < 2:
        return Change(share, None)
    of_means = math.sqrt(sum(statistics.variance(side) / len(side) for side in (base, new)))
    # Ranks: an error of so few runs is not known well, and their noise may have any shape.
    p = rank_p(base, new, alternative="two-sided")
    return Change(share, OF_MEDIAN * of_means / unit, p)


def share_of(
    threshold: Threshold, judgement: Judgement | None
) -> tuple[float, float, float] | None:
    """The change of a judged figure as a share of what it was, and its interval; None where it has
    no such share.
    """
    if judgement is None or judgement.figure is not None or not judgement.two_sided:
        return None
    if threshold.statistic is Statistic.FRACTION:
        return None
    numbers = (judgement.effect, *judgement.interval)
    if threshold.scale is Scale.LOG:
        effect, low, high = (each - 1 for each in numbers)
        return effect, low, high
    base = statistics.median(judgement.base.values)
    if base <= 0:
        return None
    effect, low, high = (each / base for each in numbers)
    return effect, low, high


def judged_change(
    threshold: Threshold, judgement: Judgement | None, *, by_t: bool = False
) -> Change | None:
    """The same with its standard error; `by_t`: the interval is one of Student's t."""
    shares = share_of(threshold, judgement)
    if shares is None or judgement is None:
        return None
    effect, low, high = shares
    free = judgement.base.n + judgement.new.n - 2
    reach = scipy.stats.t.ppf(0.975, free) if by_t and free > 0 else scipy.stats.norm.ppf(0.975)
    error = (high - low) / 2 / float(reach)
    return Change(effect, error if math.isfinite(error) else None)
