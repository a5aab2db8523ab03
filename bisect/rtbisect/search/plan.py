# SPDX-License-Identifier: GPL-2.0-or-later
"""What to test next: information about the culprit per second of cost.

The information of a boot is computed for every hypothesis with the distribution that this
hypothesis predicts, not with one average for "good" and one for "bad": what a boot tells
about the noise counts as far as it tells hypotheses apart. See docs/search.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

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
#: A kernel whose side is that sure is not booted again for its own sake.
SURE_SIDE = 0.003
#: Chance that a revision fails of which nothing is known.
BASE_FAILURE = 0.02
#: Chance that a direct neighbour of a failed revision fails too.
NEIGHBOUR_FAILURE = 0.9

_TABLE = np.linspace(0.0, 1.0, 257)


@dataclass(frozen=True, eq=False)
class _Part:
    """Some hypotheses with their predictions for a kernel that never booted: `weights` (n,)
    of candidates, `none` of no regression, `good` and `bad` (b,).
    """

    weights: Floats
    none: float
    good: Floats
    bad: Floats


def capacity(found: Posterior) -> float:
    """Bits that one boot of a new kernel tells at best."""
    return float(information(found.good, found.bad, _TABLE).max())


def information(good: Floats, bad: Floats, share: Floats) -> Floats:
    """Bits that one boot tells about its side, for each probability `share` of bad.

    `good` and `bad` are predictive probabilities over the same bins. This is the
    Jensen-Shannon information H(mix) - share H(bad) - (1 - share) H(good).
    """
    mix = share[:, None] * bad + (1 - share[:, None]) * good
    found: Floats = _entropy(mix) - share * _entropy(bad) - (1 - share) * _entropy(good)
    return np.maximum(found, 0.0)


def choose(state: SearchState, found: Posterior, hosts: int, builders: int) -> tuple[Test, ...]:
    """The next tests, best first: one a host, at most `builders` of them not yet built. Empty
    when no test is useful or allowed.
    """
    control = _control(state, found)
    if control is not None:
        return (Test(control, "control"),)
    ancestry, ledger, spec = state.ancestry, state.ledger, state.spec
    shas = [commit.sha for commit in spec.graph.commits]
    built = np.array([ledger.built(ledger.stand_in(sha)) for sha in shas])
    open_ = np.array([not ledger.untestable(sha) for sha in shas])
    if ledger.builds >= spec.max_builds:
        open_ &= built
    worth = (1 - failure(state)) / (spec.boot_cost_s + np.where(built, 0.0, spec.build_cost_s))
    room = max(1, builders)
    rest = spec.max_builds - ledger.builds
    groups = [_parts(found)]
    again = _again(state, found)
    picked: list[Test] = []
    while len(picked) < min(max(1, hosts), spec.max_boots - ledger.boots):
        fresh = np.where(open_, _gain(state, groups), 0.0)
        gain, layout = fresh.copy(), np.zeros(fresh.size, dtype=np.intp)
        for i, (bits, number) in again.items():
            # Boots of one kernel share its build: a further one tells less than a new build.
            gain[i] = bits if not picked else min(gain[i], bits)
            layout[i] = number
        gain = np.where(open_, gain, 0.0)
        other = _other_layout(state, fresh, again)
        if max(float(gain.max()), other[1]) < USELESS_BITS:
            break
        best = int((gain * worth).argmax())
        if other[1] > gain[best] * worth[best] and rest > 0:
            best = other[0]
            sha = shas[best]
            number = 1 + max((n for s, n in ledger.layouts if s == sha), default=0)
            picked.append(Test(sha, "search", layout=number))
            open_[best] = False
            groups = [
                half
                for group in groups
                for half in _split(group, ancestry.ancestors_or_self(best))
            ]
            rest -= 1
            continue
        test = Test(
            ledger.stand_in(shas[best]), "search", bool(built[best]), int(layout[best])
        )
        picked.append(test)
        if not built[best]:
            room, rest = room - 1, rest - 1
        open_[best] = False
        if not room or not rest:
            open_ &= built
        side = ancestry.ancestors_or_self(best)
        groups = [half for group in groups for half in _split(group, side)]
    return tuple(picked)


def _parts(found: Posterior) -> list[_Part]:
    """The likeliest patterns of sides one by one, the rest together, and no regression."""
    parts = [
        _Part(cell.weights, 0.0, found.predict_good(cell), found.predict_bad(cell))
        for cell in found.cells
    ]
    rest = found.commits - sum(cell.weights for cell in found.cells)
    if float(rest.sum()) > 0:
        parts.append(_Part(np.maximum(rest, 0.0), 0.0, found.good, found.bad))
    if found.none > 0:
        shared = found.predict_none()
        parts.append(_Part(np.zeros_like(found.commits), found.none, shared, shared))
    return parts


def _gain(state: SearchState, groups: list[list[_Part]]) -> Floats:
    """Bits that a boot of each commit as a new kernel tells, given which group is true,
    shape (n,). One group: plain information; several: what is left after the tests picked.
    """
    total = np.zeros(state.ancestry.size)
    for group in groups:
        mass = sum(float(part.weights.sum()) + part.none for part in group)
        if mass <= 1e-9:
            continue
        mixed = np.zeros((state.ancestry.size, group[0].good.size))
        known = np.zeros(state.ancestry.size)
        for part in group:
            held = float(part.weights.sum())
            bad = np.clip(state.ancestry.mass(part.weights), 0.0, held) / mass
            good = (held + part.none) / mass - bad
            mixed += bad[:, None] * part.bad + good[:, None] * part.good
            known += bad * _entropy(part.bad) + good * _entropy(part.good)
        total += mass * np.maximum(_entropy(mixed) - known, 0.0)
    return total


def _other_layout(
    state: SearchState, fresh: Floats, again: dict[int, tuple[float, int]]
) -> tuple[int, float]:
    """The booted candidate that is most worth a build with another layout, and bits per second
    of that; no worth where there is no such build.
    """
    spec, failed = state.spec, state.ledger.layouts_failed
    commits = spec.graph.commits
    able = [i for i in again if fresh[i] > 0 and commits[i].sha not in failed]
    if spec.layout_cost_s is None or not able:
        return 0, 0.0
    best = max(able, key=lambda i: float(fresh[i]))
    return best, float(fresh[best]) / (spec.layout_cost_s + spec.boot_cost_s)


def _again(state: SearchState, found: Posterior) -> dict[int, tuple[float, int]]:
    """Bits that one more boot tells, for each candidate whose kernel has booted, and of which of
    its layouts.
    """
    cells = found.cells
    mass = np.array([float(cell.weights.sum()) for cell in cells])
    weight = mass / max(float(mass.sum()), 1e-300) * float(found.commits.sum())
    bits: dict[int, tuple[float, int]] = {}
    for number, kernel in enumerate(found.kernels):
        inside = [state.ancestry.index[sha] for sha in kernel.shas if sha in state.ancestry.index]
        if not inside:
            continue
        bad = float(sum(w for w, cell in zip(weight, cells, strict=True) if cell.sides[number]))
        told = 0.0
        if SURE_SIDE < bad < 1 - SURE_SIDE:
            parts = [(float(w), found.again(number, c)) for w, c in zip(weight, cells, strict=True)]
            if found.none > SURE_SIDE:
                parts.append((found.none, found.again(number, None)))
            mixed = sum(w * p for w, p in parts)
            known = sum(w * float(_entropy(p)) for w, p in parts)
            told = max(0.0, float(_entropy(np.asarray(mixed))) - known)
        for i in inside:
            if told > bits.get(i, (-1.0, 0))[0]:
                bits[i] = (told, kernel.layout)
    return bits


def _split(group: list[_Part], side: Bools) -> list[list[_Part]]:
    """A group cut in two by a test; no regression means good."""
    bad = [_Part(np.where(side, part.weights, 0.0), 0.0, part.good, part.bad) for part in group]
    good = [
        _Part(np.where(side, 0.0, part.weights), part.none, part.good, part.bad) for part in group
    ]
    return [bad, good]


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


def _entropy(p: Floats) -> Floats:
    found: Floats = -(p * np.log2(np.maximum(p, 1e-300))).sum(axis=-1)
    return found
