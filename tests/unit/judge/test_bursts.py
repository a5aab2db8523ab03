# SPDX-License-Identifier: GPL-2.0-or-later
"""Stretches of runs that the machine has shifted."""

import numpy as np
import pytest

from rtbisect.judge.bursts import ALPHA, TimedRun, burst_of, outside

RUNS = 120


def _runs(rng, *, builds=8, tau=1.0, sigma=0.2, shifted=range(0), by=0.0):
    """Runs of so many builds in any order, of which those of some numbers are shifted."""
    levels = 10 + rng.normal(0, tau, builds)
    return [
        TimedRun(
            number=number,
            revision=f"r{build}",
            build=f"r{build} 0",
            level=levels[build] + rng.normal(0, sigma) + by * (number in shifted),
        )
        for number, build in enumerate(rng.integers(builds, size=RUNS), 1)
    ]


def test_a_stretch_that_is_slow_for_all_builds_is_found():
    rng = np.random.default_rng(3)
    found = burst_of(_runs(rng, shifted=range(41, 59), by=1.0))
    assert (found.p, abs(found.first - 41) <= 3, abs(found.last - 58) <= 3) == (0.002, True, True)
    assert found.shift == pytest.approx(1.0, abs=0.2)
    assert found.revisions > 3
    assert found.runs <= found.last - found.first + 1


def test_runs_of_one_revision_are_enough():
    rng = np.random.default_rng(4)
    levels = 10 + rng.normal(0, 0.1, 40)
    levels[20:28] += 3
    runs = [TimedRun(n, "a", "a 0", level) for n, level in enumerate(levels, 1)]
    found = burst_of(runs)
    assert (found.first, found.last, found.revisions) == (21, 28, 1)


def test_luck_is_no_stretch_however_builds_differ():
    rng = np.random.default_rng(5)
    found = [burst_of(_runs(rng), seed) for seed in range(12)]
    assert sum(each is not None for each in found) <= 1 + 12 * ALPHA


def test_a_slow_revision_is_no_slow_machine():
    """All of its runs lie together, and it has none beside them."""
    rng = np.random.default_rng(6)
    runs = [
        TimedRun(n, f"{n // 10}", f"{n // 10} 0", 10.0 + 5 * (n // 10 == 3) + rng.normal(0, 0.1))
        for n in range(1, 60)
    ]
    assert burst_of(runs) is None


def test_one_run_that_is_far_off_is_no_stretch():
    rng = np.random.default_rng(7)
    runs = _runs(rng, shifted=(50,), by=1000.0)
    assert burst_of(runs) is None


def test_few_runs_tell_nothing():
    assert burst_of([TimedRun(n, "a", "a 0", float(n)) for n in range(9)]) is None
    assert burst_of([TimedRun(n, str(n), f"{n} 0", float(n)) for n in range(90)]) is None


def test_runs_outside_a_stretch_are_what_is_left():
    rng = np.random.default_rng(3)
    runs = _runs(rng, shifted=range(41, 59), by=1.0)
    found = burst_of(runs)
    kept = outside(runs, found)
    assert len(kept) == RUNS - (found.last - found.first + 1)
    assert outside(runs, None) == tuple(runs)
