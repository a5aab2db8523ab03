# SPDX-License-Identifier: GPL-2.0-or-later
import math

import numpy as np
import pytest

from rtbisect.judge import stats


def test_permutation_p_is_exact_for_separated_boots():
    p = stats.permutation_p([1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12], alternative="greater")
    assert p == 1 / math.comb(12, 6)


def test_permutation_p_follows_its_direction():
    low, high = [1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]
    assert stats.permutation_p(low, high, alternative="greater") == 1 / 70
    assert stats.permutation_p(high, low, alternative="less") == 1 / 70
    assert stats.permutation_p(low, high, alternative="less") == 1.0
    assert stats.permutation_p(low, high, alternative="two-sided") == 2 / 70


def test_permutation_p_counts_ties_as_extreme():
    assert stats.permutation_p([0.1] * 5, [0.1] * 5, alternative="greater") == 1.0
    # Sums over {0, 1, 1}: two of the three single picks reach the observed 1.
    assert stats.permutation_p([0, 1], [1], alternative="greater") == pytest.approx(2 / 3)


def test_permutation_p_with_unequal_sizes_is_the_share_of_extreme_splits():
    assert stats.permutation_p([1, 2, 3, 4, 5, 6, 7, 8, 9], [10], alternative="greater") == 0.1
    assert stats.permutation_p([10], [1, 2, 3, 4, 5, 6, 7, 8, 9], alternative="less") == 0.1


def test_sampled_permutation_p_is_never_zero_and_follows_the_seed():
    low, high = list(range(10)), list(range(100, 110))
    p = stats.permutation_p(low, high, alternative="greater")
    assert p == stats.smallest_p(10, 10) == 1 / (stats.SAMPLED_SPLITS + 1)
    rng = np.random.default_rng(3)
    one, two = rng.normal(size=12).tolist(), rng.normal(size=12).tolist()
    first = stats.permutation_p(one, two, alternative="greater", seed=1)
    assert first == stats.permutation_p(one, two, alternative="greater", seed=1)
    other = stats.permutation_p(one, two, alternative="greater", seed=2)
    assert other == pytest.approx(first, abs=0.02)
    assert other != first


def test_fishers_test_is_the_share_of_all_splits_on_the_side_of_the_difference():
    none, many = [False] * 12, [True] * 8 + [False] * 4
    # 8 of 12 boots instead of 0 of 12: C(12, 8) of the C(24, 8) ways.
    exact = math.comb(12, 8) / math.comb(24, 8)
    assert stats.fisher_p(none, many) == stats.fisher_p(many, none) == pytest.approx(exact)
    few, more = [False, False, True, False], [True, True, False, True, True]
    assert stats.fisher_p(few, more) == stats.permutation_p(few, more, alternative="greater")
    assert stats.fisher_p(more, few) == stats.permutation_p(more, few, alternative="less")
    assert stats.fisher_p(few, few[:1]) == stats.permutation_p(few, few[:1], alternative="less")
    assert stats.fisher_p(none, none) == 1.0


def test_permutation_p_is_uniform_without_a_difference():
    rng = np.random.default_rng(11)
    found = [
        stats.permutation_p(rng.normal(size=5), rng.normal(size=5), alternative="greater")
        for _ in range(400)
    ]
    assert np.mean(np.array(found) <= 0.1) == pytest.approx(0.1, abs=0.045)


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
@pytest.mark.parametrize("sizes", [(6, 6), (4, 7), (7, 3), (1, 9)])
@pytest.mark.parametrize("step", [1e-9, 0.5])
def test_rank_p_is_that_of_all_splits(alternative, sizes, step):
    """With many ties (step 0.5) as without."""
    rng = np.random.default_rng([*sizes, int(step * 2)])
    values = np.round(rng.normal(size=sum(sizes)) / step) * step
    _, where, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2)[where]
    cut = sizes[0]
    exact = stats.permutation_p(ranks[:cut], ranks[cut:], alternative=alternative)
    found = stats.rank_p(values[:cut], values[cut:], alternative=alternative)
    assert found == pytest.approx(exact)


def test_rank_p_of_many_boots_is_exact_and_close_to_the_normal_law():
    low, high = list(range(40)), list(range(100, 140))
    least = 1 / math.comb(80, 40)
    assert stats.rank_p(low, high, alternative="greater") == pytest.approx(least, rel=1e-9)
    assert stats.rank_p(high, low, alternative="greater") == 1.0
    assert stats.rank_p([5.0] * 40, [5.0] * 40, alternative="two-sided") == 1.0
    mixed = list(range(40)), [i + 0.5 + (6 if i % 2 else 0) for i in range(40)]
    pairs = sum(b > a for a in mixed[0] for b in mixed[1])
    z = (pairs - 0.5 - 800) / math.sqrt(40 * 40 * 81 / 12)
    law = 0.5 * math.erfc(z / math.sqrt(2))
    assert stats.rank_p(*mixed, alternative="greater") == pytest.approx(law, abs=0.002)


@pytest.mark.parametrize("bad", [[], [math.nan], [1.0, math.inf]])
def test_impossible_samples_are_refused(bad):
    with pytest.raises(ValueError):
        stats.permutation_p(bad, [1.0], alternative="greater")
    with pytest.raises(ValueError):
        stats.bootstrap_shift([1.0], bad)
    with pytest.raises(ValueError):
        stats.median(bad)


def test_bootstrap_interval_covers_the_true_shift():
    rng = np.random.default_rng(5)
    hits = 0
    for seed in range(60):
        base, new = rng.normal(0, 1, 12), rng.normal(2, 1, 12)
        low, high = stats.bootstrap_shift(base, new, seed=seed)
        hits += low <= 2 <= high
    assert hits >= 53


def test_bootstrap_interval_of_constant_boots_is_the_shift():
    assert stats.bootstrap_shift([1.0] * 4, [3.0] * 4) == (2.0, 2.0)


def test_holm_adjusts_in_the_given_order_and_keeps_the_ranking():
    assert stats.holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert stats.holm([0.9, 0.8]) == (1.0, 1.0)
    assert stats.holm([]) == ()
    with pytest.raises(ValueError):
        stats.holm([1.2])


def test_a_median_is_the_middle_or_between_two():
    assert stats.median([5, 1, 3, 100]) == 4


@pytest.mark.parametrize(
    ("n", "between"), [(1, (0, 0)), (5, (0, 4)), (6, (0, 5)), (9, (1, 7)), (20, (5, 14))]
)
def test_the_interval_of_a_median_lies_between_two_values(n, between):
    """Of Conover, "Practical Nonparametric Statistics", table of the binomial distribution."""
    assert stats.median_interval([float(value) for value in range(n)]) == between


def test_the_interval_of_a_share_stays_within_0_and_1():
    assert stats.share_interval(0, 10) == pytest.approx((0, 0.2775), abs=1e-3)
    assert stats.share_interval(10, 10) == pytest.approx((0.7225, 1), abs=1e-3)
    assert stats.share_interval(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-3)
