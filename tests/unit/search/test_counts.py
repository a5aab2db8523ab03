# SPDX-License-Identifier: GPL-2.0-or-later
"""Rates of events (tails: values beyond a limit) that were not waited for equally long."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import nbinom

from helpers.searches import CULPRIT, boots_until_the_end, chain, spec
from rtbisect.model.campaign import Better, Observation, Outcome, Scale, Statistic
from rtbisect.search.likelihood.counts import CONTAMINATION, count_grids
from rtbisect.search.likelihood.features import views
from rtbisect.search.predictive import contradictions

TAIL = replace(
    spec(chain(2)).threshold,
    scale=Scale.LINEAR,
    statistic=Statistic.COUNT,
    min_effect=0.01,
    floor=0.0,
)
WIDE = {"threshold": TAIL, "calibrate_max": 40, "max_boots": 300, "max_builds": 60}


def searched(rate, exposure, seed=1):
    """Search a chain where a boot of `exposure`(rng, bad) seconds sees `rate`(bad) events a second,
    unevenly from boot to boot.
    """

    def draw(rng, bad):
        seconds = exposure(rng, bad)
        events = rng.poisson(rate(bad) * seconds * rng.gamma(8) / 8)
        return events / seconds, (), seconds

    return boots_until_the_end(draw, seed, **WIDE)


def test_the_likelihood_is_that_of_a_negative_binomial_with_exposure():
    grids = count_grids(((0.1, 30.0), (0.0, 60.0)), ((0.5, 60.0), (0.4, 20.0)))
    boots = ((0.1, 30.0), (0.3, 120.0), (0.0, 45.0))
    found = grids.good.all_of(boots)
    shape, rate = grids.good.shape[:, None], grids.good.rate[None, :]
    exact = 0.0
    for each, seconds in boots:
        chance = shape / (shape + rate * seconds)
        density = nbinom.pmf(round(each * seconds), shape, chance)
        exact += np.log((1 - CONTAMINATION) * density + CONTAMINATION * grids.good.outlier)
    assert found[:, :, 0] == pytest.approx(exact)


def test_a_tail_is_found_although_every_boot_is_watched_for_another_time():
    state, answer = searched(
        lambda bad: 0.3 if bad else 0.05, lambda rng, _bad: float(rng.integers(20, 200))
    )
    assert (answer.outcome, answer.culprit) == (Outcome.CULPRIT, f"c{CULPRIT}")
    assert answer.confidence >= 0.95
    assert not contradictions(state.belief)


@pytest.mark.parametrize("seed", range(5))
def test_watching_longer_is_no_regression(seed):
    """Three times as many events in three times the time, at one end."""
    _state, answer = searched(lambda _bad: 0.2, lambda _rng, bad: 150.0 if bad else 50.0, seed=seed)
    assert answer.outcome is Outcome.NOT_REPRODUCED


@pytest.mark.parametrize(
    ("rate", "seconds"), [(-0.1, 60.0), (0.1, 0.0), (0.1, -1.0), (0.1, float("inf"))]
)
def test_an_impossible_rate_is_no_evidence(rate, seconds):
    with pytest.raises(ValueError, match="is no rate"):
        views(TAIL, Observation(value=rate, exposure=seconds))


def test_an_exposure_belongs_to_counts_of_which_more_are_worse():
    seen = Observation(value=0.5, exposure=60.0)
    assert views(TAIL, seen) == (0.5, 60.0)
    assert views(replace(TAIL, better=Better.HIGHER), seen) == (-0.5,)
    assert views(replace(TAIL, statistic=Statistic.MEDIAN), seen) == (0.5,)


@pytest.mark.parametrize(("low", "high"), [(20, 32), (1000, 1150), (10_000, 10_800)])
def test_a_small_step_of_many_events_is_seen(low, high):
    """The more events, the better their rate is known: 8% of 10,000 are eight standard errors."""
    state, answer = boots_until_the_end(
        lambda rng, bad: (float(rng.poisson(high if bad else low)), ()), **WIDE
    )
    assert (answer.outcome, answer.culprit) == (Outcome.CULPRIT, f"c{CULPRIT}")
    assert answer.confidence >= 0.95
    assert state.ledger.boots < 80
