# SPDX-License-Identifier: GPL-2.0-or-later
"""Two levels of runs in a row, as a hidden Markov chain.

Which of two speeds a machine had in each run is the state of a chain (Rabiner, 1989). The levels
come from the runs of both ends; runs of other revisions may lie on either side, and tell of the
speed only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rtbisect.judge.stats import OF_MAD
from rtbisect.search.likelihood.two_level import CONTAMINATION, NU

if TYPE_CHECKING:
    from rtbisect.search.ancestry import Bools, Floats

#: What a run measured, as a logarithm or as it is, and whose it is: 0 the older end's, 1 the newer
#: one's, None another's.
TimedRun: TypeAlias = tuple[float, int | None]

#: Speeds closer together than so many scales of a run are none.
APART = 4.0
#: Of the two ends one falls into halves at most so many times as far apart as the other one.
UNLIKE = 2.5
#: Runs of the ends at each speed, at least.
FEWEST = 3
#: How many times likelier a chain has to make the runs than speeds that come by lot from run to
#: run, each side with its own share: what comes and goes with a revision is no machine.
KEPT = 1000.0
#: The runs of one speed scatter at most so many times as those of the other; and of a level that
#: comes by lot.
ALIKE, ALIKE_BY_LOT = 3.0, 4.0
#: Levels by lot: how many times likelier runs are with two levels and one share for both ends than
#: with one level, after what two more fitted numbers cost (BIC; Schwarz, 1978).
LEVELS = 30.0
#: How many times likelier a share for each end makes the runs, at most: a commit that changes the
#: share is no machine. It may be as much as this part of the log likelihood that the shift of the
#: ends within a level is worth: by luck shares differ a little.
SHARES, OF_SHIFT = 30.0, 0.25
#: The ends differ within a level by so many of its standard errors, at least (a scale of Student's
#: t says less than a standard deviation: see ERROR), and by so many scales less than a level adds:
#: else a run of the newer end at the lower level is one of the older at the higher.
DIFFER, ERROR, BETWEEN = 4.0, 1.2, 3.0
#: Probability from which on the speed of a run is known.
SURE = 0.98
#: What a speed adds is told in so many steps of a scale, or in up to twice as many: with each other
#: amount all runs would have to be weighed anew.
STEPS = 4
#: Rounds of the fit from each start, and of the best one.
ROUNDS, LAST_ROUNDS = 4, 12
#: Changes of speed, and runs without one, that are taken to have been seen before.
CHANGES, STAYS = 1.0, 10.0
#: Fits of one level begin with so many times the spread of its runs.
_SPREADS = (0.4, 1.0, 2.5)
#: The scale of a run is at least this part of what a speed adds: some figures repeat to the digit.
FINEST = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Speeds:
    """A machine with two speeds, in units of TimedRun."""

    #: Location of both ends at the lower level, and what the higher one adds.
    ends: tuple[float, float]
    added: float
    scale: float
    #: Chance to leave the lower level, and the higher one, from one run to the next.
    leave: tuple[float, float] = (0.1, 0.1)
    #: Probability of the higher level at first.
    high: float = 0.5


def speeds_of(runs: Sequence[TimedRun], *, lots: bool) -> tuple[float | None, ...]:
    """What the speed of the machine adds to each run, None where nobody knows; empty where it has
    one speed. `runs` in the order of their time, of one host. The speed may come by lot from run to
    run, too, where `lots` says so.
    """
    return _speeds_of(tuple(runs), lots=lots)


@lru_cache(maxsize=8)
def _speeds_of(runs: tuple[TimedRun, ...], *, lots: bool) -> tuple[float | None, ...]:
    chain = _Chain(runs)
    fits = [chain.fitted(start, ROUNDS) for start in chain.starts]
    if not fits:
        return ()
    best = chain.fitted(max(fits, key=lambda fit: chain.weighed(fit).loglik), LAST_ROUNDS)
    weighed = chain.weighed(best)
    if best.added < APART * best.scale:
        return ()
    if not (chain.lasts(best, weighed) or (lots and chain.drawn(best, weighed))):
        return ()
    step = told_step(best.scale)
    added = step * round(best.added / step)
    return tuple(added if p >= SURE else 0.0 if p <= 1 - SURE else None for p in weighed.high)


def told_step(scale: float) -> float:
    """In steps of how much it is told what a machine adds to runs of this scale: see STEPS."""
    return 2.0 ** math.floor(math.log2(scale / STEPS))


@dataclass(frozen=True, slots=True)
class _Weighed:
    """What a fit says of the runs."""

    loglik: float
    #: Probability of the higher level, for each run.
    high: Floats
    #: Expected numbers of changes from a level (row) to a level (column).
    moves: Floats


class _Chain:
    """The runs, and what a pair of speeds says of them. Arrays are (runs, speeds, sides)."""

    def __init__(self, runs: tuple[TimedRun, ...]) -> None:
        self.y = np.array([value for value, _ in runs])
        #: (runs, 2): how likely each run is of either side, whatever it measured.
        self.sides = np.array([(0.5, 0.5) if z is None else (1.0 - z, float(z)) for _, z in runs])
        self.of_end = np.array([[z == side for side in (0, 1)] for _, z in runs], dtype=np.bool_)
        self.of_an_end: Bools = np.array([z is not None for _, z in runs], dtype=np.bool_)

    @cached_property
    def stray(self) -> float:
        """Density of a run at no level."""
        return CONTAMINATION / (3 * float(np.ptp(self.y)))

    @cached_property
    def starts(self) -> list[Speeds]:
        """Where a fit may begin: the runs of both ends fall into two alike."""
        ends = [np.sort(self.y[self.of_end[:, z]]) for z in (0, 1)] if self.y.size else []
        if min((end.size for end in ends), default=0) < FEWEST or not np.ptp(self.y):
            return []
        low, apart, scales = zip(*(_halved(end) for end in ends), strict=True)
        scale = max(*scales, FINEST * max(apart))
        least = max(APART * scale, max(apart) / UNLIKE)
        if not scale or min(apart) < least:
            return []
        return [
            Speeds(ends=(low[0], low[1]), added=added, scale=scale)
            for added in (*apart, sum(apart) / 2)
        ]

    def _away(self, fit: Speeds) -> Floats:
        """How far each run is from each of the four levels."""
        level = np.array(fit.ends) + np.array([[0.0], [fit.added]])
        found: Floats = self.y[:, None, None] - level
        return found

    def _near(self, away: Floats, scale: float) -> Floats:
        """Density of runs that are so many scales from a level, without that of stray ones."""
        student = 0.375 * (1 + away**2 / NU) ** (-(NU + 1) / 2)
        found: Floats = (1 - CONTAMINATION) * student / scale
        return found

    def _densities(self, fit: Speeds) -> Floats:
        """Density of each run at each level, times the chance of its side."""
        density = self._near(self._away(fit) / fit.scale, fit.scale) + self.stray
        found: Floats = density * self.sides[:, None, :]
        return found

    def _of_speeds(self, fit: Speeds) -> Floats:
        """Density of each run at each speed, whosever it is."""
        found: Floats = self._densities(fit).sum(axis=2)
        return found

    def weighed(self, fit: Speeds) -> _Weighed:
        """Forward and backward through the chain."""
        density = self._of_speeds(fit)
        up, down = fit.leave
        ahead, totals, high = [], [], fit.high
        # Numbers, not arrays of two: a search fits this after each boot.
        for at_low, at_high in density.tolist():
            total = (1 - high) * at_low + high * at_high
            share = high * at_high / total
            ahead.append((1 - share, share))
            totals.append(total)
            high = (1 - share) * up + share * (1 - down)
        low_behind = high_behind = 1.0
        behind = [(1.0, 1.0)]
        for (at_low, at_high), total in zip(density[:0:-1].tolist(), totals[:0:-1], strict=True):
            low, high = at_low * low_behind / total, at_high * high_behind / total
            low_behind = (1 - up) * low + up * high
            high_behind = down * low + (1 - down) * high
            behind.append((low_behind, high_behind))
        before, after, norm = np.array(ahead), np.array(behind[::-1]), np.array(totals)
        told = (density * after)[1:] / norm[1:, None]
        moves = np.array([[1 - up, up], [down, 1 - down]]) * (before[:-1].T @ told)
        return _Weighed(float(np.log(norm).sum()), (before * after)[:, 1], moves)

    def fitted(self, fit: Speeds, rounds: int) -> Speeds:
        """Expectation and maximization. The levels follow the runs of the ends alone."""
        for _ in range(rounds):
            weighed, densities = self.weighed(fit), self._densities(fit)
            speeds = np.stack([1 - weighed.high, weighed.high], axis=1)
            at_level = speeds[:, :, None] * self.of_end[:, None, :]
            # A run is bounded in what it says of a level, and a stray one says nothing.
            kept = 1 - np.minimum(
                1.0, self.stray / np.maximum(densities, np.finfo(np.float64).tiny)
            )
            away = self._away(fit) / fit.scale
            weight = at_level * kept * (NU + 1) / (NU + away**2)
            by_end, by_speed = weight.sum(axis=(0, 1)), weight.sum(axis=(0, 2))
            if not (by_end.all() and by_speed.all()):
                break
            y = self.y[:, None, None] - np.array([[0.0], [fit.added]])
            ends = (weight * y).sum(axis=(0, 1)) / by_end
            added = float((weight[:, 1] * (self.y[:, None] - ends)).sum() / by_speed[1])
            if added <= 0:
                break
            fit = replace(fit, ends=(float(ends[0]), float(ends[1])), added=added)
            square = float((weight * self._away(fit) ** 2).sum() / at_level.sum())
            stays, leaves = weighed.moves.diagonal(), weighed.moves[(0, 1), (1, 0)]
            leave = (leaves + CHANGES) / (leaves + stays + CHANGES + STAYS)
            fit = replace(
                fit,
                scale=max(math.sqrt(square), FINEST * added),
                leave=(float(leave[0]), float(leave[1])),
                high=float(np.clip(weighed.high[0], 0.1, 0.9)),
            )
        return fit

    def lasts(self, fit: Speeds, weighed: _Weighed) -> bool:
        """Whether the machine keeps each speed for some runs: see KEPT."""
        own = _by_lot(self._of_speeds(fit), (*self.of_end.T, ~self.of_an_end))
        kept = weighed.loglik - own >= math.log(KEPT)
        return kept and self._levels(fit, weighed.high, ALIKE)

    def drawn(self, fit: Speeds, weighed: _Weighed) -> bool:
        """Whether the speed of each run comes by lot, whatever its revision, and the ends differ at
        each speed. A commit that changes how often a level comes is left to `mixture`.
        """
        older, newer = self.of_end.T
        sure = np.abs(weighed.high - 0.5) >= SURE - 0.5
        known = [int((sure & end).sum()) for end in (older, newer)]
        shift = abs(fit.ends[1] - fit.ends[0])
        if not min(known) or fit.added - shift < BETWEEN * fit.scale:
            return False
        error = ERROR * fit.scale * math.sqrt(sum(1 / runs for runs in known))
        errors = shift / error
        if errors < DIFFER or not self._levels(fit, weighed.high, ALIKE_BY_LOT):
            return False
        density = self._of_speeds(fit)
        apart = _by_lot(density, (older, newer)) - _by_lot(density, (self.of_an_end,))
        if apart > max(math.log(SHARES), OF_SHIFT * errors**2 / 2):
            return False
        all_runs = _by_lot(density, (np.ones(self.y.size, dtype=np.bool_),))
        # Two more numbers were fitted: what a level adds, and the share of the higher one.
        return all_runs - self._at_one_level() - math.log(self.y.size) >= math.log(LEVELS)

    def _at_one_level(self) -> float:
        """The log likelihood of all runs with one level for each end, from the best of a few fits
        of their locations and their scale.
        """
        middles = np.array([np.median(self.y[end]) for end in self.of_end.T])
        away = np.abs(self.y[:, None] - middles)[self.of_end]
        spread = max(OF_MAD * float(np.median(away)), FINEST * float(np.ptp(self.y)))
        return max(self._fitted_at_one_level(middles, spread * times) for times in _SPREADS)

    def _fitted_at_one_level(self, ends: Floats, scale: float) -> float:
        found = -math.inf
        for _ in range(2 * LAST_ROUNDS):
            away = (self.y[:, None] - ends) / scale
            density = (self._near(away, scale) + self.stray) * self.sides
            of_run = density.sum(axis=1)
            found = max(found, float(np.log(of_run).sum()))
            # As in `fitted`: whose a run is, and how far it is bounded in what it says.
            mine = (density - self.stray * self.sides) / of_run[:, None]
            weight = mine * (NU + 1) / (NU + away**2)
            by_end = (weight * self.of_end).sum(axis=0)
            if not by_end.all():
                break
            ends = (weight * self.of_end * self.y[:, None]).sum(axis=0) / by_end
            square = float((weight * (self.y[:, None] - ends) ** 2).sum() / mine.sum())
            scale = max(math.sqrt(square), FINEST * float(np.ptp(self.y)))
        return found

    def _levels(self, fit: Speeds, high: Floats, alike: float) -> bool:
        """Whether runs of both ends lie around both levels, and around one as closely as around the
        other, up to `alike` times: bursts have no level.
        """
        away, scatter = np.abs(self._away(fit)), []
        at_speed: Bools
        for speed, at_speed in enumerate((high <= 0.5, high > 0.5)):
            chosen = self.of_end & at_speed[:, None]
            if chosen.sum() < FEWEST or not chosen.any(axis=0).all():
                return False
            scatter.append(OF_MAD * float(np.median(away[:, speed][chosen])))
        return max(scatter) <= max(fit.scale, alike * min(scatter))


def _by_lot(density: Floats, groups: Iterable[Bools]) -> float:
    """The log likelihood of these groups of runs, of their density at each speed, where the speed
    of each run comes by lot, with the share of slow runs that suits each group best.
    """
    total = 0.0
    for group in groups:
        low, high = density[group].T
        share = 0.5
        for _ in range(LAST_ROUNDS if low.size else 0):
            share = float((share * high / (share * high + (1 - share) * low)).mean())
        total += float(np.log(share * high + (1 - share) * low).sum())
    return total


def _halved(end: Floats) -> tuple[float, float, float]:
    """The lower of two levels that sorted runs fall into, how far the other one is above it, and
    how far a run lies from its own in the mean.
    """
    found = []
    for cut in range(1, end.size):
        low, high = float(np.median(end[:cut])), float(np.median(end[cut:]))
        away = np.abs(end[:cut] - low).sum() + np.abs(end[cut:] - high).sum()
        found.append((float(away) / end.size, low, high - low))
    away, low, apart = min(found)
    return low, apart, away
