# SPDX-License-Identifier: GPL-2.0-or-later
"""Worlds that the model of the search does not contain, each with one thing that is not as it takes
it to be. Half of them have parameters that are drawn from a hash, so that nobody can have tuned
anything on them; who opens them is logged.

What is right to say, in all of them, of a range with a culprit is that culprit, and of one without
that there is none. Where a layout persists (`jumps`) a commit that moves the code shifts all that
come after it, as a regression would, and is none: right is that the layout does it, that nothing
does, or to leave it open.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from searchbench.bursts import Bursty, BurstyWorld
from searchbench.scoring import NOTHING
from searchbench.world import Cell, World, world

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.search.ancestry import Ancestry


@dataclass(frozen=True, kw_only=True)
class Strange(Cell):
    """Conditions beyond those of a Cell; lengths are in its standard deviations."""

    #: Hosts, of which each boot gets one; standard deviation of their levels, and of the logarithm
    #: of what they multiply by.
    hosts: int = 1
    host_level: float = 0.0
    host_scale: float = 0.0
    #: Boots in a row share something of this size that decays by this factor from boot to boot.
    wander: float = 0.0
    correlation: float = 0.0
    #: Share of boots that are in another state, and how much worse that is.
    states: float = 0.0
    apart: float = 0.0
    #: Share of commits that draw a new offset of their build, for all that come after them, too;
    #: its standard deviation.
    jumps: float = 0.0
    jump_tau: float = 0.0
    #: Standard deviation of the effect between builds, as a share of it.
    by_build: float = 0.0
    #: What each boot adds to the level of the host.
    slope: float = 0.0
    #: Share of the boots of a bad kernel that show the effect.
    shown: float = 1.0
    #: Values are whole multiples of so much; 0: they are not rounded.
    rounded: float = 0.0


#: What is drawn of each kind, and from where to where.
DRAWN: dict[str, dict[str, tuple[float, float]]] = {
    "hosts": {"hosts": (2, 6), "host_level": (0.5, 3.0), "host_scale": (0.05, 0.4)},
    "correlated": {"correlation": (0.5, 0.95), "wander": (0.3, 1.0)},
    "bimodal": {"states": (0.05, 0.5), "apart": (1.0, 6.0)},
    "persistent": {"jump_tau": (0.3, 1.5)},
    "by-build": {"by_build": (0.2, 0.8)},
    "drift": {"slope": (-0.02, 0.02), "drift": (0.0, 0.1)},
    "some-boots": {"shown": (0.3, 0.8)},
}
#: Of all kinds.
_EFFECT = (1.0, 3.0)
_JUMPS = 0.02


def unopened(sha: str) -> list[Strange]:
    """A cell of each kind, with what a commit (its full hexadecimal name) decides."""
    return [_drawn(sha, kind) for kind in DRAWN]


def _drawn(sha: str, kind: str) -> Strange:
    rng = random.Random(hashlib.sha256(f"{sha}/{kind}".encode()).digest())
    effect = round(rng.uniform(*_EFFECT), 2)
    drawn = {name: round(rng.uniform(*reach), 3) for name, reach in DRAWN[kind].items()}
    if "hosts" in drawn:
        drawn["hosts"] = round(drawn["hosts"])
    if kind == "persistent":
        drawn["jumps"] = _JUMPS
    return Strange(
        name=f"{kind}@{sha[:8]}", history=rng.choice(("linear-300", "kernel-300")),
        effect=effect, boot=0.3, none=0.4, broken=0.05, merge=0.1, **cast("dict[str, int]", drawn),
    )  # fmt: skip


def log_opened(path: Path, sha: str, cells: list[Cell], trials: range) -> None:
    """Note in a file that these trials were looked at: from then on they are known."""
    line = {
        "date": datetime.now(UTC).date().isoformat(),
        "sha": sha,
        "cells": [cell.name for cell in cells],
        "first": trials.start,
        "trials": len(trials),
    }
    with path.open("a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")


@dataclass
class StrangeWorld(World):
    """A world of a Strange cell."""

    _wandered: list[float] = field(default_factory=lambda: [0.0])

    @property
    def strange(self) -> Strange:
        return cast("Strange", self.cell)

    def values(self, sha: str, runs: int, layout: int = 0) -> list[float]:
        values = super().values(sha, runs, layout)
        cell = self.strange
        key = f"{sha}/{layout}" if layout else sha
        place = self.ancestry.index.get(sha, self.ancestry.size)
        rng = np.random.default_rng([self.seed, place, layout, self.taken[key], 2])
        host, other, shows = int(rng.integers(cell.hosts)), rng.random(), rng.random()
        self.host = f"host-{host}" if cell.hosts > 1 else ""
        level, spread = self._fixed(3, host)
        scale = math.exp(cell.host_scale * spread)
        added = cell.apart if other < cell.states else 0.0
        added += self._shift(sha) * (self._share_of_effect(place, layout, shows) - 1)
        measured = (cell.host_level * level + scale * (value + added) for value in values)
        return [rounded(value, cell.rounded) for value in measured]

    def _share_of_effect(self, place: int, layout: int, shows: float) -> float:
        """What a boot of a build shows of the effect; `shows` is uniform in 0..1."""
        build = 1 + self.strange.by_build * self._fixed(4, place, layout)[0]
        return build if shows < self.strange.shown else 0.0

    def _fixed(self, *key: int) -> tuple[float, float]:
        """Two normal numbers that belong to a thing of this world."""
        one, other = np.random.default_rng([self.seed, *key, 1]).standard_normal(2).tolist()
        return one, other

    def _offset(self, place: int, number: int) -> float:
        if not self.strange.jumps:
            return super()._offset(place, number)
        layout, index = divmod(place, self.ancestry.size + 1)
        return self.strange.jump_tau * self._fixed(5, self.jumped[index], layout)[0]

    @cached_property
    def jumped(self) -> list[int]:
        """Of each commit, and of the good end after them: whose offset its build has."""
        rng = np.random.default_rng([self.seed, 6, 1])
        own = rng.random(self.ancestry.size) < self.strange.jumps
        found: list[int] = []
        for i, commit in enumerate(self.graph.commits):
            parent = self.ancestry.index.get(commit.parents[0])
            before = self.ancestry.size if parent is None else found[parent]
            found.append(i if own[i] else before)
        return [*found, self.ancestry.size]

    def _level(self) -> float:
        cell = self.strange
        keep, fresh = cell.correlation, cell.wander * (1 - cell.correlation**2) ** 0.5
        while len(self._wandered) <= self.boots:
            new = self._fixed(7, len(self._wandered))[0]
            self._wandered.append(keep * self._wandered[-1] + fresh * new)
        return super()._level() + cell.slope * self.boots + self._wandered[self.boots]


def rounded(value: float, step: float) -> float:
    """`value` as a whole number of these steps; as it is where there are none."""
    return step * round(value / step) if step else value


def world_of(cell: Cell, ancestry: Ancestry, trial: int) -> World:
    """The world of one trial of any cell."""
    if isinstance(cell, Bursty):
        plain = world(replace(cell, name=cell.like or cell.name), ancestry, trial)
        return BurstyWorld(
            cell, ancestry, plain.seed, plain.culprits, plain.layout, plain.broken,
        )  # fmt: skip
    plain = world(cell, ancestry, trial)
    if not isinstance(cell, Strange):
        return plain
    return StrangeWorld(
        cell, ancestry, plain.seed, plain.culprits, plain.layout and not cell.jumps, plain.broken,
        right_without_culprit=(*NOTHING, "inconclusive") if cell.jumps else NOTHING,
    )  # fmt: skip
