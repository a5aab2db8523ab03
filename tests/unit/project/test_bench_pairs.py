# SPDX-License-Identifier: GPL-2.0-or-later
"""What the benchmark of pairs says that a comparison is worth."""

import random

import pytest

from bench_pairs import Pairs, interval_sd, worth_sd


@pytest.fixture
def pairs():
    """Sides that differ by the noise of a run, in pairs that share most of it."""
    rng, made = random.Random(1), Pairs()
    for _ in range(2000):
        shared = rng.gauss(0, 0.8)
        made.add(*(10 + side + shared + rng.gauss(0, 0.6) for side in (0, 1)))
    return made


def test_a_pair_has_the_noise_that_its_runs_do_not_share(pairs):
    assert worth_sd(pairs, paired=True) == pytest.approx(1 / (0.6 * 2**0.5), abs=0.1)
    assert worth_sd(pairs.of(range(500)), paired=False) == pytest.approx(1 / 2**0.5, abs=0.1)


def test_equal_sides_are_worth_nothing(pairs):
    same = Pairs(pairs.older_ms, pairs.older_ms)
    assert worth_sd(same, paired=True) == 0
    low, high = interval_sd(same.of(range(100)), paired=True)
    assert low == high == 0


def test_an_interval_holds_what_is_true(pairs):
    low, high = interval_sd(pairs.of(range(400)), paired=True)
    assert low < 1 / (0.6 * 2**0.5) < high
