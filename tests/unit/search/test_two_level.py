# SPDX-License-Identifier: GPL-2.0-or-later
import numpy as np
import pytest

from rtbisect.search.likelihood.counts import chance_grids, count_grids
from rtbisect.search.likelihood.hypotheses import Lens, lens_likelihood
from rtbisect.search.likelihood.priors import boot_grids
from rtbisect.search.likelihood.two_level import CONTAMINATION, student

GOOD = (0.1, -0.3, 0.2, 0.05, -0.4, 0.6, 0.0, -0.1, 0.3, -0.2)
BAD = (1.1, 0.8, 1.3, 0.6, 1.5, 0.9, 1.0, 1.2, 0.7, 2.9)
GRIDS = boot_grids(GOOD, BAD, 0.25)


def boots(*counts):
    """Boots with so many events, all with an exposure of 1."""
    return tuple((float(count), 1.0) for count in counts)


def brute(grid, node, values):
    """Likelihood of the boots of one kernel at one node, with a fine sum over its offset."""
    t, s, a = node
    mu, sigma, tau = grid.mu[t, a], grid.sigma[s], grid.tau[t]
    u = np.linspace(-8 * tau, 8 * tau, 20001) if tau else np.zeros(1)
    weight = np.exp(-0.5 * (u / tau) ** 2) if tau else np.ones(1)
    weight /= weight.sum()
    each = student((np.array(values)[:, None] - mu - u) / sigma) / sigma
    mixed = (1 - CONTAMINATION) * each + CONTAMINATION * grid.outlier
    return float(np.log((mixed.prod(axis=0) * weight).sum()))


@pytest.mark.parametrize("values", [(0.4,), (0.1, 0.5, 0.2), GOOD, (0.0, 0.1, 5.0)])
@pytest.mark.parametrize("side", ["good", "bad", "shared"])
def test_the_offset_of_a_build_is_integrated(side, values):
    grid = getattr(GRIDS, side)
    found = grid.loglik(values)
    best = np.unravel_index(found.argmax(), found.shape)
    rng = np.random.default_rng(1)
    nodes = [best, *zip(*(rng.integers(0, size, 25) for size in found.shape), strict=True)]
    for node in nodes:
        exact = brute(grid, node, values)
        # What is e^-12 below the best explanation decides nothing.
        if exact > found.max() - 12:
            assert found[node] == pytest.approx(exact, abs=0.1)


@pytest.mark.parametrize("side", ["good", "bad", "shared"])
def test_the_way_to_the_boots_leaves_no_trace(side):
    """A replayed search asks for all boots at once, a running one after every boot."""
    values = tuple(np.random.default_rng(2).normal(size=40))
    grid = getattr(boot_grids(GOOD, BAD, 0.25), side)
    one_by_one = [grid.loglik(values[:n]) for n in range(41)]
    assert (getattr(boot_grids(GOOD, BAD, 0.25), side).loglik(values) == one_by_one[-1]).all()


def test_no_boots_say_nothing():
    assert not GRIDS.good.loglik(()).any()


@pytest.mark.parametrize("side", ["good", "bad", "shared"])
@pytest.mark.parametrize("values", [(0.3,), (0.2, 0.4, 0.1, 0.5)])
def test_one_more_boot_is_predicted_as_the_ratio_of_likelihoods(side, values):
    grid = getattr(GRIDS, side)
    log = grid.prior + grid.loglik(values)
    node = np.exp(log - log.max())
    node /= node.sum()
    y = np.array([-0.5, 0.2, 0.9])
    found = grid.again(y, values, node)
    ratio = [
        float((node * np.exp(grid.loglik((*values, v)) - grid.loglik(values))).sum()) for v in y
    ]
    assert found == pytest.approx(ratio, rel=0.03)


def test_where_the_nodes_of_the_scale_lie_decides_nothing():
    """Hundreds of boots know their scale better than the nodes lie. "No regression" and a culprit
    lose the same by that, whatever the scale is.
    """
    draws = np.random.default_rng(7).standard_normal(400)
    pattern = np.array([[kernel >= 10 for kernel in range(20)]])
    evidence = []
    for scale in 0.45 * np.exp(np.linspace(0, 0.3, 12)):
        each = 0.45 + scale * draws
        kernels = [tuple((float(value),) for value in each[k::20]) for k in range(20)]
        found = lens_likelihood(Lens(0, 0.0, 0.0, GRIDS), kernels, pattern)
        evidence.append(found.none - float(found.likelihood[0]))
    assert np.abs(np.diff(evidence)).max() < 0.5


def test_a_new_kernel_is_predicted_as_its_first_boot():
    log = GRIDS.good.prior + GRIDS.good.loglik(GOOD)
    node = np.exp(log - log.max())
    node /= node.sum()
    y = np.linspace(-2, 3, 21)
    found = GRIDS.good.fresh(y).reshape(y.size, -1) @ node.ravel()
    exact = [float((node * np.exp(GRIDS.good.loglik((v,)))).sum()) for v in y]
    assert found == pytest.approx(exact, rel=0.03)


def test_many_boots_of_one_build_are_one_draw_of_its_offset():
    """With a wide tau, forty boots of one kernel tell hardly more about its side than ten."""
    few, many = (0.5,) * 10, (0.5,) * 40
    last = GRIDS.good.tau.size - 1
    gain = GRIDS.bad.loglik(many) - GRIDS.good.loglik(many)
    base = GRIDS.bad.loglik(few) - GRIDS.good.loglik(few)
    middle = GRIDS.good.mu.shape[1] // 2
    assert abs(gain - base)[last, :, middle].max() < 0.2


@pytest.mark.parametrize(
    "grids", [GRIDS, chance_grids(), count_grids(boots(0, 0, 1), boots(4, 6, 3))]
)
def test_priors_add_up_to_at_most_one(grids):
    """The nodes cover a part of the prior; they never weigh more than the whole of it."""
    good, bad = np.exp(grids.good.prior), np.exp(grids.bad.prior)
    total = 0.0
    for t in range(good.shape[0]):
        one, two = good[t].sum(axis=-1), bad[t].sum(axis=-1)
        total += one @ np.exp(grids.couple) @ two
    assert 0 < total <= 1 + 1e-9
    assert np.exp(grids.shared.prior).sum() <= 1 + 1e-9


@pytest.mark.parametrize("effect", [1.0, 10.0, 30.0])
def test_large_offsets_of_builds_have_no_more_than_their_share_of_the_prior(effect):
    """The nodes reach further where builds differ more; the prior must not grow with them."""
    rng = np.random.default_rng(0)
    grids = boot_grids(tuple(rng.normal(0, 1, 10)), tuple(rng.normal(effect, 1, 10)), 0.25)
    good, bad = np.exp(grids.good.prior[:, 0]), np.exp(grids.bad.prior[:, 0])
    assert bad.sum(axis=1).max() <= 1 + 1e-9
    assert np.einsum("ta,tab,tb->", good, grids.ahead, bad) <= 1.05
    assert np.exp(grids.shared.prior).sum() <= 1 + 1e-9


def test_chances_follow_jeffreys():
    grid = chance_grids().shared
    weight = np.exp(grid.prior + grid.loglik((1, 1, 0)))
    mean = (weight[0, :, 0] * grid.chance).sum() / weight.sum()
    assert mean == pytest.approx(2.5 / 4, abs=0.01)


def test_counts_include_zero_and_predict_a_distribution():
    grids = count_grids(boots(*[0.0] * 10), boots(3.0, 5.0, 2.0, 4.0))
    assert np.isfinite(grids.good.loglik((0.0, 0.0, 0.0))).all()
    total = grids.fresh(grids.shared).sum(axis=0)
    small = grids.shared.rate < 8
    assert total[:, small] == pytest.approx(np.ones_like(total[:, small]), abs=0.1)
    low = grids.good.loglik((5.0,) * 10)[0, 0, 0]
    assert low < grids.good.loglik((0.0,) * 10)[0, 0, 0]
