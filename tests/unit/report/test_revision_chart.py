# SPDX-License-Identifier: GPL-2.0-or-later
"""The chart of the tested revisions."""

import pytest

from rtbisect.report.revision_chart import Column, chart, fitting
from rtbisect.words.strip import BLOCKS

STEP = [Column(1.0, "g"), Column(None, "x"), Column(8.0, "C", named=True), Column(4.6, "b")]


def test_figures_stand_above_marks():
    assert chart(STEP) == ("▁ █▅", "gxCb")
    assert chart(STEP, ascii_only=True) == ("1 85", "gxCb")


def test_figures_that_are_all_the_same_stand_half_way_up():
    assert chart([Column(3.0, "g")] * 2)[0] == BLOCKS[4] * 2


@pytest.mark.parametrize("columns", [[], [Column(None, "x")]])
def test_without_figures_nothing_is_drawn(columns):
    assert chart(columns)[0].strip() == ""


def test_where_not_all_fit_those_around_the_named_one_stay():
    many = [Column(float(n), "C" if n == 90 else "g", named=n == 90) for n in range(100)]
    assert fitting(many, 100) == tuple(many)
    shown = fitting(many, 11)
    assert [column.value for column in shown] == list(range(85, 96))
    assert [column.value for column in fitting(many, 40)] == list(range(60, 100))
    assert len(fitting(many[:90], 11)) == 11
