# SPDX-License-Identifier: GPL-2.0-or-later
"""A level that wanders from run to run: a local level model, fitted by Gaussian likelihood.

Each run is the level of what it measured, plus how far the machine has drifted by then, plus noise
of its own (Harvey, Forecasting, Structural Time Series Models and the Kalman Filter, 1989, section
2.3). Nothing is said of the levels: only runs of one build tell how the machine moves, those of the
ends most of all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy

from rtbisect.judge.stats import OF_MAD
from rtbisect.search.likelihood.chain import told_step

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from rtbisect.search.ancestry import Floats

#: How far the machine may move from one run to the next, in squared scales of a run: more would be
#: noise of the runs.
STEPS_TRIED = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)
#: How many times likelier a drift has to make the runs than none.
KEPT = 1000.0
#: Runs of which there have to be more than levels.
FEWEST = 12
#: A run further from the middle of its build than so many scales says nothing of the machine.
STRAY = 6.0
#: Squared scales of what nobody knows: levels, and strays.
UNKNOWN = 1e6


def drift_of(runs: Sequence[tuple[float, Hashable]]) -> tuple[float, ...]:
    """By how much the machine had drifted at each run, against the first; empty where it has not.
    `runs` in the order of their time, of one host: what they measured, and the build that they did.
    """
    numbers: dict[Hashable, int] = {}
    builds = tuple(numbers.setdefault(build, len(numbers)) for _, build in runs)
    return _drift_of(tuple(value for value, _ in runs), builds)


@lru_cache(maxsize=8)
def _drift_of(values: tuple[float, ...], builds: tuple[int, ...]) -> tuple[float, ...]:
    y, build = np.array(values), np.array(builds)
    if y.size < FEWEST + len(set(builds)):
        return ()
    middle = np.array([np.median(y[build == b]) for b in range(build.max() + 1)])[build]
    away = y - middle
    repeated = np.bincount(build)[build] > 1
    scale = OF_MAD * float(np.median(np.abs(away[repeated])))
    if not scale:
        return ()
    noise = np.where(np.abs(away) > STRAY * scale, UNKNOWN, 1.0)
    known = UNKNOWN * (build[:, None] == build[None, :]) + np.diag(noise)
    time = np.arange(y.size, dtype=np.float64)
    walk = np.minimum(time[:, None], time[None, :])
    free = y.size - int(build.max()) - 1 - int((noise > 1).sum())
    still = _Fit.of(known, away, free)
    fits = [_Fit.of(known + step * walk, away, free, step) for step in STEPS_TRIED]
    best = max(fits, key=lambda fit: fit.loglik)
    if free < FEWEST or best.loglik - still.loglik < math.log(KEPT):
        return ()
    drift = best.step * (walk @ best.solved)
    told = told_step(best.scale)
    rounded: Floats = told * np.round(drift / told)
    return tuple(rounded.tolist())


@dataclass(frozen=True, eq=False)
class _Fit:
    """A covariance, in squared scales of a run, held against the runs."""

    #: Log likelihood with the scale that suits best, and that scale.
    loglik: float
    scale: float
    #: The runs multiplied by the inverse of the covariance.
    solved: Floats
    #: Variance of a step of the drift.
    step: float

    @classmethod
    def of(cls, covariance: Floats, y: Floats, free: int, step: float = 0.0) -> _Fit:
        """Beside the levels `free` runs are left to tell the scale."""
        factor = scipy.linalg.cho_factor(covariance, lower=True, check_finite=False)
        solved: Floats = scipy.linalg.cho_solve(factor, y, check_finite=False)
        square = max(float(y @ solved) / max(1, free), np.finfo(np.float64).tiny)
        half = float(np.log(np.diag(factor[0])).sum())
        return cls(-0.5 * free * math.log(square) - half, math.sqrt(square), solved, step)
