# SPDX-License-Identifier: GPL-2.0-or-later
"""What a search is expected to take: told once it has begun, and again where it takes longer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Searches
from rtbisect.model.ports import Left
from rtbisect.pipeline.budget import FIRST_GUESS_PLAN_S
from rtbisect.search import engine
from rtbisect.search.end_layouts import end_layouts
from rtbisect.search.siblings import boots_to_keep

if TYPE_CHECKING:
    from rtbisect.model.campaign import Limits
    from rtbisect.pipeline.steps import Steps
    from rtbisect.search.forecast import Forecast
    from rtbisect.search.search_state import SearchState

#: A rehearsal takes as long as a short boot. It is made anew after this part of the boots that the
#: last one expected, and after so many at least.
PART, FEWEST = 1 / 3, 8
#: What a search wants is told in tens, where this chance says that it is of use.
ROUND, LIKELY = 10, 0.5


def wanted_boots(limits: Limits, state: SearchState, begun: int) -> int:
    """Boots in all, after so many that have begun, with which nine of ten searches like this one
    name a commit and prove it; 0 where it more likely names none with all that it may grow to.
    """
    left = limits.grows_to - begun
    coming = engine.forecast(
        state.with_limits(
            max_boots=state.ledger.boots + left, max_builds=state.ledger.builds + left
        )
    )
    if coming.chance < LIKELY:
        return 0
    proof = limits.kept_with(boots_to_keep(state, leads=True))
    return math.ceil((begun + coming.boots.high + proof) / ROUND) * ROUND


@dataclass(frozen=True, slots=True)
class BootsToCome:
    """What is expected after the next boot, with the proof."""

    boots: int
    #: With the next boot; None where nobody knows what one takes.
    time: Left | None = None


class Expectation:
    """Forecast of one search, from its first step to its end."""

    def __init__(self, steps: Steps, *, told: bool = False) -> None:
        self._steps = steps
        #: Whether the forecast was told already.
        self._told = told
        self._told_kept = False
        #: Whether it was asked already if the budget grows.
        self._grown = told
        self._forecast: Forecast | None = None
        #: When the forecast was made: boots of the search, and whether the ends surely differed.
        self._boots = 0
        self._reproduced = False
        #: Boots of the campaign that were shown last, with those of the proof.
        self._total = 0
        #: Boots at which the search has taken longer than was told.
        self._late = 0.0

    def to_come(self, state: SearchState) -> BootsToCome:
        """What is expected, for the progress."""
        boots = self.left(state)
        return BootsToCome(boots, self._left_s(state, boots))

    def left(self, state: SearchState) -> int:
        """Boots that are expected after the next one with those of the proof, for the progress: as
        many as are told, while that lies where four of five searches like it end.
        """
        forecast, since = self._fresh(state).boots, state.ledger.boots - self._boots
        low, middle, high = (
            math.ceil(max(1.0, boots - since))
            for boots in (forecast.low, forecast.middle, forecast.high)
        )
        proof, done = self._proving(state), self._steps.begun
        if not low <= self._total - done - proof <= high:
            self._total = done + middle + proof
        return self._total - done - 1

    def _proving(self, state: SearchState) -> int:
        """Boots that a proof takes at most by what is known now, whether or not a commit leads."""
        limits = self._steps.setup.limits
        if state.ends.reproduced:
            return limits.proof_boots + boots_to_keep(state, leads=True)
        # A commit and its parent take as many as the ends, which have had so many by now.
        values = state.ledger.values
        seen = (len(values.get(end, ())) for end in state.spec.graph.ends)
        return limits.proof_boots + 2 * max(limits.calibrate_min, *seen)

    def _left_s(self, state: SearchState, left: int) -> Left | None:
        """Seconds of the next boot, of those that are `left` after it, and of the builds among
        them; None where nobody knows what one takes.
        """
        budget = self._steps.budget
        if budget.left(1, 1) is None:
            return None
        forecast, since = self._fresh(state), state.ledger.boots - self._boots
        boot_s, build_s = budget.boot_cost_s(), budget.build_cost_s()
        most = self._proving(state)

        def of(name: str, proof: int, to_come: float | None = None) -> float:
            boots, seconds = getattr(forecast.boots, name), getattr(forecast.seconds, name)
            if not state.ends.reproduced:
                # The search has not heard yet what they cost, nor how long it plans them.
                seconds = boots * (boot_s + FIRST_GUESS_PLAN_S)
                seconds += getattr(forecast.builds, name) * build_s
            if to_come is None:
                to_come = max(1.0, boots - since)
            share = to_come / boots if boots else 0.0
            return float(seconds * share + proof * boot_s)

        low_s = of("low", min(most, 2 * self._steps.setup.limits.verify_boots))
        high_s = of("high", most)
        shown_s = of("middle", most, left + 1 - most)
        return Left(low_s=low_s, middle_s=min(max(low_s, shown_s), high_s), high_s=high_s)

    def grow(self, state: SearchState) -> bool:
        """Whether the budget has grown for a search: where it can first be forecast, and where it
        has spent what it may take.
        """
        steps = self._steps
        limits = steps.setup.limits
        if not (state.ends.reproduced and limits.grows):
            return False
        if self._grown and steps.budget.search_boots_left(boots_to_keep(state)):
            return False
        self._grown = True
        return steps.grow(wanted_boots(limits, state, steps.begun))

    def follow(self, state: SearchState) -> None:
        """Tell what the search takes as soon as that is known, and when it takes longer; and that
        its budget ends, before it does.
        """
        self._tell_kept(state)
        if not state.ends.reproduced:
            return
        boots = state.ledger.boots
        if not self._told:
            if end_layouts(state, 1):
                # Two builds say nothing of how builds of one code differ.
                return
            self._told = True
            self._tell(state, self._fresh(state, anew=boots != self._boots))
        elif self._late and boots > self._late and self._steps.setup.limits.spent_builds:
            coming = self._fresh(state, anew=True)
            self._late = boots + coming.boots.high
            self._tell_longer(boots, coming)

    def _tell_kept(self, state: SearchState) -> None:
        """Show once that few boots are left that the proof does not need."""
        budget = self._steps.budget
        left = budget.search_boots_left(boots_to_keep(state))
        if self._told_kept or not 0 < left <= FEWEST:
            return
        self._told_kept = True
        kept = budget.boots_left - left
        self._steps.ports.progress.tell(Finding.of(Searches.FEW_LEFT, left=left, kept=kept))

    def _fresh(self, state: SearchState, *, anew: bool = False) -> Forecast:
        """The forecast, made anew where the last one is too old."""
        boots, reproduced = state.ledger.boots, bool(state.ends.reproduced)
        last = self._forecast
        if last is None or anew or reproduced is not self._reproduced or self._outdated(boots):
            last = self._forecast = engine.forecast(state)
            if reproduced is not self._reproduced:
                # What was shown before was a guess.
                self._total = 0
            self._boots, self._reproduced = boots, reproduced
        return last

    def _outdated(self, boots: int) -> bool:
        assert self._forecast is not None
        return boots - self._boots >= max(FEWEST, PART * self._forecast.boots.middle)

    def _tell(self, state: SearchState, coming: Forecast) -> None:
        ends, limits = state.ends, self._steps.setup.limits
        if not coming.boots.high and limits.spent_builds:
            # The looks have told everything.
            return
        self._late = state.ledger.boots + coming.boots.high
        self._steps.tell(
            Searches.EXPECTED,
            boots=ends.used,
            p=ends.p,
            figure=ends.figure.found,
            builds=coming.builds.middle,
            expected=coming.boots.middle,
            low=coming.boots.low,
            high=coming.boots.high,
            wall_s=coming.seconds.middle,
            low_s=coming.seconds.low,
            high_s=coming.seconds.high,
            chance=coming.chance,
            least=2 * limits.verify_boots,
            most=self._proving(state),
        )

    def _tell_longer(self, boots: int, coming: Forecast) -> None:
        if not coming.boots.middle:
            return
        self._steps.tell(
            Searches.LONGER,
            boots=boots,
            expected=coming.boots.middle,
            low=coming.boots.low,
            high=coming.boots.high,
            wall_s=coming.seconds.middle,
            chance=coming.chance,
        )
