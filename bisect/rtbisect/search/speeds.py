# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine that has two speeds, and keeps each of them for some runs in a row; or one that drifts.

A processor leaves its turbo mode, a neighbour comes and goes, a virtual machine is moved: from one
run to the next all revisions are slower, or faster. Ends that are booted in turns still differ, but
runs of different times cannot be compared. What the speed adds is taken out of each run before the
search weighs it (`likelihood/chain.py`); what was measured stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
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

#: By the number of an event what its boot would have measured at another speed.
AtOneSpeed: TypeAlias = Mapping[int, float | None]
NO_SPEEDS: AtOneSpeed = {}


@dataclass(frozen=True, slots=True)
class Before:
    """What was heard before some other events, of the ends and of other revisions."""

    #: The older one first.
    ends: tuple[str, str]
    events: tuple[Event, ...]

    def at_one_speed(self, threshold: Threshold, events: Sequence[Event]) -> AtOneSpeed:
        """The same of the events that follow; their numbers begin with 0."""
        known = len(self.events)
        found = at_one_speed(threshold, self.ends, (*self.events, *events))
        return {number - known: value for number, value in found.items() if number >= known}


def at_one_speed(
    threshold: Threshold, ends: tuple[str, str], events: Sequence[Event]
) -> AtOneSpeed:
    """What the boots among these events, in the order of their time, would have measured at the
    speed that their host had first; those alone that another speed has changed, and None where
    nobody knows. Speeds multiply what is above 0. The figure is no share and no count.
    """

    def added(runs: Sequence[_Run]) -> Sequence[float | None]:
        sides = [
            ends.index(run.sha) if run.sha in ends and not run.layout else None for run in runs
        ]
        return speeds_of([(run.value, side) for run, side in zip(runs, sides, strict=True)])

    return _without(threshold, events, added)


def at_one_level(threshold: Threshold, events: Sequence[Event]) -> AtOneSpeed:
    """The same of a host that drifts: at the level that it had first."""
    return _without(
        threshold,
        events,
        lambda runs: drift_of([(run.value, (run.sha, run.layout)) for run in runs]),
    )


@dataclass(frozen=True, slots=True)
class _Run:
    """A boot with its value, or the logarithm of that."""

    number: int
    sha: str
    layout: int
    value: float


def _without(
    threshold: Threshold,
    events: Sequence[Event],
    added_to: Callable[[Sequence[_Run]], Sequence[float | None]],
) -> AtOneSpeed:
    """What boots would have measured without what was `added_to` them since the first one; nothing
    where nothing was.
    """
    by_host: dict[str, list[_Run]] = {}
    for number, event in enumerate(events):
        if isinstance(event, Booted) and event.status is RunStatus.COMPLETE and event.observation:
            with suppress(ValueError):
                views(threshold, event.observation)
                run = _Run(number, event.revision, event.layout, event.observation.value)
                by_host.setdefault(event.observation.host, []).append(run)
    found: dict[int, float | None] = {}
    floor = threshold.floor if threshold.scale is Scale.LOG else 0.0
    for runs in by_host.values():
        ratios = all(run.value + floor > 0 for run in runs)
        of_runs = added_to(
            [replace(run, value=math.log(run.value + floor)) for run in runs] if ratios else runs
        )
        first = next((added for added in of_runs if added is not None), 0.0)
        for run, added in zip(runs, of_runs, strict=False):
            if added is None:
                found[run.number] = None
            elif more := added - first:
                there = (
                    (run.value + floor) * math.exp(-more) - floor if ratios else run.value - more
                )
                found[run.number] = there
    return found
