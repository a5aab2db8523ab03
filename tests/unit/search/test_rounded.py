# SPDX-License-Identifier: GPL-2.0-or-later
"""Rounded values are told by the steps that lie between them."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.searches import WAIT
from rtbisect.judge.scale import all_badness
from rtbisect.model.campaign import Better, Scale
from rtbisect.search.rounded import half_step, in_wide_steps

WHOLE_MS = (12.0, 12.0, 13.0, 12.0, 13.0, 12.0, 11.0, 13.0, 12.0, 14.0)
FINE = (99.0, 100.0, 101.0, 100.5, 99.5, 100.2)


@pytest.mark.parametrize(
    ("values", "step"),
    [
        (WHOLE_MS, 1.0),
        ((0.1, 0.3, 0.3, 0.2), 0.1),
        ((5.0, 5.0), 0.0),
        (FINE, 0.0),
        ((*FINE, 100.5, 100.53), 0.0),
    ],
    ids=["whole", "tenths", "all the same", "all different", "no whole steps apart"],
)
def test_rounded_values_lie_whole_steps_apart(values, step):
    linear = replace(WAIT, scale=Scale.LINEAR)
    assert half_step(linear, values) == pytest.approx(step / 2)
    for better in Better:
        log = replace(WAIT, scale=Scale.LOG, better=better)
        middle = sorted(values)[len(values) // 2]
        logs = all_badness(log, values)
        assert half_step(log, logs) == pytest.approx(step / 2 / middle, rel=0.1)


@pytest.mark.parametrize(
    ("step_ms", "wide"), [(0.1, False), (1.0, True), (2.5, True)], ids=["fine", "wide", "wider"]
)
@pytest.mark.parametrize("scale", list(Scale))
def test_steps_are_wide_where_they_are_as_wide_as_the_noise(step_ms, wide, scale):
    threshold = replace(WAIT, scale=scale)
    rng = np.random.default_rng(3)
    good, bad = (
        all_badness(threshold, [step_ms * round(each / step_ms) for each in drawn.tolist()])
        for drawn in (rng.normal(40, 1, 24), rng.normal(42, 1, 24))
    )
    assert in_wide_steps(threshold, good, bad) is wide


def test_what_is_not_rounded_has_no_steps():
    rng = np.random.default_rng(4)
    assert not in_wide_steps(WAIT, (1.0,) * 6, (5.0,) * 6)
    assert not in_wide_steps(WAIT, rng.normal(40, 1, 24).tolist(), rng.normal(42, 1, 24).tolist())
