# SPDX-License-Identifier: GPL-2.0-or-later
"""What to test next: information about the culprit per second of cost."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.search.likelihood import information
from rtbisect.search.model import Test

if TYPE_CHECKING:
    from rtbisect.search.graph import Bools, Floats
    from rtbisect.search.model import SearchState
    from rtbisect.search.posterior import Posterior

#: A boot that tells at least this many bits at best needs no fresh controls of the ends.
STRONG_BITS = 0.7
#: With weaker boots every so many-th observation is a control.
CONTROL_EVERY = 4
#: Below this many bits a boot is useless.
USELESS_BITS = 1e-5
#: Chance that a revision fails of which nothing is known.
BASE_FAILURE = 0.02
#: Chance that a direct neighbour of a failed revision fails too.
NEIGHBOUR_FAILURE = 0.9

_TABLE = np.linspace(0.0, 1.0, 257)


def capacity(found: Posterior) -> float:
    """Bits that one boot tells at best."""
    return float(information(found.good, found.bad, _TABLE).max())


def choose(state: SearchState, found: Posterior, hosts: int, builders: int) -> tuple[Test, ...]:
    """The next tests, best first: one a host, at most `builders` of them not yet built. Empty
    when no test is useful or allowed.
    """
    control = _control(state, found)
    if control is not None:
        return (Test(control, "control"),)
    ancestry, ledger, spec = state.ancestry, state.ledger, state.spec
    shas = [commit.sha for commit in spec.graph.commits]
    built = np.array([ledger.built(sha) for sha in shas])
    open_ = np.array([not ledger.untestable(sha) for sha in shas])
    if ledger.builds >= spec.max_builds:
        open_ &= built
    worth = (1 - failure(state)) / (spec.boot_cost_s + np.where(built, 0.0, spec.build_cost_s))
    gain_of = information(found.good, found.bad, _TABLE)
    room = max(1, builders)
    rest = spec.max_builds - ledger.builds
    cells = [(found.commits, found.none)]
    picked: list[Test] = []
    while len(picked) < min(max(1, hosts), spec.max_boots - ledger.boots):
        gain = np.where(open_, _gain(state, cells, gain_of), 0.0)
        if float(gain.max()) < USELESS_BITS:
            break
        best = int((gain * worth).argmax())
        picked.append(Test(shas[best], "search", boot=bool(built[best])))
        if not built[best]:
            room, rest = room - 1, rest - 1
        open_[best] = False
        if not room or not rest:
            open_ &= built
        cells = _split(cells, ancestry.ancestors_or_self(best))
    return tuple(picked)


def _gain(state: SearchState, cells: list[tuple[Floats, float]], gain_of: Floats) -> Floats:
    """Bits that a boot of each commit tells, given which cell of hypotheses is true. One
    cell: plain information; several: what is left after the tests already picked.
    """
    total = np.zeros(state.ancestry.size)
    for weights, none in cells:
        mass = float(weights.sum()) + none
        if mass > 1e-9:
            share = np.clip(state.ancestry.mass(weights) / mass, 0.0, 1.0)
            total += mass * np.interp(share, _TABLE, gain_of)
    return total


def _split(cells: list[tuple[Floats, float]], side: Bools) -> list[tuple[Floats, float]]:
    """Every cell cut in two by a test; no regression means good."""
    found: list[tuple[Floats, float]] = []
    for weights, none in cells:
        found.extend([(np.where(side, weights, 0.0), 0.0), (np.where(side, 0.0, weights), none)])
    return found


def _control(state: SearchState, found: Posterior) -> str | None:
    """The end to boot once more when boots tell little, so that its distribution is known
    better and a drift of the host shows; the end with fewer boots first.
    """
    if capacity(found) >= STRONG_BITS:
        return None
    spec, values = state.spec, state.ledger.values
    good, bad = len(values[spec.graph.good]), len(values[spec.graph.bad])
    controls = good + bad - 2 * state.ends.used
    searched = sum(len(v) for v in values.values()) - good - bad
    if searched < (CONTROL_EVERY - 1) * (controls + 1):
        return None
    return spec.graph.good if good <= bad else spec.graph.bad


def failure(state: SearchState) -> Floats:
    """Chance that each candidate does not build or boot, shape (n,).

    Failures spread to graph neighbours and fade with distance, but not through revisions
    that work: those stand after the fix or before the breaker.
    """
    ancestry, ledger = state.ancestry, state.ledger
    commits = state.spec.graph.commits
    failed = [i for i, c in enumerate(commits) if ledger.untestable(c.sha)]
    working = [i for i, c in enumerate(commits) if ledger.values.get(c.sha)]
    survive = np.full(ancestry.size, 1 - BASE_FAILURE)
    # Every further failure makes a longer broken stretch likelier.
    reach = max(1.0, math.sqrt(ancestry.size) * (0.5 + 0.25 * len(failed)))
    for start in failed:
        for i, step in ancestry.distances(start, math.ceil(3 * reach), working).items():
            survive[i] *= 1 - NEIGHBOUR_FAILURE * math.exp(-step / reach)
    survive[working] = 1 - BASE_FAILURE
    chance: Floats = 1 - survive
    return chance
