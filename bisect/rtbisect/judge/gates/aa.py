# SPDX-License-Identifier: GPL-2.0-or-later
"""A/A: boots of one kernel against each other, as a culprit is compared with its parent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rtbisect.judge import stats
from rtbisect.judge.gates.boot_gates import absent, failed, passed
from rtbisect.judge.scale import by_mean, centre, effect_of
from rtbisect.judge.verdict import Pair, judge, sides, smallest_p
from rtbisect.model.campaign import Better, Level, Sample, Scale, Threshold
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Gates, Side, Told
from rtbisect.model.result import Gate, GateName

#: Fewest boots of the parent from which random series are drawn.
FEWEST = 6
#: Alpha of each direction; 1% for both together.
ALPHA = 0.005
#: What luck makes of two series is told as what so many draws stay within; of two groups of builds
#: it is what the check of other builds decides by, or less.
WITHIN, WITHIN_BUILDS = 0.99, 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What tells how far boots of one kernel differ, beside the boots of a culprit and its parent
    that its proof has compared: these cannot show what they all share, a build and a time.
    """

    #: Boots of each kernel that were taken at two times: in the search and in the proof, or for an
    #: end that the proof does not boot, at the looks and later.
    apart: tuple[Pair, ...] = ()
    #: Builds that stand for the parent and for the culprit, one value each; empty where no other
    #: builds decide.
    builds: Pair = (Sample(()), Sample(()))


def same_kernel(
    threshold: Threshold, parent: Sample, culprit: Sample, beside: Beside | None = None
) -> Gate:
    """Boots of one kernel do not differ by when they were taken, and what luck makes of two series
    of them, or of two groups of builds of one code, is less than what the culprit differs from them
    by; what hosts add is no luck. Campaigns that began before there was a `beside` have none.
    """
    name = GateName.SAME_KERNEL
    if parent.n < FEWEST or not culprit.n:
        return absent(name, Finding.of(Gates.PARENT_FEW, boots=parent.n, fewest=FEWEST))
    earlier, later = _pooled(beside.apart if beside else ())
    comparable = earlier.n and later.n and smallest_p(earlier, later) <= ALPHA / 2
    alpha = ALPHA / 2 if comparable else ALPHA
    if reason := drift(threshold, parent, Side.PARENT, alpha=alpha):
        return failed(name, reason)
    if by_mean(threshold):
        # Where a commit repairs, all the scatter is its parent's.
        return absent(name, Finding.of(Gates.NO_LUCK_TOLD))
    if beside is None:
        enough, reason = _luck(threshold, (parent, culprit))
        return passed(name, reason) if enough else failed(name, reason)
    kernels = len({block.partition(" ")[0] for block in earlier.hosts})
    told = {"kernels": kernels, "earlier": earlier.n, "later": later.n}
    if comparable and (found := _differ(threshold, earlier, later, alpha)):
        better, why = found
        return failed(name, Finding.of(Gates.APART_DIFFER, better=better, why=why, **told))
    enough, luck = (
        _luck_of_builds(threshold, beside.builds)
        if min(each.n for each in beside.builds) > 1
        else _luck(threshold, (parent, culprit))
    )
    reason = Finding.of(Gates.NOT_APART, why=luck)
    if comparable:
        reason = Finding.of(Gates.APART_ALIKE, why=luck, **told)
    return passed(name, reason) if enough else failed(name, reason)


def _pooled(apart: Sequence[Pair]) -> Pair:
    """Earlier and later boots of all kernels; labels change places only within a kernel and host,
    so that what kernels and hosts differ by is neither drift nor luck.
    """
    taken: tuple[list[tuple[float, str]], list[tuple[float, str]]] = ([], [])
    for kernel, pair in enumerate(apart):
        for side, boots in zip(taken, pair, strict=True):
            hosts = boots.hosts or ("",) * boots.n
            rows = zip(boots.values, hosts, strict=True)
            side.extend((value, f"{kernel} {host}") for value, host in rows)
    shared = {block for _, block in taken[0]} & {block for _, block in taken[1]}
    kept = [[row for row in side if row[1] in shared] for side in taken]
    earlier, later = (
        Sample(tuple(value for value, _ in side), tuple(block for _, block in side))
        for side in kept
    )
    return earlier, later


def _luck(threshold: Threshold, pair: Pair) -> tuple[bool, Finding]:
    """Whether these boots differ by more than luck makes of those of the parent alone."""
    base, new = sides(threshold, *pair)
    # Both series are drawn from the same boots: the interval is symmetric, its upper end is enough.
    _, luck = stats.bootstrap_shift(base, base, level=WITHIN)
    change = centre(threshold, new) - centre(threshold, base)
    reason = Finding.of(
        Gates.LUCK,
        boots=pair[0].n,
        luck=shift_found(threshold, luck),
        percent=100 * WITHIN,
        change=shift_found(threshold, change),
    )
    return change > luck, reason


def _luck_of_builds(threshold: Threshold, builds: Pair) -> tuple[bool, Finding]:
    """The same of groups of builds, by their means, as the check of other builds compares them."""
    base, new = sides(threshold, *builds)
    _, luck = stats.bootstrap_shift(base, base, level=WITHIN_BUILDS, mean=True)
    # Draws with replacement scatter less than builds do.
    luck *= math.sqrt(len(base) / (len(base) - 1))
    change = stats.mean(new) - stats.mean(base)
    reason = Finding.of(
        Gates.LUCK_OF_BUILDS,
        builds=len(base),
        luck=shift_found(threshold, luck),
        percent=100 * WITHIN_BUILDS,
        change=shift_found(threshold, change),
    )
    return change > luck, reason


def drift(
    threshold: Threshold, boots: Sample, side: Side | None = None, *, alpha: float = ALPHA
) -> Finding | None:
    """Whether the first and the second half of the boots differ, in their order in time; None where
    they do not, or are too few to tell. The boots are those of a `side`, or of the one kernel that
    is asked about. `alpha` is of one direction.
    """
    half = boots.n // 2
    first, second = boots.part(0, half), boots.part(half, None)
    if smallest_p(first, second) > alpha or not (found := _differ(threshold, first, second, alpha)):
        return None
    better, why = found
    return Finding.of(Gates.DRIFT, side=side, better=better, why=why)


def _differ(
    threshold: Threshold, earlier: Sample, later: Sample, alpha: float
) -> tuple[bool, Finding] | None:
    """Whether the later boots are better, and the reason, where they differ as a culprit does."""
    for base, new, better in ((earlier, later, False), (later, earlier, True)):
        judgement = judge(threshold, base, new, alpha=alpha)
        if judgement.level is Level.REGRESSED:
            return better, judgement.reason
    return None


def shift_found(threshold: Threshold, shift: float) -> Finding:
    """A shift of badness as a ratio or a difference of the figure."""
    lower = threshold.better is Better.LOWER
    effect = effect_of(threshold, shift if lower else -shift)
    if threshold.scale is Scale.LOG:
        return Finding.of(Told.SHIFT_RATIO, ratio=effect)
    return Finding.of(Told.SHIFT, difference=effect, unit=threshold.unit)
