# SPDX-License-Identifier: GPL-2.0-or-later
"""What a search knows: its specification and its log, and all that follows from these two."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.judge.scale import by_mean, counted, shift_of
from rtbisect.search.calibrate import Calibration, calibration_of
from rtbisect.search.disturbed import levels, of_boots
from rtbisect.search.gradual import LIKELIER, NOT_GRADUAL, Gradual, weigh_gradual
from rtbisect.search.ledger import Ledger
from rtbisect.search.posterior import Posterior, posterior
from rtbisect.search.speeds import NO_SPEEDS, AtOneSpeed, Before, at_one_level, at_one_speed
from rtbisect.search.two_culprits import TwoCulprits, weigh_pairs

if TYPE_CHECKING:
    from rtbisect.search.ancestry import Ancestry
    from rtbisect.search.events import Event
    from rtbisect.search.spec import SearchSpec

#: Hypotheses compared for being inseparable hold this share of the mass, and are at most so many.
_COMPARED_MASS = 0.999
_COMPARED = 400
#: Cached values that follow from the boots and do not depend on the limits.
_OF_BOOTS = (
    *("_heard", "two_speeds", "drift", "_calm_and_ledger", "ends", "calm_ends", "small"),
    *("belief", "likeliest_set", "_pairs", "gradual", "two"),
)


@dataclass(frozen=True)
class SearchState:
    """Specification and log; everything else is derived from these two, on demand."""

    spec: SearchSpec
    #: Ancestry of `spec.graph`, made once.
    ancestry: Ancestry = field(compare=False, repr=False)
    #: What was built and booted, in the order in which it was heard.
    events: tuple[Event, ...] = ()
    #: Boots among these that were made for a proof.
    of_proofs: int = 0

    def with_limits(self, *, max_boots: int, max_builds: int) -> SearchState:
        """The same search with other limits. They change with every boot; what the boots say, which
        takes most of a search's time, is not computed again.
        """
        spec = self.spec
        if (max_boots, max_builds) == (spec.max_boots, spec.max_builds):
            return self
        state = replace(self, spec=replace(spec, max_boots=max_boots, max_builds=max_builds))
        known = vars(self)
        vars(state).update({name: known[name] for name in _OF_BOOTS if name in known})
        return state

    @cached_property
    def _heard(self) -> Ledger:
        """With the boots that were disturbed."""
        return Ledger(self.spec.threshold, self.events)

    @property
    def calm(self) -> float:
        """The badness above which a boot was disturbed; infinite where none was."""
        return self._calm_and_ledger[0]

    @property
    def calm_in_proof(self) -> float:
        """The same for boots of a proof. Those are compared as measured: infinite where the machine
        drifts, since `calm` is then a badness at the level of its first boots.
        """
        return math.inf if self.drifts else self.calm

    @property
    def ledger(self) -> Ledger:
        return self._calm_and_ledger[1]

    @cached_property
    def _calm_and_ledger(self) -> tuple[float, Ledger]:
        spec, heard = self.spec, self._heard
        if self.at_one_speed:
            heard = Ledger(spec.threshold, self.events, at_one_speed=self.at_one_speed)
        if not (spec.parts.disturbed and self.ends.figure.plain):
            return math.inf, heard
        ends, used = spec.graph.ends, self.ends.used
        measured = (heard.as_measured(end) for end in ends)
        most = of_boots(spec.threshold, *measured, rounded=spec.parts.rounded)
        calm, ledger = heard.without_disturbed(most)
        if used and not all(ledger.of_first(end, used) for end in ends):
            # The machine has become faster: nothing that was seen at the ends would count.
            return math.inf, heard
        return calm, ledger

    @property
    def _may_move(self) -> bool:
        """Whether the speed of a machine may show in the searched figure."""
        spec, ends = self.spec, self.ends
        whole = ends.figure.plain and not (by_mean(spec.threshold) or counted(spec.threshold))
        return bool(ends.reproduced and whole)

    @cached_property
    def two_speeds(self) -> AtOneSpeed:
        """What boots would have measured if their host had kept its speed; empty where it has."""
        spec = self.spec
        if not (spec.parts.speeds and self._may_move):
            return NO_SPEEDS
        lots = spec.parts.speeds_by_lot
        return at_one_speed(spec.threshold, spec.graph.ends, self.events, lots=lots)

    @cached_property
    def drift(self) -> AtOneSpeed:
        """What they would have measured if it had not drifted; empty where it has not, or has two
        speeds.
        """
        if not (self.spec.parts.drift and self._may_move) or self.two_speeds:
            return NO_SPEEDS
        return at_one_level(self.spec.threshold, self.events)

    @property
    def drifts(self) -> bool:
        """Whether a proof has to know that the machine has drifted; not in campaigns that began
        before a proof did.
        """
        return bool(self.spec.parts.whole_proof and self.drift)

    @property
    def at_one_speed(self) -> AtOneSpeed:
        """What boots would have measured if their host had stayed as it was."""
        return self.two_speeds or self.drift

    @property
    def before(self) -> Before | None:
        """What a proof has to know where the machine has two speeds. While it takes boots in turns
        a drift is the same for all.
        """
        if not self.two_speeds:
            return None
        return Before(self.spec.graph.ends, self.events, self.spec.parts.speeds_by_lot)

    @cached_property
    def off_levels(self) -> tuple[bool, ...]:
        """Which boots, in their order, are far better, or far worse, than both ends; empty where
        nobody can tell: shares and counts have no levels, and hosts have one each.
        """
        if not (self.spec.parts.speeds and self._may_move) or len(self.ledger.hosts) > 1:
            return ()
        low, high = levels(*self.calm_ends)
        return tuple(not low <= value <= high for _, value in self.ledger.in_order)

    @property
    def off_levels_lately(self) -> tuple[str, ...]:
        """The revisions of the last boots in a row that are: where it is the machine, it was that
        for all of them.
        """
        boots = zip(reversed(self.ledger.in_order), reversed(self.off_levels), strict=False)
        return tuple(sha for (sha, _), _ in takewhile(lambda boot: boot[1], boots))

    def related(self, candidate: int) -> tuple[str, ...]:
        """A candidate (by its index) and its parents."""
        commit = self.spec.graph.commits[candidate]
        return tuple(dict.fromkeys((commit.sha, *commit.parents)))

    @cached_property
    def ends(self) -> Calibration:
        """What the calibration says so far."""
        return calibration_of(self.spec, self._heard)

    @cached_property
    def calm_ends(self) -> tuple[tuple[float, ...], ...]:
        """Values of both ends at their last look, without what was disturbed."""
        if self.at_one_speed:
            ends = self.spec.graph.ends
            first = (self.ledger.of_first(end, self.ends.used) for end in ends)
            return tuple(tuple(boot[0] for boot in boots) for boots in first)
        return tuple(tuple(v for v in end if v <= self.calm) for end in self.ends.values)

    @cached_property
    def small(self) -> bool:
        """Whether the ends differ by so little that builds of one code may differ as much."""
        spec = self.spec
        if not (spec.layout_below and self.ends.reproduced):
            return False
        return self.ends.shift < shift_of(spec.threshold, self.calm_ends[0], spec.layout_below)

    @property
    def layouts(self) -> bool:
        """Whether other layouts are measured: the change is small, and there are such builds."""
        spec = self.spec
        return spec.parts.layouts and spec.layout_cost_s is not None and self.small

    @cached_property
    def belief(self) -> Posterior:
        """The posterior; only after the calibration has reproduced the difference."""
        return posterior(self.spec, self.ledger, self.ends, self.ancestry)

    @cached_property
    def likeliest_set(self) -> list[int]:
        """The likeliest set of candidates that no possible test tells apart, likeliest first.

        Two candidates are inseparable when every revision that can be tested descends from
        both or from neither. With everything testable each set is one commit. The parents
        of a culprit that cannot be verified against them belong to its set.
        """
        ledger, ancestry, commits = self.ledger, self.ancestry, self.belief.commits
        untestable = ancestry.places(ledger.untestable_shas)
        if not untestable:
            return [self.belief.best]
        testable = np.ones(ancestry.size, dtype=np.bool_)
        testable[untestable] = False
        groups: dict[bytes, list[int]] = {}
        mass, whole = 0.0, float(commits.sum())
        for i in (-commits).argsort(kind="stable")[:_COMPARED].tolist():
            if mass >= _COMPARED_MASS * whole:
                break
            mass += float(commits[i])
            column = ancestry.descendants_or_self(i) & testable
            groups.setdefault(np.packbits(column).tobytes(), []).append(i)
        best = max(groups.values(), key=lambda members: float(commits[members].sum()))
        if len(best) == 1 and commits[best[0]] >= self.spec.confidence:
            return best + [j for j in ancestry.parents[best[0]] if not testable[j]]
        return best

    @cached_property
    def _pairs(self) -> TwoCulprits:
        if not self.spec.parts.two_culprits:
            return TwoCulprits.unweighed(self.belief)
        return weigh_pairs(self.ledger, self.ancestry, self.belief)

    @cached_property
    def gradual(self) -> Gradual:
        """Whether the change came in many steps; only after the calibration, too."""
        if not self.spec.parts.gradual:
            return NOT_GRADUAL
        return weigh_gradual(self.ledger, self.ancestry, self.belief, self._pairs)

    @cached_property
    def two(self) -> TwoCulprits:
        """Whether there are two culprits, or rather many; only after the calibration, too."""
        pairs, many = self._pairs, self.gradual.probability
        if many < LIKELIER:
            return pairs
        few = 1 - many
        return replace(pairs, probability=few * pairs.probability, commits=few * pairs.commits)
