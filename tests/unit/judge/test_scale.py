# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the middle between two sides lies."""

from dataclasses import replace

import pytest

from helpers.campaigns import RES
from rtbisect.judge.scale import halfway
from rtbisect.model.campaign import Better, Scale, Statistic

LINEAR = replace(RES, scale=Scale.LINEAR, floor=0.0)


@pytest.mark.parametrize(
    ("threshold", "base", "new", "between"),
    [
        (replace(RES, floor=0.0), (2.0, 2.0), (8.0,), 4.0),
        (RES, (1.5, 9.0, 0.1), (7.5,), 3.5),
        (LINEAR, (1.0, 2.0, 30.0), (6.0,), 4.0),
        (replace(LINEAR, better=Better.HIGHER), (9.0,), (5.0,), 7.0),
        (replace(LINEAR, statistic=Statistic.FRACTION), (0.0, 0.0), (1.0, 0.0), 0.25),
        (
            replace(LINEAR, statistic=Statistic.FRACTION, better=Better.HIGHER),
            (1.0, 1.0), (1.0, 0.0), 0.75,
        ),
    ],
    ids=["log", "floor", "median", "higher", "share", "share of good"],
)  # fmt: skip
def test_half_way_is_on_the_scale_of_the_figure(threshold, base, new, between):
    assert halfway(threshold, base, new) == pytest.approx(between)
