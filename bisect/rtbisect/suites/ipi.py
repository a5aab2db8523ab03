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

from rtbisect.suites import interrupts
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


def parse(files: Files, window: Window, watch: Watch) -> tuple[Measurement, ...]:
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
            raise SuiteError("window.txt has no dose of the workload")
        return ()
    counts = {}
    for key in DOSE:
        first = number(times, f"{key}_before", "window.txt")
        counts[key] = number(times, f"{key}_after", "window.txt") - first
        if counts[key] < 0:
            raise SuiteError(f"the dose counted {key} backwards")
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
