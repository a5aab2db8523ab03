# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds that stand for a culprit and for what was before it: other layouts, and its neighbours.

A kernel can be built again with its functions at other addresses. A command cannot: there the
neighbours are the other builds, for where one commit did it, every revision before it is as good as
its parent and every one after it as bad as itself. They say less: a shift of the layout that
neighbours share is to them a change of the code.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.judge.scale import effect_floor
from rtbisect.model.code import PROOF_LAYOUTS, SEARCH_LAYOUTS
from rtbisect.search.build_groups import (
    FEWEST,
    FIRST_SHARE,
    LAST,
    MEDIAN_COST,
    BuildPlan,
    cheapest,
)
from rtbisect.search.plan import failure_chance
from rtbisect.search.posterior import kernels, side_of
from rtbisect.search.stop import leading_candidate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rtbisect.search.likelihood.features import Aspect, Kernel, Views
    from rtbisect.search.search_state import SearchState

#: Most kernels per side that are considered: some will not build, or be equal.
IN_LINE = 2 * LAST
#: Degrees of freedom that an estimate of how builds differ needs; with fewer it is taken to be this
#: share of what the ends differ by.
ENOUGH, UNKNOWN = 4, 0.5
#: A revision that fails with a greater chance, by those around it, is left for the end.
LIKELY = 0.5


def build_plan(state: SearchState, culprit: str) -> BuildPlan:
    """Plan of the comparison of builds, from what the search knows of `culprit` and the noise."""
    seen = noise(state, culprit)
    boots, builds = _first_look(state, seen)
    parent = state.related(state.ancestry.index[culprit])[1]
    better = tuple(_in_line(state, parent, _before(state, culprit)))
    worse = tuple(_in_line(state, culprit, _behind(state, culprit)))
    booted = state.ledger.views.keys() - {*better, *worse}
    signatures = {state.ledger.signature_of(kernel) for kernel in booted}
    return BuildPlan(
        better=better,
        worse=worse,
        boots=boots,
        builds=builds,
        shift=seen.shift,
        known=frozenset(signatures - {""}),
    )


def builds_decide(state: SearchState, *, sure: bool) -> bool:
    """Whether other builds decide about what a search names, as `sure` as it is: builds of one code
    may differ by as much as the ends do. Whether runs pass or fail is taken not to hang on that.
    """
    return not state.spec.of_shares and (state.small or not sure)


def boots_to_keep(state: SearchState, *, proved: bool = False, leads: bool = False) -> int:
    """Boots that a proof of the commit which leads now takes beside the fewest, by what the last
    look at the ends says: of other builds, or of the commit and its parent, as the ends took. 0
    while none leads, and none is taken to (`leads`): the search may take them to find one.
    """
    ends = state.ends
    if not ends.reproduced or not (leads or leading_candidate(state) is not None):
        return 0
    of_pair = 2 * ends.used
    if state.spec.of_shares:
        # After a proof the search has half of these, too, rather than an open end.
        return ends.used if proved or state.of_proofs else of_pair
    if not state.spec.layout_below:
        return of_pair
    sigma = math.sqrt(float(np.mean([np.var(end, ddof=1) for end in state.calm_ends])))
    boots, builds = _first_look(state, Noise(ends.shift, UNKNOWN * ends.shift, sigma))
    return max(of_pair, 2 * boots * builds)


def _first_look(state: SearchState, noise: Noise) -> tuple[int, int]:
    """Boots of each build, and builds a side."""
    spec = state.spec
    boots, needed = cheapest(
        noise.shift,
        noise.tau,
        noise.sigma,
        build_s=spec.layout_cost_s or spec.build_cost_s,
        boot_s=spec.boot_cost_s,
    )
    return boots, max(FEWEST, math.ceil(FIRST_SHARE * needed))


@dataclass(frozen=True, slots=True)
class Noise:
    """Effect and noise as estimated from the kernels of a search, in badness."""

    #: By how much kernels that have the culprit are worse than those that do not.
    shift: float
    #: Standard deviations: of builds of one side, and of boots of one build.
    tau: float
    sigma: float


def noise(state: SearchState, culprit: str) -> Noise:
    """The kernels that the search has booted, as two groups of builds (the method of moments of a
    random-effects model). A range is searched because its ends lie far apart, by luck, too: all
    kernels together overstate the shift less.
    """
    candidate, figure = state.ancestry.index[culprit], state.ends.figure
    middles: dict[bool, list[float]] = {False: [], True: []}
    sizes: list[int] = []
    squares, free = 0.0, 0
    for kernel in kernels(state.spec.graph, state.ledger):
        values = [v for boot in kernel.boots if (v := _value(figure, boot)) is not None]
        if not values:
            continue
        bad = bool(side_of(state.ledger, state.ancestry, kernel.shas[0])[candidate])
        middles[bad].append(float(np.median(values)))
        sizes.append(len(values))
        squares += float(((np.asarray(values) - np.mean(values)) ** 2).sum())
        free += len(values) - 1
    sigma = math.sqrt(squares / free) if free else 0.0
    sides = [np.asarray(side) for side in middles.values() if side]
    between = sum(float(((side - side.mean()) ** 2).sum()) for side in sides)
    degrees = len(sizes) - len(sides)
    shift = state.ends.shift
    if degrees < ENOUGH or len(sides) < len(middles):
        return Noise(shift, UNKNOWN * shift, sigma)
    apart = float(sides[1].mean() - sides[0].mean())
    least = max(effect_floor(state.spec.threshold), UNKNOWN * shift)
    own = MEDIAN_COST * sigma**2 * float(np.mean([1 / size for size in sizes]))
    tau = math.sqrt(max(0.0, between / degrees - own))
    return Noise(min(shift, max(apart, least)), tau, sigma)


def _value(figure: Aspect, boot: Views) -> float | None:
    if figure.around is not None:
        return abs(boot[0] - figure.around)
    return boot[figure.view] if figure.view < len(boot) else None


def _before(state: SearchState, culprit: str) -> Iterator[int]:
    """Candidates that do not have the culprit: its ancestors, the nearest first, then others."""
    place = state.ancestry.index[culprit]
    has = state.ancestry.descendants_or_self(place)
    ancestors = state.ancestry.ancestors_or_self(place)
    yield from (i for i in range(place - 1, -1, -1) if ancestors[i])
    others = [i for i in range(state.ancestry.size) if not has[i] and not ancestors[i]]
    yield from sorted(others, key=lambda i: abs(i - place))


def _behind(state: SearchState, culprit: str) -> Iterator[int]:
    """Candidates that descend from the culprit, the nearest first."""
    place = state.ancestry.index[culprit]
    has = state.ancestry.descendants_or_self(place)
    yield from (i for i in range(place + 1, state.ancestry.size) if has[i])


def _failing_last(state: SearchState, places: Iterator[int]) -> Iterable[int]:
    """The same candidates, those last that likely fail: each costs a build and says nothing."""
    if not state.spec.parts.failing_last:
        return places
    chance = failure_chance(state)
    return sorted(places, key=lambda i: chance[i] > LIKELY)


def _in_line(state: SearchState, stands_for: str, places: Iterator[int]) -> Iterator[Kernel]:
    """Kernels of a side that were not booted: other layouts of the revision that they stand for,
    then neighbours; and that revision itself as it is, for a side that has no other.
    """
    ledger, taken, found = state.ledger, set[str](), 0
    if state.spec.layout_cost_s is not None and stands_for not in ledger.layouts_failed:
        numbers = (*PROOF_LAYOUTS, *range(1, SEARCH_LAYOUTS + 1))
        layouts = [n for n in numbers if (stands_for, n) not in ledger.views]
        yield from ((stands_for, n) for n in layouts)
        found += len(layouts)
    for i in _failing_last(state, places):
        sha = state.spec.graph.commits[i].sha
        twins = ledger.equal.same_as(sha)
        known = any(ledger.views.get((twin, 0)) for twin in twins)
        if known or not taken.isdisjoint(twins) or ledger.untestable(sha):
            continue
        taken.update(twins)
        yield sha, 0
        found += 1
        if found >= IN_LINE:
            break
    if not found:
        yield stands_for, 0
