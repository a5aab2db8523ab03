# SPDX-License-Identifier: GPL-2.0-or-later
"""How often few boots of kernels that differ by the smallest effect deny that they do."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.campaigns import RES
from rtbisect.judge import stats
from rtbisect.judge.verdict import ruled_out
from rtbisect.model.campaign import Sample, Scale

LIMIT = replace(RES, scale=Scale.LINEAR, min_effect=4.0)
DRAWS = 4000


@pytest.mark.parametrize("boots", [3, 6, 10])
@pytest.mark.parametrize("ratio", [1.0, 3.0])
@pytest.mark.parametrize("draw", ["standard_normal", "standard_t"])
def test_true_effects_are_ruled_out_as_seldom_as_alpha_says(boots, ratio, draw):
    rng = np.random.default_rng(7)
    arguments = (3,) if draw == "standard_t" else ()
    base, new = (getattr(rng, draw)(*arguments, (DRAWS, boots)) for _ in range(2))
    p = [stats.shortfall_p(one, 4 + ratio * two, 4.0) for one, two in zip(base, new, strict=True)]
    assert np.mean(np.array(p) <= 0.0033) <= 0.01
    assert np.mean(np.array(p) <= 0.05) <= 0.075


def test_equal_boots_rule_an_effect_out():
    steady = Sample((10.0, 10.4, 9.7))
    assert ruled_out(LIMIT, steady, Sample((10.2, 9.9, 10.3)), 0.0033)
    assert not ruled_out(LIMIT, steady, Sample((14.2, 13.9, 14.3)), 0.0033)
    assert not ruled_out(LIMIT, steady, Sample((8.0, 12.0, 10.0)), 0.0033)


def test_boots_that_are_the_same_number_leave_no_doubt():
    assert stats.shortfall_p((1.0, 1.0), (1.0, 1.0), 0.5) == 0.0
    assert stats.shortfall_p((1.0, 1.0), (1.5, 1.5), 0.5) == 1.0
    assert stats.shortfall_p((1.0,), (1.0,), 0.5) == 1.0


def test_what_was_estimated_of_hosts_is_no_evidence():
    one, two = (1.0, 2.0, 3.0, 2.5), (1.5, 2.5, 2.0, 1.0)
    p = [stats.shortfall_p(one, two, 4.0, hosts=hosts) for hosts in (1, 2, 3)]
    assert p == sorted(p)
    assert len(set(p)) == 3
