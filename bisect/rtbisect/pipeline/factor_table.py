# SPDX-License-Identifier: GPL-2.0-or-later
"""The factor table of a report: kernels by levels of the workload, and without PREEMPT_RT."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.judge.samples import sample
from rtbisect.judge.scale import by_mean
from rtbisect.judge.verdict import judge
from rtbisect.model.campaign import Level, MetricKey, Role, Threshold
from rtbisect.model.code import WITHOUT_RT
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Attributions
from rtbisect.model.result import KernelRole, TableRow
from rtbisect.search.spec import BootPurpose

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rtbisect.model.lab import Run
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
    pair: tuple[str, str],
    revert: str | None,
    fresh: Mapping[str, list[Run]],
) -> tuple[TableRow, ...]:
    """Kernel x workload: the searched metric, its control, the same under another dose, and the
    other judged metrics.
    """
    kernels = list(zip((KernelRole.PARENT, KernelRole.CULPRIT), pair, strict=True))
    if revert is not None:
        kernels.append((KernelRole.REVERTED, revert))
    first, others = _metrics(steps.setup.judged, threshold)
    doses = [
        replace(threshold, key=replace(threshold.key, window=window.name))
        for window in steps.traits.explaining_of(threshold.key.window)
        if threshold.key.suite in window.suites
    ]
    wanted = [(metric, kernel) for metric in first for kernel in kernels]
    wanted += [(metric, kernel) for metric in (*doses, *others) for kernel in kernels[:2]]
    return rows(steps.traits, wanted, fresh)


def rows(
    traits: Traits,
    wanted: Iterable[tuple[Threshold, tuple[KernelRole, str]]],
    runs: Mapping[str, list[Run]],
) -> tuple[TableRow, ...]:
    """A row for each metric and kernel (its role and its revision) that has boots."""
    return tuple(
        TableRow(
            kernel=role,
            window=metric.key.window,
            workload=traits.level_of(metric.key.window),
            metric=metric.key,
            unit=metric.unit,
            sample=values,
            mean=by_mean(metric),
        )
        for metric, (role, sha) in wanted
        if (values := sample(runs.get(sha, []), metric.key)).n
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
    runs: dict[str, list[Run]] = {sha: [] for sha in pair}
    for run in steps.in_turn(pair, BootPurpose.WITHOUT_RT, boots, WITHOUT_RT):
        runs[run.revision].append(run)
    judgement = judge(threshold, *(sample(runs[sha], threshold.key) for sha in pair))
    concerns = Finding.of(_WITHOUT_RT[judgement.level], why=judgement.reason)
    steps.tell(Attributions.FACTOR, why=concerns)
    control = control_of(setup.judged, threshold)
    metrics = (threshold, *([control] if control else []))
    roles = (KernelRole.PARENT_WITHOUT_RT, KernelRole.CULPRIT_WITHOUT_RT)
    kernels = tuple(zip(roles, pair, strict=True))
    wanted = ((metric, kernel) for metric in metrics for kernel in kernels)
    return rows(steps.traits, wanted, runs), concerns
