# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs that have one of two speeds by lot: which run had which, and what a search makes of it."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from helpers.searches import on_machine
from rtbisect.model.campaign import Outcome
from rtbisect.search import engine
from rtbisect.search.likelihood.chain import speeds_of
from rtbisect.search.parts import Parts

RECORDED = Path(__file__).resolve().parents[2] / "data" / "speeds" / "by-lot.csv"
#: What the higher speed adds; a run repeats to 1.
ADDED = 15.0


def runs(rng, *, shares=(0.5, 0.5), step=3.0, ends=40, others=40, noise=None):
    """Runs of both ends in turns and of others of either side, (value, end); and whether each is at
    the higher level, whose share each side has.
    """
    sides = [0, 1, 1, 0] * (ends // 4) + rng.integers(2, size=others).tolist()
    high = rng.random(len(sides)) < np.array(shares)[sides]
    scatter = rng.standard_t(4, len(sides)) if noise is None else noise(len(sides))
    values = 100 + step * np.array(sides) + ADDED * high + scatter
    told = [side if number < ends else None for number, side in enumerate(sides)]
    return list(zip(values.tolist(), told, strict=True)), high


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
@pytest.mark.parametrize("step", [3.0, -3.0, 9.0])
def test_the_level_of_each_run_is_told(share, step):
    measured, high = runs(np.random.default_rng(1), shares=(share, share), step=step)
    told = speeds_of(measured, lots=True)
    known = [(added, at) for added, at in zip(told, high, strict=True) if added is not None]
    assert len(known) > 70
    wrong = [at for added, at in known if (added > 0) != at]
    assert len(wrong) <= 2
    assert {round(added / ADDED, 1) for added, _ in known if added} <= {0.9, 1.0, 1.1}


def test_campaigns_that_began_before_take_each_run_as_it_was():
    measured, _ = runs(np.random.default_rng(1))
    assert speeds_of(measured, lots=True)
    assert speeds_of(measured, lots=False) == ()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("shares", "step"),
    [((0.2, 0.7), 0.0), ((0.5, 0.5), 0.0), ((0.5, 0.5), ADDED)],
    ids=["a share that changes", "no change", "as much as a level adds"],
)
def test_what_is_no_machine_of_two_speeds_stays_as_it_was(shares, step, seed):
    measured, _ = runs(np.random.default_rng(seed), shares=shares, step=step)
    assert speeds_of(measured, lots=True) == ()


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("step", [0.0, 1.0, 3.0])
def test_noise_of_long_tails_is_no_level(step, seed):
    rng = np.random.default_rng(seed)
    measured, _ = runs(rng, shares=(0, 0), step=step, noise=lambda size: rng.standard_t(3, size))
    assert speeds_of(measured, lots=True) == ()


def test_levels_of_a_benchmark_that_was_searched_for_723_runs_without_an_answer():
    """The last commit that the older end contains is at position 0 and the newer end at 119; the
    commit at 36 makes a run take 9% longer, and by lot each takes 1.6 times as long.
    """
    with RECORDED.open(encoding="utf-8") as lines:
        rows = [(int(row["position"]), float(row["time_us"])) for row in csv.DictReader(lines)]
    measured = [(math.log(time), {0: 0, 119: 1}.get(place)) for place, time in rows]
    for size in (40, 75, 200, len(rows)):
        told = speeds_of(measured[:size], lots=True)
        assert speeds_of(measured[:size], lots=False) == ()
        at_first = [
            (place, time - added)
            for (place, _), (time, _), added in zip(rows, measured, told, strict=False)
            if added is not None
        ]
        assert len(at_first) > 0.7 * size
        good, bad = ([t for place, t in at_first if (place >= 36) == new] for new in (False, True))
        assert 1.05 < math.exp(np.median(bad) - np.median(good)) < 1.15
    assert speeds_of(measured[:12], lots=True) == ()


@pytest.mark.parametrize("seed", range(3))
def test_a_search_names_its_commit_where_each_run_has_a_speed_by_lot(seed):
    rng = np.random.default_rng([seed, 5])
    slow = (rng.random(400) < 0.5).tolist()
    state = on_machine(lambda boot: 1.5 if slow[boot] else 1.0, seed=seed)
    assert state.two_speeds
    answer = engine.answer(state)
    assert (answer.outcome, answer.culprit) == (Outcome.CULPRIT, "c40")
    assert state.ledger.boots < 120


def test_a_search_that_knows_of_no_lots_takes_each_run_as_it_was():
    slow = (np.random.default_rng([0, 5]).random(400) < 0.5).tolist()
    parts = Parts(speeds_by_lot=False)
    assert not on_machine(lambda boot: 1.5 if slow[boot] else 1.0, seed=0, parts=parts).two_speeds


def test_shares_that_differ_a_little_by_luck_do_not_hide_a_shift_that_is_sure():
    measured, high = runs(np.random.default_rng(3), shares=(0.4, 0.6), step=4.0, ends=200)
    older, newer = (np.array([z == end for _, z in measured]) for end in (0, 1))
    assert abs(high[older].mean() - high[newer].mean()) > 0.2
    assert speeds_of(measured, lots=True)
