# SPDX-License-Identifier: GPL-2.0-or-later
"""What a search still takes, by rehearsals."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.judge.scale import shift_of
from rtbisect.model.campaign import Statistic
from rtbisect.search.outlook import Terms, known
from rtbisect.search.rehearsal import rehearsed, rehearsed_unseen

if TYPE_CHECKING:
    from rtbisect.search.ancestry import Floats
    from rtbisect.search.search_state import SearchState

#: Ends of the interval that holds four of five searches, and its middle.
_SHARES = (0.1, 0.5, 0.9)
#: Before anything is known a change of so many standard deviations of a boot is expected; the ends
#: are asked from so many boots of each on, and say that it is this large at most.
_TYPICAL, _FEWEST, _LARGE = 1.5, 3, 6.0


@dataclass(frozen=True, slots=True)
class Expected:
    """A number to come: half of all cases lie below `middle`, four of five from `low` to `high`."""

    low: float
    middle: float
    high: float

    @classmethod
    def of(cls, values: Floats) -> Expected:
        low, middle, high = np.quantile(values, _SHARES).tolist()
        return cls(low, middle, high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What a search still takes."""

    boots: Expected
    #: Builds, with those of other layouts.
    builds: Expected
    seconds: Expected
    #: Probability that the search names a commit within its budget, 0..1.
    chance: float


def ended(*, named: bool) -> Forecast:
    """The forecast of a search that is over."""
    nothing = Expected(0.0, 0.0, 0.0)
    return Forecast(boots=nothing, builds=nothing, seconds=nothing, chance=float(named))


def expected(state: SearchState, boots_due: int = 0, builds_due: int = 0) -> Forecast:
    """Of a search that goes on. Before the ends are seen to differ that is a guess, and so many
    boots and builds of the ends come first.
    """
    spec, ledger = state.spec, state.ledger
    if state.ends.reproduced:
        seen = rehearsed(known(state))
    else:
        effect, terms = _so_far(state)
        seen = rehearsed_unseen(terms, len(spec.graph.commits), effect, spec.calibrate_max)
    boots, builds = seen.boots + boots_due, seen.builds + builds_due
    layout_s = spec.layout_cost_s or 0.0
    seconds = boots * spec.boot_cost_s + (builds - seen.layouts) * spec.build_cost_s
    within = (boots <= spec.max_boots - ledger.boots) & (builds <= spec.max_builds - ledger.builds)
    return Forecast(
        boots=Expected.of(boots),
        builds=Expected.of(builds),
        seconds=Expected.of(seconds + seen.layouts * layout_s),
        chance=float((within & seen.named).mean()),
    )


def _so_far(state: SearchState) -> tuple[float, Terms]:
    """The change by the boots of the ends so far, less one standard error, in standard deviations
    of a boot; and what a search for it costs: other layouts only where it is small.
    """
    spec = state.spec
    terms, threshold = Terms.of(spec), spec.threshold
    good, bad = (
        [boot[0] for boot in state.ledger.of_first(end, spec.max_boots)] for end in spec.graph.ends
    )
    boots = min(len(good), len(bad))
    shares = threshold.statistic is Statistic.FRACTION
    if boots < _FEWEST or shares or not np.isfinite([*good, *bad]).all():
        return _TYPICAL, terms
    noise = math.sqrt((np.var(good, ddof=1) + np.var(bad, ddof=1)) / 2)
    surely = float(np.mean(bad) - np.mean(good)) - math.sqrt(2 / boots) * noise
    if surely >= shift_of(threshold, good, spec.layout_below):
        terms = replace(terms, layout_s=None, end_layouts=0)
    if surely <= _TYPICAL * noise:
        return _TYPICAL, terms
    effect = min(surely / noise, _LARGE) if noise else _LARGE
    # Halves, so that a boot more seldom asks for other rehearsals.
    return round(2 * effect) / 2, terms
