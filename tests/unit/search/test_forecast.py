# SPDX-License-Identifier: GPL-2.0-or-later
"""What a search is expected to take, against what searches take."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.noisy import noisy
from helpers.searches import built, chain, event, replayed, spec
from rtbisect.model.campaign import Statistic
from rtbisect.search import engine
from rtbisect.search.forecast import Expected, expected
from rtbisect.search.information import normal_bits
from rtbisect.search.likelihood.two_level import student
from rtbisect.search.outlook import Terms, assumed, known, same_as_normal
from rtbisect.search.rehearsal import LONGEST, REHEARSALS, rehearsed
from searchbench.simulate import carry_on


def test_what_searches_take_lies_around_what_was_expected():
    """Of four searches the middle one takes 0.6 to 1.6 times what was expected of it, and most of
    them lie in their intervals.
    """
    ratios, inside = [], 0
    for trial in range(4):
        state, world = noisy(trial)
        coming = expected(state)
        boots = carry_on(state, world)[0].ledger.boots - state.ledger.boots
        ratios.append(boots / coming.boots.middle)
        inside += coming.boots.low <= boots <= coming.boots.high
    assert 0.6 < np.median(ratios) < 1.6
    assert inside >= 3


def test_it_shrinks_as_the_search_goes_on_and_ends_at_zero():
    state, world = noisy(3)
    whole = carry_on(state, world)[0]
    start = len(state.events)
    steps = np.linspace(start, len(whole.events), 4).astype(int)
    left = [
        engine.forecast(replayed(engine, whole.spec, whole.events[:step])).boots.middle
        for step in steps
    ]
    assert left == sorted(left, reverse=True)
    assert left[-1] == 0
    assert engine.forecast(whole).chance == 1.0


def test_the_same_state_gives_the_same_forecast():
    state = noisy(1)[0]
    assert expected(state) == expected(state)


def of(effect, commits=100, **terms):
    wanted = Terms(**{"build_s": 20.0, "boot_s": 20.0, "layout_s": None} | terms)
    return rehearsed(assumed(wanted, commits, effect, 10))


def test_a_smaller_change_takes_more_boots_and_a_longer_history_more_builds():
    assert np.median(of(1.0).boots) > 2 * np.median(of(3.0).boots)
    short, long = of(2.0, 50), of(2.0, 400)
    assert np.median(long.builds) - np.median(short.builds) == pytest.approx(3, abs=1)


def test_where_builds_differ_other_layouts_are_built():
    seen = of(2.0, layout_s=20.0)
    # Two of the commit and two of its parent, at least, of every search that named one.
    assert seen.layouts[seen.named].min() >= 4
    assert not of(2.0).layouts.any()


def test_where_a_build_is_dear_there_are_fewer():
    assert np.median(of(1.0, build_s=2000.0).builds) < np.median(of(1.0, build_s=1.0).builds)


def test_a_search_that_does_not_end_is_left_and_said_to_be_the_longest():
    seen = of(0.05, 400)
    assert seen.boots.max() <= LONGEST
    assert seen.boots[~seen.over].min() >= seen.boots[seen.over].max(initial=0)


def test_a_budget_below_what_is_expected_leaves_little_chance():
    state = noisy(2)[0]
    used = state.ledger.boots
    enough = replace(state, spec=replace(state.spec, max_boots=used + LONGEST))
    little = replace(state, spec=replace(state.spec, max_boots=used + 3))
    assert expected(enough).chance > 0.8
    assert expected(little).chance < 0.1


def test_before_the_ends_are_booted_their_boots_and_builds_are_expected_too():
    first = engine.forecast(engine.start(spec(chain(64))))
    assert first.boots.low > 12
    assert first.builds.low >= 2
    assert engine.forecast(engine.start(spec(chain(64), max_boots=13))).chance == 0.0


def of_ends(good, bad, **changes):
    """The forecast after these boots of both ends, of which none says yet that they differ."""
    asked = spec(chain(64), boot_cost_s=20.0, build_cost_s=20.0, **changes)
    ends = {"good": good, f"c{63}": bad}
    heard = [built(end, end) for end in ends]
    heard += [event(end, value) for end, values in ends.items() for value in values]
    state = replayed(engine, asked, heard)
    assert not state.ends.reproduced
    return engine.forecast(state)


def test_a_large_difference_of_the_first_boots_is_expected_of_the_search():
    nothing, little = of_ends([], []), of_ends([1.0, 1.1, 0.9], [1.1, 1.0, 1.2])
    large = of_ends([1.0, 1.1, 0.9], [5.0, 5.1, 4.9])
    assert little.boots.middle > 2 * large.boots.middle
    assert nothing.boots.middle > 2 * large.boots.middle
    # Without any noise a difference is as large as it may be, and none is none.
    assert of_ends([1.0] * 3, [5.0] * 3).boots == large.boots
    assert of_ends([1.0] * 3, [1.0] * 3).boots == little.boots


def test_other_layouts_are_expected_where_the_difference_may_be_small():
    layouts = {"layout_cost_s": 300.0, "layout_below": 0.2}
    large = of_ends([1.0, 1.01, 0.99], [5.0, 5.01, 4.99], **layouts)
    small = of_ends([1.0, 1.01, 0.99], [1.1, 1.11, 1.09], **layouts)
    assert small.seconds.middle > 5 * large.seconds.middle


def test_shares_are_rehearsed_as_normal_boots_that_tell_as_much():
    state = noisy(0, failures=True)[0]
    assert state.spec.threshold.statistic is Statistic.FRACTION
    outlook = known(state)
    assert outlook.bad.middle > outlook.good.middle
    assert rehearsed(outlook).over.mean() > 0.8


@pytest.mark.parametrize("distance", [0.5, 1.0, 3.0])
def test_normal_boots_are_as_far_apart_as_they_are(distance):
    y = np.linspace(-10, 10, 4001)
    good, bad = (np.exp(-0.5 * (y - c) ** 2) for c in (0.0, distance))
    assert same_as_normal(good, bad) == pytest.approx(distance, rel=1e-3)


def test_longer_tails_tell_less():
    y = np.linspace(-30, 30, 4001)
    assert same_as_normal(student(y), student(y - 2.0)) < 2.0


def test_a_boot_tells_most_where_nothing_is_known():
    q = np.array([[0.0, 0.1, 0.5, 0.9, 1.0]])
    seen = normal_bits(q, np.array([2.0]))[0]
    assert seen.argmax() == 2
    assert seen[[0, 4]] == pytest.approx(0.0, abs=1e-9)
    assert normal_bits(np.array([[0.5]]), np.array([6.0]))[0, 0] == pytest.approx(1.0, abs=0.02)
    assert normal_bits(np.array([[0.5]]), np.array([0.0]))[0, 0] == pytest.approx(0.0, abs=1e-9)


def test_the_interval_holds_four_of_five():
    assert Expected.of(np.arange(101.0)) == Expected(10.0, 50.0, 90.0)
    assert REHEARSALS >= 50
