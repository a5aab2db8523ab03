# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines that are shared: for some runs in a row another process takes time, and the level of the
machine moves. Worlds in which this is recorded (three searches with `run` on such a machine) or
simulated like it.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from rtbisect.judge.stats import OF_MAD
from searchbench.world import Cell, World

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.search.ancestry import Floats

#: Every run of three searches, in order: the position of its revision in the range and its time.
RECORDED = Path(__file__).resolve().parents[1] / "data" / "bursts"
#: A run that takes so much longer than its revision otherwise does (logarithm), and so many
#: standard deviations of a quiet run, is in a burst.
_LONGER, _FURTHER = 0.08, 4.0
#: What a revision otherwise takes: this quantile of so many runs, its own and its neighbours'.
_QUANTILE, _RUNS_OF_LEVEL = 0.35, 15
#: The level of the machine is the median of so many quiet runs around.
_RUNS_OF_MACHINE = 15
#: Recorded machines are played in stretches of so many runs.
_STRETCH = 60
#: Simulated: mean runs between bursts and in one; the share of the runs of a burst that show it;
#: how high it is (standard deviations of a quiet run, log uniform) and how its runs scatter.
_GAP, _LENGTH, _SHOWN = 25.0, 6.0, 0.65
_HEIGHT, _SCATTER = (4.0, 30.0), 0.15
#: Mean runs between shifts of the level, and the standard deviation of the level, whose tails are
#: long.
_HELD, _LEVELS = 60.0, 0.6
#: Machines with two speeds: how far these are apart (standard deviations of a quiet run) and how
#: many runs in a row the machine keeps one, both log uniform; where it moves once, before which
#: run.
_APART, _KEPT, _MOVES = (5.0, 30.0), (4.0, 40.0), (6, 120)
#: Machines on which the speed of each run comes by lot: the share of slow runs.
_SLOW = (0.2, 0.8)
#: One that drifts: by how much from run to run, log uniform.
_SLOPE = (0.005, 0.05)


@dataclass(frozen=True, kw_only=True)
class Bursty(Cell):
    """Conditions on a shared machine: the name of a record, one of MADE, or "" for none."""

    machine: str = ""
    #: Names the worlds: cells with the same name have the same culprits and the same noise.
    like: str = ""


@dataclass
class BurstyWorld(World):
    """A world of a Bursty cell."""

    _added: list[float] = field(default_factory=list)

    def _level(self) -> float:
        machine = cast("Bursty", self.cell).machine
        if not machine:
            return super()._level()
        while len(self._added) < self.boots:
            self._added += stretch(machine, [self.seed, len(self._added), 8, 1])
        return super()._level() + self._added[self.boots - 1]


def stretch(machine: str, seed: Sequence[int]) -> list[float]:
    """What some runs in a row take longer, in standard deviations of a quiet run."""
    rng = np.random.default_rng(list(seed))
    if machine in MADE:
        return MADE[machine](rng, 10 * _STRETCH)
    whole = recorded(machine)
    start = int(rng.integers(whole.size))
    found: list[float] = np.roll(whole, -start)[:_STRETCH].tolist()
    return found


def simulated(rng: np.random.Generator, runs: int) -> list[float]:
    """The same of a machine that is like the recorded ones."""
    level, height, found = _shifted(rng), 0.0, list[float]()
    for _ in range(runs):
        if rng.random() < 1 / _HELD:
            level = _shifted(rng)
        if height and rng.random() < 1 / _LENGTH:
            height = 0.0
        elif not height and rng.random() < 1 / _GAP:
            height = math.exp(rng.uniform(*np.log(_HEIGHT)))
        shown = height * (rng.random() < _SHOWN)
        found.append(level + shown * math.exp(_SCATTER * float(rng.standard_normal())))
    return found


def two_speeds(rng: np.random.Generator, runs: int) -> list[float]:
    """The same of a machine that has two speeds, and changes between them."""
    apart, kept = (math.exp(rng.uniform(*np.log(span))) for span in (_APART, _KEPT))
    slow = np.cumsum(rng.random(runs) < 1 / kept) + rng.integers(2)
    return (apart * (slow % 2)).tolist()


def moved_once(rng: np.random.Generator, runs: int) -> list[float]:
    """The same of a machine that becomes slower, or faster, and stays so."""
    apart = math.exp(rng.uniform(*np.log(_APART))) * (-1 if rng.random() < 0.5 else 1)
    return (apart * (np.arange(runs) >= rng.integers(*_MOVES))).tolist()


def by_lot(rng: np.random.Generator, runs: int) -> list[float]:
    """The same of a machine on which each run has one of two speeds by lot."""
    apart, slow = math.exp(rng.uniform(*np.log(_APART))), rng.uniform(*_SLOW)
    return (apart * (rng.random(runs) < slow)).tolist()


def drifting(rng: np.random.Generator, runs: int) -> list[float]:
    """The same of a machine that becomes slower, or faster, by little from run to run."""
    slope = math.exp(rng.uniform(*np.log(_SLOPE))) * (-1 if rng.random() < 0.5 else 1)
    return (slope * np.arange(runs)).tolist()


def _shifted(rng: np.random.Generator) -> float:
    return _LEVELS * float(rng.standard_t(3)) / 3**0.5


#: Machines that are made up.
MADE = {
    "simulated": simulated,
    "speeds": two_speeds,
    "moves": moved_once,
    "lots": by_lot,
    "drifts": drifting,
}


@lru_cache(maxsize=4)
def recorded(machine: str) -> Floats:
    """The same of each run of a recorded search, in order."""
    with (RECORDED / f"{machine}.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    place = np.array([int(row["position"]) for row in rows])
    longer = _longer(place, np.log([float(row["ms"]) for row in rows]))
    ends = longer[np.isin(place, (0, place.max())) & (longer <= _LONGER)]
    scale = OF_MAD * float(np.median(np.abs(ends - np.median(ends))))
    burst = longer > max(_LONGER, _FURTHER * scale)
    order, quiet = np.arange(place.size), np.flatnonzero(~burst)
    levels = [
        float(np.median(longer[quiet[np.abs(quiet - i).argsort()[:_RUNS_OF_MACHINE]]]))
        for i in order
    ]
    found: Floats = (np.where(burst, longer, levels) - np.median(levels)) / scale
    found.flags.writeable = False
    return found


def _longer(place: Floats, log_ms: Floats) -> Floats:
    """By what the logarithm of the time of each run is above the level of its revision."""
    near = np.abs(place[:, None] - place).argsort(axis=1, kind="stable")[:, :_RUNS_OF_LEVEL]
    same = place[:, None] == place
    levels = [
        np.quantile(log_ms[same[i] if same[i].sum() >= _RUNS_OF_LEVEL else near[i]], _QUANTILE)
        for i in range(place.size)
    ]
    found: Floats = log_ms - np.array(levels)
    return found
