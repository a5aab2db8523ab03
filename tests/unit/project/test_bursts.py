# SPDX-License-Identifier: GPL-2.0-or-later
"""Worlds with bursts: what was recorded is played, and the simulated machine is like it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import bench_bursts
import bench_search
from searchbench import tables
from searchbench.bursts import Bursty, recorded, simulated, stretch
from searchbench.strange import world_of

QUIET = Bursty(name="quiet", like="these", history="linear-16", effect=3.0, boot=0.3)
#: Standard deviations from which on a run is in a burst.
BURST = 4.0


@pytest.mark.parametrize(("machine", "share"), [("a", 0.06), ("b", 0.39), ("c", 0.07)])
def test_a_record_has_bursts_over_a_level_that_moves_little(machine: str, share: float) -> None:
    added = recorded(machine)

    assert added.size == 282
    assert np.mean(added > BURST) == pytest.approx(share, abs=0.02)
    assert np.std(added[added <= BURST]) < 1


def test_a_simulated_machine_is_slow_for_some_runs_in_a_row_as_recorded_ones_are() -> None:
    slow = np.array(simulated(np.random.default_rng(3), 20_000)) > BURST
    after_slow = np.mean(slow[1:][slow[:-1]])
    after_quiet = np.mean(slow[1:][~slow[:-1]])

    assert 0.06 < slow.mean() < 0.39
    assert after_slow > 5 * after_quiet


def test_a_stretch_of_a_record_is_in_its_order() -> None:
    whole, part = recorded("c").tolist(), stretch("c", [1, 2])
    neighbours = {*pairwise([*whole, whole[0]])}

    assert neighbours.issuperset(pairwise(part))


def test_worlds_with_and_without_bursts_differ_by_these_alone() -> None:
    ancestry = tables.ancestry(QUIET.history)
    cells = QUIET, replace(QUIET, name="busy", machine="b")
    quiet, busy = (world_of(cell, ancestry, 5) for cell in cells)
    sha = ancestry.graph.newer
    runs = [(quiet.values(sha, 1)[0], busy.values(sha, 1)[0]) for _ in range(40)]
    more = [two - one for one, two in runs]

    assert quiet.culprits == busy.culprits
    assert max(more) > BURST
    assert np.median(more) == pytest.approx(0, abs=1)
    assert more == pytest.approx(stretch("b", [busy.seed, 0, 8, 1])[:40])


def test_every_cell_with_bursts_has_one_without_beside_it() -> None:
    cells = bench_search.cells("bursts")
    quiet = {cell.like for cell in cells if isinstance(cell, Bursty) and not cell.machine}

    assert {cell.machine for cell in cells if isinstance(cell, Bursty)} == {*bench_bursts.MACHINES}
    assert {cell.like for cell in cells if isinstance(cell, Bursty)} == quiet


def test_equal_ends_seldom_look_different_and_ends_that_differ_do() -> None:
    assert not any(bench_bursts.look("b", 0.0, number)[0] for number in range(2))
    assert all(bench_bursts.look("", 3.0, number)[0] for number in range(2))


def test_a_pair_of_runs_tells_less_than_two_where_the_level_holds() -> None:
    found = bench_bursts.worths("", 3.0, 4000)

    assert found["all runs"] == found["calm runs"] > 1.5 * found["adjacent pair"]


def test_a_level_that_is_known_tells_more_and_disturbed_runs_tell_nothing() -> None:
    found = bench_bursts.worths("simulated", 3.0, 20_000)

    assert found["less the level"] > found["less controls"] > found["adjacent pair"]
    assert found["less the level"] < 0.95 * bench_bursts.worths("", 3.0, 20_000)["all runs"]
