# SPDX-License-Identifier: GPL-2.0-or-later
"""What makes the effect: the kernel alone, the kernel under the workload, or what measures it?"""

from __future__ import annotations

from dataclasses import replace

from rtbisect.judge import stats
from rtbisect.judge.scale import all_badness
from rtbisect.judge.verdict import Looks, judge, judge_shares
from rtbisect.model.campaign import (
    Cause,
    Judgement,
    Level,
    Sample,
    Scale,
    Statistic,
    Threshold,
)
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Causes

#: A change without the workload that is surely below this share of the change beside it, in
#: the same unit, is not what the workload shows.
SMALL_SHARE = 0.2
#: Above this p nobody would speak of a difference between the kernels without the workload.
DOUBTFUL_P = 0.1


def cause(  # noqa: PLR0913  (two factors with two levels each: four samples, two thresholds)
    threshold_on: Threshold,
    parent_on: Sample,
    culprit_on: Sample,
    threshold_off: Threshold | None,
    parent_off: Sample | None,
    culprit_off: Sample | None,
    *,
    control_loaded: tuple[Sample, Sample] | None = None,
    instrument: str = "",
    workload: str = "none",
    alpha: float = 0.01,
) -> tuple[Cause, Finding]:
    """Cause, and what tells of it.

    `_on` is the window in which the search saw the effect, `_off` the control without the workload;
    `threshold_off` is None for a metric that has no such control, be it that no workload is
    involved or that `workload` is what it asks about. `control_loaded` is the figure of the control
    in the window of the effect: parent and culprit. Where a tool named `instrument` measured there,
    and the control is the kernel's own figure, the tool is in the workload's place: an effect that
    only it sees is its own.
    """
    with_load = _judged(threshold_on, parent_on, culprit_on, alpha)
    metric = str(threshold_on.key)
    if with_load.level is not Level.REGRESSED:
        why = with_load.reason
        return Cause.NONE, Finding.of(Causes.NO_DIFFERENCE, metric=metric, why=why)
    if threshold_off is None:
        if workload == "none":
            return Cause.KERNEL, Finding.of(Causes.NO_WORKLOAD, metric=metric)
        found = Finding.of(Causes.ITS_WORKLOAD, metric=metric, workload=workload)
        return Cause.KERNEL, found
    without = _judged(threshold_off, parent_off or Sample(()), culprit_off or Sample(()), alpha)
    if without.level is Level.REGRESSED:
        return Cause.KERNEL, Finding.of(Causes.WITHOUT_TOO, tool=instrument)
    # A change below the smallest that counts may be real: what doubles with the workload and
    # without it is one effect. So a pass alone does not mean that there is nothing.
    if without.level is Level.PASS and without.p > DOUBTFUL_P:
        return _induced(instrument), Finding.of(Causes.ONLY_WITH, tool=instrument)
    share = _share_without(threshold_off, control_loaded, without)
    return _undecided(instrument, with_load, without, share)


def _judged(threshold: Threshold, base: Sample, new: Sample, alpha: float) -> Judgement:
    """As the proof judges: shares of failures differ by the smallest effect where their interval
    reaches it. Boots that a proof tells apart at several looks are told apart at one look, too.
    """
    if threshold.statistic is not Statistic.FRACTION:
        return judge(threshold, base, new, alpha=alpha)
    looks = Looks((max(base.n, new.n),), reach=True)
    return judge_shares(threshold, (base, new), looks, alpha=alpha)


def _induced(instrument: str) -> Cause:
    """The cause if it takes what is on in one window and off in the other."""
    return Cause.TOOL_INDUCED if instrument else Cause.WORKLOAD_DEPENDENT


def _undecided(
    instrument: str, with_load: Judgement, without: Judgement, share: float | None
) -> tuple[Cause, Finding]:
    """Cause where the control alone says neither pass nor regressed."""
    tool, why = instrument, without.reason
    if share is not None and share < SMALL_SHARE:
        figure = without.key.name
        found = Finding.of(Causes.SMALL_SHARE, tool=tool, figure=figure, share=share, why=why)
        return _induced(instrument), found
    if without.level is Level.PASS:
        return Cause.NONE, Finding.of(Causes.LITTLE_WITHOUT, tool=tool, why=why)
    if _larger_beside_workload(with_load, without):
        return _induced(instrument), Finding.of(Causes.MORE_WITH, tool=tool, why=why)
    return Cause.NONE, Finding.of(Causes.OPEN, tool=tool, why=why)


def _share_without(
    threshold: Threshold, control_loaded: tuple[Sample, Sample] | None, without: Judgement
) -> float | None:
    """At most this share of the change beside the workload is there without it, by the ends of
    both 95% intervals; None where that cannot be said.

    A count near zero doubles easily. Beside a workload that adds a hundred a second, one
    more is nothing, and a ratio of medians does not see that.
    """
    if control_loaded is None or not all(s.n for s in (*control_loaded, without.base, without.new)):
        return None
    linear = replace(threshold, scale=Scale.LINEAR)
    (least, _), (_, most) = (
        stats.bootstrap_shift(all_badness(linear, base.values), all_badness(linear, new.values))
        for base, new in (control_loaded, (without.base, without.new))
    )
    return max(0.0, most) / least if least > 0 else None


def _larger_beside_workload(with_load: Judgement, without: Judgement) -> bool:
    """The workload makes the effect larger: the two 95% intervals of the effect do not overlap,
    and what is left without it is not even half significant.
    """
    return (
        without.base.n > 0 < without.new.n
        and without.p > DOUBTFUL_P
        and (
            without.interval[1] < with_load.interval[0]
            or with_load.interval[1] < without.interval[0]
        )
    )
