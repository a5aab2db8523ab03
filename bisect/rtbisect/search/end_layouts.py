# SPDX-License-Identifier: GPL-2.0-or-later
"""Other layouts of both ends, before the search looks between them.

Two builds, however often they boot, say nothing of how builds of one code differ. Where that can
be as much as the ends differ, a search that begins with one build a side follows the luck of
these two for a hundred boots; other layouts of them show the luck, or the change, for six a side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.search.spec import NONE_AT_MOST, BootPurpose, Trial

if TYPE_CHECKING:
    from rtbisect.search.search_state import SearchState
    from rtbisect.search.spec import SearchSpec

#: Other layouts of each end, each booted once: with three the mean of a side still hangs on luck.
END_LAYOUTS = 6
#: So many of each come in any case: one of each may agree with the ends by luck.
FEWEST = 2
#: They take this part of the builds at most, those of both ends together.
PART_OF_BUILDS = 0.25


def layouts_of_end(spec: SearchSpec) -> int:
    """Other layouts of each end, where the ends differ by so little that builds may do so."""
    if not (spec.parts.end_layouts and spec.parts.layouts and spec.layout_cost_s is not None):
        return 0
    return at_most(spec.max_builds)


def at_most(max_builds: int) -> int:
    """Other layouts of each end that a budget of builds allows."""
    return min(END_LAYOUTS, int(PART_OF_BUILDS * max_builds) // 2)


def end_layouts_due(state: SearchState) -> list[tuple[int, str]]:
    """The layouts of both ends that were not built, in turns: their numbers and the end. No more
    are due while these leave hardly a doubt that there is a change.
    """
    if not state.layouts:
        return []
    each = layouts_of_end(state.spec)
    if state.belief.none <= NONE_AT_MOST:
        each = min(each, FEWEST)
    return sorted(
        (number, end)
        for end in state.spec.graph.ends
        for number in range(state.ledger.next_layout(end) or each + 1, each + 1)
    )


def end_layouts(state: SearchState, hosts: int) -> tuple[Trial, ...]:
    """The next layouts of both ends, at most one a host. Each is tried once."""
    spec, ledger = state.spec, state.ledger
    left = min(spec.max_boots - ledger.boots, spec.max_builds - ledger.builds)
    most = max(0, min(max(1, hosts), left))
    due = end_layouts_due(state)[:most]
    return tuple(Trial(end, BootPurpose.LAYOUT, layout=number) for number, end in due)
