# SPDX-License-Identifier: GPL-2.0-or-later
"""Worlds with several hosts, of one model and not equal, and searches on all of them at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.errors import InternalError
from rtbisect.search import engine
from rtbisect.search.events import Booted
from rtbisect.search.spec import Finish
from searchbench.simulate import events
from searchbench.world import World

if TYPE_CHECKING:
    from rtbisect.search.events import Event
    from rtbisect.search.search_state import SearchState
    from rtbisect.search.spec import SearchSpec

#: Standard deviation of the levels of hosts, in standard deviations of a run: most hosts differ by
#: one to three. Scales lie within a factor of exp(SCALE) around 1, log uniform.
LEVEL, SCALE = 2.0, 0.4


@dataclass
class HostWorld(World):
    """A world whose boots land on so many hosts in turn, in a new order each time round."""

    hosts: int = 1
    #: The level of each host is known, and taken out: the best that anybody can do about levels.
    levelled: bool = False
    #: Of the last boot; "" where nobody has to know.
    host: str = ""

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

    def heard(self, event: Event) -> Event:
        """An event with the host that it came from."""
        if not isinstance(event, Booted) or event.observation is None:
            return event
        return replace(event, observation=replace(event.observation, host=self.host))


def rehearse_on_hosts(spec: SearchSpec, world: HostWorld) -> tuple[SearchState, Finish]:
    """Run a search to its end, with a boot on each host at a time; InternalError if it would go on
    without bound.
    """
    state = engine.start(spec)
    for _ in range(10 * (spec.max_boots + spec.max_builds)):
        for proposal in engine.propose(state, free_hosts=world.hosts):
            if isinstance(proposal, Finish):
                return state, proposal
            for event in events(state, world, proposal):
                state = engine.apply(state, world.heard(event))
    raise InternalError("the search does not end")
