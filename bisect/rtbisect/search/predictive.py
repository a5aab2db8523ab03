# SPDX-License-Identifier: GPL-2.0-or-later
"""Posterior predictive check: does every tested kernel look like its side?

The posterior says which commit explains the boots best, not that it explains them. Here each
kernel is predicted from all the others (leave one out), boot after boot, and the probability
integral transforms of its boots (Rosenblatt 1952) are compared with what they should be.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.search.likelihood.counts import CountGrid
from rtbisect.search.likelihood.grids import Grid, Grids, normalized
from rtbisect.search.likelihood.hypotheses import loglik

if TYPE_CHECKING:
    from rtbisect.search.ancestry import Floats
    from rtbisect.search.likelihood.features import Views
    from rtbisect.search.posterior import Posterior

#: Rate at which a search whose model is right is told that some kernel contradicts it.
ALPHA = 0.01
#: The predictive densities are not taken seriously further out in their tails than this.
_TAIL = 1e-4


def contradictions(posterior: Posterior) -> tuple[tuple[str, float], ...]:
    """Revisions whose boots lie where neither their side nor the noise puts them, given the
    likeliest commit, with p (two-sided, of the mean); ALPHA is shared by all kernels.
    """
    cell = next((c for c in posterior.cells if c.weights[posterior.best] > 0), None)
    if cell is None:
        return ()
    sides = zip(posterior.kernels, cell.sides, strict=True)
    booted = [(kernel, bad) for kernel, bad in sides if kernel.boots]
    contradicted = []
    for kernel, bad in booted:
        side, node = (cell.grid.bad, cell.bad) if bad else (cell.grid.good, cell.good)
        p = _kernel_p(side, node, cell.grid, posterior.view, kernel.boots)
        if p * len(booted) <= ALPHA:
            contradicted.append((kernel.shas[0], p))
    return tuple(contradicted)


def _kernel_p(side: Grid, node: Floats, grids: Grids, view: int, boots: tuple[Views, ...]) -> float:
    """The p of one kernel; `node` are the weights after all boots, also after its own."""
    y = grids.y
    boots = tuple(boot for boot in boots if view < len(boot))
    if not boots:
        return 1.0
    with np.errstate(divide="ignore"):
        log = np.log(node) - loglik(side, boots, view)
    total = 0.0
    for count, boot in enumerate(boots):
        before = boots[:count]
        weight = normalized(log + loglik(side, before, view) if before else log, 3)
        grid, value = (
            side.grid_and_events(boot) if isinstance(side, CountGrid) else (side, boot[view])
        )
        if before:
            density = grid.again(y, tuple(b[view] for b in before), weight)
        else:
            density = grid.fresh(y).reshape(y.size, -1) @ weight.ravel()
        total += _normal_score(y, density * grids.width, value)
    return math.erfc(abs(total) / math.sqrt(2 * len(boots)))


def _normal_score(y: Floats, density: Floats, value: float) -> float:
    """The normal score of a value among the masses at `y`."""
    mass = density / density.sum()
    edges = (y[1:] + y[:-1]) / 2
    place = int(np.searchsorted(edges, value))
    low = edges[place - 1] if place else 2 * y[0] - edges[0]
    high = edges[place] if place < edges.size else 2 * y[-1] - edges[-1]
    inside = min(1.0, max(0.0, (value - low) / (high - low)))
    below = float(mass[:place].sum() + inside * mass[place])
    return NormalDist().inv_cdf(min(1 - _TAIL, max(_TAIL, below)))
