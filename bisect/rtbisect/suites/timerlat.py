# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's timerlat tracer: how late a periodic timer's interrupt came, and its thread.

Source: latency.txt (lava-jobs/suites/timerlat/latfold.c: exact sums and a histogram with eight
buckets an octave, so that a quantile is known to an eighth) and timerlat.txt (settings and times).
On emulated CPUs the latencies are the host's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rtbisect.model.kinds.boot import Raw
from rtbisect.model.lab import Measurement, Window
from rtbisect.suites import osnoise
from rtbisect.suites.base import (
    Files,
    Suite,
    SuiteError,
    Watch,
    check_watched,
    matches,
    no_events_lost,
    number,
    of_boot,
    of_cpus,
    pairs,
    text,
)

NAME = "timerlat"

#: Fewer activations are no sample of latencies.
FEWEST = 20

HEAD = "# cpu context count sum_ns min_ns max_ns over_100us lower_ns:count ..."
_ROW = re.compile(
    r"(?P<cpu>\d{1,5}) (?P<context>irq|thread|user-ret) (?P<count>\d{1,12}) "
    r"(?P<sum_ns>\d{1,20}) (?P<min_ns>\d{1,20}) (?P<max_ns>\d{1,20}) (?P<over_100us>\d{1,12})"
    r"(?P<buckets>(?: \d{1,20}:\d{1,12}){1,512})"
)
_NUMBERS = ("cpu", "count", "sum_ns", "min_ns", "max_ns", "over_100us")


@dataclass(frozen=True, slots=True, kw_only=True)
class Latencies:
    """Latencies of one CPU and context."""

    cpu: int
    #: irq, thread or user-ret: where the latency was taken.
    context: str
    #: Activations of the timer.
    count: int
    sum_ns: int
    min_ns: int
    max_ns: int
    #: How many of them took longer than 100 us.
    over_100us: int
    #: Lower ends in ns and counts, ascending.
    buckets: tuple[tuple[int, int], ...]

    def quantile_ns(self, share: float) -> int:
        """Lower end of the bucket that holds the quantile, and no less than the minimum."""
        counted = 0
        for lower, count in self.buckets:
            counted += count
            if counted >= share * self.count:
                return max(lower, self.min_ns)
        return self.max_ns


def parse(files: Files, window: Window, watch: Watch) -> tuple[Measurement, ...]:
    """Per watched CPU and context (irq, thread): median, 90 % and maximum in us, and how many were
    beyond 100 us in a second; and over CPUs their means (maxima: the maximum).
    """
    settings = pairs(text(files, "timerlat.txt"), " ")
    no_events_lost(settings, watch, "timerlat.txt")
    if number(settings, "timerlat_period_us", "timerlat.txt") == 0:
        raise SuiteError(Raw.NO_PERIOD, file="timerlat.txt")
    seconds = _window_s(settings)
    rows = {(row.cpu, row.context): row for row in read(text(files, "latency.txt"))}
    check_watched({cpu for cpu, _context in rows}, watch, NAME, Raw.STRAY_MEASURED)
    measurements: list[Measurement] = []
    for context in ("irq", "thread"):
        cpu_rows = {cpu: rows.get((cpu, context)) for cpu in watch}
        for cpu, row in cpu_rows.items():
            if row is None or row.count < FEWEST:
                count = row.count if row else 0
                raise SuiteError(
                    Raw.FEW_LATENCIES, tool=NAME, latencies=count, context=context, cpu=cpu
                )
        figures = {
            cpu: {
                (f"{context}_p50_us", "us"): row.quantile_ns(0.5) / 1000,
                (f"{context}_p90_us", "us"): row.quantile_ns(0.9) / 1000,
                (f"{context}_max_us", "us"): row.max_ns / 1000,
                (f"{context}_over_100us_per_s", "1/s"): row.over_100us / seconds,
            }
            for cpu, row in cpu_rows.items()
            if row
        }
        measurements += of_cpus(NAME, window, figures)
    return (*measurements, *of_boot(NAME, window, "s", {"cpu_seconds": seconds * len(watch)}))


def _window_s(settings: Mapping[str, str]) -> float:
    times = []
    for key in ("start_s", "end_s"):
        value = settings.get(key, "")
        if not re.fullmatch(r"\d{1,9}\.\d{1,6}", value):
            raise SuiteError(Raw.NO_TIME, file="timerlat.txt", key=key, value=value[:40])
        times.append(float(value))
    first_s, last_s = times
    if last_s <= first_s:
        raise SuiteError(Raw.WINDOW_TIMES, file="timerlat.txt", first_s=first_s, last_s=last_s)
    return last_s - first_s


def read(content: str) -> tuple[Latencies, ...]:
    """All rows; SuiteError when one cannot be, or the trace had lines of another kind."""
    lines = content.splitlines()
    if lines[:1] != [HEAD]:
        raise SuiteError(Raw.NO_HEAD, file="latency.txt")
    if lines[-1:] != ["other 0"]:
        raise SuiteError(Raw.FOREIGN_TRACE, tool=NAME, line=lines[-1][:40])
    rows: dict[tuple[int, str], Latencies] = {}
    for match in matches("latency.txt", lines[1:-1], _ROW):
        bucket_texts = (pair.split(":") for pair in match["buckets"].split())
        buckets = tuple((int(lower), int(count)) for lower, count in bucket_texts)
        numbers = {name: int(match[name]) for name in _NUMBERS}
        row = Latencies(context=match["context"], buckets=buckets, **numbers)
        _check_row(row, match[0])
        if (row.cpu, row.context) in rows:
            raise SuiteError(
                Raw.LATENCIES_TWICE, file="latency.txt", context=row.context, cpu=row.cpu
            )
        rows[row.cpu, row.context] = row
    return tuple(rows.values())


def _check_row(row: Latencies, line: str) -> None:
    lowers = [lower for lower, _count in row.buckets]
    total = sum(count for _lower, count in row.buckets)
    if (
        row.count == 0
        or total != row.count
        or lowers != sorted(set(lowers))
        or not lowers[0] <= row.min_ns <= row.max_ns
        or lowers[-1] > row.max_ns
        or row.over_100us > row.count
        or not row.count * row.min_ns <= row.sum_ns <= row.count * row.max_ns
    ):
        raise SuiteError(Raw.CANNOT_BE, file="latency.txt", line=line[:60])


SUITE = Suite(
    name=NAME,
    parse=parse,
    windows=(Window(name="timerlat-off", suites=(NAME,)),),
    counted_by=osnoise.COUNTED_BY,
)
