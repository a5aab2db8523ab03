# SPDX-License-Identifier: GPL-2.0-or-later
"""Which windows boots measure in: all while nobody knows what is searched, then those that the
searched figure needs.

A figure may depend on what ran before it in its boot, never on what comes behind. So boots are
compared only where nothing ran before the windows in question, and every boot of a comparison
begins with those of one figure, in turn: some of its boots are like those of a search for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.model.campaign import Role

if TYPE_CHECKING:
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


def leading(setup: Setup, number: int) -> tuple[str, ...]:
    """The windows that a boot of this number begins with where it measures in all. The numbers of
    both ends follow on each other, so that both begin alike.
    """
    if setup.kernel is None or not setup.limits.short_boots:
        return ()
    primary = (t for t in setup.judged if t.role is Role.PRIMARY)
    groups = [group for group in dict.fromkeys(needed(setup, t) for t in primary) if group]
    return groups[(number - 1) // 2 % len(groups)] if groups else ()


def begins_with(run: Run, windows: tuple[str, ...]) -> bool:
    """Whether a boot began with these windows, in whatever order."""
    return not windows or {*run.window_order[: len(windows)]} == {*windows}
