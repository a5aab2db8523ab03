# SPDX-License-Identifier: GPL-2.0-or-later
"""A/A: boots of one kernel against each other, as a culprit is compared with its parent."""

from __future__ import annotations

from rtbisect.judge import stats
from rtbisect.judge.gates.boot_gates import absent, failed, passed
from rtbisect.judge.scale import by_mean, centre, digits, effect_of, unit_behind
from rtbisect.judge.verdict import judge, sides, smallest_p
from rtbisect.model.campaign import Better, Gate, Level, Sample, Scale, Threshold

NAME = "G10 A/A"

#: Fewer boots do not tell what luck makes of them.
FEWEST = 6
#: For both directions together 1%.
ALPHA = 0.005
#: What luck makes of two series is told as what so many draws stay within.
WITHIN = 0.99


def same_kernel(threshold: Threshold, parent: Sample, culprit: Sample) -> Gate:
    """The boots of the parent do not drift, and what luck makes of two series of them is less than
    what the culprit's boots differ from them by; what hosts add is no luck.
    """
    if parent.n < FEWEST or not culprit.n:
        return absent(NAME, f"{parent.n} boots of the parent, at least {FEWEST} are needed")
    if reason := drift(threshold, parent, "the parent's boots"):
        return failed(NAME, reason)
    if by_mean(threshold):
        # Where a commit repairs, all the scatter is its parent's.
        return absent(NAME, "of shares and counts the boots of one side alone say too little")
    base, new = sides(threshold, parent, culprit)
    # Both directions are the same draw.
    _, luck = stats.bootstrap_shift(base, base, level=WITHIN)
    change = centre(threshold, new) - centre(threshold, base)
    reason = f"two series of {parent.n} boots of the parent differ by less than"
    reason += f" {worded_shift(threshold, luck)} in {100 * WITHIN:.0f} of 100 draws,"
    reason += f" the culprit from its parent by {worded_shift(threshold, change)}"
    return passed(NAME, reason) if change > luck else failed(NAME, reason)


def drift(threshold: Threshold, boots: Sample, whose: str) -> str:
    """Whether the first and the second half of the boots differ, in their order in time; "" where
    they do not, or are too few to tell.
    """
    half = boots.n // 2
    first = Sample(boots.values[:half], boots.hosts[:half])
    second = Sample(boots.values[half:], boots.hosts[half:])
    if smallest_p(first, second) > ALPHA:
        return ""
    for base, new, how in ((first, second, "worse"), (second, first, "better")):
        judgement = judge(threshold, base, new, alpha=ALPHA)
        if judgement.level is Level.REGRESSED:
            reason = f"the second half of {whose} is {how} than the first"
            return f"{reason}: {judgement.reason}"
    return ""


def worded_shift(threshold: Threshold, shift: float) -> str:
    """A shift of badness as what it is of the figure."""
    lower = threshold.better is Better.LOWER
    effect = effect_of(threshold, shift if lower else -shift)
    if threshold.scale is Scale.LOG:
        return f"a ratio of {effect:.3g}"
    return f"{digits(effect)}{unit_behind(threshold)}"
