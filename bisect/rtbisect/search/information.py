# SPDX-License-Identifier: GPL-2.0-or-later
"""Bits that a boot tells about the side of its kernel."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from rtbisect.search.ancestry import Floats

#: Axes of the table of bits: probability of bad, distance in standard deviations.
_Q, _D = 65, 49
_FARTHEST = 6.0


def information(good: Floats, bad: Floats, share: Floats) -> Floats:
    """Bits that one boot tells about its side, for each probability `share` of bad.

    `good` and `bad` are predictive probabilities over the same bins. This is the
    Jensen-Shannon information H(mix) - share H(bad) - (1 - share) H(good).
    """
    mix = share[:, None] * bad + (1 - share[:, None]) * good
    bits: Floats = entropy(mix) - share * entropy(bad) - (1 - share) * entropy(good)
    return np.maximum(bits, 0.0)


def entropy(p: Floats) -> Floats:
    bits: Floats = -(p * np.log2(np.maximum(p, 1e-300))).sum(axis=-1)
    return bits


@lru_cache(maxsize=1)
def _table() -> Floats:
    """Bits that a normal boot tells, by the probability that it is bad and by the distance of good
    and bad (q, d).
    """
    y = np.linspace(-6.0, 6.0 + _FARTHEST, 400)
    q = np.linspace(0.0, 1.0, _Q)

    def density(centre: float) -> Floats:
        mass = np.diff(scipy.special.ndtr(np.append(y, y[-1] + 1) - centre))
        probabilities: Floats = mass / mass.sum()
        return probabilities

    columns = [information(density(0.0), density(d), q) for d in np.linspace(0.0, _FARTHEST, _D)]
    return np.stack(columns, axis=1)


def normal_bits(q: Floats, distance: Floats) -> Floats:
    """Bits that a boot tells about its side: `q` (r, k) probabilities of bad, `distance` (r,) or
    (r, k) of good and bad in standard deviations.
    """
    if distance.ndim < q.ndim:
        distance = np.broadcast_to(distance[:, None], q.shape)
    table = _table()
    x = np.clip(q, 0.0, 1.0) * (_Q - 1)
    z = np.clip(distance / _FARTHEST, 0.0, 1.0) * (_D - 1)
    i, j = np.minimum(x.astype(np.intp), _Q - 2), np.minimum(z.astype(np.intp), _D - 2)
    x, z = x - i, z - j
    found: Floats = (
        table[i, j] * (1 - x) * (1 - z)
        + table[i + 1, j] * x * (1 - z)
        + table[i, j + 1] * (1 - x) * z
        + table[i + 1, j + 1] * x * z
    )
    return found
