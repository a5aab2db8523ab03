# SPDX-License-Identifier: GPL-2.0-or-later
"""The simulation of what is luck among ranges that pass asks as the program does."""

import pytest

from bench_prior import looks, p_of, ranges
from rtbisect.judge import stats

SIDES = ((1.0, 2.0, 3.5, 4.0, 7.0, 8.0), (3.0, 5.0, 6.0, 9.0, 10.0, 11.0))


def test_its_p_is_that_of_the_exact_rank_test():
    pooled = sorted((*SIDES[0], *SIDES[1]))
    rank_sum = sum(pooled.index(value) + 1 for value in SIDES[1])
    assert p_of(6, rank_sum) == pytest.approx(stats.rank_p(*SIDES, alternative="greater", seed=0))


@pytest.mark.parametrize(("figures", "boots"), [(1, 6), (4, 6), (16, 7)])
def test_its_first_look_can_say_that_one_of_so_many_is_worse(figures, boots):
    assert looks(figures) == (boots, 10)


def test_what_differs_by_nothing_passes_seldom_and_what_is_worse_often():
    worse = ranges(4, 40, 1, worse=True)
    assert len(worse) > 10
    assert len(ranges(4, 200, 1, worse=False)) < 10
    assert all(found.p <= 0.005 and found.odds < 1 for found in worse)
