# SPDX-License-Identifier: GPL-2.0-or-later
"""What a person gives a campaign after it began: other budgets, and runs at one commit; and the end
of the time that it has.

The limits that a campaign began with are a part of what it is, and what it has done follows from
them. So another budget counts from a run on, the first one after those that are recorded: whoever
replays the campaign changes it at the same place.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rtbisect.errors import Interrupted
from rtbisect.model.finding import Finding
from rtbisect.model.formats import kept_as
from rtbisect.model.kinds.pipeline import Searches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rtbisect.model.campaign import Limits
    from rtbisect.model.ports import Journal


@kept_as("FurtherBudget")
@dataclass(frozen=True, slots=True)
class FurtherBudget:
    """Once `after` runs have begun the budget is `most` runs: spent, where both are the same."""

    after: int
    most: int


@kept_as("FurtherRuns")
@dataclass(frozen=True, slots=True)
class FurtherRuns:
    """Once `after` runs have begun, and no proof is under way, a person wants so many `runs` of a
    revision, a full sha; they come beside the budget.
    """

    after: int
    revision: str
    runs: int


@kept_as("GrownBudget")
@dataclass(frozen=True, slots=True)
class GrownBudget:
    """What a budget of `before` runs has grown to."""

    before: int
    most: int


@dataclass(kw_only=True)
class FurtherBudgets:
    """The further budgets of one campaign, and the time that this session may take."""

    #: What was recorded, oldest first: new budgets, revisions to run again, and grown budgets.
    known: list[FurtherBudget] = field(default_factory=list)
    asked: list[FurtherRuns] = field(default_factory=list)
    grown: list[GrownBudget] = field(default_factory=list)
    #: Seconds that this session may take, and since when, by a clock that never jumps; None: any.
    time_s: float | None = None
    clock: Callable[[], float] = time.monotonic
    #: A new budget of runs, which counts from now on; None: as it was.
    most: int | None = None
    #: A revision that a person wants to be run again, and how often.
    again: tuple[str, int] | None = None
    #: Whether a person wants the session to end; asked before each run and each build.
    stop_asked: Callable[[], bool] = lambda: False
    #: How many of the `known` budgets count by now.
    _heeded: int = 0
    #: How many of the `asked` runs have been taken by now.
    _made: int = 0
    #: Runs that were recorded when the session began.
    _recorded: int = 0
    #: Runs that had begun where this session has been told of the growth of the budget.
    _grown_at: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._begun_s = self.clock()

    @property
    def given(self) -> bool:
        """Something was said now."""
        return self.changes or self.time_s is not None

    @property
    def changes(self) -> bool:
        """What was said may change an answer."""
        return self.most is not None or self.again is not None

    def keep(self, journal: Journal, runs: int, limits: Limits) -> None:
        """Record what was said, for a campaign that began with these limits and has made so many
        runs. Time counts from the first run after these.
        """
        self._recorded = runs
        if not self.changes:
            return
        most = self.most
        if most is None:
            begun_with = max(limits.max_boots, *(each.most for each in self.grown), 0)
            most = max(runs, self.known[-1].most if self.known else begun_with)
        if self.again is not None:
            revision, many = self.again
            most += many
            order = FurtherRuns(runs, revision, many)
            key = f"again/{len(self.asked) + 1}"
            self.asked.append(journal.step(key, FurtherRuns, lambda _note: order))
        self._record(journal, FurtherBudget(runs, most))

    def runs_due(self, begun: int) -> bool:
        """Whether there are runs that a person wants, once so many have begun."""
        return any(order.after <= begun for order in self.asked[self._made : self._made + 1])

    def take_runs(self, begun: int) -> Iterator[FurtherRuns]:
        """The same, each once."""
        while self.runs_due(begun):
            self._made += 1
            yield self.asked[self._made - 1]

    def _record(self, journal: Journal, order: FurtherBudget) -> None:
        key = f"budget/{len(self.known) + 1}"
        self.known.append(journal.step(key, FurtherBudget, lambda _note: order))

    def limits(self, limits: Limits, begun: int) -> Limits:
        """The limits once so many runs have begun."""
        due = [order for order in self.known[self._heeded :] if order.after <= begun]
        self._heeded += len(due)
        for order in due:
            if not (_spent(order) and self._went_on(order)):
                limits = limits.with_boots(order.most)
        return limits

    @property
    def over(self) -> bool:
        """The time has ended the budget that counts now: no run begins any more, and no build."""
        last = self.known[: self._heeded][-1:]
        return any(_spent(order) and not self._went_on(order) for order in last)

    def _went_on(self, order: FurtherBudget) -> bool:
        """Whether runs were made all the same: older programs looked at the time as one began."""
        return any(later.after > order.after for later in self.known)

    def grow(self, journal: Journal, limits: Limits, begun: int, wanted: int) -> GrownBudget:
        """The budget, once so many runs have begun, of what wants so many in all: what it may grow
        to, unless a person has said how many. It grows once a run.
        """
        before = limits.max_boots
        if begun in self._grown_at:
            return GrownBudget(before, before)
        self._grown_at.add(begun)
        order = GrownBudget(before, before if self.known else limits.grown(wanted))
        order = journal.step(f"grown/{begun}", GrownBudget, lambda _note: order)
        if order not in self.grown:
            self.grown.append(order)
        return order

    def with_growth(self, limits: Limits, order: GrownBudget) -> Limits:
        """The limits after a budget has grown. One that a person has given since, or that the time
        has ended, stays as it is.
        """
        return limits if self._heeded else limits.with_boots(order.most)

    def heed_stop(self) -> None:
        """Interrupted where a person wants the session to end."""
        if self.stop_asked():
            raise Interrupted("stopped by `rtbisect stop`", "`rtbisect resume` goes on")

    def heed_time(self, journal: Journal, begun: int) -> Finding | None:
        """Spend the budget when the time is over, and say so, once. What is recorded is done first:
        it takes none.
        """
        if begun < self._recorded:
            self._begun_s = self.clock()
            return None
        if self.time_s is None or self._heeded < len(self.known):
            return None
        if self.clock() - self._begun_s < self.time_s:
            return None
        self._record(journal, FurtherBudget(begun, begun))
        over = Finding.of(Searches.TIME_OVER, time_s=self.time_s, boots=begun)
        self.time_s = None
        return over


def _spent(order: FurtherBudget) -> bool:
    """Whether it allows no run."""
    return order.most <= order.after
