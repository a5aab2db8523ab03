# SPDX-License-Identifier: GPL-2.0-or-later
"""Which windows boots measure in: all while nobody knows what is searched, then those that the
searched figure needs.

A figure may depend on what ran before it in its boot, never on what comes behind. So boots are
compared only where nothing ran before the windows in question, and every boot of a comparison
begins with those of one figure: some of its boots are like those of a search for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.judge.boots import Boots
from rtbisect.judge.scale import separation
from rtbisect.model.campaign import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.campaign import Threshold
    from rtbisect.model.lab import Run
    from rtbisect.model.setup import Setup


def needed(setup: Setup, threshold: Threshold) -> tuple[str, ...]:
    """Windows of a figure, of the one without its workload, and of how long events were waited
    for, in the order of the plan.
    """
    keys = (threshold.key, threshold.control, threshold.exposure)
    names = {key.window for key in keys if key is not None}
    return tuple(each.name for each in setup.booted.windows if each.name in names)


def leading(setup: Setup, number: int, runs: Sequence[Run]) -> tuple[str, ...]:
    """The windows that a boot of this number begins with where it measures in all: first those of
    each figure in turn, then of the one that the `runs` so far set apart most, as it may be what is
    searched. The numbers of both ends follow on each other, so that both begin alike.
    """
    if setup.kernel is None or not setup.limits.short_boots:
        return ()
    by_group: dict[tuple[str, ...], list[Threshold]] = {}
    for threshold in setup.judged:
        if threshold.role is Role.PRIMARY and (group := needed(setup, threshold)):
            by_group.setdefault(group, []).append(threshold)
    groups, pair = list(by_group), (number - 1) // 2
    if pair < len(groups):
        return groups[pair]
    request = setup.request
    sides = [
        Boots(tuple(run for run in runs[: 2 * pair] if run.revision == end))
        for end in (request.older, request.newer)
    ]
    apart = [max(_apart(t, *sides) for t in by_group[group]) for group in groups]
    return groups[apart.index(max(apart))] if groups else ()


def _apart(threshold: Threshold, older: Boots, newer: Boots) -> float:
    """How far the newer end is worse, in units of the spread; 0 where a side tells nothing."""
    base, new = (side.sample(threshold.key).values for side in (older, newer))
    return separation(threshold, base, new) if base and new else 0.0


def begins_with(run: Run, windows: tuple[str, ...]) -> bool:
    """Whether a boot began with these windows, in whatever order."""
    return not windows or {*run.window_order[: len(windows)]} == {*windows}


def left_out_s(run: Run, windows: tuple[str, ...]) -> float:
    """Seconds that a boot spent in other windows than these; 0 where it did not time them."""
    if not windows or not run.window_s:
        return 0.0
    timed = zip(run.window_order, run.window_s, strict=True)
    return sum(seconds for name, seconds in timed if name not in windows)


def seconds_of(run: Run, windows: tuple[str, ...]) -> float:
    """What a boot takes that measures in these windows alone, by one that measured in more; all of
    it where its clocks disagree: a lab has one, its device another.
    """
    left_s = run.seconds - left_out_s(run, windows)
    return left_s if left_s > 0 else run.seconds
