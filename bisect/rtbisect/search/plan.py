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

from rtbisect.search.information import entropy, information, normal_bits
from rtbisect.search.likelihood.chain import FEWEST
from rtbisect.search.other_kernels import other_kernels
from rtbisect.search.outlook import levels
from rtbisect.search.spec import NONE_AT_MOST, BootPurpose, Trial

if TYPE_CHECKING:
    from rtbisect.search.ancestry import Bools, Floats
    from rtbisect.search.outlook import Sides
    from rtbisect.search.posterior import Kernel, Posterior
    from rtbisect.search.search_state import SearchState

#: A boot that tells at least this many bits at best needs no fresh controls of the ends.
STRONG_BITS = 0.7
#: With weaker boots every so many-th observation is a control.
CONTROL_EVERY = 4
#: So many boots in a row at no level of the ends ask for a boot of an end, until so many of each
#: lie there, too.
OFF_LEVELS, ENDS_OFF_LEVELS = 4, 4
#: Below this many bits a boot is useless.
USELESS_BITS = 1e-4
#: Tests whose worth differs by a smaller share are worth the same: that is how sums are rounded.
ROUNDED = 1e-9
#: A kernel whose side is that sure is not booted again for its own sake.
SURE_SIDE = 0.003
#: After so many boots of a build its level is known to a quarter of the noise of a boot.
KNOWN_WELL = 16
#: What all further boots of such a build have to tell together: from 0.8 to 0.95 it takes 0.43.
SPENT_BITS = 0.2
#: Known kernels that are thought of for one more boot: those whose side is most open.
OPEN_KERNELS = 12
#: Chance that a revision fails of which nothing is known.
BASE_FAILURE = 0.02
#: Chance that a direct neighbour of a failed revision fails too.
NEIGHBOUR_FAILURE = 0.9
#: It fades over this share of the square root of the candidates, for every failure so much more; at
#: so many times that it is gone.
FAILURE_REACH, FURTHER_REACH, GONE = 0.5, 0.25, 3.0

#: A group of hypotheses with less probability is not thought of.
_NO_MASS = 1e-9
_TABLE = np.linspace(0.0, 1.0, 257)


@dataclass(frozen=True, eq=False)
class _Part:
    """Some hypotheses with their predictions for a kernel that never booted."""

    #: Probability of each candidate (n,), and of no regression, as far as they belong to this part.
    weights: Floats
    none: float
    #: Probabilities (b,) of a boot of a good and of a bad kernel, over the bins of the grid.
    good: Floats
    bad: Floats


def capacity(posterior: Posterior) -> float:
    """Bits that one boot of a new kernel tells at best."""
    return float(information(posterior.good, posterior.bad, _TABLE).max())


def choose(state: SearchState, hosts: int, builders: int) -> tuple[Trial, ...]:
    """The next tests, best first: one a host, at most `builders` of them not yet built; then, where
    there are more builders than hosts, builds of what is likely wanted next. Empty when no test
    is useful or allowed.
    """
    end = _control_end(state)
    if end is not None:
        return (Trial(end, BootPurpose.CONTROL),)
    picker = _Picker(state, max(1, builders))
    if last := state.ledger.disturbed_last:
        # What slowed it slows its next boot, too.
        picker.leave_out(last[0])
    for _ in range(min(max(1, hosts), state.spec.max_boots - state.ledger.boots)):
        if not picker.pick():
            break
    if builders > hosts:
        picker.build_ahead()
    return tuple(picker.picked)


@dataclass(frozen=True, slots=True)
class Worth:
    """What a boot of a candidate would tell, and for what time."""

    revision: str
    bits: float
    #: Of the boot and of the build, where it is not built; over the chance that both work.
    cost_s: float


def worths(state: SearchState) -> tuple[Worth, ...]:
    """Every candidate with what `choose` weighs it by; only after the calibration."""
    return _Picker(state, 1).worths()


class _Picker:
    """Tests that run at the same time: each is worth what the ones before it leave open."""

    def __init__(self, state: SearchState, builders: int) -> None:
        spec, ledger = state.spec, state.ledger
        #: In the order in which they were picked, best first.
        self.picked: list[Trial] = []
        self._state = state
        self._shas = [commit.sha for commit in spec.graph.commits]
        revisions = (*ledger.signatures, *ledger.equal.kin)
        built = {sha for sha in revisions if ledger.built(ledger.equal.stand_in(sha))}
        #: Which candidates (n,) need no build, and which may still be picked.
        self._built = np.zeros(len(self._shas), dtype=np.bool_)
        self._built[state.ancestry.places(built)] = True
        self._eligible = np.ones(len(self._shas), dtype=np.bool_)
        self._eligible[state.ancestry.places(ledger.untestable_shas)] = False
        #: Builds that may still be picked.
        self._builders_left = min(builders, spec.max_builds - ledger.builds)
        build_cost_s = np.where(self._built, 0.0, spec.build_cost_s * spec.parts.costs)
        #: Boots of each candidate (n,) for a second of cost, as far as it builds and boots.
        self._worth = (1 - failure_chance(state)) / (spec.boot_cost_s + build_cost_s)
        #: What the tests picked so far may say: hypotheses for each set of their answers.
        self._groups = [_parts(state.belief)]
        #: Bits and layout of one more boot, by candidate.
        self._repeats = _repeats(state, state.belief)
        #: None as long as each build is taken to be another kernel.
        self._other = None
        if spec.parts.other_kernels:
            commits = state.belief.commits
            self._other = other_kernels(state.ancestry, ledger.equal, self._built, commits)

    def leave_out(self, sha: str) -> None:
        """Choose no boot of a revision, where another one tells something."""
        places = self._state.ancestry.places({sha})
        eligible = self._eligible.copy()
        self._eligible[places] = False
        if not (self._gains()[1] >= USELESS_BITS).any():
            self._eligible = eligible

    def pick(self) -> bool:
        """Add the best test; False when none is useful."""
        fresh, gain = self._gains()
        # Useless boots are left out first: beside commits that fail, a small worth of a good
        # test is still worth more than a cheap one that tells nothing.
        expected = self._expected(gain)
        worth = np.where(gain >= USELESS_BITS, expected, 0.0) * self._worth
        best = self._best(worth)
        sha, place, bits = self._best_other_layout(fresh)
        spec = self._state.spec
        cost = (spec.layout_cost_s or 0.0) * spec.parts.costs + spec.boot_cost_s
        if bits / cost > expected[best] * self._worth[best] and bits >= USELESS_BITS:
            number = self._state.ledger.next_layout(sha)
            self._take(place, Trial(sha, BootPurpose.SEARCH, layout=number))
            return True
        if gain[best] < USELESS_BITS:
            return False
        sha, built = self._state.ledger.equal.stand_in(self._shas[best]), bool(self._built[best])
        _bits, layout = self._repeats.get(best, (0.0, 0))
        self._take(best, Trial(sha, BootPurpose.SEARCH, boot=built, layout=layout))
        return True

    def _gains(self) -> tuple[Floats, Floats]:
        """Bits of a boot of each candidate (n,): as a new kernel, and as what it is, one more boot
        of a known one where that has booted; 0 of what may not be picked.
        """
        eligible = self._eligible & self._built if self._builders_left <= 0 else self._eligible
        fresh = np.where(eligible, _gain(self._state, self._groups), 0.0)
        gain = fresh.copy()
        for i, (bits, _layout) in self._repeats.items():
            # Boots of one kernel share its build: a further one tells less than a new build.
            gain[i] = (min(gain[i], bits) if self.picked else bits) * eligible[i]
        return fresh, gain

    def _expected(self, gain: Floats) -> Floats:
        """Bits of a boot of each candidate (n,), by what its build may turn out to be."""
        return gain if self._other is None else self._other.bits(gain)

    def worths(self) -> tuple[Worth, ...]:
        """What one boot of each candidate is worth now."""
        gain = self._expected(self._gains()[1])
        rows = zip(self._shas, gain.tolist(), self._worth.tolist(), strict=True)
        return tuple(Worth(sha, bits, 1 / per_s) for sha, bits, per_s in rows)

    def build_ahead(self) -> None:
        """Add the best builds for the builders that are left. Only kernels that are not built are
        thought of, so that there are at most as many further tests as builders.
        """
        self._eligible &= ~self._built
        self._repeats = {}
        while self._builders_left > 0 and self.pick():
            pass

    def _take(self, i: int, trial: Trial) -> None:
        self.picked.append(trial)
        known_layout = (
            trial.layout == 0 or (trial.revision, trial.layout) in self._state.ledger.views
        )
        self._builders_left -= not (known_layout and (i < 0 or self._built[i]))
        if i < 0:
            return
        self._eligible[i] = False
        side = self._state.ancestry.ancestors_or_self(i)
        self._groups = [half for group in self._groups for half in _split(group, side)]

    def _best_other_layout(self, fresh: Floats) -> tuple[str, int, float]:
        """The revision that is most worth a build with another layout (a booted candidate with its
        index, or the good end with -1), and bits of its boot; no bits where there is no such build.
        `fresh` (n,) are the bits of a boot of each candidate as a new kernel.
        """
        if not self._state.layouts or self._builders_left <= 0:
            return "", -1, 0.0
        good_bits = _gain_of_good(self._groups) * (not self.picked)
        options = [(self._shas[i], i, float(fresh[i])) for i in self._repeats]
        options.append((self._state.spec.graph.older, -1, good_bits))
        options = [each for each in options if self._state.ledger.next_layout(each[0])]
        if not options:
            return "", -1, 0.0
        # All of these are another build each: no journal tells which one was taken by a last bit.
        bits = np.array([each[2] for each in options])
        return options[_tied(bits)[0] if self._state.spec.parts.ties else int(bits.argmax())]

    def _best(self, worth: Floats) -> int:
        """The candidate that is worth most (n,): the first of those that are worth as much. Older
        searches took the one that their processor rounded up, which was built next.
        """
        tied, spec = _tied(worth), self._state.spec
        if spec.parts.ties:
            return tied[0]
        best = int(worth.argmax())
        if self._built[best]:
            return best
        stands_for = self._state.ledger.equal.stand_in
        places = {sha: n for n, sha in enumerate(spec.built_before)}
        next_built = [
            (places[sha], i)
            for i in tied
            if not self._built[i] and (sha := stands_for(self._shas[i])) in places
        ]
        return min(next_built, default=(0, best))[1]


def _tied(worth: Floats) -> list[int]:
    """The places of all that are worth most, but for what is rounded, ascending."""
    tied: list[int] = np.flatnonzero(worth >= (1 - ROUNDED) * worth.max()).tolist()
    return tied


def _parts(posterior: Posterior) -> list[_Part]:
    """The likeliest patterns of sides one by one, the rest together, and no regression."""
    parts = [
        _Part(
            cell.weights,
            0.0,
            posterior.predict(cell.grid.good, cell.good),
            posterior.predict(cell.grid.bad, cell.bad),
        )
        for cell in posterior.cells
    ]
    rest_weights = posterior.commits - sum(cell.weights for cell in posterior.cells)
    if float(rest_weights.sum()) > 0:
        parts.append(_Part(np.maximum(rest_weights, 0.0), 0.0, posterior.good, posterior.bad))
    if posterior.none > 0:
        assert posterior.none_grid is not None
        shared = posterior.predict(posterior.none_grid.shared, posterior.shared)
        parts.append(_Part(np.zeros_like(posterior.commits), posterior.none, shared, shared))
    return parts


def _gain(state: SearchState, groups: list[list[_Part]]) -> Floats:
    """Bits that a boot of each commit as a new kernel tells, given which group is true,
    shape (n,). One group: plain information; several: what is left after the tests picked.
    """
    total = np.zeros(state.ancestry.size)
    for group in groups:
        mass = sum(float(part.weights.sum()) + part.none for part in group)
        if mass <= _NO_MASS:
            continue
        mixed = np.zeros((state.ancestry.size, group[0].good.size))
        known_entropy = np.zeros(state.ancestry.size)
        for part in group:
            part_mass = float(part.weights.sum())
            bad = np.clip(state.ancestry.mass(part.weights), 0.0, part_mass) / mass
            good = (part_mass + part.none) / mass - bad
            mixed += bad[:, None] * part.bad + good[:, None] * part.good
            known_entropy += bad * entropy(part.bad) + good * entropy(part.good)
        total += mass * np.maximum(entropy(mixed) - known_entropy, 0.0)
    return total


def _gain_of_good(groups: list[list[_Part]]) -> float:
    """Bits that a boot of a new kernel on the good side tells, given which group is true: only
    about "no regression".
    """
    total = 0.0
    for group in groups:
        masses = [float(part.weights.sum()) + part.none for part in group]
        mass = sum(masses)
        if mass > _NO_MASS:
            parts = zip(masses, group, strict=True)
            total += mass * _bits_of([(part_mass / mass, part.good) for part_mass, part in parts])
    return total


def _bits_of(weighted: list[tuple[float, Floats]]) -> float:
    """Bits that a boot tells about which of these predictions, with their probabilities, is true:
    the entropy of the boot less what it is once that is known.
    """
    mixed = sum(probability * density for probability, density in weighted)
    known_entropy = sum(probability * float(entropy(density)) for probability, density in weighted)
    return max(0.0, float(entropy(np.asarray(mixed))) - known_entropy)


def trial_against_none(state: SearchState) -> Trial | None:
    """The boot that tells most a second about "no regression", also of a kernel whose side is not
    in question: one more of a kernel that has booted, or one of a layout that has not, however
    large the change is. None when that is not in question, or nothing tells.
    """
    spec, ledger, posterior = state.spec, state.ledger, state.belief
    if posterior.none <= NONE_AT_MOST or ledger.boots >= spec.max_boots:
        return None
    weight = _cell_weights(posterior)
    trials = [
        (_bits_of_one_more(posterior, weight, number), 0.0, _one_more_boot(state, kernel))
        for number, kernel in enumerate(posterior.kernels)
        if kernel.boots and not set(kernel.shas) & (ledger.untestable_shas | ledger.layouts_failed)
    ]
    if spec.parts.layouts and spec.layout_cost_s is not None and ledger.builds < spec.max_builds:
        cost_s = spec.layout_cost_s * spec.parts.costs
        groups = [_parts(posterior)]
        fresh = _gain(state, groups)
        for sha in state.related(posterior.best):
            if not (layout := ledger.next_layout(sha)):
                continue
            index = state.ancestry.index.get(sha)
            bits = _gain_of_good(groups) if index is None else float(fresh[index])
            trials.append((bits, cost_s, Trial(sha, BootPurpose.LAYOUT, layout=layout)))
    useful = [trial for trial in trials if trial[0] >= USELESS_BITS]
    if not useful:
        return None
    return max(useful, key=lambda trial: trial[0] / (trial[1] + spec.boot_cost_s))[2]


def _one_more_boot(state: SearchState, kernel: Kernel) -> Trial:
    """One more boot of a kernel."""
    ends = state.spec.graph.ends
    end = next((sha for sha in ends if sha in kernel.shas and not kernel.layout), None)
    if end is not None:
        return Trial(end, BootPurpose.CONTROL)
    return Trial(
        state.ledger.equal.stand_in(kernel.shas[0]), BootPurpose.SEARCH, layout=kernel.layout
    )


def _cell_weights(posterior: Posterior) -> Floats:
    """The part of all mass on commits that each cell holds, shape (c,)."""
    mass = np.array([float(cell.weights.sum()) for cell in posterior.cells])
    weight: Floats = mass / max(float(mass.sum()), 1e-300) * float(posterior.commits.sum())
    return weight


def _repeats(state: SearchState, posterior: Posterior) -> dict[int, tuple[float, int]]:
    """Bits that one more boot tells, for each candidate whose kernel has booted, and of which of
    its layouts. Computed for the kernels whose side is most open.
    """
    weight = _cell_weights(posterior)
    sides = np.array([cell.sides for cell in posterior.cells])
    bad = weight @ sides
    undecided = np.flatnonzero((bad > SURE_SIDE) & (bad < 1 - SURE_SIDE))
    chosen = set(
        undecided[np.abs(bad[undecided] - 0.5).argsort(kind="stable")[:OPEN_KERNELS]].tolist()
    )
    well = any(len(posterior.kernels[number].boots) > KNOWN_WELL for number in chosen)
    # Shares and counts have no level of a build.
    known = levels(posterior) if well and state.spec.parts.spent_builds else None
    repeats: dict[int, tuple[float, int]] = {}
    for number, kernel in enumerate(posterior.kernels):
        gained, boots = 0.0, len(kernel.boots)
        if number in chosen:
            gained = _bits_of_one_more(posterior, weight, number)
            if known is not None and boots > KNOWN_WELL:
                gained = _bits_left(known, gained, float(bad[number]), boots)
        for sha in kernel.shas:
            i = state.ancestry.index.get(sha, -1)
            if i >= 0 and gained > repeats.get(i, (-1.0, 0))[0]:
                repeats[i] = (gained, kernel.layout)
    return repeats


def _bits_left(known: tuple[Sides, Sides, float], gained: float, bad: float, boots: int) -> float:
    """What of the bits of one more boot of a build counts that was booted so often and is bad with
    this probability, by the levels of both sides (see `levels`): as much as a normal boot tells,
    for its level is known, and only other builds can tell what is the code of it. Between nodes
    that lie closer than the boots can tell, the densities of the cells would go on to differ.
    """
    good, worse, sigma = known
    spread, own = good.tau**2 + good.deviation**2, sigma**2 / boots
    share = spread / (spread + own)
    apart = np.maximum(worse.mean - good.mean, 0.0) * (1 - share)
    distance = apart / np.sqrt(sigma**2 + share * own)
    most = float(good.weight @ normal_bits(np.full(distance.size, bad), distance))
    # The next boots tell less as the square of their number: this is the sum of all.
    return min(gained, most) if min(gained, most) * boots >= SPENT_BITS else 0.0


def _bits_of_one_more(posterior: Posterior, weight: Floats, kernel_number: int) -> float:
    """Bits that one more boot of a kernel tells about which of the cells is true, which have the
    probabilities `weight` (c,).
    """
    weighted = [
        (float(probability), posterior.again(kernel_number, cell))
        for probability, cell in zip(weight, posterior.cells, strict=True)
    ]
    if posterior.none > SURE_SIDE:
        weighted.append((posterior.none, posterior.again(kernel_number, None)))
    return _bits_of(weighted)


def _split(group: list[_Part], side: Bools) -> list[list[_Part]]:
    """A group cut in two by a test; no regression means good."""
    bad = [_Part(np.where(side, part.weights, 0.0), 0.0, part.good, part.bad) for part in group]
    good = [
        _Part(np.where(side, 0.0, part.weights), part.none, part.good, part.bad) for part in group
    ]
    return [bad, good]


def _control_end(state: SearchState) -> str | None:
    """The end to boot once more when boots tell little, so that its distribution is known
    better and a drift of the host shows, or when the last boots lie at no level of an end; the end
    with fewer boots first.
    """
    if (end := _of_another_speed(state)) is not None:
        return end
    if not state.spec.controls or capacity(state.belief) >= STRONG_BITS:
        return None
    spec, values = state.spec, state.ledger.values
    good, bad = (state.ledger.measured(end) for end in spec.graph.ends)
    controls = good + bad - 2 * state.ends.used
    # What a proof has booted in turns needs no control.
    searched = sum(map(state.ledger.measured, values)) - good - bad - state.of_proofs
    if searched < (CONTROL_EVERY - 1) * (controls + 1):
        return None
    return spec.graph.older if good <= bad else spec.graph.newer


def _of_another_speed(state: SearchState) -> str | None:
    """The end to boot where the machine may have another speed: only ends tell what that is."""
    ends = state.spec.graph.ends
    lately = state.off_levels_lately
    counted = [lately.count(end) for end in ends]
    if len(lately) < OFF_LEVELS or min(counted) >= ENDS_OFF_LEVELS:
        return None
    return ends[counted[0] > counted[1]]


def end_before_nothing(state: SearchState) -> str | None:
    """The end to boot before a search says that nothing is found, where many boots were at no level
    of the ends, and these have hardly booted since.
    """
    spec, ledger = state.spec, state.ledger
    if state.off_levels.count(True) < OFF_LEVELS or ledger.boots >= spec.max_boots:
        return None
    boots = [ledger.measured(end) for end in spec.graph.ends]
    if min(boots) >= state.ends.used + FEWEST:
        return None
    return spec.graph.older if boots[0] <= boots[1] else spec.graph.newer


def failure_chance(state: SearchState) -> Floats:
    """Chance that each candidate does not build or boot, shape (n,).

    Failures spread to graph neighbours and fade with distance, but not through revisions
    that work: those stand after the fix or before the breaker.
    """
    ancestry, ledger = state.ancestry, state.ledger
    failed = ancestry.places(ledger.untestable_shas)
    working = ancestry.places(sha for sha, boots in ledger.values.items() if boots)
    survive = np.full(ancestry.size, 1 - BASE_FAILURE)
    # Every further failure makes a longer broken stretch likelier.
    reach = max(1.0, math.sqrt(ancestry.size) * (FAILURE_REACH + FURTHER_REACH * len(failed)))
    for start in failed:
        for i, step in ancestry.distances(start, math.ceil(GONE * reach), working).items():
            survive[i] *= 1 - NEIGHBOUR_FAILURE * math.exp(-step / reach)
    survive[working] = 1 - BASE_FAILURE
    chance: Floats = 1 - survive
    return chance
