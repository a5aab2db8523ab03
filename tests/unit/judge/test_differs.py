# SPDX-License-Identifier: GPL-2.0-or-later
"""What makes a figure differ, by what is known of it."""

from dataclasses import replace

import numpy as np
import pytest

from rtbisect.judge.bursts import Burst
from rtbisect.judge.differs import (
    Change,
    Counted,
    Facts,
    Spread,
    change_of_ends,
    difference,
    spread_of,
    spread_of_layouts,
)
from rtbisect.model.campaign import Better
from rtbisect.model.kinds.difference import Differs
from rtbisect.model.result import DiffersBy

BURST = Burst(first=41, last=58, shift=3.0, runs=12, revisions=4, p=0.002)
#: One build of each revision, and nothing is named.
OPEN = Facts(
    metric="command.ms@command", better=Better.LOWER, named=False, only_layout=False, alike=False,
    change=Change(0.041, 0.008, 0.0001), calm=Change(0.01, 0.008, 0.2), counted=None,
    layouts=(0, 0), spread=None, burst=None, burst_share=None, layout_most=0.2,
    helps=("--relayout",),
)  # fmt: skip
NAMED = replace(OPEN, named=True)
BETWEEN_BUILDS = Spread(0.03, 0.01, 14)
LAYOUT = replace(OPEN, only_layout=True, spread=BETWEEN_BUILDS)
MACHINE = replace(OPEN, burst=BURST, burst_share=0.3)


@pytest.mark.parametrize(
    ("facts", "by"),
    [
        # Many layouts of a commit and its parent.
        (replace(NAMED, layouts=(6, 6), layout_most=0.0), DiffersBy.CODE),
        # Instructions explain it.
        (replace(NAMED, counted=Counted(0.057, same=False)), DiffersBy.CODE),
        # So they do where a lower figure is the worse one.
        (
            replace(
                NAMED, change=Change(-0.041, 0.008), better=Better.HIGHER,
                counted=Counted(0.057, same=False),
            ),
            DiffersBy.CODE,
        ),
        # The ends differ over many layouts, whatever commit that is.
        (replace(OPEN, layouts=(20, 20), layout_most=0.0), DiffersBy.CODE),
        # Or the instructions of the ends explain it.
        (replace(OPEN, counted=Counted(0.057, same=False)), DiffersBy.CODE),
        (
            replace(OPEN, change=Change(0.5, 0.02, 0.001), counted=Counted(0.4, same=False)),
            DiffersBy.CODE,
        ),
        (LAYOUT, DiffersBy.LAYOUT),
        # In many layouts each the ends are alike.
        (
            replace(
                LAYOUT, only_layout=False, alike=True, layouts=(20, 20), layout_most=0.0,
                change=Change(0.02, 0.02, 0.3),
            ),
            DiffersBy.LAYOUT,
        ),
        (MACHINE, DiffersBy.MACHINE),
        (replace(MACHINE, alike=True), DiffersBy.MACHINE),
        # Builds that differ as much are there whatever the machine does.
        (replace(LAYOUT, burst=BURST, burst_share=0.3), DiffersBy.LAYOUT),
        (OPEN, DiffersBy.UNCLEAR),
        (NAMED, DiffersBy.UNCLEAR),
        # As many instructions: layout, caches or waiting.
        (replace(NAMED, counted=Counted(0.0, same=True)), DiffersBy.UNCLEAR),
        # More instructions than explain nothing, or the other way.
        (replace(NAMED, counted=Counted(0.004, same=False)), DiffersBy.UNCLEAR),
        (replace(NAMED, counted=Counted(-0.057, same=False)), DiffersBy.UNCLEAR),
        (replace(OPEN, counted=Counted(0.004, same=False)), DiffersBy.UNCLEAR),
        (replace(OPEN, counted=Counted(-0.057, same=False)), DiffersBy.UNCLEAR),
        # Instructions explain no change of the ends that may be none, or that builds make as well.
        (
            replace(OPEN, change=Change(0.02, 0.008, 0.02), counted=Counted(0.057, same=False)),
            DiffersBy.UNCLEAR,
        ),
        (
            replace(OPEN, change=Change(0.041, None), counted=Counted(0.057, same=False)),
            DiffersBy.UNCLEAR,
        ),
        (
            replace(LAYOUT, spread=None, counted=Counted(0.057, same=False)),
            DiffersBy.UNCLEAR,
        ),
        # Builds that differ by less than the ends do not make it.
        (replace(LAYOUT, spread=Spread(0.01, None, 14)), DiffersBy.UNCLEAR),
        (replace(LAYOUT, spread=None), DiffersBy.UNCLEAR),
        # A stretch of less than what the ends differ by does not make it.
        (replace(MACHINE, calm=Change(0.5, 0.2, 0.01), burst_share=0.3), DiffersBy.UNCLEAR),
        # Nor where they surely differ without it.
        (replace(MACHINE, calm=Change(0.04, 0.02, 0.001)), DiffersBy.UNCLEAR),
        # Nor where so few runs are left that ranks never say so.
        (replace(MACHINE, calm=Change(0.04, 0.01, 0.1)), DiffersBy.UNCLEAR),
        # A commit is proved in turns: no stretch makes that.
        (replace(MACHINE, named=True), DiffersBy.UNCLEAR),
    ],
)  # fmt: skip
def test_what_makes_it(facts, by):
    assert difference(facts).by is by


@pytest.mark.parametrize(
    "facts",
    [
        # So large a change no layout makes; nobody asks.
        replace(NAMED, change=Change(0.5, 0.02)),
        # A command that builds nothing has no layout.
        replace(NAMED, layout_most=0.0),
        replace(OPEN, layout_most=0.0),
        # Of a share of failing runs nothing can be told so.
        replace(NAMED, change=None, counted=Counted(0.057, same=False)),
        replace(OPEN, change=None, calm=None),
        # The ends are alike, and nothing says why somebody saw more.
        replace(OPEN, alike=True),
        # What is surely there over many layouts is no layout, and may be too small to be searched.
        replace(LAYOUT, only_layout=False, alike=True, layouts=(20, 20)),
        # Over many layouts the ends may be alike.
        replace(OPEN, layouts=(20, 20), layout_most=0.0, change=Change(0.01, 0.008, 0.2)),
    ],
)
def test_where_nothing_says_it_nothing_is_told(facts):
    assert difference(facts) is None


def test_each_answer_has_its_figures():
    code = difference(replace(NAMED, layouts=(6, 7), counted=Counted(0.057, same=False))).why
    assert code.kind == Differs.CODE
    told = {"change": 0.041, "error": 0.008, "base": 6, "new": 7, "instructions": 0.057}
    assert told.items() <= code.data.items()
    layout = difference(LAYOUT).why
    assert {"spread": 0.03, "noise": 0.01, "builds": 14, "change": 0.041}.items() <= dict(
        layout.data
    ).items()
    machine = difference(MACHINE).why
    told = {"first": 41, "last": 58, "shift": 0.3, "runs": 12, "revisions": 4, "change": 0.01}
    assert told.items() <= machine.data.items()
    assert difference(OPEN).why.data["helps"] == ("--relayout",)


def _builds(rng, tau, sigma, builds=12, runs=6):
    return {
        str(build): list(10 + rng.normal(0, tau) + rng.normal(0, sigma, runs))
        for build in range(builds)
    }


def test_the_spread_of_builds_is_found_beside_that_of_runs():
    rng = np.random.default_rng(1)
    found = spread_of(_builds(rng, 0.6, 0.2), 10.0)
    assert found.of == 12
    assert found.builds == pytest.approx(0.06, rel=0.5)
    assert found.runs == pytest.approx(0.02, rel=0.2)


def test_builds_that_differ_by_no_more_than_runs_have_no_spread():
    rng = np.random.default_rng(2)
    assert sum(spread_of(_builds(rng, 0.0, 0.2), 10.0) is not None for _ in range(100)) <= 3
    assert spread_of({"a": [1.0, 1.1]}, 1.0) is None
    assert spread_of({"a": [1.0], "b": [2.0]}, 1.0) is None


def test_builds_without_any_noise_differ():
    assert spread_of({"a": [1.0, 1.0], "b": [2.0, 2.0]}, 1.0).runs == 0


def test_layouts_differ_where_runs_of_one_repeat():
    rng = np.random.default_rng(3)
    sides = [list(10 + rng.normal(0, 0.6, 16)) for _ in range(2)]
    # Long tails, as a machine that is shared has them.
    repeated = [[*(level + rng.normal(0, 0.1, 7)), level + 3] for level in (9.5, 10.4)]
    found = spread_of_layouts(sides, repeated, 10.0)
    assert found.of == 32
    assert found.builds == pytest.approx(0.06, rel=0.4)
    assert found.runs == pytest.approx(0.01, rel=0.6)


def test_layouts_that_differ_by_no_more_than_runs_have_no_spread():
    rng = np.random.default_rng(4)
    drawn = (
        spread_of_layouts(rng.normal(10, 0.5, (2, 16)), rng.normal(10, 0.5, (2, 8)), 10.0)
        for _ in range(60)
    )
    assert sum(found is not None for found in drawn) <= 3


def _machine(name, rng, runs):
    """Levels of a machine that is not still, in standard deviations of a run."""
    if name == "drifts":
        return 0.05 * np.arange(runs)
    return 3.0 * (np.cumsum(rng.random(runs) < 0.05) % 2)


@pytest.mark.parametrize("name", ["drifts", "has two speeds"])
@pytest.mark.parametrize(("luck", "found"), [(0.0, range(4)), (2.0, range(32, 61))])
def test_layouts_are_told_from_a_machine_that_moves_over_the_session(name, luck, found):
    """The ends in turn, then two layouts of one of them."""
    rng = np.random.default_rng(5)
    told = 0
    for _ in range(60):
        levels = 100 + rng.normal(0, 1, 96) + _machine(name, rng, 96)
        ends, repeated = np.split(levels, [80])
        ends = ends + luck * rng.normal(0, 1, 80)
        repeated = repeated + luck * np.tile(rng.normal(0, 1, 2), 8)
        sides, again = ([each[::2], each[1::2]] for each in (ends, repeated))
        told += spread_of_layouts(sides, again, 100.0) is not None
    assert told in found


def test_the_change_of_two_ends_is_a_share_with_its_error():
    found = change_of_ends([10.0, 10.2, 9.8], [11.0, 11.2, 10.8], 10.0)
    assert found.share == pytest.approx(0.1)
    # That of medians.
    assert found.error == pytest.approx(0.0205, rel=0.01)
    assert found.p == pytest.approx(2 / 20)
    assert change_of_ends([10.0], [11.0], 10.0).error is None
    assert change_of_ends([], [11.0], 10.0) is None


@pytest.mark.parametrize("runs", [6, 20])
@pytest.mark.parametrize("levels", [0.0, 4.0])
def test_ends_that_are_alike_hardly_ever_surely_differ(runs, levels):
    """In 3 of 1000 searches, also where a benchmark has two levels by itself."""
    rng = np.random.default_rng(5)
    sides = (
        (rng.normal(10, 1, runs) + levels * (rng.random(runs) < 0.5) for _ in range(2))
        for _ in range(400)
    )
    changes = (change_of_ends(list(base), list(new), 10.0) for base, new in sides)
    facts = (replace(OPEN, layouts=(runs, runs), change=each) for each in changes)
    found = [difference(each) for each in facts]
    assert sum(each is not None and each.by is DiffersBy.CODE for each in found) <= 4
