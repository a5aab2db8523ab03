# SPDX-License-Identifier: GPL-2.0-or-later
"""How likely "no regression" is before any boot."""

import numpy as np
import pytest
from scipy.stats import norm

from rtbisect.search.prior import BASE_NONE, after_check, of_worst

#: z of a figure that is worse.
WORSE = norm(3, np.sqrt(2))


@pytest.mark.parametrize(("figures", "none"), [(1, 0.2), (4, 0.5), (16, 0.8)])
def test_each_figure_more_gives_luck_one_chance_more(figures, none):
    assert of_worst(BASE_NONE, figures) == pytest.approx(none)


@pytest.mark.parametrize("figures", [1, 4, 16])
def test_of_the_worst_that_pass_a_look_as_many_are_luck_as_stated(figures):
    """Ranges whose figures are normal, in which one is worse or none; the worst is looked at."""
    rng, ranges, alpha = np.random.default_rng(figures), 400_000, 0.002
    z = rng.standard_normal((ranges, figures))
    none = rng.random(ranges) < BASE_NONE
    z[~none, 0] = WORSE.rvs((~none).sum(), random_state=rng)
    worst = z.max(axis=1)
    passed = worst > norm.isf(alpha / figures)
    prior = of_worst(BASE_NONE, figures)
    odds = prior / (1 - prior) * norm.pdf(worst[passed]) / WORSE.pdf(worst[passed])
    stated, measured = (odds / (1 + odds)).mean(), none[passed].mean()
    # Some hundred ranges are luck; with one figure's prior 16 of them would be off by ten times.
    assert measured == pytest.approx(stated, rel=0.35)


def test_the_surer_a_check_is_the_less_is_left_to_luck():
    strong, weak = after_check(1e-5, 1, 2), after_check(0.005, 1, 2)
    # Of a range of which nothing else is known it leaves what builds that differ may explain.
    assert 0.1 < strong < BASE_NONE < weak < 0.5
    assert after_check(0.005, 4, 2) > weak
