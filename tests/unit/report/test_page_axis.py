# SPDX-License-Identifier: GPL-2.0-or-later
"""The axis of a picture: every value has a place on it, round values are written."""

import itertools
import math
import sys

import pytest

from rtbisect.report.page_axis import axis_of


def test_round_values_are_written_where_there_is_room():
    assert axis_of((3.0, 58.0)).ticks() == (10.0, 20.0, 30.0, 40.0, 50.0)
    assert axis_of((1.0, 1000.0), 0.0).ticks() == (1.0, 10.0, 100.0, 1000.0)


def test_ratios_have_equal_distances_on_a_logarithmic_axis():
    axis = axis_of((1.0, 100.0), 0.0)
    assert axis.log
    assert [axis.place(each) for each in (1.0, 10.0, 100.0)] == pytest.approx([0.0, 0.5, 1.0])


def test_the_floor_of_a_figure_gives_nothing_its_place():
    axis = axis_of((0.0, 10.0, 1000.0), 1.0)
    assert axis.log
    assert axis.ticks()[0] == 0.0
    assert axis.place(0.0) == 0.0


def test_without_a_logarithm_the_axis_is_linear():
    assert not axis_of((-3.0, 5.0), 1.0).log
    assert not axis_of((0.0, 5.0), 0.0).log


@pytest.mark.parametrize("floor", [None, 0.0, 1.0])
@pytest.mark.parametrize(
    "values",
    [
        (0.0, 0.0),
        (7.5,),
        (-2.0, -2.0),
        (0.0, 1.0),
        (5e-324, 1e-323),
        (-sys.float_info.max, sys.float_info.max),
        (sys.float_info.max,),
        (1e16, 1e16 + 2),
        (1e-300, 1e300),
        (999.9, 1000.1),
    ],
)
def test_every_value_is_on_the_axis_and_labels_have_room(values, floor):
    axis = axis_of(values, floor)
    assert all(0 <= axis.place(each) <= 1 for each in values)
    ticks = axis.ticks()
    assert ticks
    assert all(math.isfinite(each) and axis.low <= each <= axis.high for each in ticks)
    places = [axis.place(each) for each in ticks]
    assert all(b - a > 0.15 for a, b in itertools.pairwise(places))


@pytest.mark.parametrize(
    ("values", "floor", "ticks"),
    [
        ((6003.0, 9514.0), None, (7000.0, 8000.0, 9000.0)),
        ((6.003, 9.514), None, (7.0, 8.0, 9.0)),
        ((0.0, 1.0), None, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        ((-3.0, 3.0), None, (-2.0, 0.0, 2.0)),
        ((6003.0, 9514.0), 0.5, (7000.0, 8000.0, 9000.0)),
        ((0.039, 0.967), 0.01, (0.05, 0.1, 0.2, 0.5)),
    ],
)
def test_steps_are_of_one_round_number(values, floor, ticks):
    """1, 2 or 5 times a power of ten: no 6500 and 7500."""
    assert axis_of(values, floor).ticks() == pytest.approx(ticks)
