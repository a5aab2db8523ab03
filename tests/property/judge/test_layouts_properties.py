# SPDX-License-Identifier: GPL-2.0-or-later
"""How often layouts are blamed wrongly, and whether their interval covers, on simulated boots."""

import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from helpers.depth import deep
from rtbisect.judge.layouts import ALPHA, Cell, spread_of

#: Simulated hosts of a case.
HOSTS = deep(120, 1000)
#: A rate as high as its level is below this in all but one of a million such tests.
SURE = 1e-6


def host(draw, layouts, boots, of_layouts, drift):
    """Boots whose standard deviation is 1, on a host that drifts from round to round; one in twenty
    is missing.
    """
    level, rounds = draw.normal(0, of_layouts, layouts), np.cumsum(draw.normal(0, drift, boots))
    return [
        Cell(layout, number, level[layout] + rounds[number] + draw.normal())
        for number in range(boots)
        for layout in draw.permutation(layouts)
        if draw.random() > 0.05
    ]


@pytest.mark.parametrize("drift", [0.0, 2.0])
@pytest.mark.parametrize("of_layouts", [0.0, 0.5, 3.0])
def test_false_alarms_and_intervals_keep_their_level(of_layouts, drift):
    draw = np.random.default_rng(5)
    found = [spread_of(host(draw, 6, 3, of_layouts, drift), seed=number) for number in range(HOSTS)]
    told = [each for each in found if each is not None]
    missed = sum(not each.low <= of_layouts <= each.high for each in told)
    assert scipy.stats.binom.sf(missed - 1, len(told), 0.05) > SURE
    if not of_layouts:
        alarms = sum(each.p <= ALPHA for each in told)
        assert scipy.stats.binom.sf(alarms - 1, len(told), ALPHA) > SURE


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 3), st.floats(-1e6, 1e6)),
        max_size=20,
        unique_by=lambda cell: cell[:2],
    )
)
def test_any_boots_have_a_spread_or_none(cells):
    found = spread_of([Cell(*each) for each in cells])
    if found is None:
        return
    assert 0 < found.p <= 1
    assert 0 <= found.low <= found.high < math.inf
    assert 0 <= found.layouts_sd < math.inf
