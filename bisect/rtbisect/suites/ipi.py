# SPDX-License-Identifier: GPL-2.0-or-later
"""Interrupts on watched CPUs: how often isolated CPUs are disturbed, and by what.

Source: two snapshots of /proc/interrupts inside one window (before.txt, after.txt) and
window.txt with the two times and the dose of the workload. A rate is a count divided by
the time between the snapshots. `res_per_iwi` (reschedule IPIs for each irq_work
interrupt) does not depend on the speed of the host; its boot figure is the ratio of the
sums, not the mean of ratios, so that a CPU with few events does not weigh like the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbisect.model.kinds.boot import Raw
from rtbisect.suites.base import (
    Files,
    Suite,
    SuiteError,
    Watch,
    number,
    of_boot,
    of_cpus,
    pairs,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.lab import Measurement, Window

NAME = "ipi"

#: Files of the kernel that count interrupts and print them.
COUNTED_BY = (
    "arch/x86/include/asm/hardirq.h",
    "arch/x86/kernel/irq.c",
    "arch/x86/kernel/irq_work.c",
    "arch/x86/kernel/smp.c",
    "fs/proc/interrupts.c",
    "kernel/irq/proc.c",
)

#: Sum of the numbered lines, which are device interrupts, under a name that no vector has.
DEVICES = "dev"

#: The kernel counts in 32 bits and begins again at 0.
_WRAP = 1 << 32

#: Vectors that are reported where the kernel has them. The names are the kernel's.
VECTORS = ("res", "iwi", "loc", "cal", "tlb", "nmi", "pmi", "trm", "thr", DEVICES)

#: Without these there is nothing to say about IPIs.
NEEDED = ("res", "loc", "cal")

#: What window.txt tells: when the snapshots were taken, and what the reader counted.
TIMES = ("start_ns", "end_ns")
DOSE = ("events", "wakeups", "lost", "faults")

#: IPIs for each event.
PER_EVENT = {"res_per_iwi": ("irq_work",)}

#: Shorter windows have too few counts to be a rate.
SHORTEST_S = 0.1


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One text of /proc/interrupts."""

    #: CPUs that are online.
    cpus: tuple[int, ...]
    #: `counts[label][cpu]`; labels are the kernel's in lower case, a device's is its number.
    counts: dict[str, dict[int, int]]


def parse(files: Files, window: Window, watch: Watch) -> tuple[Measurement, ...]:
    """Rates in 1/s per watched CPU and their means (cpu=None), the ratio, and the dose."""
    before, after = (read(text(files, name), name) for name in ("before.txt", "after.txt"))
    added = between(before, after)
    for vector in NEEDED:
        # They count from the boot on: one that appears in a window is a text that was cut.
        if vector not in before.counts or vector not in after.counts:
            raise SuiteError(Raw.NO_VECTOR, line=vector.upper())
    for cpu in watch:
        if cpu not in after.cpus:
            raise SuiteError(Raw.OFFLINE, cpu=cpu)
    times = _times_and_dose(text(files, "window.txt"))
    seconds = (
        number(times, "end_ns", "window.txt") - number(times, "start_ns", "window.txt")
    ) / 1e9
    if seconds < SHORTEST_S:
        raise SuiteError(Raw.SHORT_WINDOW, lasted_s=seconds, least_s=SHORTEST_S)
    rates = {
        cpu: {
            (f"{vector}_per_s", "1/s"): added[vector][cpu] / seconds
            for vector in VECTORS
            if vector in added
        }
        for cpu in watch
    }
    return (
        *of_cpus(NAME, window, rates),
        *_ratios(added, window, watch),
        *_dose(times, window, seconds),
        *of_boot(NAME, window, "us", {"window_us": seconds * 1e6}),
    )


def read(content: str, where: str) -> Snapshot:
    """Parse one text; `where` is its name in messages. The first line names the online CPUs; a line
    has a count for each of them, then words. The two of APIC errors have one for the machine.
    """
    lines = content.splitlines()
    columns = lines[0].split() if lines else []
    if not columns or not all(re.fullmatch(r"CPU[0-9]{1,5}", word) for word in columns):
        raise SuiteError(Raw.NO_CPUS, file=where)
    cpus = tuple(int(word[3:]) for word in columns)
    counts: dict[str, dict[int, int]] = {}
    for line in lines[1:]:
        label, colon, rest = line.strip().partition(":")
        if not colon or not re.fullmatch(r"[0-9]{1,10}|[A-Z]{2,8}", label):
            raise SuiteError(Raw.FOREIGN_LINE, file=where, line=line[:60])
        words = rest.split()
        if label in ("ERR", "MIS"):  # codespell:ignore mis
            continue
        values = words[: len(cpus)]
        if len(values) < len(cpus) or not all(re.fullmatch(r"[0-9]{1,20}", v) for v in values):
            raise SuiteError(Raw.NO_COUNTS, file=where, line=label, cpus=len(cpus))
        if label.lower() in counts:
            raise SuiteError(Raw.LINE_TWICE, file=where, line=label)
        counts[label.lower()] = dict(zip(cpus, map(int, values), strict=True))
    return Snapshot(cpus, counts)


def between(before: Snapshot, after: Snapshot) -> dict[str, dict[int, int]]:
    """Counts that were added, `[vector][cpu]`, those of all devices as `dev`; SuiteError when the
    two do not fit. A line that the kernel shows from its first interrupt on was at 0 before. A
    device that went in the window took its count along: what the others added is told.
    """
    if before.cpus != after.cpus:
        raise SuiteError(Raw.CPUS_CHANGED)
    gone = sorted(set(before.counts) - set(after.counts))
    if gone and not gone[-1].isdigit():
        raise SuiteError(Raw.LINE_GONE, line=gone[-1].upper())
    added: dict[str, dict[int, int]] = {DEVICES: dict.fromkeys(after.cpus, 0)}
    for label, row in after.counts.items():
        first = before.counts.get(label, {})
        grown = {cpu: _added(label, first.get(cpu, 0), row[cpu]) for cpu in after.cpus}
        if label.isdigit():
            for cpu, count in grown.items():
                added[DEVICES][cpu] += count
        else:
            added[label] = grown
    return added


def _added(label: str, first: int, last: int) -> int:
    """What a counter added; so much that it would have come round by half is a step backwards."""
    count = (last - first) % _WRAP if max(first, last) < _WRAP else last - first
    if not 0 <= count <= _WRAP // 2:
        raise SuiteError(Raw.BACKWARDS, line=label.upper())
    return count


def _times_and_dose(content: str) -> dict[str, str]:
    """The times and the dose; SuiteError where a line is none of its own, or a part is missing: a
    dose that is gone looks like a window that has none.
    """
    values = pairs(content, " ")
    dose_keys = [f"{key}_{side}" for key in DOSE for side in ("before", "after")]
    if len(values) != len(content.splitlines()) or not values.keys() <= {*TIMES, *dose_keys}:
        raise SuiteError(Raw.FOREIGN, file="window.txt")
    if any(key in values for key in dose_keys) and not all(key in values for key in dose_keys):
        raise SuiteError(Raw.PART_OF_DOSE, file="window.txt")
    return values


def _ratios(
    added: Mapping[str, Mapping[int, int]], window: Window, watch: Watch
) -> list[Measurement]:
    no_events = window.workload == "none" and not window.instrument
    if no_events or "iwi" not in added:
        return []
    iwi, res = added["iwi"], added["res"]
    total = sum(iwi[cpu] for cpu in watch)
    if total == 0:
        return []
    ratio = sum(res[cpu] for cpu in watch) / total
    (boot,) = of_boot(NAME, window, "1", {"res_per_iwi": ratio})
    own = (replace(boot, value=res[cpu] / iwi[cpu], cpu=cpu) for cpu in watch if iwi[cpu] > 0)
    return [boot, *own]


def _dose(times: Mapping[str, str], window: Window, seconds: float) -> tuple[Measurement, ...]:
    """Events the reader took, its wake-ups, records that perf dropped, faults of the children.

    A window under a workload must have them; one without has them where children run alone.
    """
    if "events_before" not in times:
        if window.nominal_events_per_s > 0:
            raise SuiteError(Raw.NO_DOSE, file="window.txt")
        return ()
    counts = {}
    for key in DOSE:
        first = number(times, f"{key}_before", "window.txt")
        counts[key] = number(times, f"{key}_after", "window.txt") - first
        if counts[key] < 0:
            raise SuiteError(Raw.DOSE_BACKWARDS, count=key)
    lost = float(counts.pop("lost"))
    rates = {f"{key}_per_s": count / seconds for key, count in counts.items()}
    return (*of_boot(NAME, window, "1/s", rates), *of_boot(NAME, window, "1", {"lost": lost}))


def _counted_interrupts(figures: Mapping[str, float]) -> float | None:
    """All interrupts a second of a CPU but NMIs, which tracers count apart."""
    names = [f"{vector}_per_s" for vector in VECTORS if vector != "nmi"]
    rates = [figures[name] for name in names if name in figures]
    return sum(rates) if rates else None


SUITE = Suite(
    name=NAME,
    parse=parse,
    any_kernel=True,
    made_of={"res_": ("reschedule",), "cal_": ("call",), "iwi_": ("irq_work",)},
    per_event=PER_EVENT,
    counted_by=COUNTED_BY,
    counted_interrupts=_counted_interrupts,
    caused="res_per_s",
    tick="loc_per_s",
)
