# SPDX-License-Identifier: GPL-2.0-or-later
"""Ends that are compared on all figures are booted on where that decides."""

import math
from dataclasses import replace

import pytest

from helpers.campaigns import RES, World, boots, line_of, sha
from rtbisect.judge.scale import effect_of, shift_behind
from rtbisect.judge.verdict import foreseen, judge
from rtbisect.lab.fake import FakeLab
from rtbisect.model.campaign import Better, Level, Limits, Outcome, Sample, Scale
from rtbisect.pipeline import bisect, check

WAIT = "p50_us", "rcu-off"
LIMITS = Limits(max_boots=80, looks_max=16)


def world_with(tmp_path, waits_us, *, worse_us=0.0, **changes):
    """A world in which the k-th boot of an end waits for so long, and at the newer end by
    `worse_us` longer.
    """
    taken = {}

    def draw(request, random):
        number = taken[request.revision] = taken.get(request.revision, -1) + 1
        found = boots(None)(request, random)
        wait_us = waits_us[number % len(waits_us)]
        if request.revision == sha(8):
            # In another order, so that the ends are no copies of each other.
            wait_us = worse_us + waits_us[(3 * number + 1) % len(waits_us)]
        return [replace(m, value=wait_us) if (m.name, m.window) == WAIT else m for m in found]

    here = World(tmp_path, line_of(8), FakeLab(draw))
    here.limits = replace(LIMITS, **changes)
    return here


#: Scatters by so much that ten boots a side do not exclude 800 us more, and sixteen do.
WIDE = (6268.0, 6328.0, 5442.0, 6495.0, 6410.0, 5468.0, 6364.0)


def booted(here):
    return max(len([r for r in here.lab.requests if r.revision == sha(n)]) for n in (0, 8))


def test_a_figure_that_more_boots_decide_gets_them(tmp_path):
    here = world_with(tmp_path, WIDE)
    result, _ = bisect.bisect(*here.open())
    assert (result.outcome, booted(here)) == (Outcome.NO_REGRESSION, 16)


@pytest.mark.parametrize(
    "changes", [{"looks_beyond": False}, {"looks_max": 0}], ids=["began before", "no more boots"]
)
def test_without_such_looks_it_stays_open(tmp_path, changes):
    here = world_with(tmp_path, WIDE, **changes)
    result, _ = bisect.bisect(*here.open())
    assert (result.outcome, booted(here)) == (Outcome.INCONCLUSIVE, 10)


def test_a_check_has_the_boots_that_it_has(tmp_path):
    here = world_with(tmp_path, WIDE)
    result = check.check(*here.open())
    assert (result.outcome, booted(here)) == (Outcome.INCONCLUSIVE, 10)


def test_what_no_look_will_decide_gets_no_boots(tmp_path):
    here = world_with(tmp_path, WIDE, worse_us=700.0)
    result, _ = bisect.bisect(*here.open())
    assert (result.outcome, booted(here)) == (Outcome.INCONCLUSIVE, 10)


def test_a_figure_that_gets_worse_is_seen_after_more_boots(tmp_path):
    slow = (5800.0, 5200.0, 6600.0, 5300.0, 6100.0, 6700.0, 5500.0, 5300.0)
    here = world_with(tmp_path, slow, worse_us=1000.0)
    result, _ = bisect.bisect(*here.open())
    assert (str(result.metric), booted(here) >= 16) == ("rcu.p50_us@rcu-off", True)


@pytest.mark.parametrize("better", list(Better))
@pytest.mark.parametrize("scale", list(Scale))
def test_an_effect_has_its_shift(scale, better):
    threshold = replace(RES, scale=scale, better=better)
    for shift in (-0.7, 0.0, 1.3):
        assert shift_behind(threshold, effect_of(threshold, shift)) == pytest.approx(shift)


BASE = Sample((1.0, 2.0, 1.5, 1.2, 1.8, 1.1))


@pytest.mark.parametrize(
    ("factor", "boots_then", "level"),
    [
        (1.0, 6, Level.UNDECIDED),
        (1.0, 24, Level.PASS),
        (1.49, 24, Level.UNDECIDED),
        (1.8, 6, Level.UNDECIDED),
        (1.8, 24, Level.REGRESSED),
        (9.0, 6, Level.REGRESSED),
    ],
)
def test_more_boots_of_the_same_kind_decide(factor, boots_then, level):
    threshold = replace(RES, floor=0.0)
    new = Sample(tuple(factor * value for value in BASE.values))
    judgement = judge(threshold, BASE, new, alpha=0.004)
    assert foreseen(threshold, judgement, boots=boots_then, alpha=0.001) is level


def test_without_boots_nothing_is_foreseen():
    judgement = judge(RES, Sample(()), BASE)
    assert foreseen(RES, judgement, boots=100, alpha=0.01) is Level.UNDECIDED
    assert math.isfinite(shift_behind(RES, judgement.effect))
