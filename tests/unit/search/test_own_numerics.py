# SPDX-License-Identifier: GPL-2.0-or-later
"""What the search computes itself, for speed, is what the library computes."""

import numpy as np
import pytest
from scipy import special
from scipy.stats import nbinom
from scipy.stats import t as student_t

from rtbisect.search.likelihood.counts import CONTAMINATION, count_grids
from rtbisect.search.likelihood.grids import logsumexp
from rtbisect.search.likelihood.two_level import NU, student


@pytest.mark.parametrize(("shape", "axes"), [((5, 7), 1), ((3, 4, 5), 2), ((2, 3, 4, 5), 3)])
def test_a_sum_of_exponentials_is_that_of_the_library(shape, axes):
    values = 300 * np.random.default_rng(1).standard_normal(shape)
    values.flat[::3] = -np.inf
    expected = special.logsumexp(values, axis=tuple(range(-axes, 0)))
    assert logsumexp(values, axes) == pytest.approx(expected, rel=1e-12)
    assert logsumexp(np.full(3, -np.inf)) == -np.inf


def test_counts_have_the_probabilities_of_the_library():
    seen = tuple((float(events), 2.0) for events in (0, 3, 4, 40, 1))
    grids = count_grids(seen, seen)
    side, y = grids.good, grids.y[:, None, None]
    shape, mean = side.shape[:, None], side.rate * side.exposure
    expected = nbinom.pmf(y, shape, shape / (shape + mean))
    found = (side.fresh(grids.y)[..., 0] - CONTAMINATION * side.outlier) / (1 - CONTAMINATION)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_the_density_of_a_boot_is_that_of_the_library():
    z = np.linspace(-40, 40, 81)
    assert student(z) == pytest.approx(student_t(NU).pdf(z), rel=1e-12)
