# SPDX-License-Identifier: GPL-2.0-or-later
"""How few boots a search could need at best, whoever makes it.

Fano: naming one of n commits with an error of at most d takes (1 - d) log2(n) - 1 bits, and no
boot brings more than the capacity C of "is this revision bad?". Burnashev (1976): with
feedback, log2(n) / C + log2(1 / d) / D boots on average, where D is what a boot tells of a side
that is nearly sure. Both know the distributions, and need no calibration.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.search.plan import information
from searchbench.oracle import known_grids

if TYPE_CHECKING:
    from searchbench.world import Cell

_SHARES = np.linspace(0, 1, 201)


@dataclass(frozen=True)
class Bounds:
    """Bits of a boot of a new build at best, bits when the side is nearly sure, boots."""

    capacity: float
    divergence: float
    fano: float
    burnashev: float


def bounds(cell: Cell, commits: int, error: float = 0.05) -> Bounds:
    """Bounds for one cell whose figure has a location."""
    grids = known_grids(cell)
    good, bad = (side.fresh(grids.y)[:, 0, 0, 0] for side in (grids.good, grids.bad))
    good, bad = good / good.sum() + 1e-12, bad / bad.sum() + 1e-12
    capacity = float(information(good, bad, _SHARES).max())
    one, other = (float((p * np.log2(p / q)).sum()) for p, q in ((good, bad), (bad, good)))
    bits = math.log2(commits)
    return Bounds(
        capacity,
        max(one, other),
        max(0.0, (1 - error) * bits - 1) / capacity,
        bits / capacity + math.log2(1 / error) / max(one, other),
    )
