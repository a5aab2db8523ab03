# SPDX-License-Identifier: GPL-2.0-or-later
"""Worlds whose truth is known. The k-th boot of a commit is the same for every arm."""

from __future__ import annotations

import csv
import math
import random
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.model.campaign import Outcome
from rtbisect.model.lab import RunStatus
from searchbench.scoring import NOTHING

if TYPE_CHECKING:
    from rtbisect.model.code import CommitGraph
    from rtbisect.search.ancestry import Ancestry


#: Boots of two real kernels that differ by the lock of eventpoll.
POOL = Path(__file__).resolve().parents[2] / "tests" / "data" / "eventpoll-lock-tcg.csv"
#: Events of a good boot, and how evenly they come (shape of a Gamma).
EVENTS, SHAPE = 2.0, 8.0


@dataclass(frozen=True)
class Cell:
    """Conditions of some trials.

    `effect` is in standard deviations of a single run in a boot of its own; `boot` and `build`
    are the shares of that variance; with `fresh` each boot is linked anew, and has a layout of its
    own instead of its build's. `tail` is normal or t3. `none` is the share of ranges
    without a culprit: half of them differ by the layout of their ends, half by nothing
    but luck. `merge` is the share of culprits that are merges, `two` that of ranges with two
    culprits of half the effect, `broken` that of commits in unbuildable stretches. With `steps` so
    many commits, anywhere in the range, share the effect evenly: the right answer is that it came
    gradually, and each commit that is named is wrong. `pool` is a column of
    recorded boots that are drawn instead, as logarithms: those of a good kernel plus `effect`, or
    with kind "kernels" those of two real kernels. With kind "count" boots are numbers
    of events, EVENTS of a good kernel and exp(`effect`) times as many of a bad one. With kind
    "fails" each boot fails (1) or passes (0): `rate` of those of a good kernel fail, and `effect`
    more of a bad one. `equal` is the share of commits, culprits and merges aside, that have the
    kernel of their parent. `drift` is what a boot adds to the level of the host for all boots to
    come, standard deviation.
    """

    name: str
    history: str
    effect: float
    boot: float = 0.0
    build: float = 0.0
    fresh: bool = False
    tail: str = "t3"
    none: float = 0.0
    merge: float = 0.0
    two: float = 0.0
    steps: int = 0
    broken: float = 0.0
    equal: float = 0.0
    kind: str = "location"
    rate: float = 0.0
    pool: str = ""
    drift: float = 0.0
    build_s: float = 1200.0
    boot_s: float = 300.0
    run_s: float = 300.0

    @property
    def layout_tau(self) -> float:
        """Standard deviation of builds of one code where only their layout makes ends differ."""
        return max(self.build**0.5, 0.7 * self.effect)


@dataclass
class World:
    """Implements rehearse.World, and counts what it is asked. `calibration` are boots a side that
    an arm took to see the difference of the ends, `reproduced` that it saw one.
    """

    cell: Cell
    ancestry: Ancestry
    seed: int
    culprits: tuple[int, ...]
    layout: bool
    broken: frozenset[str]
    taken: dict[str, int] = field(default_factory=dict)
    built: set[str] = field(default_factory=set)
    levels: list[float] = field(default_factory=lambda: [0.0])
    boots: int = 0
    runs: int = 0
    calibration: int = 10
    reproduced: bool = True
    #: That of the last boot; "" where there is one.
    host: str = ""
    #: What is right to say of a range without a culprit.
    right_without_culprit: tuple[str, ...] = NOTHING

    @property
    def graph(self) -> CommitGraph:
        return self.ancestry.graph

    @property
    def hours(self) -> float:
        cell = self.cell
        seconds = len(self.built) * cell.build_s + self.boots * cell.boot_s + self.runs * cell.run_s
        return seconds / 3600

    @property
    def truth(self) -> frozenset[str]:
        """Shas that are a right answer; empty when there is no culprit, or there are too many."""
        if self.cell.steps:
            return frozenset()
        return frozenset(self.graph.commits[i].sha for i in self.culprits)

    def build(self, sha: str) -> str | None:
        self.built.add(sha)
        return None if sha in self.broken else f"kernel of {self._kernel(sha)}"

    def boot(self, sha: str) -> tuple[RunStatus, float]:
        return RunStatus.COMPLETE, self.values(sha, 1)[0]

    def boot_layout(self, sha: str, layout: int) -> tuple[RunStatus, float]:
        return RunStatus.COMPLETE, self.values(sha, 1, layout)[0]

    def values(self, sha: str, runs: int, layout: int = 0) -> list[float]:
        """The runs of one fresh boot; another layout is another build."""
        suffix = f"/{layout}" if layout else ""
        self.built.add(sha + suffix)
        # Boots of equal kernels are boots of one build.
        sha = self._kernel(sha)
        key = sha + suffix
        self.boots += 1
        self.runs += runs
        number = self.taken[key] = self.taken.get(key, 0) + 1
        place = self.ancestry.index.get(sha, self.ancestry.size) + layout * (self.ancestry.size + 1)
        rng = np.random.default_rng([self.seed, place, number])
        cell = self.cell
        centre = self._shift(sha) + self._offset(place, number) + self._level()
        if cell.pool:
            bad = cell.kind == "kernels" and rng.random() < self.share(sha)
            recorded = boots_of(cell.pool, "spinlock" if bad else "rwlock")
            return [centre + float(rng.choice(recorded)) for _ in range(runs)]
        if cell.kind == "count":
            mean = EVENTS * math.exp(cell.effect * self.share(sha))
            return [float(rng.poisson(mean * rng.gamma(SHAPE) / SHAPE)) for _ in range(runs)]
        if cell.kind == "fails":
            chance = cell.rate + cell.effect * self.share(sha)
            return [float(rng.random() < chance) for _ in range(runs)]
        centre += cell.boot**0.5 * self._draw(rng)
        own = (1 - cell.boot - cell.build) ** 0.5
        if cell.kind == "variance" and self.share(sha):
            own *= 1 + cell.effect
        return [centre + own * self._draw(rng) for _ in range(runs)]

    def _kernel(self, sha: str) -> str:
        """The first commit with the kernel of `sha`."""
        index, parents = self.ancestry.index, self.ancestry.parents
        while self.cell.equal and (i := index.get(sha)) is not None and i not in self.culprits:
            alone = len(self.graph.commits[i].parents) == 1
            rng = np.random.default_rng([self.seed, i, 0, 2])
            if not alone or rng.random() >= self.cell.equal:
                break
            sha = self.graph.commits[parents[i][0]].sha if parents[i] else self.graph.older
        return sha

    def share(self, sha: str) -> float:
        """Share of the effect that `sha` shows."""
        side = self.ancestry.side(sha)
        held = [bool(side[i]) for i in self.culprits]
        return sum(held) / len(held) if held else 0.0

    def _shift(self, sha: str) -> float:
        return self.cell.effect * self.share(sha) if self.cell.kind == "location" else 0.0

    def _offset(self, place: int, number: int) -> float:
        """What the layout of one build adds; of its boot with this number where each is linked
        anew.
        """
        width, key = self.cell.build**0.5, [self.seed, place, 0]
        if self.layout:
            width = self.cell.layout_tau
        if self.cell.fresh:
            key.append(number)
        elif self.layout:
            # The ends as they are configured differ by luck; another layout has its own.
            if place == self.ancestry.index[self.graph.newer]:
                return self.cell.effect / 2
            if place == self.ancestry.size:
                return -self.cell.effect / 2
        return width * float(np.random.default_rng(key).standard_normal())

    def _level(self) -> float:
        """Where the host has drifted to, by the number of boots so far."""
        if not self.cell.drift:
            return 0.0
        while len(self.levels) < self.boots:
            # Trailing zeros do not count in a seed: without the 1 it would be that of an offset.
            rng = np.random.default_rng([self.seed, len(self.levels), 0, 1])
            self.levels.append(self.levels[-1] + self.cell.drift * float(rng.standard_normal()))
        return self.levels[self.boots - 1]

    def _draw(self, rng: np.random.Generator) -> float:
        if self.cell.tail == "normal":
            return float(rng.standard_normal())
        return float(rng.standard_t(3)) / 3**0.5


@lru_cache(maxsize=8)
def boots_of(column: str, lock: str) -> tuple[float, ...]:
    """Logarithms of the recorded boots of one kernel; half an event is added to counts."""
    with POOL.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["lock"] == lock]
    return tuple(math.log(float(row[column]) + 0.5) for row in rows)


def world(cell: Cell, ancestry: Ancestry, trial: int) -> World:
    """The world of one trial: a function of cell and trial alone."""
    rng = random.Random(f"{cell.name}/{trial}")
    size = ancestry.size
    culprits: tuple[int, ...] = ()
    layout = False
    broken = _broken(cell, ancestry, rng)
    if cell.steps:
        culprits = tuple(sorted(rng.sample(range(size), cell.steps)))
    elif rng.random() < cell.none:
        layout = rng.random() < 0.5
    else:
        merges = [i for i, parents in enumerate(ancestry.parents) if len(parents) > 1]
        pool = merges if merges and rng.random() < cell.merge else range(size)
        first = rng.choice(pool)
        culprits = (first,)
        if rng.random() < cell.two:
            culprits = (first, rng.randrange(size))
    made = World(cell, ancestry, rng.randrange(2**32), culprits, layout, broken)
    if cell.steps:
        made.right_without_culprit = (Outcome.GRADUAL.value,)
    return made


def _broken(cell: Cell, ancestry: Ancestry, rng: random.Random) -> frozenset[str]:
    """Stretches of commits that do not build; never the tip."""
    commits = ancestry.graph.commits
    wanted, found = cell.broken * len(commits), set[str]()
    while len(found) < wanted:
        start = rng.randrange(len(commits))
        found.update(c.sha for c in commits[start : start + rng.randint(2, 12)])
        found.discard(commits[-1].sha)
    return frozenset(found)
