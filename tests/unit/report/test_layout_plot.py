# SPDX-License-Identifier: GPL-2.0-or-later
"""The picture of boots in several code layouts."""

import math

import pytest

from rtbisect.report.layout_plot import LayoutPanel, layout_picture

TIMES = LayoutPanel(
    name="p50_us", unit="us", values=((5.0, 7.0), (6.0,), ()), floor=None, boots_sd=1.0,
    layouts_sd=0.5,
)  # fmt: skip
RATES = LayoutPanel(
    name="res_per_s", unit="1/s", values=((0.0, 8.0), (99.0, 1.0)), floor=1.0, boots_sd=0.7,
    layouts_sd=0.2,
)  # fmt: skip


def test_each_boot_is_a_dot_and_each_layout_a_column():
    picture = layout_picture([TIMES])
    columns = [dot.x for dot in picture.dots]
    assert columns[0] == columns[1] < columns[2]
    high, low, middle = (dot.y for dot in picture.dots)
    assert high > middle > low, "down, a place is in pixels"
    means = [line for line in picture.lines if line.kind == "middle"]
    assert [line.y1 for line in means] == [middle, middle]


@pytest.mark.parametrize("panel", [TIMES, RATES])
def test_the_bars_have_the_length_of_both_deviations(panel):
    bars = [line for line in layout_picture([panel]).lines if line.kind == "bar"]
    boots, layouts = (line.y1 - line.y2 for line in bars)
    assert boots / layouts == pytest.approx(panel.boots_sd / panel.layouts_sd, rel=0.02)


def test_figures_stand_below_each_other():
    one, both = layout_picture([TIMES]), layout_picture([TIMES, RATES])
    assert both.height == 2 * one.height
    assert both.dots[: len(one.dots)] == one.dots
    assert all(dot.y > one.height for dot in both.dots[len(one.dots) :])
    assert all(math.isfinite(dot.y) and dot.y < both.height for dot in both.dots)


def test_an_axis_has_the_unit_that_its_name_lacks():
    heads = [label.text for label in layout_picture([TIMES, RATES]).labels if label.x == 0]
    assert heads == ["p50_us, us", "res_per_s, logarithmic"]


def test_nothing_has_no_picture():
    assert layout_picture([]) is None
