# SPDX-License-Identifier: GPL-2.0-or-later
"""The factor table of a report: kernels by levels of the workload, and without PREEMPT_RT."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.judge.boots import Boots
from rtbisect.judge.scale import by_mean
from rtbisect.judge.verdict import judge
from rtbisect.model.campaign import Level, MetricKey, Role, Threshold
from rtbisect.model.code import WITHOUT_RT
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Attributions
from rtbisect.model.result import KernelRole, TableRow
from rtbisect.search.spec import BootPurpose

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rtbisect.model.subject import Traits
    from rtbisect.pipeline.steps import Steps


_WITHOUT_RT = {
    Level.REGRESSED: Attributions.WITHOUT_RT_TOO,
    Level.PASS: Attributions.WITHOUT_RT_SAME,
    Level.UNDECIDED: Attributions.WITHOUT_RT_OPEN,
}


def control_of(thresholds: Sequence[Threshold], threshold: Threshold) -> Threshold | None:
    """The metric that is taken without the workload; judged like itself where it has a
    threshold of its own, else like the metric that it controls.
    """
    key = threshold.control
    if key is None:
        return None
    own = next((t for t in thresholds if t.key == key), None)
    return own or replace(threshold, key=key, control=None)


def control_under_workload(threshold: Threshold, control: Threshold) -> MetricKey:
    """The figure of the control under the workload, so that both levels stand in one unit."""
    return replace(control.key, window=threshold.key.window)


def table(
    steps: Steps,
    threshold: Threshold,
    pair: tuple[Boots, Boots],
    reverted: Boots,
) -> tuple[TableRow, ...]:
    """Kernel x workload: the searched metric, its control, the same under another dose, and the
    other judged metrics. `pair` are a parent and its culprit.
    """
    first, others = _metrics(steps.setup.judged, threshold)
    doses = [
        replace(threshold, key=replace(threshold.key, window=window.name))
        for window in steps.traits.explaining_of(threshold.key.window)
        if threshold.key.suite in window.suites
    ]
    wanted = [(metric, boots) for metric in first for boots in (*pair, reverted)]
    wanted += [(metric, boots) for metric in (*doses, *others) for boots in pair]
    return rows(steps.traits, wanted)


def rows(traits: Traits, wanted: Iterable[tuple[Threshold, Boots]]) -> tuple[TableRow, ...]:
    """A row for each metric and kernel with a role whose boots tell it."""
    return tuple(
        TableRow(
            kernel=boots.role,
            window=metric.key.window,
            workload=traits.level_of(metric.key.window),
            metric=metric.key,
            unit=metric.unit,
            sample=values,
            mean=by_mean(metric),
        )
        for metric, boots in wanted
        if boots.role is not None and (values := boots.sample(metric.key)).n
    )


def _metrics(
    thresholds: Sequence[Threshold], threshold: Threshold
) -> tuple[list[Threshold], list[Threshold]]:
    """What the table shows: the searched metric with its control; then the control's figure
    under the workload, so that both levels stand in one unit; then the searched figure in
    other windows and the primary metrics of other suites.
    """
    key = threshold.key
    control = control_of(thresholds, threshold)
    first = [threshold, *([control] if control else [])]
    shown = {t.key for t in first}
    loaded = control_under_workload(threshold, control) if control else None
    same = [t for t in thresholds if t.key == loaded]
    same += [t for t in thresholds if (t.key.suite, t.key.name) == (key.suite, key.name)]
    primary = [t for t in thresholds if t.role is Role.PRIMARY and t.key.suite != key.suite]
    others = {t.key: t for t in same + primary if t.key not in shown}
    return first, list(others.values())


def without_rt(
    steps: Steps, threshold: Threshold, pair: tuple[str, str]
) -> tuple[tuple[TableRow, ...], Finding | None]:
    """Is the effect there in a configuration without PREEMPT_RT? It says whom the change concerns,
    and decides nothing. The rows, and what is found; ((), None) when it is not asked, or the
    budget has no boot left.
    """
    setup = steps.setup
    boots = 2 * min(setup.limits.without_rt_boots, steps.budget.boots_left // 2)
    if not boots:
        return (), None
    for sha in pair:
        if not steps.build(sha, WITHOUT_RT).ok:
            return (), Finding.of(Attributions.WITHOUT_RT_NOT_BUILT, revision=sha)
    roles = (KernelRole.PARENT_WITHOUT_RT, KernelRole.CULPRIT_WITHOUT_RT)
    kernels = {sha: Boots(role=role) for sha, role in zip(pair, roles, strict=True)}
    for run in steps.in_turn(pair, BootPurpose.WITHOUT_RT, boots, WITHOUT_RT):
        kernels[run.revision] = kernels[run.revision].with_run(run)
    judgement = judge(threshold, *(each.sample(threshold.key) for each in kernels.values()))
    concerns = Finding.of(_WITHOUT_RT[judgement.level], why=judgement.reason)
    steps.tell(Attributions.FACTOR, why=concerns)
    control = control_of(setup.judged, threshold)
    metrics = (threshold, *([control] if control else []))
    wanted = ((metric, each) for metric in metrics for each in kernels.values())
    return rows(steps.traits, wanted), concerns
