# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs that are shifted together for a while, whatever was run: that is the machine.

A scan statistic (Kulldorff, 1997) over the order in time. Runs of one build are exchangeable where
the machine stands still, so that exchanging them within their builds says how often luck alone
makes such a stretch, whatever the builds differ in.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

#: The p at which a stretch is told.
ALPHA = 0.01
#: Exchanges that are drawn.
DRAWN = 499
#: Runs of a build below which they say nothing of the time; runs in all below which nothing does.
FEWEST, ENOUGH = 3, 10
#: Runs that a stretch has at least; each further length is so many times the one before, up to this
#: part of all runs: with more nobody knows which runs are the shifted ones.
SHORTEST, LONGER, LARGEST = 3, 1.2, 0.5


@dataclass(frozen=True, slots=True)
class TimedRun:
    """A run at its place."""

    #: Place among all runs of a campaign, from 1.
    number: int
    revision: str
    #: Name of what has one level: the build, and the host that it ran on.
    build: str
    #: On the scale that figures are compared on.
    level: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """A stretch of runs that is shifted."""

    #: Numbers of its runs, both within.
    first: int
    last: int
    #: Of the level, against other runs of the same builds: the median of so many runs, of so many
    #: revisions.
    shift: float
    runs: int
    revisions: int
    p: float


def burst_of(runs: Sequence[TimedRun], seed: int = 0) -> Burst | None:
    """The clearest stretch; None where luck may have made it. `runs` in their order."""
    by_build: dict[str, list[float]] = {}
    for run in runs:
        by_build.setdefault(run.build, []).append(run.level)
    told = [run for run in runs if len(by_build[run.build]) >= FEWEST]
    if len(told) < ENOUGH:
        return None
    middles = {build: statistics.median(levels) for build, levels in by_build.items()}
    # Ranks: one run that is far off is no stretch.
    ranks = scipy.stats.rankdata([run.level - middles[run.build] for run in told])
    scores = scipy.stats.norm.ppf(ranks / (len(told) + 1))
    lengths = tuple(_lengths(len(told)))
    clearest, start, length = _clearest(scores, lengths)
    drawn = _exchanged(scores, [run.build for run in told], np.random.default_rng(seed))
    as_clear = sum(_clearest(each, lengths)[0] >= clearest - 1e-9 for each in drawn)
    p = (1 + as_clear) / (1 + DRAWN)
    return _told(told, start, length, p) if p <= ALPHA else None


def outside(runs: Sequence[TimedRun], burst: Burst | None) -> tuple[TimedRun, ...]:
    """Runs before and after a stretch; all where there is none."""
    if burst is None:
        return tuple(runs)
    return tuple(run for run in runs if not burst.first <= run.number <= burst.last)


def _lengths(runs: int) -> Iterator[int]:
    length = SHORTEST
    while length <= LARGEST * runs:
        yield length
        length = max(length + 1, int(LONGER * length))


def _clearest(scores: Floats, lengths: Sequence[int]) -> tuple[float, int, int]:
    """How clear the clearest stretch is, where it begins, and how long it is."""
    sums = np.concatenate([[0.0], np.cumsum(scores)])
    best = (0.0, 0, 0)
    for length in lengths:
        clear = np.abs(sums[length:] - sums[:-length]) / np.sqrt(length)
        start = int(clear.argmax())
        best = max(best, (float(clear[start]), start, length))
    return best


def _exchanged(scores: Floats, builds: Sequence[str], rng: np.random.Generator) -> Iterator[Floats]:
    """The same scores, each time in another order within their builds."""
    places: Mapping[str, list[int]] = {build: [] for build in builds}
    for place, build in enumerate(builds):
        places[build].append(place)
    for _ in range(DRAWN):
        drawn = scores.copy()
        for mine in places.values():
            drawn[mine] = rng.permutation(scores[mine])
        yield drawn


def _told(told: Sequence[TimedRun], start: int, length: int, p: float) -> Burst | None:
    """The stretch; None where its builds have no runs beside it."""
    inside = told[start : start + length]
    beside: dict[str, list[float]] = {}
    for run in (*told[:start], *told[start + length :]):
        beside.setdefault(run.build, []).append(run.level)
    compared = [run for run in inside if run.build in beside]
    if len(compared) < SHORTEST:
        return None
    return Burst(
        first=inside[0].number,
        last=inside[-1].number,
        shift=statistics.median(
            run.level - statistics.median(beside[run.build]) for run in compared
        ),
        runs=len(compared),
        revisions=len({run.revision for run in compared}),
        p=p,
    )
