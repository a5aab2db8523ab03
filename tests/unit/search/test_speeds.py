# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine with two speeds: which run had which, and what a search makes of that."""

import math
from dataclasses import replace

import numpy as np
import pytest

from helpers.searches import WAIT, chain, event, on_machine, spec
from rtbisect.model.campaign import Better, Observation, Outcome, Sample, Scale, Statistic
from rtbisect.model.lab import RunStatus
from rtbisect.search import engine, plan, verification
from rtbisect.search.events import Booted
from rtbisect.search.ledger import Ledger
from rtbisect.search.likelihood.chain import speeds_of
from rtbisect.search.parts import Parts
from rtbisect.search.spec import BootPurpose, Finish
from rtbisect.search.speeds import Before, at_one_speed
from rtbisect.search.verify_spec import VerifySpec

ENDS = ("good", "bad")
#: Runs that pass or fail.
FAILS = replace(WAIT, statistic=Statistic.FRACTION, min_effect=0.1)
#: A run of the older end, and what the newer one adds; a run repeats to 1.
GOOD, STEP = 100.0, 4.0


def in_turns(runs, slow, rng, *, step=STEP):
    """Runs of both ends and of others, which are of either side; `slow` is what is added to each
    run in turn.
    """
    found = []
    for number in range(runs):
        end = (0, 1, 1, 0)[number % 4] if number < 16 or number % 3 == 0 else None
        side = rng.integers(2) if end is None else end
        found.append((GOOD + step * side + slow[number] + rng.standard_normal(), end))
    return found


def kept(runs, every, apart):
    """A speed that lasts so many runs."""
    return [apart * (number // every % 2) for number in range(runs)]


@pytest.mark.parametrize("every", [6, 20, 30])
def test_the_speed_of_each_run_is_told_where_it_lasts(every):
    slow = kept(60, every, 15.0)
    told = speeds_of(in_turns(60, slow, np.random.default_rng(1)), lots=True)
    known = [(one, other) for one, other in zip(told, slow, strict=True) if one is not None]
    assert len(known) > 50
    assert all(abs(one - other) < 1.5 for one, other in known)


@pytest.mark.parametrize("seed", range(20))
def test_a_machine_with_one_speed_has_none(seed):
    rng = np.random.default_rng(seed)
    noise = [float(v) for v in rng.standard_t(3, 60)]
    assert speeds_of(in_turns(60, noise, rng), lots=True) == ()


def test_bursts_of_all_heights_are_no_speed():
    rng = np.random.default_rng(2)
    slow = [float(rng.uniform(6, 40)) * (number // 6 % 2) for number in range(60)]
    assert speeds_of(in_turns(60, slow, rng), lots=True) == ()


def test_what_the_newer_end_has_more_of_is_no_speed():
    """A commit after which half of the runs are slow."""
    rng = np.random.default_rng(3)
    runs = in_turns(80, [0.0] * 80, rng)
    by_lot = [(y + 15 * (end == 1 and rng.random() < 0.5), end) for y, end in runs]
    assert speeds_of(by_lot, lots=True) == ()


def test_a_few_runs_tell_of_no_speed():
    alike, apart = ([(100.0 + step * z, z) for z in (0, 1) * 20] for step in (0, 1))
    for runs in ([], [(100.0, 0), (104.0, 1)], [(1.0, None)], alike, apart):
        assert speeds_of(runs, lots=True) == ()


def heard(values, *, shas=(*ENDS, *ENDS[::-1]), host=""):
    return tuple(
        Booted(
            revision=shas[n % len(shas)],
            status=RunStatus.COMPLETE,
            observation=Observation(value=float(value), host=host),
            seconds=1.0,
        )
        for n, value in enumerate(values)
    )


def of_a_move(to, runs=16, step=5.0):
    """Boots of both ends in turns on a machine that takes `to` times as long from a run on."""
    rng = np.random.default_rng(4)
    sides = [(0, 1, 1, 0)[n % 4] for n in range(2 * runs)]
    level = [100 + step * side + rng.standard_normal() for side in sides]
    return [v * (to if n >= runs else 1) for n, v in enumerate(level)], level


@pytest.mark.parametrize("to", [0.6, 1.5])
def test_boots_are_compared_at_the_speed_that_came_first(to):
    values, level = of_a_move(to)
    there = at_one_speed(WAIT, ENDS, heard(values), lots=True)
    assert there
    assert min(there) >= 15
    told = [there.get(n, value) for n, value in enumerate(values)]
    pairs = [(one, other) for one, other in zip(told, level, strict=True) if one is not None]
    assert len(pairs) > 28
    assert all(abs(one - other) < 1.5 for one, other in pairs)


def test_speeds_multiply_what_is_above_zero_and_add_to_what_is_not():
    values, level = of_a_move(1.0)
    added = [v - 100 + 30 * (n >= 16) for n, v in enumerate(values)]
    there = at_one_speed(WAIT, ENDS, heard(added), lots=True)
    assert all(v is None or abs(v - (level[n] - 100)) < 1.5 for n, v in there.items())
    assert len(there) > 12


@pytest.mark.parametrize(
    "figure",
    [
        replace(WAIT, scale=Scale.LOG, min_effect=1.01, floor=20.0),
        replace(WAIT, better=Better.HIGHER),
    ],
    ids=["a ratio with a floor", "more is better"],
)
def test_speeds_of_other_figures(figure):
    values, level = of_a_move(1.5)
    ends = ENDS if figure.better is Better.LOWER else ENDS[::-1]
    floor = figure.floor
    seen = heard([(v + 20) * 1.5 - 20 if n >= 16 else v for n, v in enumerate(level)])
    there = at_one_speed(figure, ends, seen if floor else heard(values), lots=True)
    assert len(there) > 12
    assert all(v is None or abs(v - level[n]) < 1.5 for n, v in there.items())


def test_each_host_has_speeds_of_its_own():
    values, level = of_a_move(1.5)
    both = [*heard(values, host="one"), *heard(level, host="two")]
    there = at_one_speed(WAIT, ENDS, both, lots=True)
    assert there
    assert max(there) < len(values)


def test_a_boot_of_an_unknown_speed_is_left_out_and_made_again():
    boots = heard((100.0, 130.0, 101.0, 150.0), shas=("c3",))
    ledger = Ledger(WAIT, boots, at_one_speed={1: None, 3: 100.5})
    assert ledger.values["c3"] == (100.0, 101.0, 100.5)
    assert [seen.value for seen in ledger.observations["c3", 0]] == [100.0, 101.0, 100.5]
    assert (ledger.boots, ledger.measured("c3"), ledger.disturbed["c3", 0]) == (4, 3, 1)


SPEEDS = {
    "slower from a run on": lambda boot: 1.6 if boot >= 18 else 1.0,
    "faster from a run on": lambda boot: 0.6 if boot >= 18 else 1.0,
    "by turns": lambda boot: 1.4 if boot // 9 % 2 else 1.0,
}


@pytest.mark.parametrize("speed", SPEEDS.values(), ids=SPEEDS.keys())
def test_a_search_names_its_commit_on_a_machine_that_changes_its_speed(speed):
    state = on_machine(speed)
    answer = engine.answer(state)
    assert (answer.outcome, answer.culprit) == (Outcome.CULPRIT, "c40")
    assert state.ledger.boots < 100
    assert all(90 < value < 120 for values in state.ledger.values.values() for value in values)
    assert all(90 < value < 120 for end in state.calm_ends for value in end)


def test_a_campaign_that_began_before_takes_each_boot_as_it_was():
    state = on_machine(SPEEDS["slower from a run on"], parts=Parts(speeds=False))
    assert not state.at_one_speed
    assert state.before is None
    assert engine.answer(state).outcome is not Outcome.CULPRIT


def test_a_search_on_a_machine_with_one_speed_takes_each_boot_as_it_was():
    state = on_machine(lambda _: 1.0)
    assert (state.at_one_speed, state.before) == ({}, None)


def test_a_proof_that_booted_one_end_only_leaves_the_other_one_to_be_asked():
    """A revert is compared with the newer end: the machine changed its speed while it was."""
    state = on_machine(lambda _: 1.0)
    newer = state.spec.graph.newer
    fresh = [event(sha, 160.0) for sha in ("c39", newer, "c40", newer) * 6]
    state = engine.with_proof(state, fresh)
    assert len(state.off_levels_lately) >= len(fresh)
    assert [trial.revision for trial in plan.choose(state, 1, 1)] == [state.spec.graph.older]


def test_shares_have_no_speeds():
    """Four failures in a row are no other speed, and ask for no boot of an end."""
    asked = replace(spec(chain(64), max_boots=300, calibrate_max=60), threshold=FAILS)
    state, rng = engine.start(asked), np.random.default_rng(6)
    while not isinstance(first := engine.propose(state)[0], Finish):
        assert first.purpose is not BootPurpose.CONTROL
        chance = 0.02 if first.revision == state.spec.graph.older else 0.4
        state = engine.apply(state, event(first.revision, float(rng.random() < chance)))
    assert state.ends.reproduced
    assert (state.at_one_speed, state.off_levels) == ({}, ())


def test_boots_of_several_hosts_are_at_no_level():
    values, _ = of_a_move(1.0)
    state = engine.start(replace(spec(chain(64), max_boots=300), threshold=WAIT))
    for host in ("one", "two"):
        for boot in heard(values, shas=("good", "c63", "c63", "good"), host=host):
            state = engine.apply(state, boot)
    assert state.ends.reproduced
    assert state.off_levels == ()


def test_a_proof_goes_on_where_the_search_has_ended():
    """Its boots are compared at the speed of the search, however few they are."""
    values, _ = of_a_move(1.5)
    check = VerifySpec(
        culprit="culprit", parents=("parent",), threshold=WAIT, seed=3, revert=None, tip="tip",
        endpoints=(Sample((100.0,) * 6), Sample((105.0,) * 6)),
        before=Before(ENDS, heard(values)),
    )  # fmt: skip
    state, boots, rng = verification.start(check), 0, np.random.default_rng(5)
    while (due := verification.propose(state)) is not None:
        level = (100.0 if due.revision == "parent" else 105.0) + rng.standard_normal()
        state = verification.apply(state, event(due.revision, level * (1.5 if boots < 6 else 1.0)))
        boots += 1
    assert verification.verifications(state)[0].status == "pass"
    assert all(90 < value < 120 for seen in state.raw.values() for value in seen.values)
    assert math.isclose(boots, 12, abs_tol=2)
