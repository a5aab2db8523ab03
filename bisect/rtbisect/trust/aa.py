# SPDX-License-Identifier: GPL-2.0-or-later
"""A/A: boots of one kernel against each other, as a culprit is compared with its parent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect import stats
from rtbisect.judge.judge import judge
from rtbisect.judge.scale import all_badness, by_mean, effect_of
from rtbisect.model.campaign import Level, Sample, Scale
from rtbisect.trust.gates import absent, failed, passed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.campaign import Gate, Threshold

NAME = "G10 A/A"

#: Fewer boots have no halves to compare.
FEWEST = 6
#: For both directions together 1%.
ALPHA = 0.005
#: What luck makes of two series is told as what so many draws stay within.
WITHIN = 0.99


def same_kernel(threshold: Threshold, values: Sequence[float]) -> Gate:
    """The first and the second half of a kernel's boots, in their order in time, do not differ;
    with what two such series differ by through luck alone, to hold a claim against.
    """
    if len(values) < FEWEST:
        return absent(NAME, f"{len(values)} boots of the parent, at least {FEWEST} are needed")
    half = len(values) // 2
    first, second = Sample(tuple(values[:half])), Sample(tuple(values[half:]))
    for one, two, how in ((first, second, "worse"), (second, first, "better")):
        found = judge(threshold, one, two, alpha=ALPHA)
        if found.level is Level.REGRESSED:
            said = f"the second half of the parent's boots is {how} than the first"
            return failed(NAME, f"{said}: {found.reason}")
    bad = all_badness(threshold, values)
    # Both directions are the same draw.
    _, high = stats.bootstrap_shift(bad, bad, level=WITHIN, mean=by_mean(threshold))
    effect = effect_of(threshold, high if threshold.better.value == "lower" else -high)
    what = f"a ratio of {effect:.3g}" if threshold.scale is Scale.LOG else f"{effect:.3g}"
    unit = "" if threshold.unit == "1" or threshold.scale is Scale.LOG else f" {threshold.unit}"
    said = f"two series of {len(values)} boots of the parent differ by less than {what}{unit}"
    return passed(NAME, f"{said} in {100 * WITHIN:.0f} of 100 draws")
