# SPDX-License-Identifier: GPL-2.0-or-later
"""How much of a figure is made by where the code lies."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy

from helpers.campaigns import RES, sha
from rtbisect.judge.layouts import (
    DIFFER,
    Cell,
    LayoutBoot,
    advice_of,
    boots_that_tell,
    figures_of,
    result_of,
    spread_of,
)
from rtbisect.model.campaign import MetricKey, Role
from rtbisect.model.lab import Measurement, Run, RunStatus
from rtbisect.model.layouts import LayoutAdvice, LayoutResult, LayoutSpread, MoreBoots

EFFECT = math.log(1.5)
SPREAD = LayoutSpread(
    layouts=8, boots=24, boots_sd=0.1, error_sd=0.1, layouts_sd=0.0, low=0.0, high=0.1, p=0.5
)


def table(rows):
    """Cells of a table: a row a layout, a column a round."""
    return [
        Cell(n, at, value)
        for n, row in enumerate(rows)
        for at, value in enumerate(row)
        if value is not None
    ]


def drawn(layouts, boots, of_layouts, drift=0.0, seed=0):
    """A table of boots whose standard deviation is 1."""
    draw = np.random.default_rng(seed)
    rounds = drift * np.arange(boots)
    level = draw.normal(0, of_layouts, (layouts, 1))
    return (level + rounds + draw.normal(0, 1, (layouts, boots))).tolist()


def boots_of(rows, name="res_per_s", window="pf-off"):
    """Boots of layouts that measure these values; None is a boot that does not count."""
    return [
        LayoutBoot(n, at, Run(
            run_id=f"r{n}-{at}", revision=sha(1), seconds=1.0,
            status=RunStatus.INVALID if value is None else RunStatus.COMPLETE,
            measurements=() if value is None else (
                Measurement(suite="ipi", name=name, window=window, value=value, unit="1/s"),
            ),
        ))
        for n, row in enumerate(rows) for at, value in enumerate(row)
    ]  # fmt: skip


def measured_as(metric, rows):
    """A figure that these boots have."""
    name, window = metric
    return replace(RES, key=MetricKey("ipi", name, window)), boots_of(rows, name, window)


class TestTheSpread:
    def test_is_that_of_a_one_way_analysis(self):
        # Rounds add nothing: each layout has the same three values beside its level.
        rows = [[level - 1, level, level + 1] for level in (10.0, 13.0, 11.0, 16.0)]
        rows = [np.roll(row, n).tolist() for n, row in enumerate(rows)]
        found = spread_of(table(rows))
        within = 1.0
        between = 3 * np.var([10, 13, 11, 16], ddof=1)
        assert found.boots_sd == pytest.approx(math.sqrt(within))
        assert found.layouts_sd == pytest.approx(math.sqrt((between - within) / 3), abs=0.2)
        assert (found.layouts, found.boots) == (4, 12)

    def test_has_the_interval_of_williams(self):
        rows = drawn(6, 4, 2.0, seed=3)
        found = spread_of(table(rows))
        means = np.var(np.mean(rows, axis=1), ddof=1)
        ratio = means / (found.error_sd**2 / 4)
        ends = [
            math.sqrt(
                5 * means * (1 - scipy.stats.f.ppf(at, 5, 15) / ratio) / scipy.stats.chi2.ppf(at, 5)
            )
            for at in (0.975, 0.025)
        ]
        assert (found.low, found.high) == pytest.approx(tuple(ends))

    @pytest.mark.parametrize("drift", [5.0, -20.0])
    def test_is_no_other_where_the_host_drifts(self, drift):
        calm, moved = (spread_of(table(drawn(6, 3, 1.0, each))) for each in (0.0, drift))
        assert (moved.layouts_sd, moved.p) == pytest.approx((calm.layouts_sd, calm.p))
        assert moved.boots_sd > calm.boots_sd

    def test_of_equal_boots_is_nothing(self):
        found = spread_of(table([[6000.0] * 3] * 4))
        assert (found.boots_sd, found.layouts_sd, found.low, found.high, found.p) == (0, 0, 0, 0, 1)

    def test_of_layouts_whose_boots_are_equal(self):
        found = spread_of(table([[float(level)] * 3 for level in range(6)]))
        assert found.low > 0
        assert found.p < 0.001
        assert found.layouts_sd == pytest.approx(np.std(range(6), ddof=1))

    def test_boots_that_are_missing_are_left_out(self):
        rows = drawn(8, 3, 5.0, drift=4.0, seed=1)
        rows[2][1] = rows[5][0] = None
        found = spread_of(table(rows))
        assert (found.layouts, found.boots) == (8, 22)
        assert found.low < 5.0 < found.high

    @pytest.mark.parametrize(
        "rows",
        [[], [[1.0, 2.0, 3.0]], [[1.0], [2.0], [3.0]], [[1.0, 2.0], [None, 3.0]]],
        ids=["nothing", "one layout", "one boot each", "no boot more than needed"],
    )
    def test_is_not_told_by_too_few_boots(self, rows):
        assert spread_of(table(rows)) is None

    def test_is_the_same_for_the_same_seed(self):
        cells = table(drawn(6, 3, 1.0))
        assert spread_of(cells, seed=4) == spread_of(cells, seed=4)


class TestTheResult:
    @pytest.mark.parametrize(
        ("high", "p", "result"),
        [
            (EFFECT, 0.05, LayoutResult.MATTERS),
            (EFFECT, 0.051, LayoutResult.UNDECIDED),
            (EFFECT / DIFFER * 0.99, 0.5, LayoutResult.NEGLIGIBLE),
            (EFFECT / DIFFER * 1.01, 0.5, LayoutResult.UNDECIDED),
            # Surely there, and surely too small for anybody to see.
            (EFFECT / DIFFER * 0.99, 0.0001, LayoutResult.NEGLIGIBLE),
        ],
    )
    def test_follows_from_the_bound_and_from_p(self, high, p, result):
        assert result_of(replace(SPREAD, high=high), p, EFFECT) is result

    def test_of_too_few_boots_is_open(self):
        assert result_of(None, 1.0, EFFECT) is LayoutResult.UNDECIDED

    def test_p_is_adjusted_over_the_primary_figures(self):
        rows = [[math.exp(value / 10) for value in row] for row in drawn(8, 3, 1.3, seed=3)]
        figures = [measured_as(("res_per_s", window), rows) for window in ("pf-off", "pf-on")]
        thresholds = [threshold for threshold, _ in figures]
        both = [
            LayoutBoot(one.layout, one.round, replace(
                one.run, measurements=one.run.measurements + other.run.measurements
            ))
            for one, other in zip(*(boots for _, boots in figures), strict=True)
        ]  # fmt: skip
        alone = figures_of(thresholds[:1], both)[0]
        assert alone.p_adjusted == alone.spread.p
        assert figures_of(thresholds, both)[0].p_adjusted == pytest.approx(2 * alone.spread.p)
        shown = replace(thresholds[1], role=Role.SHOWN)
        first, second = figures_of([thresholds[0], shown], both)
        assert first == alone
        assert (second.p_adjusted, second.result) == (None, None)
        assert second.spread.p == pytest.approx(first.spread.p)

    def test_keeps_values_of_each_layout(self):
        found = figures_of([RES], boots_of([[1.0, 2.0], [None, 4.0], [5.0, 6.0]]))[0]
        assert found.values == ((), (), ())
        key = replace(RES, key=MetricKey("ipi", "res_per_s", "pf-off"))
        found = figures_of([key], boots_of([[1.0, 2.0], [None, 4.0], [5.0, 6.0]]))[0]
        assert found.values == ((1.0, 2.0), (4.0,), (5.0, 6.0))

    def test_a_figure_that_no_boot_tells_asks_for_nothing(self):
        key = replace(RES, key=MetricKey("ipi", "res_per_s", "pf-off"))
        rows = [[10.0 + n + at / 10 for at in range(3)] for n in range(8)]
        absent, there = figures_of([RES, key], boots_of(rows))
        assert (absent.result, absent.p_adjusted, absent.spread) == (None, None, None)
        assert there.p_adjusted == there.spread.p

    def test_a_value_without_a_logarithm_is_left_out(self):
        key = replace(RES, key=MetricKey("ipi", "res_per_s", "pf-off"), floor=0.0)
        found = figures_of([key], boots_of([[0.0, 2.0, 2.0], [3.0, 4.0, 5.0]]))[0]
        assert found.values == ((2.0, 2.0), (3.0, 4.0, 5.0))


class TestMoreBoots:
    def test_that_layouts_matter_takes_more_boots_of_more_layouts(self):
        open_ = replace(SPREAD, layouts_sd=0.08, high=0.3)
        found = boots_that_tell(open_, EFFECT, 0.05)
        assert found.layouts * found.boots > open_.boots

    def test_that_they_do_not_takes_as_many_as_make_the_bound_small(self):
        found = boots_that_tell(replace(SPREAD, high=0.2), EFFECT, 0.05)
        larger = boots_that_tell(replace(SPREAD, error_sd=0.2, high=0.2), EFFECT, 0.05)
        assert larger.layouts * larger.boots > found.layouts * found.boots

    def test_none_tell_where_the_noise_is_too_large(self):
        assert boots_that_tell(replace(SPREAD, error_sd=50.0), EFFECT, 0.05) is None

    def test_boots_without_noise_tell_at_once(self):
        exact = replace(SPREAD, boots=16, error_sd=0.0, layouts_sd=0.3)
        assert boots_that_tell(exact, EFFECT, 0.05) == MoreBoots(layouts=8, boots=3)


@pytest.mark.parametrize(
    ("results", "advice"),
    [
        (("matters", "undecided", None), LayoutAdvice.RELINK),
        (("negligible", "negligible", None), LayoutAdvice.FIXED),
        (("negligible", "undecided"), LayoutAdvice.MORE_BOOTS),
        ((None,), LayoutAdvice.MORE_BOOTS),
    ],
)
def test_the_advice_is_that_of_the_primary_figures(results, advice):
    (figure,) = figures_of([RES], [])
    figures = [replace(figure, result=each and LayoutResult(each)) for each in results]
    assert advice_of(figures) is advice
