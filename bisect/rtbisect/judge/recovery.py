# SPDX-License-Identifier: GPL-2.0-or-later
"""How much of what the ends differ in one pair of kernels differs in, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from rtbisect.judge import stats
from rtbisect.judge.scale import by_mean, centre
from rtbisect.judge.verdict import sides

if TYPE_CHECKING:
    from rtbisect.model.campaign import Sample, Threshold

#: Share of the ends' shift below which there is more than this one culprit, and how sure of it the
#: boots have to be: a search for a second culprit that is not there costs a campaign, and one that
#: is missed is still told of by its share. Of true shares of 1 and of a half 3% and 37 to 59% are
#: taken to fall short (8 boots a side, ends 2 to 4 standard deviations apart); of what merely lies
#: below, 23% and 69 to 86% would be.
FULL = 0.7
SURE = 0.8

#: A pair of shares or counts contradicts the shift of the ends if boots of the ends would look like
#: it less often than this.
LUCK = 0.05

#: Boots of two kernels, the one that should be better first.
Pair: TypeAlias = "tuple[Sample, Sample]"


def share(threshold: Threshold, ends: Pair, pair: Pair) -> float | None:
    """Shift of this pair as a share of the shift of the ends; None without ends."""
    if not all(end.n for end in ends):
        return None
    whole = _shift(threshold, ends)
    return _shift(threshold, pair) / whole if whole > 0 else None


def falls_short(threshold: Threshold, ends: Pair, pair: Pair) -> bool:
    """Below FULL, by more than what luck makes of so few boots."""
    whole, part = (sides(threshold, *samples) for samples in (ends, pair))
    return stats.falls_short(whole, part, FULL, level=SURE, mean=by_mean(threshold))


def may_be_luck(threshold: Threshold, ends: Pair, pair: Pair) -> bool:
    """Whether boots of the ends themselves would often enough differ as little as this pair.

    What happens in one boot of four is missing from three boots of both kernels, however much the
    kernels differ, and the bootstrap of equal boots has no width that would say so. Figures that
    every boot has (medians) do not hide in this way.
    """
    if not by_mean(threshold) or not all(end.n for end in ends):
        return False
    whole, part = (sides(threshold, *each) for each in (ends, pair))
    return stats.chance_of_less(whole, part) > LUCK


def _shift(threshold: Threshold, pair: Pair) -> float:
    better, worse = sides(threshold, *pair)
    return centre(threshold, worse) - centre(threshold, better)
