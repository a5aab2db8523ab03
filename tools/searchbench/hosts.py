# SPDX-License-Identifier: GPL-2.0-or-later
"""Worlds with several hosts, of one model and not equal."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from searchbench.world import World

#: Standard deviation of the levels of hosts, in standard deviations of a run: most hosts differ by
#: one to three. Scales lie within a factor of exp(SCALE) around 1, log uniform.
LEVEL, SCALE = 2.0, 0.4


@dataclass
class HostWorld(World):
    """A world whose boots land on so many hosts in turn, in a new order each time round."""

    hosts: int = 1
    #: The level of each host is known, and taken out: the best that anybody can do about levels.
    levelled: bool = False

    def values(self, sha: str, runs: int, layout: int = 0) -> list[float]:
        """As on one host, with what the host of this boot makes of them."""
        if self.hosts == 1:
            return super().values(sha, runs, layout)
        turn, place = divmod(self.boots, self.hosts)
        # The last words of a seed keep these draws apart from those of boots, and of each other.
        order = np.random.default_rng([self.seed, turn, 0, 2]).permutation(self.hosts)
        number = int(order[place])
        rng = np.random.default_rng([self.seed, number, 0, 3])
        level, scale = LEVEL * float(rng.standard_normal()), math.exp(rng.uniform(-SCALE, SCALE))
        self.host = "" if self.levelled else f"host-{number + 1}"
        level, true = 0.0 if self.levelled else level, self._shift(sha)
        return [
            level + true + scale * (value - true) for value in super().values(sha, runs, layout)
        ]
