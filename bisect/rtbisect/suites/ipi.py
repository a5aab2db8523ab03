# SPDX-License-Identifier: GPL-2.0-or-later
"""Interrupts on watched CPUs: how often isolated CPUs are disturbed, and by what.

Source: two snapshots of /proc/interrupts inside one window (before.txt, after.txt) and
window.txt with the two times and the dose of the workload. A rate is a count divided by
the time between the snapshots. `res_per_iwi` (reschedule IPIs for each irq_work
interrupt) does not depend on the speed of the host; its boot figure is the ratio of the
sums, not the mean of ratios, so that a CPU with few events does not weigh like the rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.model.lab import Measurement
from rtbisect.suites import interrupts
from rtbisect.suites.base import Suite, SuiteError, number, of_cpus, pairs, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.lab import Window

NAME = "ipi"

#: Where the kernel counts interrupts and prints them.
COUNTED_BY = (
    "arch/x86/include/asm/hardirq.h",
    "arch/x86/kernel/irq.c",
    "arch/x86/kernel/irq_work.c",
    "arch/x86/kernel/smp.c",
    "fs/proc/interrupts.c",
    "kernel/irq/proc.c",
)

#: Vectors that are reported where the kernel has them. The names are the kernel's.
VECTORS = ("res", "iwi", "loc", "cal", "tlb", "nmi", "pmi", "trm", "thr", interrupts.DEVICES)

#: Without these there is nothing to say about IPIs.
NEEDED = ("res", "loc", "cal")

#: What window.txt tells: when the snapshots were taken, and what the reader counted.
TIMES = ("start_ns", "end_ns")
DOSE = ("events", "wakeups", "lost", "faults")

#: IPIs for each event.
PER_EVENT = {"res_per_iwi": ("irq_work",)}

#: Shorter windows have too few counts to be a rate.
SHORTEST_S = 0.1


def parse(
    files: Mapping[str, bytes], window: Window, watch: tuple[int, ...]
) -> tuple[Measurement, ...]:
    """Rates in 1/s per watched CPU and their means (cpu=None), the ratio, and the dose."""
    before = interrupts.read(text(files, "before.txt"), "before.txt")
    after = interrupts.read(text(files, "after.txt"), "after.txt")
    added = interrupts.between(before, after)
    for vector in NEEDED:
        # They count from the boot on: one that appears in a window is a text that was cut.
        if vector not in before.counts or vector not in after.counts:
            raise SuiteError(f"/proc/interrupts has no line {vector.upper()}")
    for cpu in watch:
        if cpu not in after.cpus:
            raise SuiteError(f"watched CPU {cpu} is not online")
    times = _times_and_dose(text(files, "window.txt"))
    seconds = (
        number(times, "end_ns", "window.txt") - number(times, "start_ns", "window.txt")
    ) / 1e9
    if seconds < SHORTEST_S:
        raise SuiteError(f"the window lasted {seconds:.3f} s, at least {SHORTEST_S} s are needed")
    measurements = [
        *_rates(added, window, watch, seconds),
        *_ratios(added, window, watch),
        *_dose(times, window, seconds),
        Measurement(
            suite=NAME, name="window_us", window=window.name, value=seconds * 1e6, unit="us"
        ),
    ]
    return tuple(measurements)


def parse_as(
    suite: str, files: Mapping[str, bytes], window: Window, watch: tuple[int, ...]
) -> tuple[Measurement, ...]:
    """The same figures under the name of another suite."""
    return tuple(replace(measurement, suite=suite) for measurement in parse(files, window, watch))


def _times_and_dose(content: str) -> dict[str, str]:
    """The times and the dose; SuiteError where a line is none of its own, or a part is missing: a
    dose that is gone looks like a window that has none.
    """
    values = pairs(content, " ")
    dose_keys = [f"{key}_{side}" for key in DOSE for side in ("before", "after")]
    if len(values) != len(content.splitlines()) or not values.keys() <= {*TIMES, *dose_keys}:
        raise SuiteError("window.txt has a line that is none of its own")
    if any(key in values for key in dose_keys) and not all(key in values for key in dose_keys):
        raise SuiteError("window.txt has a part of the dose only")
    return values


def _rates(
    added: Mapping[str, Mapping[int, int]], window: Window, watch: tuple[int, ...], seconds: float
) -> list[Measurement]:
    measurements = []
    for vector in VECTORS:
        if vector not in added:
            continue
        rates = {cpu: added[vector][cpu] / seconds for cpu in watch}
        measurements += of_cpus((NAME, f"{vector}_per_s", window.name), "1/s", rates)
    return measurements


def _ratios(
    added: Mapping[str, Mapping[int, int]], window: Window, watch: tuple[int, ...]
) -> list[Measurement]:
    no_events = window.workload == "none" and not window.instrument
    if no_events or "iwi" not in added:
        return []
    iwi = {cpu: added["iwi"][cpu] for cpu in watch}
    total = sum(iwi.values())
    if total == 0:
        return []
    ratio = sum(added["res"][cpu] for cpu in watch) / total
    measurements = [
        Measurement(suite=NAME, name="res_per_iwi", window=window.name, value=ratio, unit="1")
    ]
    for cpu in watch:
        if iwi[cpu] > 0:
            value = added["res"][cpu] / iwi[cpu]
            measurements.append(
                Measurement(
                    suite=NAME,
                    name="res_per_iwi",
                    window=window.name,
                    value=value,
                    unit="1",
                    cpu=cpu,
                )
            )
    return measurements


def _dose(times: Mapping[str, str], window: Window, seconds: float) -> list[Measurement]:
    """Events the reader took, its wake-ups, records that perf dropped, faults of the children.

    A window under a workload must have them; one without has them where children run alone.
    """
    if "events_before" not in times:
        if window.nominal_events_per_s > 0:
            raise SuiteError("window.txt has no dose of the workload")
        return []
    counts = {}
    for key in DOSE:
        first = number(times, f"{key}_before", "window.txt")
        counts[key] = number(times, f"{key}_after", "window.txt") - first
        if counts[key] < 0:
            raise SuiteError(f"the dose counted {key} backwards")
    measurements = [
        Measurement(
            suite=NAME,
            name=f"{key}_per_s",
            window=window.name,
            value=counts[key] / seconds,
            unit="1/s",
        )
        for key in ("events", "wakeups", "faults")
    ]
    return [
        *measurements,
        Measurement(
            suite=NAME, name="lost", window=window.name, value=float(counts["lost"]), unit="1"
        ),
    ]


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
