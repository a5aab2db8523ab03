# SPDX-License-Identifier: GPL-2.0-or-later
"""What makes the effect: the kernel alone, or the kernel under the workload?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.judge.judge import judge
from rtbisect.model.campaign import Cause, Level, Sample

if TYPE_CHECKING:
    from rtbisect.model.campaign import Judgement, Threshold

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
    alpha: float = 0.01,
) -> tuple[Cause, str]:
    """Cause and the sentence for the report.

    `_on` is the window in which the search saw the effect, `_off` the same figure without
    the workload; `threshold_off` is None for a metric that is not taken under one.
    """
    with_load = judge(threshold_on, parent_on, culprit_on, alpha=alpha)
    if with_load.level is not Level.REGRESSED:
        return Cause.NONE, f"{threshold_on.key} does not differ: {with_load.reason}"
    if threshold_off is None:
        return Cause.KERNEL, f"{threshold_on.key} differs, and no workload is involved"
    without = judge(threshold_off, parent_off or Sample(()), culprit_off or Sample(()), alpha=alpha)
    if without.level is Level.REGRESSED:
        return Cause.KERNEL, "the kernels differ with the workload and without it"
    if without.level is Level.PASS:
        return Cause.WORKLOAD_DEPENDENT, "the kernels differ only while the workload runs"
    if without.base.n and without.new.n and _apart(with_load, without):
        said = "the kernels differ more while the workload runs than without it, where the boots"
        return Cause.WORKLOAD_DEPENDENT, f"{said} show no difference: {without.reason}"
    said = "the kernels differ while the workload runs; without it the boots do not decide"
    return Cause.NONE, f"{said}: {without.reason}"


def _apart(with_load: Judgement, without: Judgement) -> bool:
    """The workload makes the effect larger: the two 95% intervals of the effect do not overlap,
    and what is left without it is not even half significant.
    """
    return without.p > DOUBTFUL_P and (
        without.interval[1] < with_load.interval[0] or with_load.interval[1] < without.interval[0]
    )
