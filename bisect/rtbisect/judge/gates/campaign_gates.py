# SPDX-License-Identifier: GPL-2.0-or-later
"""The gates of a campaign: what its fresh boots say about themselves before a culprit is told."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.judge import sources
from rtbisect.judge.gates import aa, boot_gates, machine_health, reachability
from rtbisect.model.campaign import Sample, Statistic, Threshold
from rtbisect.model.facts import Facts
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Gates, Side
from rtbisect.model.result import Gate, GateName
from rtbisect.suites.base import RAN, REFUSED, counts_functions, every, find

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from rtbisect.judge.boots import Boots
    from rtbisect.model.lab import Run, Window


@dataclass(frozen=True, slots=True, kw_only=True)
class GateInput:
    """A culprit, its parent and their boots, which the gates are asked about."""

    #: Threshold of the metric that was searched.
    threshold: Threshold
    #: All windows of a boot; in `explaining` those that explain the searched one.
    windows: tuple[Window, ...]
    #: Whether the device type is an emulator.
    emulated: bool
    #: Fresh boots of both kernels, also those that are no evidence.
    parent: Boots
    culprit: Boots
    #: What the culprit changes: paths in the tree, and functions of the kernel.
    files: tuple[str, ...] = ()
    changed: reachability.Changed = reachability.UNKNOWN
    explaining: tuple[Window, ...] = ()
    #: Whether the profile of the boots isolates CPUs.
    isolates: bool = True
    #: Beside the fresh boots; None in campaigns that began before the gate asked for it.
    beside: aa.Beside | None = None
    #: In which part of the figure the culprit was found (`Figures`); None: in all of it.
    part: Finding | None = None


def examine(given: GateInput) -> tuple[Gate, ...]:
    """Every gate that these boots can be asked; one that has nothing to look at says so."""
    key = given.threshold.key
    suite = find(key.suite)
    window = next((w for w in given.windows if w.name == key.window), None)
    parent, culprit = given.parent.evidence, given.culprit.evidence
    both = (*parent, *culprit)
    figures = given.parent.sample(key), given.culprit.sample(key)
    told = [(run.run_id, Facts.of(run)) for run in both]
    # The facts at the end of a boot are missing where it hung.
    ended = [(run, facts) for run, facts in told if facts.raw_sha256]
    gates = [
        _hang_gate(given),
        machine_health.steady([facts for _, facts in ended]),
        *_guard_gate(given, both),
        boot_gates.raw_data_differ({run: facts.raw_sha256 for run, facts in ended}),
        *(
            boot_gates.varies(
                key,
                side,
                figures_of.values,
                fraction=given.threshold.statistic is Statistic.FRACTION,
            )
            for side, figures_of in zip((Side.PARENT, Side.CULPRIT), figures, strict=True)
        ),
        boot_gates.absent(GateName.SAME_KERNEL, Finding.of(Gates.IN_PART, part=given.part))
        if given.part
        else aa.same_kernel(given.threshold, *figures, given.beside),
        boot_gates.origin(
            emulated=given.emulated,
            synthetic=window is not None and window.synthetic,
            facts=told[-1][1] if told else Facts({}),
        ),
        boot_gates.dose(
            *(_events(side, key.window) for side in (parent, culprit)),
            per_event=key.name in suite.per_event,
        ),
        *_feedback_gate(given, culprit),
        *_correctness_gates(given, parent, culprit),
        *(_isolation_gates(given.windows, parent) if given.isolates else ()),
        boot_gates.same_meaning(key.suite, given.files, suite.counted_by),
        _sources_gate(given, (parent, culprit), *figures),
        reachability.reachable(given.changed, *_function_rates(given.explaining, culprit)),
    ]
    return tuple(gates)


def _guard_gate(given: GateInput, both: Sequence[Run]) -> Iterable[Gate]:
    """Whether the searched suite's guards could have fired; one that cannot has no figure."""
    suite = find(given.threshold.key.suite)
    names = suite.guards
    if not names or not both:
        return
    told_by_boot = [{m.name for m in run.measurements if m.suite == suite.name} for run in both]
    # A boot that hangs reports only that it hung, and no other figure.
    untold = [name for name in names if not any(name in told_names for told_names in told_by_boot)]
    if untold:
        found = Finding.of(Gates.GUARDS_BLIND, guards=tuple(untold))
        yield boot_gates.absent(GateName.GUARDS, found)
    else:
        found = Finding.of(Gates.GUARDS_TELL, guards=tuple(names))
        yield boot_gates.passed(GateName.GUARDS, found)


def _events(runs: Sequence[Run], window: str) -> list[float]:
    """Events a second in a window, by the suite that counts them there; one value a boot."""
    return [
        m.value
        for run in runs
        for m in run.measurements
        if m.cpu is None and (m.name, m.window) == ("events_per_s", window)
    ]


def _feedback_gate(given: GateInput, culprit: Sequence[Run]) -> Iterable[Gate]:
    """Events and the interrupts that they cause on the culprit, at the doses that its boots had;
    nothing where the searched window has one dose only.
    """
    key = given.threshold.key
    figures = {(suite.name, suite.caused) for suite in every()}
    workload = next((w.workload for w in given.windows if w.name == key.window), "none")
    rates = []
    for window in (
        key.window,
        *(w.name for w in given.explaining if w.workload.startswith(f"{workload}/")),
    ):
        events = _events(culprit, window)
        caused = _values(culprit, figures, window, every_cpu=True)
        if events and caused:
            rates.append((sum(events) / len(events), sum(caused) / len(events)))
    if len(rates) > 1:
        yield boot_gates.feeds_itself(rates)


def _correctness_gates(
    given: GateInput, parent: Sequence[Run], culprit: Sequence[Run]
) -> Iterable[Gate]:
    """Whether the kernel is still right, where boots of the proof have asked."""
    for window in given.explaining:
        for suite in map(find, window.suites):
            if suite.failures:
                figure = {(suite.name, suite.failures)}
                sides = (_values(side, figure, window.name) for side in (parent, culprit))
                yield boot_gates.still_right(suite.name, window.name, *sides)


def _isolation_gates(windows: Sequence[Window], parent: Sequence[Run]) -> Iterable[Gate]:
    """Gate G17, on the parent only: the culprit itself may be what brought the tick back."""
    ticks = {(suite.name, suite.tick) for suite in every()}
    for window in windows:
        values = _values(parent, ticks, window.name)
        if window.workload == "none" and not window.synthetic and values:
            yield boot_gates.quiet(window.name, max(values))


def _hang_gate(given: GateInput) -> Gate:
    if find(given.threshold.key.suite).symptom:
        return boot_gates.absent(GateName.HANGS, Finding.of(Gates.HANGS_SEARCHED))
    sides = given.parent.runs, given.culprit.runs
    parent, culprit = ([run.reason for run in side if run.hung] for side in sides)
    return boot_gates.hangs(parent, culprit, (len(sides[0]), len(sides[1])))


def _sources_gate(
    given: GateInput, sides: tuple[Sequence[Run], Sequence[Run]], base: Sample, new: Sample
) -> Gate:
    key = given.threshold.key
    windows = {key.window, *(window.name for window in given.explaining)}
    if not base.n or not new.n:
        return boot_gates.sources_agree(0.0, 0.0, None)
    traced = sources.traced(key, windows, *sides)
    middles = (statistics.median(base.values), statistics.median(new.values))
    return boot_gates.sources_agree(*middles, traced)


def _function_rates(
    explaining: Sequence[Window], culprit: Sequence[Run]
) -> tuple[dict[str, float], set[str]]:
    """Functions that ran beside the searched window, with their mean rate over the boots that told;
    and those that cannot be counted.
    """
    windows = {window.name for window in explaining if counts_functions(window)}
    rates: dict[str, list[float]] = {}
    refused = set()
    for run in culprit:
        for source in run.sources:
            if source.window not in windows:
                continue
            if source.kind == RAN:
                rates.setdefault(source.name, []).append(source.per_s)
            elif source.kind == REFUSED:
                refused.add(source.name)
    return {name: sum(per_boot) / len(per_boot) for name, per_boot in rates.items()}, refused


def _values(
    runs: Iterable[Run],
    figures: Collection[tuple[str, str]],
    window: str,
    *,
    every_cpu: bool = False,
) -> list[float]:
    """Figures (suite and name) of the whole boot, in all boots that have them; or those of CPUs."""
    return [
        m.value
        for run in runs
        for m in run.measurements
        if (m.cpu is not None) is every_cpu and m.window == window and (m.suite, m.name) in figures
    ]
