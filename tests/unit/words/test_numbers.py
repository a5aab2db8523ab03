# SPDX-License-Identifier: GPL-2.0-or-later
"""Three significant digits are three, also of a number that rounding makes longer."""

import pytest

from rtbisect.words.numbers import figure, further, measured, size, stated, tick


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (9.996, "10.0"),
        (9.99, "9.99"),
        (99.96, "100"),
        (-0.0099999, "-0.0100"),
        (0.0717, "0.0717"),
        (1972757.16, "1972757"),
        (2e6, "2000000"),
        (-2e9, "-2e+09"),
    ],
)
def test_a_figure_has_three_digits(value, text):
    assert figure(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(900, "0.9 kB"), (1.25e9, "1.2 GB"), (3e15, "3000.0 TB")]
)
def test_bytes_are_told_as_disks_are_sold(value, text):
    assert size(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "wanted", "text"),
    [
        (-22.7, "us", "ms", "-0.0227 ms"),
        (9005.0, "us", "us", "9005 us"),
        (9100.0, "us", "", "9.10 ms"),
        (2e6, "ns", "ms", "2 ms"),
        (9100.0, "us", "/s", "9.10 ms"),
        (3.0, "ms", "us", "3 ms"),
    ],
)
def test_a_figure_is_told_in_the_wanted_unit_where_that_is_one_of_it(value, unit, wanted, text):
    assert measured(value, unit, wanted=wanted) == text


@pytest.mark.parametrize(
    ("value", "number"),
    [(1.0, 0.9999), (0.99997, 0.9999), (0.12345, 0.1235), (1e-9, 0.0001), (0.0, 0.0)],
)
def test_a_probability_for_a_program_is_no_certainty_either(value, number):
    assert stated(value) == number


def test_who_is_left_out_of_a_list_is_counted():
    assert [further(3), further(1, "1 figure"), further(0)] == [
        "and 3 more",
        "and 1 figure more",
        "",
    ]


def test_a_round_value_has_no_digits_that_say_nothing():
    assert [tick(each) for each in (0.05, 3 * 0.1, 6500.0, 0.0)] == ["0.05", "0.3", "6500", "0"]
