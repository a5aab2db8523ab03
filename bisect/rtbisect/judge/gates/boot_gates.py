# SPDX-License-Identifier: GPL-2.0-or-later
"""Gates: a number is believed only when it agrees with itself and with a second instrument.

Each gate is a pure function of figures that gives a `Gate` with what it has seen. Gates of one
boot make it invalid when they fail; gates of a campaign keep its report from a list.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Gates, Side
from rtbisect.model.result import Gate, GateName, GateStatus
from rtbisect.suites.base import find

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rtbisect.model.campaign import MetricKey
    from rtbisect.model.facts import Facts
    from rtbisect.model.lab import Measurement

#: Two instruments that count the same interrupts: their rates lie within this factor, or within so
#: many a second. The tracer sees its runtime only, half of the window, and the dose is not even:
#: where it ran, the ratio was 0.35 to 1.13 on 204 CPUs of recorded boots; elsewhere all were slack.
RATE_FACTOR = 4.0
RATE_SLACK_PER_S = 10.0
#: Of a change by at least this ratio the sources show this share; a ratio above the other one
#: counts as that. Over boots of the cases here they showed ratios of 8 to 300 where the figure had
#: 9 to 48 or began at nothing, and 0.8 where a commit made it count something else.
LEAST_RATIO = 1.5
MOST_RATIO = 4.0
SEEN_SHARE = 0.2
#: Largest relative difference of two doses (events/s) at which rates may be compared.
DOSE_SHARE = 0.10
#: Most timer interrupts a second on an idle CPU that counts as isolated.
MOST_TICKS_PER_S = 10.0


def passed(name: str, reason: Finding) -> Gate:
    return Gate(name, GateStatus.PASS, reason)


def failed(name: str, reason: Finding) -> Gate:
    return Gate(name, GateStatus.FAIL, reason)


def absent(name: str, reason: Finding) -> Gate:
    """The gate does not apply: the data it needs does not exist."""
    return Gate(name, GateStatus.ABSENT, reason)


def against(gates: Sequence[Gate]) -> tuple[Gate, ...]:
    """Those that keep a report from a list. That an emulator is one is no finding: the first line
    of every draft says so.
    """
    return tuple(gate for gate in gates if not gate.ok and gate.name != GateName.ORIGIN)


def instruments_agree(cpu: int, traced_per_s: float, counted_per_s: float) -> Gate:
    """G4: interrupts a second that the tracer saw on a CPU, against those of /proc/interrupts."""
    name = GateName.INSTRUMENTS
    low, high = sorted((traced_per_s, counted_per_s))
    reason = Finding.of(
        Gates.INSTRUMENTS, cpu=cpu, traced_per_s=traced_per_s, counted_per_s=counted_per_s
    )
    if not 0 <= low <= high < math.inf:
        return failed(name, reason)
    if high - low > RATE_SLACK_PER_S and high > RATE_FACTOR * low:
        return failed(name, reason)
    return passed(name, reason)


def of_window(measurements: Iterable[Measurement]) -> tuple[Gate, ...]:
    """G4 for each watched CPU of a window that both instruments measured; () for others."""
    #: Figures by CPU, then by suite, then by name.
    values: dict[int, dict[str, dict[str, float]]] = {}
    for m in measurements:
        if m.cpu is not None:
            values.setdefault(m.cpu, {}).setdefault(m.suite, {})[m.name] = m.value
    gates = []
    for cpu, by_suite in sorted(values.items()):
        suites = [(find(name), figures) for name, figures in by_suite.items()]
        traced, counted = (
            next((rate for rate in rates if rate is not None), None)
            for rates in (
                (s.traced_interrupts(f) for s, f in suites if s.traced_interrupts),
                (s.counted_interrupts(f) for s, f in suites if s.counted_interrupts),
            )
        )
        if traced is not None and counted is not None:
            gates.append(instruments_agree(cpu, traced, counted))
    return tuple(gates)


def sources_agree(base: float, new: float, traced: tuple[float, float] | None) -> Gate:
    """G4: what makes a figure changes where the figure does. `base` and `new` are its medians on
    parent and culprit, `traced` what the instrument that names the sources saw on each.
    """
    name = GateName.SOURCES
    if traced is None:
        return absent(name, Finding.of(Gates.NO_SECOND_INSTRUMENT))
    rises = new > base
    ratio, traced_ratio = (_growth(*pair, rises=rises) for pair in ((base, new), traced))

    def seen(kind: Gates) -> Finding:
        return Finding.of(kind, base=base, new=new, traced_base=traced[0], traced_new=traced[1])

    if ratio < LEAST_RATIO:
        return absent(name, seen(Gates.SOURCES_LITTLE))
    if traced_ratio - 1 < SEEN_SHARE * (min(ratio, MOST_RATIO) - 1):
        return failed(name, seen(Gates.SOURCES_DIFFER))
    return passed(name, seen(Gates.SOURCES))


def _growth(base: float, new: float, *, rises: bool) -> float:
    """How many times larger the end is that is to be the larger one; 1 for nothing and nothing."""
    low, high = (base, new) if rises else (new, base)
    if low <= 0:
        return math.inf if high > 0 else 1.0
    return high / low


def raw_data_differ(hashes: Mapping[str, str]) -> Gate:
    """G5: raw files of two boots (run to hash of the window's files) are never equal."""
    name = GateName.DUPLICATES
    run_of_digest: dict[str, str] = {}
    for run, digest in hashes.items():
        if digest in run_of_digest:
            found = Finding.of(Gates.RAW_EQUAL, first=run_of_digest[digest], second=run)
            return failed(name, found)
        run_of_digest[digest] = run
    if len(run_of_digest) < 2:
        return absent(name, Finding.of(Gates.RAW_FEW))
    return passed(name, Finding.of(Gates.RAW_DIFFERS, boots=len(run_of_digest)))


def varies(key: MetricKey, side: Side, values: Sequence[float], *, fraction: bool = False) -> Gate:
    """G5: a measured figure scatters. Counts of a quiet machine may all be zero; a figure that is 0
    or 1 a boot is often the same in all of them.
    """
    name, metric, boots = GateName.VARIANCE, str(key), len(values)
    if fraction:
        return absent(name, Finding.of(Gates.ZERO_OR_ONE, metric=metric, side=side))
    if boots < 3:
        return absent(name, Finding.of(Gates.VALUES_FEW, metric=metric, side=side))
    different = len(set(values))
    if different == 1 and values[0] != 0:
        found = Finding.of(
            Gates.VALUES_EQUAL, metric=metric, side=side, value=values[0], boots=boots
        )
        return failed(name, found)
    return passed(
        name, Finding.of(Gates.VALUES, metric=metric, side=side, values=different, boots=boots)
    )


def origin(*, emulated: bool, synthetic: bool, facts: Facts) -> Gate:
    """G15: data of an emulator, or of a workload of ours, are for the operator alone. `facts` are
    facts of the guest: what the device itself says counts more than what the site file says of it.
    """
    name = GateName.ORIGIN
    if facts.virtual:
        return failed(name, Finding.of(Gates.CPU_VIRTUAL))
    if facts.vendor.lower().startswith(("qemu", "bochs")):
        return failed(name, Finding.of(Gates.VENDOR_VIRTUAL, vendor=facts.vendor))
    if emulated:
        return failed(name, Finding.of(Gates.EMULATED))
    if synthetic:
        return failed(name, Finding.of(Gates.SYNTHETIC))
    return passed(name, Finding.of(Gates.REAL))


def dose(base_per_s: Sequence[float], new_per_s: Sequence[float], *, per_event: bool) -> Gate:
    """G16: both kernels got the same dose (events a second, one value a boot), or the figure is one
    for each event.
    """
    name = GateName.DOSE
    if not base_per_s or not new_per_s:
        return absent(name, Finding.of(Gates.NO_DOSE))
    base, new = (sum(side) / len(side) for side in (base_per_s, new_per_s))
    if abs(new - base) <= DOSE_SHARE * max(base, new):
        return passed(name, Finding.of(Gates.DOSES, base_per_s=base, new_per_s=new))
    if per_event:
        return passed(name, Finding.of(Gates.DOSES_PER_EVENT, base_per_s=base, new_per_s=new))
    found = Finding.of(Gates.DOSES_DIFFER, base_per_s=base, new_per_s=new, share=DOSE_SHARE)
    return failed(name, found)


def feeds_itself(rates: Sequence[tuple[float, float]]) -> Gate:
    """G16: with more events asked for, events of a loop grow with what they cause. `rates` are
    pairs of events and interrupts a second, at two or more rates that were asked for.
    """
    name = GateName.LOOP
    if len(rates) < 2:
        return absent(name, Finding.of(Gates.ONE_RATE))
    ordered = sorted(rates)
    (events, caused), (more_events, more_caused) = ordered[0], ordered[-1]
    if events <= 0 or caused <= 0 or more_events <= events:
        return absent(name, Finding.of(Gates.RATES_EQUAL))
    times, times_caused = more_events / events, more_caused / caused
    if times_caused / times > 1 + 2 * DOSE_SHARE and more_caused > more_events:
        found = Finding.of(Gates.FEEDS_ITSELF, events=times, interrupts=times_caused)
        return failed(name, found)
    return passed(name, Finding.of(Gates.LOOP, events=times, interrupts=times_caused))


def same_meaning(suite: str, files: Sequence[str], counted_by: Sequence[str]) -> Gate:
    """Whether the figures of `suite` mean the same after a commit that touches `files`; they are
    made by the files of the kernel in `counted_by`.
    """
    name = GateName.MEANING
    touched = [path for path in files if path in counted_by]
    if touched:
        return failed(name, Finding.of(Gates.MEANING_CHANGED, file=touched[0], suite=suite))
    if not counted_by:
        return absent(name, Finding.of(Gates.MADE_BY_NO_FILE, suite=suite))
    return passed(name, Finding.of(Gates.MEANING_KEPT, suite=suite))


def hangs(
    parent: Sequence[Finding | None], culprit: Sequence[Finding | None], boots: tuple[int, int]
) -> Gate:
    """G9: the culprit does not hang more often than its parent; a machine that stands still comes
    before any noise. Both are how their hung boots ended, `boots` are all boots of each side.
    """
    name = GateName.HANGS
    if not parent and not culprit:
        return passed(name, Finding.of(Gates.NO_HANG))

    def found(kind: Gates, **how: Finding | None) -> Finding:
        return Finding.of(
            kind,
            parent=len(parent),
            parent_boots=boots[0],
            culprit=len(culprit),
            culprit_boots=boots[1],
            **how,
        )

    if len(culprit) > len(parent) + 1:
        return failed(name, found(Gates.CULPRIT_HANGS, how=culprit[0]))
    if len(parent) > len(culprit) + 1:
        return passed(name, found(Gates.PARENT_HANGS, how=parent[0]))
    return passed(name, found(Gates.HANGS))


def still_right_name(suite: str) -> str:
    """Name of the gate in which a suite asks whether the kernel is still right."""
    return f"G11 {suite}"


def still_right(suite: str, window: str, parent: Sequence[float], culprit: Sequence[float]) -> Gate:
    """G11: a suite finds no more failures (0 or 1 a boot) on the culprit than on its parent."""
    name = still_right_name(suite)
    if parent and not culprit:
        return failed(name, Finding.of(Gates.CULPRIT_NOT_ENDED, window=window))
    if not parent or not culprit:
        return absent(name, Finding.of(Gates.NOT_ON_BOTH, window=window, suite=suite))
    reason = Finding.of(
        Gates.FAILURES,
        window=window,
        parent=sum(parent),
        parent_runs=len(parent),
        culprit=sum(culprit),
        culprit_runs=len(culprit),
    )
    return failed(name, reason) if any(culprit) else passed(name, reason)


def quiet(window: str, loc_per_s: float) -> Gate:
    """G17: the tick is off on an idle isolated CPU."""
    name = GateName.ISOLATION
    if loc_per_s > MOST_TICKS_PER_S:
        found = Finding.of(
            Gates.TICKS_MANY, window=window, per_s=loc_per_s, most_per_s=MOST_TICKS_PER_S
        )
        return failed(name, found)
    return passed(name, Finding.of(Gates.TICKS, window=window, per_s=loc_per_s))
