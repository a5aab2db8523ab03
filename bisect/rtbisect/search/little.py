# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether what may be left of a change is too little to be found among builds that differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

from rtbisect.search.outlook import sides_of

if TYPE_CHECKING:
    from rtbisect.search.search_state import SearchState

#: A change that is surely less than this part of what the ends differ in is left alone once it is
#: likelier that there is none: what is left of it takes hundreds of builds to tell from none.
LITTLE = 0.5
#: P(H0) from which that is asked: it is likelier than a change.
RATHER_NONE = 0.5


def chance_of_little(state: SearchState) -> float:
    """That nothing regressed, or something by less than LITTLE of what the ends differ in: 0..1.
    Only for figures with levels, of the whole of a boot.
    """
    posterior = state.belief
    if posterior.view or not state.ends.figure.plain:
        return posterior.none
    least = LITTLE * state.ends.shift
    mass, little = 0.0, 0.0
    for cell in posterior.cells:
        sides = sides_of(cell)
        if sides is None:
            return posterior.none
        better, worse = sides
        apart = worse.mean - better.mean
        deviation = (worse.deviation**2 + better.deviation**2) ** 0.5
        weight = float(cell.weights.sum())
        # That it is less than 0 is no change, and not what these cells say.
        below, over = (scipy.stats.norm.cdf(x, apart, deviation) for x in (0.0, least))
        share = (over - below) / np.maximum(1 - below, 1e-12)
        little += weight * float(better.weight @ share)
        mass += weight
    return posterior.none + (1 - posterior.none) * (little / mass if mass else 0.0)
