# SPDX-License-Identifier: GPL-2.0-or-later
"""A/A: boots of one kernel against each other, as a culprit is compared with its parent."""

from __future__ import annotations

from rtbisect.judge import stats
from rtbisect.judge.gates.boot_gates import absent, failed, passed
from rtbisect.judge.scale import by_mean, centre, effect_of
from rtbisect.judge.verdict import judge, sides, smallest_p
from rtbisect.model.campaign import Better, Level, Sample, Scale, Threshold
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Gates, Side, Told
from rtbisect.model.result import Gate, GateName

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
    name = GateName.SAME_KERNEL
    if parent.n < FEWEST or not culprit.n:
        return absent(name, Finding.of(Gates.PARENT_FEW, boots=parent.n, fewest=FEWEST))
    if reason := drift(threshold, parent, Side.PARENT):
        return failed(name, reason)
    if by_mean(threshold):
        # Where a commit repairs, all the scatter is its parent's.
        return absent(name, Finding.of(Gates.NO_LUCK_TOLD))
    base, new = sides(threshold, parent, culprit)
    # Both directions are the same draw.
    _, luck = stats.bootstrap_shift(base, base, level=WITHIN)
    change = centre(threshold, new) - centre(threshold, base)
    reason = Finding.of(
        Gates.LUCK,
        boots=parent.n,
        luck=shift_found(threshold, luck),
        percent=100 * WITHIN,
        change=shift_found(threshold, change),
    )
    return passed(name, reason) if change > luck else failed(name, reason)


def drift(threshold: Threshold, boots: Sample, side: Side | None = None) -> Finding | None:
    """Whether the first and the second half of the boots differ, in their order in time; None where
    they do not, or are too few to tell. The boots are those of a `side`, or of the one kernel that
    is asked about.
    """
    half = boots.n // 2
    first, second = boots.part(0, half), boots.part(half, None)
    if smallest_p(first, second) > ALPHA:
        return None
    for base, new, better in ((first, second, False), (second, first, True)):
        judgement = judge(threshold, base, new, alpha=ALPHA)
        if judgement.level is Level.REGRESSED:
            return Finding.of(Gates.DRIFT, side=side, better=better, why=judgement.reason)
    return None


def shift_found(threshold: Threshold, shift: float) -> Finding:
    """A shift of badness as what it is of the figure."""
    lower = threshold.better is Better.LOWER
    effect = effect_of(threshold, shift if lower else -shift)
    if threshold.scale is Scale.LOG:
        return Finding.of(Told.SHIFT_RATIO, ratio=effect)
    return Finding.of(Told.SHIFT, difference=effect, unit=threshold.unit)
