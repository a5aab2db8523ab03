# SPDX-License-Identifier: GPL-2.0-or-later
"""Budgets that are given after a campaign began."""

from dataclasses import replace

import pytest

from rtbisect.model.campaign import Limits
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Searches
from rtbisect.pipeline.further import FurtherBudget, FurtherBudgets, FurtherRuns, GrownBudget

LIMITS = Limits(max_boots=40, max_builds=40)


class Recorder:
    """A journal."""

    def __init__(self):
        self.steps = {}

    def step(self, key, _kind, effect):
        self.steps.setdefault(key, effect(None))
        return self.steps[key]


def test_a_budget_counts_from_its_run_on_and_the_last_one_wins():
    further = FurtherBudgets(known=[FurtherBudget(22, 22), FurtherBudget(22, 100)])
    assert further.limits(LIMITS, 21) is LIMITS
    assert (further.limits(LIMITS, 22).max_boots, LIMITS.max_builds) == (100, 40)
    assert further.limits(LIMITS, 23) is LIMITS


def test_runs_that_a_person_wants_come_beside_the_budget_and_once():
    recorder, further = Recorder(), FurtherBudgets(again=("a" * 40, 6))
    further.keep(recorder, 40, LIMITS)
    asked = FurtherRuns(40, "a" * 40, 6)
    assert recorder.steps == {"again/1": asked, "budget/1": FurtherBudget(40, 46)}
    assert not further.runs_due(39)
    assert further.runs_due(41)
    assert list(further.take_runs(41)) == [asked]
    assert not further.runs_due(41)


def test_runs_that_a_person_wants_come_beside_a_new_budget():
    further = FurtherBudgets(known=[FurtherBudget(5, 5)], again=("a" * 40, 6))
    further.keep(Recorder(), 9, LIMITS)
    assert further.known[-1] == FurtherBudget(9, 15)
    further = FurtherBudgets(most=100, again=("a" * 40, 6))
    further.keep(Recorder(), 9, LIMITS)
    assert further.known[-1] == FurtherBudget(9, 106)


def test_a_new_budget_is_recorded_behind_those_that_are_known():
    recorder, further = Recorder(), FurtherBudgets(known=[FurtherBudget(5, 5)], most=60)
    further.keep(recorder, 7, LIMITS)
    assert recorder.steps == {"budget/2": FurtherBudget(7, 60)}
    assert further.known[-1] == FurtherBudget(7, 60)


def test_a_budget_grows_as_far_as_it_may():
    limits, recorder = replace(LIMITS, grows_to=100), Recorder()
    further = FurtherBudgets()
    assert further.grow(recorder, limits, 20, 70) == GrownBudget(40, 70)
    assert further.grow(recorder, limits.with_boots(70), 20, 90) == GrownBudget(70, 70)
    # What is recorded counts, whatever a later program would ask for.
    assert FurtherBudgets().grow(recorder, limits, 20, 90) == GrownBudget(40, 70)
    assert further.grown == [GrownBudget(40, 70)]
    assert further.grow(recorder, limits, 21, 30) == GrownBudget(40, 40)
    assert further.grow(recorder, limits, 22, 700) == GrownBudget(40, 100)


def test_a_budget_that_a_person_gave_does_not_grow():
    limits, recorder = replace(LIMITS, grows_to=100), Recorder()
    further = FurtherBudgets(known=[FurtherBudget(5, 40)])
    assert further.grow(recorder, limits, 20, 70) == GrownBudget(40, 40)


@pytest.mark.parametrize("most", [20, 50, 90])
def test_a_later_budget_outlives_the_growth_before_it(most):
    """It grew before the run that a person then allowed, or that the time was over."""
    limits, recorder = replace(LIMITS, grows_to=100), Recorder()
    order = FurtherBudgets().grow(recorder, limits, 20, 70)
    assert FurtherBudgets().with_growth(limits, order).max_boots == 70
    further = FurtherBudgets(known=[FurtherBudget(20, most)])
    given = further.limits(limits, 20)
    again = further.grow(recorder, given, 20, 95)
    assert again == order
    assert further.with_growth(given, again).max_boots == most


def test_runs_that_a_person_wants_come_beside_a_budget_that_has_grown():
    further = FurtherBudgets(grown=[GrownBudget(40, 70)], again=("a" * 40, 6))
    further.keep(Recorder(), 50, LIMITS)
    assert further.known[-1] == FurtherBudget(50, 76)


def test_when_the_time_is_over_the_budget_is_spent_once():
    now = [100.0]
    recorder, further = Recorder(), FurtherBudgets(time_s=30.0, clock=lambda: now[0])
    now[0] = 129.0
    further.heed_time(recorder, 8)
    assert recorder.steps == {}
    now[0] = 130.0
    told = further.heed_time(recorder, 9)
    assert told == Finding.of(Searches.TIME_OVER, time_s=30.0, boots=9)
    assert further.heed_time(recorder, 10) is None
    assert recorder.steps == {"budget/1": FurtherBudget(9, 9)}
    assert further.limits(LIMITS, 9).max_boots == 9


def test_what_was_recorded_is_replayed_before_any_time_counts():
    recorder = Recorder()
    further = FurtherBudgets(known=[FurtherBudget(22, 60)], time_s=0.0)
    further.heed_time(recorder, 3)
    assert recorder.steps == {}


def test_runs_that_were_recorded_are_replayed_before_any_time_counts():
    now = [100.0]
    recorder, further = Recorder(), FurtherBudgets(time_s=30.0, clock=lambda: now[0])
    further.keep(recorder, 65, LIMITS)
    now[0] = 190.0
    assert further.heed_time(recorder, 64) is None
    assert further.heed_time(recorder, 65) is None
    now[0] = 220.0
    assert further.heed_time(recorder, 66) is not None
    assert recorder.steps == {"budget/1": FurtherBudget(66, 66)}


def test_no_time_ends_a_campaign_with_all_that_was_recorded():
    recorder, further = Recorder(), FurtherBudgets(time_s=0.0)
    further.keep(recorder, 65, LIMITS)
    assert further.heed_time(recorder, 0) is None
    assert further.heed_time(recorder, 65) is not None
    assert recorder.steps == {"budget/1": FurtherBudget(65, 65)}


def test_the_time_is_over_until_a_person_allows_more():
    further = FurtherBudgets(known=[FurtherBudget(9, 9)])
    assert not further.over
    further.limits(LIMITS, 9)
    assert further.over
    further = FurtherBudgets(known=[FurtherBudget(9, 9), FurtherBudget(9, 100)])
    further.limits(LIMITS, 9)
    assert not further.over


def test_a_run_that_an_older_program_began_behind_the_time_does_not_end_a_search_again():
    """It looked at the time where it began the tenth run, and made that."""
    further = FurtherBudgets(known=[FurtherBudget(9, 9), FurtherBudget(10, 100)])
    assert further.limits(LIMITS, 9) is LIMITS
    assert not further.over
    assert further.limits(LIMITS, 10).max_boots == 100
