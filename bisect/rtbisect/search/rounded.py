# SPDX-License-Identifier: GPL-2.0-or-later
"""Values that were rounded, as to whole milliseconds or ticks: how far each is from what it was."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.judge.stats import OF_MAD, deviations
from rtbisect.model.campaign import Better, Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.campaign import Threshold

#: How far from a whole number of steps the distance of two rounded values is, in steps: what
#: logarithms and decimal fractions leave of it.
WHOLE = 1e-3
#: Steps are wide where the scale of an end is below so many of them: values then lie in a few
#: states.
WIDE = 2.0


def half_step(threshold: Threshold, badness: Sequence[float]) -> float:
    """Half of the step that values were rounded to, such as whole milliseconds, as badness at their
    middle: so far is each from what it was. 0 where they do not lie whole steps apart, or where no
    two are the same.
    """
    values = np.array(badness)
    if threshold.scale is Scale.LOG:
        values = np.exp(values if threshold.better is Better.LOWER else -values)
    distinct = np.unique(values)
    if not 1 < distinct.size < values.size:
        return 0.0
    apart = np.diff(distinct)
    step = float(apart.min())
    if np.any(np.abs(apart / step - np.rint(apart / step)) > WHOLE):
        return 0.0
    log = threshold.scale is Scale.LOG
    return math.log1p(step / 2 / float(np.median(values))) if log else step / 2


def in_wide_steps(threshold: Threshold, *ends: Sequence[float]) -> bool:
    """Whether the boots of both ends (badness) were rounded to steps as wide as their noise; ends
    that have none tell of no steps.
    """
    if all(len(set(end)) == 1 for end in ends):
        return False
    half = half_step(threshold, [value for end in ends for value in end])
    away = [value for end in ends for value in deviations(end)]
    return half > 0 and OF_MAD * float(np.median(away)) < 2 * WIDE * half
