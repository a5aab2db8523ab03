# SPDX-License-Identifier: GPL-2.0-or-later
"""Gates: a number is believed only when it agrees with itself and with a second instrument.

Each gate is a pure function of figures that gives a `Gate` with its reason. Gates of one boot make
it invalid when they fail; gates of a campaign keep its report from a list.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rtbisect.model.campaign import Gate, GateStatus
from rtbisect.suites.base import find

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
#: Doses of two kernels that differ by more than this share do not compare by rates.
DOSE_SHARE = 0.10
#: Timer interrupts a second on an idle isolated CPU above which it is not isolated.
MOST_TICKS_PER_S = 10.0
#: Where the data come from decides who may get them.
ORIGIN = "G15 origin"
#: Names of gates that are told apart.
HANGS = "G9 hangs"
#: Of guards that only some kernels can tell.
GUARDS = "guards"


def passed(name: str, reason: str) -> Gate:
    return Gate(name, GateStatus.PASS, reason)


def failed(name: str, reason: str) -> Gate:
    return Gate(name, GateStatus.FAIL, reason)


def absent(name: str, reason: str) -> Gate:
    """There is nothing that the gate could look at."""
    return Gate(name, GateStatus.ABSENT, reason)


def against(gates: Sequence[Gate]) -> tuple[Gate, ...]:
    """Those that keep a report from a list. That an emulator is one is no finding: the first line
    of every draft says so.
    """
    return tuple(gate for gate in gates if not gate.ok and gate.name != ORIGIN)


def instruments_agree(where: str, traced_per_s: float, counted_per_s: float) -> Gate:
    """G4: interrupts a second that the tracer saw on a CPU, against those of /proc/interrupts."""
    name = "G4 instruments"
    low, high = sorted((traced_per_s, counted_per_s))
    reason = f"{where}: the tracer saw {traced_per_s:.4g} interrupts a second,"
    reason += f" /proc/interrupts {counted_per_s:.4g}"
    if not 0 <= low <= high < math.inf:
        return failed(name, reason)
    if high - low > RATE_SLACK_PER_S and high > RATE_FACTOR * low:
        return failed(name, reason)
    return passed(name, reason)


def of_window(measurements: Iterable[Measurement]) -> tuple[Gate, ...]:
    """G4 for each watched CPU of a window that both instruments measured; () for others."""
    #: By CPU and suite.
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
            gates.append(instruments_agree(f"CPU {cpu}", traced, counted))
    return tuple(gates)


def sources_agree(base: float, new: float, traced: tuple[float, float] | None) -> Gate:
    """G4: what makes a figure changes where the figure does. `base` and `new` are its medians on
    parent and culprit, `traced` what the instrument that names the sources saw on each.
    """
    name = "G4 sources"
    if traced is None:
        return absent(name, "no second instrument tells of this figure")
    rises = new > base
    ratio, traced_ratio = (_growth(*pair, rises=rises) for pair in ((base, new), traced))
    reason = f"{base:.4g} -> {new:.4g}, by the instrument that names the sources"
    reason += f" {traced[0]:.4g} -> {traced[1]:.4g}"
    if ratio < LEAST_RATIO:
        return absent(name, f"{reason}: too little to compare")
    if traced_ratio - 1 < SEEN_SHARE * (min(ratio, MOST_RATIO) - 1):
        return failed(name, f"{reason}: what makes the figure does not change as the figure does")
    return passed(name, reason)


def _growth(base: float, new: float, *, rises: bool) -> float:
    """How many times larger the end is that is to be the larger one; 1 for nothing and nothing."""
    low, high = (base, new) if rises else (new, base)
    if low <= 0:
        return math.inf if high > 0 else 1.0
    return high / low


def raw_data_differ(hashes: Mapping[str, str]) -> Gate:
    """G5: raw files of two boots (run to hash of the window's files) are never equal."""
    name = "G5 duplicates"
    run_of_digest: dict[str, str] = {}
    for run, digest in hashes.items():
        if digest in run_of_digest:
            return failed(name, f"{run_of_digest[digest]} and {run} have the same raw files")
        run_of_digest[digest] = run
    if len(run_of_digest) < 2:
        return absent(name, "raw files of fewer than two boots")
    return passed(name, f"raw files of {len(run_of_digest)} boots differ")


def varies(figure: str, values: Sequence[float], *, fraction: bool = False) -> Gate:
    """G5: a measured figure scatters. Counts of a quiet machine may all be zero; a figure that is 0
    or 1 a boot is often the same in all of them.
    """
    name = "G5 variance"
    if fraction:
        return absent(name, f"{figure} is 0 or 1 in a boot")
    if len(values) < 3:
        return absent(name, f"{figure}: fewer than three boots")
    if len(set(values)) == 1 and values[0] != 0:
        return failed(name, f"{figure} is {values[0]:g} in all {len(values)} boots")
    return passed(name, f"{figure}: {len(set(values))} values in {len(values)} boots")


def origin(*, emulated: bool, synthetic: bool, facts: Facts) -> Gate:
    """G15: data of an emulator, or of a workload of ours, are for the operator alone. `facts` are
    facts of the guest: what the device itself says counts more than what the site file says of it.
    """
    name = ORIGIN
    if facts.virtual:
        return failed(name, "the CPU says that it is virtual")
    if facts.vendor.lower().startswith(("qemu", "bochs")):
        return failed(name, f"the machine is made by {facts.vendor}")
    if emulated:
        return failed(name, "the device type is an emulator")
    if synthetic:
        return failed(name, "the workload is ours, not somebody's use")
    return passed(name, "a real machine and a workload that somebody uses")


def dose(base_per_s: Sequence[float], new_per_s: Sequence[float], *, per_event: bool) -> Gate:
    """G16: both kernels got the same dose (events a second, one value a boot), or the figure is one
    for each event.
    """
    name = "G16 dose"
    if not base_per_s or not new_per_s:
        return absent(name, "no workload with a dose")
    base, new = (sum(side) / len(side) for side in (base_per_s, new_per_s))
    reason = f"{base:.0f} and {new:.0f} events a second"
    if abs(new - base) <= DOSE_SHARE * max(base, new):
        return passed(name, reason)
    if per_event:
        return passed(name, f"{reason}; the figure is one for each event")
    return failed(name, f"{reason} differ by more than {DOSE_SHARE:.0%}: rates do not compare")


def feeds_itself(rates: Sequence[tuple[float, float]]) -> Gate:
    """G16: with more events asked for, events of a loop grow with what they cause. `rates` are
    pairs of events and interrupts a second, at two or more rates that were asked for.
    """
    name = "G16 loop"
    if len(rates) < 2:
        return absent(name, "one event rate only")
    ordered = sorted(rates)
    (events, caused), (more_events, more_caused) = ordered[0], ordered[-1]
    if events <= 0 or caused <= 0 or more_events <= events:
        return absent(name, "the event rates do not differ")
    growth = (more_caused / caused) / (more_events / events)
    reason = f"{more_events / events:.2g} times the events make {more_caused / caused:.2g} times"
    if growth > 1 + 2 * DOSE_SHARE and more_caused > more_events:
        return failed(name, f"{reason} the interrupts, more than one each: they feed themselves")
    return passed(name, f"{reason} the interrupts")


def same_meaning(suite: str, files: Sequence[str], counted_by: Sequence[str]) -> Gate:
    """Whether the figures of `suite` mean the same after a commit that touches `files`; they are
    made by the files of the kernel in `counted_by`.
    """
    name = "meaning"
    touched = [path for path in files if path in counted_by]
    if touched:
        reason = f"the commit changes {touched[0]}, which makes the figures of the suite {suite}:"
        return failed(name, f"{reason} they may mean something else since")
    if not counted_by:
        return absent(name, f"the figures of the suite {suite} are made by no file of the kernel")
    return passed(name, f"the commit changes none of the files that make the figures of {suite}")


def hangs(parent: Sequence[str], culprit: Sequence[str], boots: tuple[int, int]) -> Gate:
    """G9: the culprit does not hang more often than its parent; a machine that stands still comes
    before any noise. Both are how their hung boots ended, `boots` are all boots of each side.
    """
    name = HANGS
    if not parent and not culprit:
        return passed(name, "no boot of either kernel hangs")
    reason = f"{len(parent)} of {boots[0]} boots of the parent hang, {len(culprit)} of {boots[1]}"
    reason += " of the culprit"
    if len(culprit) > len(parent) + 1:
        return failed(name, f"{reason} ({culprit[0]}): that comes before any noise")
    if len(parent) > len(culprit) + 1:
        return passed(name, f"{reason} ({parent[0]}): a revert may bring that back")
    return passed(name, reason)


def still_right_name(suite: str) -> str:
    """Name of the gate in which a suite asks whether the kernel is still right."""
    return f"G11 {suite}"


def still_right(suite: str, window: str, parent: Sequence[float], culprit: Sequence[float]) -> Gate:
    """G11: a suite finds no more failures (0 or 1 a boot) on the culprit than on its parent."""
    name = still_right_name(suite)
    if parent and not culprit:
        return failed(name, f"{window}: no run on the culprit got to its end, on the parent it did")
    if not parent or not culprit:
        return absent(name, f"{window}: {suite} did not run on both kernels")
    reason = f"{window}: {sum(parent):.0f} of {len(parent)} runs fail on the parent,"
    reason += f" {sum(culprit):.0f} of {len(culprit)} on the culprit"
    return failed(name, reason) if any(culprit) else passed(name, reason)


def quiet(where: str, loc_per_s: float) -> Gate:
    """G17: the tick is off on an idle isolated CPU."""
    name = "G17 isolation"
    reason = f"{where}: {loc_per_s:.3g} timer interrupts a second while idle"
    if loc_per_s > MOST_TICKS_PER_S:
        return failed(name, f"{reason}, at most {MOST_TICKS_PER_S:g} are expected with nohz_full")
    return passed(name, reason)
