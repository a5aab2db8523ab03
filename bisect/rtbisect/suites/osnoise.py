# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's osnoise tracer, read from tracefs: samples of one watched CPU each.

Source: trace.txt (text of /sys/kernel/tracing/trace), osnoise.txt (its settings as the kernel gave
them back), noise.txt (suites/noise.py). The nine numbers of a sample are runtime and noise in us,
available percent, longest single noise in us, and how often hardware, NMI, IRQ, softirq and thread
noise came in. The kernel computes the percentage from the first two, so the three have to agree.
Figures are means over the samples of a CPU (`_per_sample`: counts), except `max_single_us`, the
longest of all.

On emulated CPUs the times show the host, not the kernel under test; the counts of IRQs, softirqs
and threads are right there too. `own_noise_us_per_s` is made of them: the median duration of an
interference times how many there were, for each second of runtime. The host stretches some
interferences by milliseconds, but not the median one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rtbisect.model.kinds.boot import Raw
from rtbisect.model.lab import FigureSource, Measurement, Window
from rtbisect.suites import noise
from rtbisect.suites.base import (
    Figures,
    Files,
    Suite,
    SuiteError,
    Watch,
    check_watched,
    no_events_lost,
    number,
    of_cpus,
    pairs,
    text,
)
from rtbisect.suites.identity import NoiseRow, contradiction

NAME = "osnoise"

#: Files of the kernel that make up the tracer.
COUNTED_BY = ("include/trace/events/osnoise.h", "kernel/trace/trace_osnoise.c")

#: A sample of half a second each second. Noise below the threshold is the cost of measuring.
PERIOD_US, RUNTIME_US, THRESHOLD_US = 1_000_000, 500_000, 1

_COUNTS = ("hw", "nmi", "irq", "softirq", "thread")

#: A longer line of a trace is no sample: blanks that go on would be tried from each on.
_LONGEST_LINE = 1000
#: Digits are bounded everywhere: int() raises on thousands of them. 20 hold 64 bits.
_SAMPLE = re.compile(
    r"-\d{1,10}\s+\[(?P<cpu>\d{3,5})\]\s+\S+\s+(?P<time>\d{1,20}\.\d{1,9}):\s+"
    r"(?P<runtime>\d{1,20})\s+(?P<noise>\d{1,20})\s+(?P<available>\d{1,3}\.\d{5})\s+"
    r"(?P<single>\d{1,20})\s+"
    + r"\s+".join(rf"(?P<{name}>\d{{1,20}})" for name in _COUNTS)
    + r"\s*$"
)


@dataclass(frozen=True, slots=True)
class NoiseSample:
    """One line of the tracer."""

    cpu: int
    runtime_us: int
    #: Sum of all noises of the sample, and the longest one.
    noise_us: int
    max_single_us: int
    #: How often noise of each kind came in, in the order of _COUNTS.
    counts: tuple[int, ...]


def parse(files: Files, window: Window, watch: Watch) -> tuple[Measurement, ...]:
    """Means over the samples per watched CPU, and their means over CPUs (cpu=None)."""
    _check_settings(files, watch)
    samples = read(text(files, "trace.txt"))
    by_cpu = {cpu: [sample for sample in samples if sample.cpu == cpu] for cpu in watch}
    for cpu, cpu_samples in by_cpu.items():
        if not cpu_samples:
            raise SuiteError(Raw.NO_SAMPLE, tool=NAME, cpu=cpu)
    check_watched({sample.cpu for sample in samples}, watch, NAME, Raw.STRAY_SAMPLED)
    figures = {cpu: _figures(cpu_samples) for cpu, cpu_samples in by_cpu.items()}
    if "noise.txt" in files:  # since the events are recorded
        rows = noise.read(text(files, "noise.txt"))
        for cpu, cpu_samples in by_cpu.items():
            figures[cpu] |= _own_noise(rows, cpu, sum(sample.runtime_us for sample in cpu_samples))
    return tuple(of_cpus(NAME, window, figures))


def sources(files: Files, window: Window, watch: Watch) -> tuple[FigureSource, ...]:
    """What disturbed the watched CPUs, by name and second of runtime; the most costly first."""
    if "noise.txt" not in files:
        return ()
    seconds = sum(sample.runtime_us for sample in read(text(files, "trace.txt"))) / 1e6
    # Rates are those of all watched CPUs together: seconds of one CPU.
    seconds /= len(watch)
    rates: dict[tuple[str, str], tuple[float, float]] = {}
    for row in noise.read(text(files, "noise.txt")):
        if row.source == noise.ALL or row.kind not in noise.KINDS:
            continue
        key = (row.kind, re.sub(r"/[0-9]+$", "/N", row.source))
        count, ns = rates.get(key, (0.0, 0.0))
        rates[key] = (count + row.count / seconds, ns + row.typical_ns / seconds)
    noise_sources = [
        FigureSource(window.name, kind, name, count, ns / 1000)
        for (kind, name), (count, ns) in rates.items()
    ]
    return tuple(
        sorted(
            noise_sources, key=lambda source: (-(source.us_per_s or 0.0), source.kind, source.name)
        )
    )


#: Settings that a window has to have had. Others would make another figure of it.
_REQUIRED = {
    "stop_tracing_us": 0,
    "stop_tracing_total_us": 0,
    "tracing_thresh": THRESHOLD_US,
    "period_us": PERIOD_US,
    "runtime_us": RUNTIME_US,
}


def _check_settings(files: Files, watch: Watch) -> None:
    """SuiteError unless the tracer ran as it was told, on the watched CPUs, and kept everything."""
    settings = pairs(text(files, "osnoise.txt"), " ")
    for key, wanted in _REQUIRED.items():
        if (value := number(settings, key, "osnoise.txt")) != wanted:
            raise SuiteError(Raw.SETTING, file="osnoise.txt", key=key, value=value, wanted=wanted)
    if "options" in settings and "OSNOISE_WORKLOAD" not in settings["options"].split():
        raise SuiteError(Raw.NO_WORKLOAD, tool=NAME)
    no_events_lost(settings, watch, "osnoise.txt")


def _own_noise(rows: tuple[noise.Interference, ...], cpu: int, runtime_us: int) -> Figures:
    """Microseconds of typical interference in a second of runtime, together and by kind."""
    rates = dict.fromkeys(("own", *noise.KINDS), 0.0)
    for row in rows:
        if row.cpu == cpu and row.source == noise.ALL and row.kind in noise.KINDS:
            rates[row.kind] = row.typical_ns / 1000 / (runtime_us / 1e6)
            rates["own"] += rates[row.kind]
    return {(f"{kind}_noise_us_per_s", "us/s"): rate for kind, rate in rates.items()}


def read(content: str) -> list[NoiseSample]:
    """All samples of a trace; SuiteError when the tracer itself says that it lost any."""
    if not content.startswith("# tracer: osnoise"):
        raise SuiteError(Raw.WRONG_TRACER, file="trace.txt", tool=NAME)
    samples = []
    known: set[tuple[str, str]] = set()
    for line in content.splitlines():
        if "LOST" in line and "EVENTS" in line:
            raise SuiteError(Raw.LOST_LINE, line=line.strip()[:60])
        if line.startswith("# osnoise is tainted"):
            raise SuiteError(Raw.TAINTED)
        if not line.strip() or line.startswith("#"):
            continue
        match = _SAMPLE.search(line) if len(line) <= _LONGEST_LINE else None
        if match is None:
            raise SuiteError(Raw.NO_SAMPLE_LINE, file="trace.txt", line=line.strip()[:60])
        if (key := (match["cpu"], match["time"])) in known:
            raise SuiteError(Raw.SAMPLE_TWICE, file="trace.txt", cpu=int(key[0]))
        known.add(key)
        samples.append(_parsed_sample(match))
    return samples


def _parsed_sample(match: re.Match[str]) -> NoiseSample:
    runtime, noise, single = (int(match[name]) for name in ("runtime", "noise", "single"))
    cpu = int(match["cpu"])
    if runtime == 0:
        raise SuiteError(Raw.NO_RUNTIME, tool=NAME, cpu=cpu)
    row = NoiseRow(
        runtime_us=runtime,
        noise_us=noise,
        avail_percent=float(match["available"]),
        max_single_us=single,
    )
    if fault := contradiction(row):
        raise SuiteError(Raw.SAMPLE, tool=NAME, cpu=cpu, why=fault)
    counts = tuple(int(match[name]) for name in _COUNTS)
    return NoiseSample(cpu, runtime, noise, single, counts)


def _figures(samples: list[NoiseSample]) -> Figures:
    n = len(samples)
    runtime = sum(sample.runtime_us for sample in samples)
    noise = sum(sample.noise_us for sample in samples)
    figures = {
        ("runtime_us", "us"): runtime / n,
        ("noise_us", "us"): noise / n,
        ("avail_percent", "percent"): 100 * (runtime - noise) / runtime,
        ("max_single_us", "us"): float(max(sample.max_single_us for sample in samples)),
    }
    for place, name in enumerate(_COUNTS):
        figures[f"{name}_per_sample", "1"] = sum(sample.counts[place] for sample in samples) / n
    return figures


def _traced_interrupts(figures: Mapping[str, float]) -> float | None:
    """Interrupts a second of a CPU; NMIs are apart."""
    runtime_us = figures.get("runtime_us", 0.0)
    return figures["irq_per_sample"] / (runtime_us / 1e6) if runtime_us > 0 else None


SUITE = Suite(
    name=NAME,
    parse=parse,
    on_device={
        "OSNOISE_PERIOD_US": PERIOD_US,
        "OSNOISE_RUNTIME_US": RUNTIME_US,
        "OSNOISE_THRESHOLD_US": THRESHOLD_US,
    },
    sources=sources,
    kinds=frozenset(noise.KINDS),
    made_of={
        "irq_": ("irq",),
        "softirq_": ("softirq",),
        "thread_": ("thread",),
        "own_noise_": noise.KINDS,
    },
    counted_by=COUNTED_BY,
    traced_interrupts=_traced_interrupts,
)
