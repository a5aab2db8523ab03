# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine that drifts: how far it is told to have, and what a search makes of that."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.searches import WAIT, on_machine
from rtbisect.model.campaign import Outcome
from rtbisect.model.kinds.pipeline import Searches
from rtbisect.pipeline.search_and_proof import _speeds
from rtbisect.search import engine
from rtbisect.search.likelihood.drift import drift_of
from rtbisect.search.parts import Parts

#: What the newer end adds; a run repeats to 1.
STEP = 2.0


def in_turns(runs, drift, rng, *, tails=False):
    """Runs of both ends and of 30 other builds, each of one level; `drift` is what is added to each
    run in turn.
    """
    found = []
    for number in range(runs):
        other = number >= 24 and number % 4
        build = int(rng.integers(30)) if other else ("older", "newer")[number // 4 % 2]
        level = STEP * (build == "newer" or (other and build > 15))
        noise = rng.standard_t(3) / 3**0.5 if tails else rng.standard_normal()
        found.append((100.0 + level + drift[number] + noise, build))
    return found


MACHINES = {
    "evenly": lambda n: 0.03 * n,
    "at first": lambda n: 4 * np.exp(-n / 25),
    "up and down": lambda n: 1.5 * np.sin(n / 12),
}


@pytest.mark.parametrize("tails", [False, True])
@pytest.mark.parametrize("drift", MACHINES.values(), ids=MACHINES.keys())
def test_how_far_a_machine_has_drifted_is_told(drift, tails):
    drift = [drift(n) for n in range(160)]
    told = drift_of(in_turns(160, drift, np.random.default_rng(1), tails=tails))
    off = np.array(told) - drift
    assert off.std() < 0.5 < np.std(drift)


@pytest.mark.parametrize("tails", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_a_machine_that_stands_still_has_not_drifted(seed, tails):
    rng = np.random.default_rng(seed)
    runs = int(rng.integers(20, 200))
    assert drift_of(in_turns(runs, [0.0] * runs, rng, tails=tails)) == ()


def test_a_burst_is_no_drift():
    rng = np.random.default_rng(5)
    drift = [30.0 if n in (40, 41, 42, 90, 91) else 0.0 for n in range(120)]
    assert drift_of(in_turns(120, drift, rng)) == ()


def test_a_few_runs_tell_of_no_drift():
    assert drift_of([]) == drift_of([(1.0, "a")]) == drift_of([(1.0, "a"), (2.0, "a")]) == ()
    # Nor do those that all measure the same, nor those of as many builds.
    assert drift_of([(5.0, "a"), (7.0, "b")] * 40) == ()
    assert drift_of([(float(n), n) for n in range(80)]) == ()


@pytest.fixture(scope="module")
def drifted():
    """A search on a machine that becomes slower by a tenth of a standard deviation from run to run;
    the commit that it looks for adds two.
    """
    return on_machine(lambda boot: 1 + 0.001 * boot, step=STEP)


def test_a_search_names_its_commit_on_a_machine_that_drifts(drifted):
    answer = engine.answer(drifted)
    assert (answer.outcome, answer.culprit) == (Outcome.CULPRIT, "c40")
    values = [value for values in drifted.ledger.values.values() for value in values]
    assert all(96 < value < 106 for value in values)
    # A proof compares what it boots in turns as it is.
    assert (drifted.two_speeds, drifted.before) == ({}, None)


def test_that_the_machine_drifted_is_told(drifted):
    (told,) = _speeds(WAIT, SimpleNamespace(state=drifted))
    assert (told.kind, told.data["boots"]) == (Searches.DRIFT, drifted.ledger.boots)
    assert abs(told.data["effect"].data["ratio"] - 1 - 0.001 * drifted.ledger.boots) < 0.02


def test_a_campaign_that_began_before_takes_each_boot_as_it_was(drifted):
    began_before = replace(drifted, spec=replace(drifted.spec, parts=Parts(drift=False)))
    assert began_before.at_one_speed == {}
    assert max(began_before.ledger.values["c63"]) > 106


def test_a_search_on_a_machine_that_stands_still_takes_each_boot_as_it_was():
    assert on_machine(lambda _: 1.0, step=5.0).drift == {}
