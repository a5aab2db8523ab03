# SPDX-License-Identifier: GPL-2.0-or-later
"""What changes a budget shows, before anything is measured: by rehearsals of assumed noise."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
import scipy

from rtbisect.judge.stats import smallest_p
from rtbisect.search.calibrate import MOST_LOOKS, PROMISING, SHIFT, WIDER_FROM, looks
from rtbisect.search.rehearsal import REHEARSALS, rehearsed_unseen
from rtbisect.search.spec import SearchSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbisect.model.campaign import Limits
    from rtbisect.search.ancestry import Floats
    from rtbisect.search.outlook import Terms

#: Sizes of a change, in standard deviations of a boot, and the length of the history that it is
#: searched in.
EFFECTS = (1.0, 1.5, 2.0, 3.0)
COMMITS = 1000
#: Probability with which a budget has to find a change to count as showing it.
ENOUGH = 0.8
#: Budgets that are tried, in boots.
_BUDGETS = (100, 150, 200, 250, 300, 400, 500, 700, 1000)


@dataclass(frozen=True, slots=True)
class Shown:
    """How a budget deals with a change of one size (in standard deviations of a boot)."""

    effect: float
    #: Probability that a search finds its commit within the budget, 0..1.
    chance: float
    #: The `max_boots` that finds it with ENOUGH; None: more than is ever asked for.
    max_boots: int | None


def shown(limits: Limits, limits_of: Callable[[int], Limits], terms: Terms) -> tuple[Shown, ...]:
    """What the budget of a site shows; `limits_of` are its limits with so many boots."""
    found = []
    # A larger change is not found less often: that is the luck of so few rehearsals.
    chances = accumulate((chance(limits, terms, effect) for effect in EFFECTS), max)
    for effect, here in zip(EFFECTS, chances, strict=True):
        larger = (most for most in _BUDGETS if most > max(limits.max_boots, limits.grows_to))
        enough = (most for most in larger if chance(limits_of(most), terms, effect) >= ENOUGH)
        most = limits.max_boots if here >= ENOUGH else next(enough, None)
        found.append(Shown(effect, here, most))
    return tuple(found)


def chance(limits: Limits, terms: Terms, effect: float) -> float:
    """That the ends are seen to differ, and the search ends with the commit within its budget."""
    grown = limits.with_boots(limits.grows_to) if limits.grows else limits
    ends = _looked(limits, effect)
    seen = rehearsed_unseen(terms, COMMITS, effect, WIDER_FROM)
    # A commit leads by then, and the boots of a proof are kept, as many as the ends took.
    kept = np.array([grown.kept_with(int(2 * boots)) for boots in np.minimum(ends, _BUDGETS[-1])])
    within = (2 * ends + seen.boots <= grown.max_boots - kept) & (seen.builds <= grown.max_builds)
    return float((within & seen.named).mean())


def _looked(limits: Limits, effect: float) -> Floats:
    """Boots of each end that a look takes which shows the change (r,); infinite where none does."""
    last = max(limits.calibrate_min, limits.looks_max or limits.calibrate_max)
    schedule = looks(limits.calibrate_min, last, MOST_LOOKS if limits.looks_max else 0)
    alpha = SHIFT * SearchSpec.alpha / len(schedule)
    rng = np.random.default_rng(round(100 * effect))
    good, bad = rng.standard_normal((2, REHEARSALS, last))
    bad = bad + effect
    taken, open_rows = np.full(REHEARSALS, np.inf), np.ones(REHEARSALS, dtype=np.bool_)
    for boots in schedule:
        one, two = good[:, :boots], bad[:, :boots]
        error = np.sqrt((one.var(axis=1, ddof=1) + two.var(axis=1, ddof=1)) / boots)
        p = scipy.stats.t.sf((two.mean(axis=1) - one.mean(axis=1)) / error, 2 * boots - 2)
        if smallest_p(boots, boots) > alpha:
            continue
        taken[open_rows & (p <= alpha)] = boots
        open_rows &= p > alpha
        if limits.looks_max and boots >= WIDER_FROM and boots < last:
            # As `calibrate` asks whether a further look promises anything.
            times = last / boots
            seen = scipy.stats.norm.isf(np.minimum(p, 1 - 1e-9))
            missing = scipy.stats.norm.isf(alpha) - seen * np.sqrt(times)
            open_rows &= scipy.stats.norm.sf(missing / np.sqrt(times - 1)) >= PROMISING
    return taken
