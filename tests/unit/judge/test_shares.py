# SPDX-License-Identifier: GPL-2.0-or-later
"""Two shares of failures at several looks, held against all outcomes of a few runs."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from rtbisect.judge import blocks, shares, stats

LOOKS = (2, 4, 6)
CHANCES = np.linspace(0.01, 0.99, 197)


def at_looks(one, other):
    return [(sum(one[:runs]), sum(other[:runs]), runs) for runs in LOOKS]


def outcomes():
    """Each way in which six runs a side end, as it looks, and how many of them failed."""
    for ends in product((0, 1), repeat=12):
        yield at_looks(ends[:6], ends[6:]), sum(ends)


def test_of_shares_that_do_not_differ_no_more_pass_a_look_than_said():
    """For each p value that a look can have: the chance, whatever that of a failure is, that any
    look has one as small.
    """
    best = [
        (min(shares.all_looks_p((one, other), runs, LOOKS) for one, other, runs in looks), failed)
        for looks, failed in outcomes()
    ]
    for p in sorted({p for p, _ in best}):
        ways = np.zeros(13)
        for found, failed in best:
            ways[failed] += found <= p
        failed = np.arange(13)[:, None]
        chance = (ways[:, None] * CHANCES**failed * (1 - CHANCES) ** (12 - failed)).sum(axis=0)
        assert chance.max() <= p * 1.01
        # And the value is no larger than it has to be.
        assert chance.max() >= 0.97 * p or p == 1.0


@pytest.mark.parametrize("looks", [(6, 8, 10, 13, 17, 22, 28, 35, 44, 55, 69, 75), (6, 10)])
def test_more_chances_of_a_failure_would_say_the_same(monkeypatch, looks):
    failed = ((0, 6), (1, 6), (0, 4), (2, 6))
    few = [shares.all_looks_p(each, 6, looks) for each in failed]
    monkeypatch.setattr(shares, "_CHANCES", 4 * shares._CHANCES)
    shares._chance_of.cache_clear()
    many = [shares.all_looks_p(each, 6, looks) for each in failed]
    shares._chance_of.cache_clear()
    assert few == pytest.approx(many, rel=0.02)


def test_it_sees_what_fishers_test_at_a_share_of_alpha_does_not():
    """1 of 22 against 10 of 22 runs, at one of twelve looks."""
    looks = (6, 8, 10, 13, 17, 22, 28, 35, 44, 55, 69, 75)
    one, other = [[True] * failed + [False] * (22 - failed) for failed in (1, 10)]
    assert shares.all_looks_p((1, 10), 22, looks) <= 0.01 < len(looks) * stats.fisher_p(one, other)


def test_who_fails_less_often_is_not_worse():
    assert shares.all_looks_p((3, 3), 6, LOOKS) == shares.all_looks_p((4, 0), 6, LOOKS) == 1.0


def test_many_runs_at_a_look_are_counted_within_a_window():
    """So many runs are nearly normal, and two looks are less than twice one."""
    alone = norm.sf(shares.distance((100, 147), 500))
    assert alone < shares.all_looks_p((100, 147), 500, (400, 500)) < 2 * alone


@pytest.mark.parametrize(
    ("values", "hosts"),
    [
        (((0.0,) * 4, (1.0,) * 4), (("a", "b") * 2, ("a", "b") * 2)),
        (((0.0,) * 4, (1.0,) * 3), ((), ())),
        (((0.0,) * 4, (0.5,) * 4), ((), ())),
    ],
    ids=["hosts", "unequal", "shares of a run"],
)
def test_what_is_no_look_of_one_host_has_a_share_of_alpha_for_each(values, hosts):
    p = blocks.exchange_p(values, hosts, ranks=False)
    assert shares.p_of_looks(values, hosts, LOOKS) == min(1.0, 3 * p)
    plain = ((0.0,) * 4, (1.0,) * 4)
    assert shares.p_of_looks(plain, ((), ()), LOOKS) == shares.all_looks_p((0, 4), 4, LOOKS)
