# SPDX-License-Identifier: GPL-2.0-or-later
"""The gates of a campaign: what its fresh boots say about themselves before a culprit is told."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.judge import sources
from rtbisect.judge.gates import aa, boot_gates, machine_health, reachability
from rtbisect.judge.samples import sample
from rtbisect.judge.scale import FRACTION
from rtbisect.suites import base, ipi, rcutorture, reach

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rtbisect.model.campaign import Gate, MetricKey, Sample, Threshold
    from rtbisect.model.lab import Run, Window

#: The fact of a boot that its raw files are told by (lab/measurements.py).
RAW = "raw_sha256"


@dataclass(frozen=True, slots=True)
class Examined:
    """A culprit and its parent: the searched metric, all windows of a boot (and in `explaining`
    those that explain the searched one), whether its profile isolates CPUs, the fresh boots of both
    kernels, whether the device type is an emulator, the files and functions that the culprit
    changes, and in which part of the figure it was found (search/likelihood/features.py; "": all).
    """

    threshold: Threshold
    windows: tuple[Window, ...]
    emulated: bool
    parent: tuple[Run, ...]
    culprit: tuple[Run, ...]
    files: tuple[str, ...] = ()
    changed: reachability.Changed = reachability.UNKNOWN
    explaining: tuple[Window, ...] = ()
    isolates: bool = True
    part: str = ""


def examine(what: Examined) -> tuple[Gate, ...]:
    """Every gate that these boots can be asked; one that has nothing to look at says so."""
    key = what.threshold.key
    window = next((w for w in what.windows if w.name == key.window), None)
    parent, culprit = (
        tuple(run for run in side if run.complete) for side in (what.parent, what.culprit)
    )
    both = (*parent, *culprit)
    figures = sample(parent, key), sample(culprit, key)
    told = dict(both[-1].facts) if both else {}
    hashes = {run.run_id: dict(run.facts).get(RAW, "") for run in both}
    found = [
        _hangs(what),
        # A boot that hung has no facts of its end.
        machine_health.steady([dict(run.facts) for run in both if RAW in dict(run.facts)]),
        *_guards(what, both),
        boot_gates.raw_data_differ({run: digest for run, digest in hashes.items() if digest}),
        *(
            boot_gates.varies(
                f"{key} of {name}",
                found.values,
                fraction=what.threshold.statistic == FRACTION,
            )
            for name, found in zip(("the parent", "the culprit"), figures, strict=True)
        ),
        boot_gates.absent(aa.NAME, f"the commit was found {what.part}")
        if what.part
        else aa.same_kernel(what.threshold, *figures),
        boot_gates.origin(
            emulated=what.emulated, synthetic=window is not None and window.synthetic, told=told
        ),
        boot_gates.dose(
            *(_events(side, key) for side in (parent, culprit)),
            per_event=key.name in ipi.PER_EVENT,
        ),
        *_loop(what, culprit),
        *_torture(what, parent, culprit),
        *(_isolation(what.windows, parent) if what.isolates else ()),
        boot_gates.same_meaning(key.suite, what.files, base.counted_by(key.suite)),
        _sources(what, (parent, culprit), *figures),
        reachability.reachable(what.changed, *_functions(key.window, culprit)),
    ]
    return tuple(found)


def _guards(what: Examined, both: Sequence[Run]) -> Iterable[Gate]:
    """Whether the searched suite's guards could have fired; one that cannot has no figure."""
    suite = what.threshold.key.suite
    names = base.guards(suite)
    if not names or not both:
        return
    found = [{m.name for m in run.measurements if m.suite == suite} for run in both]
    # A boot that hangs has one figure only.
    blind = [name for name in names if not any(name in told for told in found)]
    if blind:
        yield boot_gates.absent(boot_gates.GUARDS, f"these kernels cannot tell {', '.join(blind)}")
    else:
        yield boot_gates.passed(boot_gates.GUARDS, f"these kernels tell {', '.join(names)}")


def _events(runs: Sequence[Run], key: MetricKey) -> list[float]:
    """Events a second beside the searched figure, by its own suite where that counts them."""
    own = _values(runs, key.suite, "events_per_s", key.window)
    return own or _values(runs, ipi.NAME, "events_per_s", key.window)


def _loop(what: Examined, culprit: Sequence[Run]) -> Iterable[Gate]:
    """Events and reschedule IPIs of the culprit at the doses that its boots had; nothing where the
    searched window has one dose only.
    """
    key = what.threshold.key
    mine = next((w.workload for w in what.windows if w.name == key.window), "none")
    rates = []
    for window in (
        key.window,
        *(w.name for w in what.explaining if w.workload.startswith(f"{mine}/")),
    ):
        events = _values(culprit, ipi.NAME, "events_per_s", window)
        caused = _values(culprit, ipi.NAME, "res_per_s", window, every_cpu=True)
        if events and caused:
            rates.append((sum(events) / len(events), sum(caused) / len(events)))
    if len(rates) > 1:
        yield boot_gates.feeds_itself(rates)


def _torture(what: Examined, parent: Sequence[Run], culprit: Sequence[Run]) -> Iterable[Gate]:
    """Whether RCU is still right, where boots of the proof have asked."""
    for window in what.explaining:
        if rcutorture.NAME in window.suites:
            sides = (
                _values(side, rcutorture.NAME, rcutorture.FAILURES, window.name)
                for side in (parent, culprit)
            )
            yield boot_gates.still_right(window.name, *sides)


def _isolation(windows: Sequence[Window], parent: Sequence[Run]) -> Iterable[Gate]:
    """The tick on idle CPUs of the parent: a culprit may be what brought it back."""
    for window in windows:
        values = _values(parent, ipi.NAME, "loc_per_s", window.name)
        if window.workload == "none" and not window.synthetic and values:
            yield boot_gates.quiet(window.name, max(values))


def _hangs(what: Examined) -> Gate:
    if base.counts_hangs(what.threshold.key.suite):
        return boot_gates.absent(boot_gates.HANGS, "hangs are what the searched figure counts")
    parent, culprit = (
        [run.reason for run in side if run.hung] for side in (what.parent, what.culprit)
    )
    return boot_gates.hangs(parent, culprit, (len(what.parent), len(what.culprit)))


def _sources(
    what: Examined, sides: tuple[Sequence[Run], Sequence[Run]], base: Sample, new: Sample
) -> Gate:
    key = what.threshold.key
    windows = {key.window, *(window.name for window in what.explaining)}
    if not base.n or not new.n:
        return boot_gates.sources_agree(0.0, 0.0, None)
    traced = sources.traced(key, windows, *sides)
    middles = (statistics.median(base.values), statistics.median(new.values))
    return boot_gates.sources_agree(*middles, traced)


def _functions(window: str, culprit: Sequence[Run]) -> tuple[dict[str, float], set[str]]:
    """Functions that ran beside the searched window, with their mean rate over the boots that told;
    and those that cannot be counted.
    """
    rates: dict[str, list[float]] = {}
    refused = set()
    for run in culprit:
        for source in run.sources:
            if source.window != reach.twin_name(window):
                continue
            if source.kind == reach.RAN:
                rates.setdefault(source.name, []).append(source.per_s)
            elif source.kind == reach.REFUSED:
                refused.add(source.name)
    return {name: sum(each) / len(each) for name, each in rates.items()}, refused


def _values(
    runs: Iterable[Run], suite: str, name: str, window: str, *, every_cpu: bool = False
) -> list[float]:
    """A figure of the whole boot, one value a boot that has it; or those of each CPU."""
    return [
        m.value
        for run in runs
        for m in run.measurements
        if (m.cpu is not None) is every_cpu and (m.suite, m.name, m.window) == (suite, name, window)
    ]
