# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine that has two speeds, or one that drifts.

A processor leaves its turbo mode, a neighbour comes and goes, a virtual machine is moved: from one
run to the next all revisions are slower, or faster, and stay so for some runs. Or each run has one
of two speeds by lot: its memory happens to share cache sets, or it starts on another core. Ends
that are booted in turns still differ, but runs of different times cannot be compared. What the
speed adds is taken out of each run before the search weighs it (`likelihood/chain.py`); what was
measured stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from rtbisect.model.campaign import Scale
from rtbisect.model.lab import RunStatus
from rtbisect.search.events import Booted
from rtbisect.search.likelihood.chain import speeds_of
from rtbisect.search.likelihood.drift import drift_of
from rtbisect.search.likelihood.features import views

if TYPE_CHECKING:
    from rtbisect.model.campaign import Threshold
    from rtbisect.search.events import Event
    from rtbisect.search.likelihood.features import Kernel

#: By the number of an event what its boot would have measured at another speed.
AtOneSpeed: TypeAlias = Mapping[int, float | None]
NO_SPEEDS: AtOneSpeed = {}


@dataclass(frozen=True, slots=True)
class Before:
    """What was heard before some other events, of the ends and of other revisions."""

    #: The older one first.
    ends: tuple[str, str]
    events: tuple[Event, ...]
    #: See `at_one_speed`.
    lots: bool = True

    def at_one_speed(self, threshold: Threshold, events: Sequence[Event]) -> AtOneSpeed:
        """The same of the events that follow; their numbers begin with 0."""
        known = len(self.events)
        heard = (*self.events, *events)
        found = at_one_speed(threshold, self.ends, heard, lots=self.lots)
        return {number - known: value for number, value in found.items() if number >= known}


def at_one_speed(
    threshold: Threshold, ends: tuple[str, str], events: Sequence[Event], *, lots: bool
) -> AtOneSpeed:
    """What the boots among these events, in the order of their time, would have measured at the
    speed that their host had first; those alone that another speed has changed, and None where
    nobody knows. Speeds multiply what is above 0. The figure is no share and no count. `lots`:
    which speed a boot has may come by lot.
    """
    sides = {(end, 0): side for side, end in enumerate(ends)}
    return _without(
        threshold,
        events,
        lambda runs: speeds_of([(value, sides.get(build)) for value, build in runs], lots=lots),
    )


def at_one_level(threshold: Threshold, events: Sequence[Event]) -> AtOneSpeed:
    """The same of a host that drifts: at the level that it had first."""
    return _without(threshold, events, drift_of)


def _without(
    threshold: Threshold,
    events: Sequence[Event],
    added_to: Callable[[Sequence[tuple[float, Kernel]]], Sequence[float | None]],
) -> AtOneSpeed:
    """What boots would have measured without what was `added_to` them since the first one; nothing
    where nothing was.
    """
    by_host: dict[str, list[tuple[int, float, Kernel]]] = {}
    for number, event in enumerate(events):
        if isinstance(event, Booted) and event.status is RunStatus.COMPLETE and event.observation:
            with suppress(ValueError):
                views(threshold, event.observation)
                run = number, event.observation.value, (event.revision, event.layout)
                by_host.setdefault(event.observation.host, []).append(run)
    found: dict[int, float | None] = {}
    floor = threshold.floor if threshold.scale is Scale.LOG else 0.0
    for runs in by_host.values():
        ratios = all(value + floor > 0 for _, value, _ in runs)
        of_runs = added_to(
            [(math.log(value + floor) if ratios else value, build) for _, value, build in runs]
        )
        first = next((added for added in of_runs if added is not None), 0.0)
        # There is none where nothing was added.
        for (number, value, _), added in zip(runs, of_runs, strict=False):
            if added is None:
                found[number] = None
            elif more := added - first:
                there = (value + floor) * math.exp(-more) - floor if ratios else value - more
                found[number] = there
    return found
