# SPDX-License-Identifier: GPL-2.0-or-later
"""What disturbed a CPU and for how long: the noise events of the osnoise tracer, folded.

noise.txt (lava-jobs/suites/osnoise/noisefold.c) has a head and lines of `cpu kind count sum_ns
median_ns max_ns source`; the line with the source `*` holds all events of a CPU and kind. The
durations are net: what interrupted an interference is not in it (kernel/trace/trace_osnoise.c).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rtbisect.model.kinds.boot import Raw
from rtbisect.suites.base import SuiteError, matches

#: What the kernel itself does to a CPU. Noise without any of these is the hardware's.
KINDS = ("irq", "softirq", "thread")

#: The sum over all sources.
ALL = "*"

HEAD = "# cpu kind count sum_ns median_ns max_ns source"
_ROW = re.compile(
    r"(?P<cpu>\d{1,5}) (?P<kind>irq|softirq|thread|nmi) (?P<count>\d{1,12}) "
    r"(?P<sum_ns>\d{1,18}) (?P<median_ns>\d{1,18}) (?P<max_ns>\d{1,18}) (?P<source>[!-~]{1,40})"
)
_NUMBERS = ("cpu", "count", "sum_ns", "median_ns", "max_ns")


@dataclass(frozen=True, slots=True, kw_only=True)
class Interference:
    """Events of one CPU, kind and source."""

    cpu: int
    #: Kind of the source: one of KINDS, or "nmi".
    kind: str
    #: An IRQ's name and vector, a softirq's name and number, a thread's name, "-" for NMIs, or ALL.
    source: str
    count: int
    #: Net durations: all of them, the median and the longest one.
    sum_ns: int
    median_ns: int
    max_ns: int

    @property
    def typical_ns(self) -> int:
        """Median duration times count: what it took if no event was stretched by the host, which
        takes an emulated CPU away for milliseconds.
        """
        return self.median_ns * self.count


def read(content: str) -> tuple[Interference, ...]:
    """All lines; SuiteError when one of them cannot be, or the sources do not add up."""
    lines = content.splitlines()
    if lines[:1] != [HEAD]:
        raise SuiteError(Raw.NO_HEAD, file="noise.txt")
    rows: dict[tuple[int, str, str], Interference] = {}
    for match in matches("noise.txt", lines[1:], _ROW):
        numbers = {name: int(match[name]) for name in _NUMBERS}
        row = Interference(kind=match["kind"], source=match["source"], **numbers)
        key = (row.cpu, row.kind, row.source)
        if key in rows:
            raise SuiteError(
                Raw.NOISE_TWICE, file="noise.txt", noise=row.kind, source=row.source, cpu=row.cpu
            )
        in_order = row.median_ns <= row.max_ns <= row.sum_ns <= row.count * row.max_ns
        if row.count == 0 or not in_order:
            raise SuiteError(Raw.CANNOT_BE, file="noise.txt", line=match[0])
        rows[key] = row
    _check_sums(rows)
    return tuple(rows.values())


def _check_sums(rows_by_key: Mapping[tuple[int, str, str], Interference]) -> None:
    """The sources of a CPU and kind make its whole."""
    for cpu, kind in {(cpu, kind) for cpu, kind, _source in rows_by_key}:
        total = rows_by_key.get((cpu, kind, ALL))
        parts = [
            row for key, row in rows_by_key.items() if key[:2] == (cpu, kind) and row.source != ALL
        ]
        sums = (sum(row.count for row in parts), sum(row.sum_ns for row in parts))
        if total is None or (total.count, total.sum_ns) != sums:
            raise SuiteError(Raw.NOISE_SUMS, file="noise.txt", noise=kind, cpu=cpu)
