# SPDX-License-Identifier: GPL-2.0-or-later
"""A regression may show on one CPU, in the spread, or in a distribution without a usual shape."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import gammaln

from helpers.searches import CULPRIT, boots_until_the_end, chain, spec
from rtbisect.model.campaign import Observation, Outcome, Scale
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Figures
from rtbisect.model.lab import RunStatus
from rtbisect.search import engine
from rtbisect.search.events import Booted
from rtbisect.search.likelihood import hypotheses
from rtbisect.search.likelihood.features import common, views
from rtbisect.search.likelihood.grids import logsumexp
from rtbisect.search.likelihood.mixture import StateGrid, States, own_shares, state_grids
from rtbisect.search.likelihood.two_level import BootGrid


def linear():
    """The threshold of the toy specification, on a plain scale."""
    return replace(spec(chain(2)).threshold, scale=Scale.LINEAR, min_effect=0.5, floor=0.0)


WIDE = {"threshold": linear(), "calibrate_max": 40, "max_boots": 400, "max_builds": 100}


def one_cpu_worse(rng, bad):
    host = 3 * rng.standard_normal()
    cpus = [host + 0.3 * rng.standard_normal() + 2.0 * (bad and cpu == 2) for cpu in range(4)]
    return float(np.median(cpus)), tuple(cpus)


def test_a_shift_of_one_cpu_is_found_behind_the_noise_of_the_host():
    state, answer = boots_until_the_end(one_cpu_worse, **WIDE)
    assert state.ends.figure.found == Finding.of(Figures.ONE_CPU, number=3)
    assert (answer.outcome, answer.culprit) == (Outcome.CULPRIT, f"c{CULPRIT}")


def test_a_boot_that_lacks_a_cpu_does_not_take_back_what_the_others_say():
    state, answer = boots_until_the_end(one_cpu_worse, **WIDE)
    assert answer.culprit == f"c{CULPRIT}"
    torn = Observation(value=0.5, per_cpu=(0.5, 0.4, 0.6))
    more = Booted(
        revision=state.spec.graph.newer,
        status=RunStatus.COMPLETE,
        observation=torn,
        seconds=1.0,
    )
    assert engine.answer(engine.apply(state, more)).culprit == f"c{CULPRIT}"


def test_a_wider_spread_with_the_same_middle_is_found():
    def draw(rng, bad):
        return float((5.0 if bad else 1.0) * rng.standard_normal()), ()

    state, answer = boots_until_the_end(draw, **WIDE)
    assert state.ends.figure.found == Finding.of(Figures.SPREAD)
    assert (answer.outcome, answer.culprit) == (Outcome.CULPRIT, f"c{CULPRIT}")


def flaky(share_good, share_bad):
    """Boots that are slow with a chance, and quantised."""

    def draw(rng, bad):
        slow = rng.random() < (share_bad if bad else share_good)
        return float(10 * slow + rng.choice([0.0, 0.1])), ()

    return draw


def test_two_states_whose_shares_differ_do_not_fool_the_confidence():
    answers = [boots_until_the_end(flaky(0.15, 0.85), seed=seed, **WIDE)[1] for seed in range(12)]
    named = [a for a in answers if a.outcome is Outcome.CULPRIT]
    assert len(named) >= 10
    assert sum(a.culprit == f"c{CULPRIT}" for a in named) >= len(named) - 2


def test_states_are_found_and_their_lens_wins():
    rng = np.random.default_rng(3)
    draw = flaky(0.2, 0.8)
    good = tuple((draw(rng, bad=False)[0],) for _ in range(20))
    bad = tuple((draw(rng, bad=True)[0],) for _ in range(20))
    found = hypotheses.fit(good, bad, 0.5, 1)
    assert [type(lens.grid.good) for lens in found] == [StateGrid]
    assert found[0].grid.good.states.at == pytest.approx([0.05, 10.05], abs=0.06)


def test_a_usual_shape_needs_no_states():
    rng = np.random.default_rng(4)
    good = tuple((float(v),) for v in rng.standard_normal(20))
    bad = tuple((float(v),) for v in rng.standard_normal(20) + 1.5)
    found = hypotheses.fit(good, bad, 0.5, 1)
    looks = [
        hypotheses.lens_likelihood(each, [good, bad], np.array([[False, True]])) for each in found
    ]
    weight = hypotheses.weights_against_none(found, looks)[:, 0]
    assert isinstance(found[int(weight.argmax())].grid.good, BootGrid)


def test_nodes_of_shares_are_nodes_of_their_prior():
    """Shares of states that do not overlap: the likelihood is Dirichlet-multinomial."""
    rng = np.random.default_rng(5)
    draw = flaky(0.3, 0.8)
    good = tuple(draw(rng, bad=False)[0] for _ in range(12))
    bad = tuple(draw(rng, bad=True)[0] for _ in range(12))
    grids, _ = state_grids(good, bad, 0.5, own_shares=False)
    grid, y = grids.good, np.asarray(good)
    density = grid.states.density(y)
    count = (density.argmax(axis=1)[:, None] == np.arange(density.shape[1])).sum(axis=0)
    alpha = np.full(count.size, 0.5)
    exact = (
        gammaln(alpha.sum()) - gammaln(alpha.sum() + y.size)
        + (gammaln(alpha + count) - gammaln(alpha)).sum()
        + np.log(density.max(axis=1)).sum()
    )  # fmt: skip
    found = float(logsumexp(grid.loglik(good) + grid.prior, 3))
    assert found == pytest.approx(exact, abs=0.4)


def test_the_shares_of_a_kernel_are_its_own():
    """Of states that do not overlap that is Dirichlet-multinomial, in any order of the boots."""
    states = States(np.array([0.0, 10.0, 20.0]), np.full(3, 0.1), outlier=0.0)
    for boots in ((), (0.0,), (0.0, 10.0, 0.0, 0.0), (20.0, 0.0, 10.0, 0.0)):
        count = np.array([boots.count(at) for at in states.at])
        alpha = np.full(3, 0.5)
        density = np.log(states.density(np.asarray(boots)).max(axis=1)).sum() if boots else 0.0
        exact = (
            gammaln(alpha.sum()) - gammaln(alpha.sum() + len(boots))
            + (gammaln(alpha + count) - gammaln(alpha)).sum()
            + density
        )  # fmt: skip
        log, expected = own_shares(states, boots)
        assert log == pytest.approx(exact, abs=1e-6)
        assert expected == pytest.approx((alpha + count) / (1.5 + len(boots)), abs=1e-6)


def rounded_kernels():
    """Boots of the good end, of the bad one, and of six between them that differ as builds do:
    each has a level of its own, and every value is a whole number.
    """
    good, bad = (0.0, 1.0, 0.0, 0.0, 1.0, 0.0) * 2, (3.0, 2.0, 3.0, 3.0, 2.0, 3.0) * 2
    levels = ((0.0, 0.0, 1.0), (2.0, 3.0, 2.0), (1.0, 1.0, 0.0), (2.0, 2.0, 3.0), (1.0, 0.0, 1.0))
    return [tuple((v,) for v in values) for values in (good, *(2 * each for each in levels), bad)]


@pytest.mark.parametrize("own", [True, False], ids=["builds may differ", "began before"])
def test_states_that_builds_meet_as_they_like_are_no_regression(own):
    kernels = rounded_kernels()
    lenses = hypotheses.fit(kernels[0], kernels[-1], 0.25, 1, own_shares=own)
    patterns = np.tri(len(kernels), dtype=np.bool_)[:-1, ::-1]
    looks = [hypotheses.lens_likelihood(lens, kernels, patterns) for lens in lenses]
    weights = hypotheses.weights_against_none(lenses, looks)
    states = [isinstance(lens.grid.good, StateGrid) for lens in lenses]
    assert any(states)
    # The best commit beside "no regression": less likely, or a thousand times likelier.
    best = float(logsumexp(weights.max(axis=1)))
    assert best < 0 if own else best > 7


def test_a_boot_to_come_follows_the_shares_of_its_kernel():
    good, bad = (
        tuple(v for (v,) in each) for each in (rounded_kernels()[0], rounded_kernels()[-1])
    )
    grids, _ = state_grids(good, bad, 0.25, own_shares=True)
    side, y = grids.good, grids.y
    assert side.prior.shape == (2, 1, side.shares.shape[0])
    assert side.fresh(y).shape == (y.size, *side.prior.shape)
    own_alone = np.zeros_like(side.prior)
    own_alone[1, 0, 0] = 1.0
    seen = side.again(y, bad, own_alone)
    at = np.searchsorted(y, [0.0, 3.0])
    assert seen[at[1]] > 10 * seen[at[0]]
    assert grids.layout.tolist() == [False, True]


def test_views_of_a_boot():
    boot = Observation(value=2.0, per_cpu=(1.0, 2.0, 6.0))
    assert views(linear(), boot) == pytest.approx((2.0, -3.0, -1.5, 4.5))
    assert views(linear(), Observation(value=2.0, per_cpu=(1.0,))) == (2.0,)
    assert views(linear(), Observation(value=2.0, per_cpu=(1.0, float("nan")))) == (2.0,)


def test_boots_without_cpus_leave_the_whole_alone():
    assert common([(1.0, 0.5, -0.5), (1.0,)]) == 1
    assert common([(1.0, 0.5, -0.5), (1.0, 0.0, 0.0)]) == 3


def zero_or_few(chance):
    """Nothing on a good kernel, one to three of something in some boots of a bad one."""

    def draw(rng, bad):
        return float(rng.integers(1, 4)) if bad and rng.random() < chance else 0.0, ()

    return draw


@pytest.mark.parametrize(("chance", "seed"), [(0.35, 1), (0.35, 3), (0.45, 2), (0.6, 4)])
def test_a_figure_that_is_mostly_zero_is_a_count(chance, seed):
    """Below a half the medians of both ends are 0: their means differ, or their spread does."""
    every = {**WIDE, "threshold": replace(linear(), min_effect=0.0)}
    state, answer = boots_until_the_end(zero_or_few(chance), seed, **every)
    assert (answer.outcome, answer.culprit) == (Outcome.CULPRIT, f"c{CULPRIT}")
    assert state.ends.figure.plain is (chance > 0.5)


@pytest.mark.parametrize("unit", [1e-12, 1e-3, 1e12])
@pytest.mark.parametrize("stray", [0.0, 300.0, 1e5])
def test_neither_the_unit_nor_a_stray_boot_keeps_the_search_from_its_end(unit, stray):
    """One boot of the calibration is far away, or the figure is told in another unit."""
    number = 0

    def draw(rng, bad):
        nonlocal number
        number += 1
        value = 10 + 3 * bad + rng.random() + rng.random()
        return unit * (stray if stray and number == 5 else value), ()

    every = {**WIDE, "threshold": replace(linear(), min_effect=0.0)}
    _state, answer = boots_until_the_end(draw, **every)
    assert (answer.outcome, answer.culprit) == (Outcome.CULPRIT, f"c{CULPRIT}")
