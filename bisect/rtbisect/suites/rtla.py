# SPDX-License-Identifier: GPL-2.0-or-later
"""The osnoise tracer through rtla: a second instrument, whose text is made for people.

`rtla osnoise top -q` has columns of fixed width without space between some of them (Aval and Max
Noise, Max Single and HW): a number of twelve digits glues to its neighbour, and splitting at white
space would misread it silently. A CPU without a sample has no row. `rtla osnoise hist` has a column
only for CPUs with a noise. Source: tools/tracing/rtla/src/osnoise_top.c and osnoise_hist.c.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rtbisect.model.kinds.boot import Raw
from rtbisect.model.lab import Measurement, Window
from rtbisect.suites import osnoise
from rtbisect.suites.base import (
    Figures,
    Files,
    Suite,
    SuiteError,
    Watch,
    check_watched,
    of_cpus,
    text,
)
from rtbisect.suites.identity import NoiseRow, contradiction

NAME = "rtla"

#: Where each field of a row of `top` lies: `%3d #%-6d %12llu %12llu   %3d.%05d%12llu` and so on.
_FIELDS = {
    "cpu": slice(0, 3),
    "periods": slice(5, 11),
    "runtime_us": slice(12, 24),
    "noise_us": slice(25, 37),
    "avail_percent": slice(40, 49),
    "max_noise_us": slice(49, 61),
    "max_single_us": slice(62, 74),
    "hw": slice(74, 86),
    "nmi": slice(87, 99),
    "irq": slice(100, 112),
    "softirq": slice(113, 125),
    "thread": slice(126, 138),
}
_COUNTS = ("hw", "nmi", "irq", "softirq", "thread")
#: Characters that separate the fields, keyed by their column in the line.
_BETWEEN = {3: " ", 4: "#", 11: " ", 24: " ", 37: " ", 38: " ", 39: " ", 61: " "} | dict.fromkeys(
    (86, 99, 112, 125), " "
)
_WIDTH = 138

#: Colours, and the cursor that a terminal would move.
_ESCAPE = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_HEAD = re.compile(
    r"CPU Period +Runtime +Noise +% CPU Aval +Max Noise +Max Single +HW +NMI +IRQ +Softirq +Thread"
)
#: Words with which rtla says that it did not see everything.
_LOST = re.compile(r"events? missed|might not be accurate|lost", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopRow:
    """One CPU of `top`."""

    cpu: int
    #: Samples, one a period.
    periods: int
    #: Sums over all samples.
    runtime_us: int
    noise_us: int
    #: Share of the runtime that was available, 0..100.
    avail_percent: float
    #: The worst sum of one sample, and the longest single noise.
    max_noise_us: int
    max_single_us: int
    #: How often noise came in, over all samples, in the order of _COUNTS.
    counts: tuple[int, ...]


def parse(files: Files, window: Window, watch: Watch) -> tuple[Measurement, ...]:
    """Figures of one sample per watched CPU and their means (maxima: the maximum). The histogram
    has to agree with itself; it stays among the raw files.
    """
    rows = {row.cpu: row for row in read_top(text(files, "top.txt"))}
    for cpu in watch:
        if cpu not in rows:
            raise SuiteError(Raw.NO_ROW, tool=NAME, cpu=cpu)
    check_watched(rows, watch, NAME, Raw.STRAY_MEASURED)
    # A CPU without any noise has no column: here missing is none.
    check_watched(read_hist(text(files, "hist.txt")), watch, NAME, Raw.STRAY_HISTOGRAM)
    return tuple(of_cpus(NAME, window, {cpu: _figures(rows[cpu]) for cpu in watch}))


def _figures(row: TopRow) -> Figures:
    figures = {
        ("runtime_us", "us"): row.runtime_us / row.periods,
        ("noise_us", "us"): row.noise_us / row.periods,
        ("avail_percent", "percent"): row.avail_percent,
        ("max_noise_us", "us"): float(row.max_noise_us),
        ("max_single_us", "us"): float(row.max_single_us),
    }
    for name, count in zip(_COUNTS, row.counts, strict=True):
        figures[f"{name}_per_sample", "1"] = count / row.periods
    return figures


def read_top(content: str) -> tuple[TopRow, ...]:
    """Rows of the last table of `rtla osnoise top`; SuiteError when a row cannot be read or cannot
    be, or rtla says that it lost events.
    """
    lines = _clean_lines(content)
    heads = [place for place, line in enumerate(lines) if _HEAD.fullmatch(line)]
    if not heads:
        raise SuiteError(Raw.NO_TABLE, tool=NAME)
    if not any("time is in us" in line for line in lines[: heads[-1]]):
        raise SuiteError(Raw.NO_UNIT, tool=NAME)
    rows = tuple(_parsed_row(line) for line in lines[heads[-1] + 1 :] if line)
    if len({row.cpu for row in rows}) < len(rows):
        raise SuiteError(Raw.CPU_TWICE, tool=NAME)
    return rows


def _clean_lines(content: str) -> list[str]:
    lines = [_ESCAPE.sub("", line).rstrip() for line in content.splitlines()]
    if lost := next((line for line in lines if _LOST.search(line)), ""):
        raise SuiteError(Raw.TOOL_LOST, tool=NAME, line=lost[:60])
    return lines


def _parsed_row(line: str) -> TopRow:
    if len(line) != _WIDTH or any(line[place] != mark for place, mark in _BETWEEN.items()):
        raise SuiteError(Raw.ROW_WIDTH, tool=NAME, width=_WIDTH, line=line[:60])
    cells = {name: line[place].strip() for name, place in _FIELDS.items()}
    percent = cells.pop("avail_percent")
    if not re.fullmatch(r"\d{1,3}\.\d{5}", percent) or not all(
        re.fullmatch(r"\d{1,12}", cell) for cell in cells.values()
    ):
        raise SuiteError(Raw.ROW_NUMBERS, tool=NAME, line=line[:60])
    numbers = {name: int(cell) for name, cell in cells.items()}
    counts = tuple(numbers.pop(name) for name in _COUNTS)
    row = TopRow(avail_percent=float(percent), counts=counts, **numbers)
    noise = NoiseRow(
        runtime_us=row.runtime_us,
        noise_us=row.noise_us,
        avail_percent=row.avail_percent,
        max_noise_us=row.max_noise_us,
        max_single_us=row.max_single_us,
        samples=row.periods,
    )
    if row.periods == 0 or row.runtime_us == 0 or contradiction(noise):
        raise SuiteError(Raw.ROW, tool=NAME, cpu=row.cpu)
    return row


def read_hist(content: str) -> tuple[int, ...]:
    """CPUs that had a noise, by the histograms of `rtla osnoise hist`; SuiteError where these do
    not add up.
    """
    lines = _clean_lines(content)
    if lines[:2] != ["# RTLA osnoise histogram", "# Time unit is microseconds (us)"]:
        raise SuiteError(Raw.NO_HISTOGRAM, file="hist.txt", tool=NAME)
    body = [line.split() for line in lines if line and not line.startswith("#")]
    if not body or body[0][0] != "Index":
        # Without any noise there is one block without columns.
        if not body or any(words[1:] != ["0"] for words in body):
            raise SuiteError(Raw.HISTOGRAM_HEAD, file="hist.txt")
        return ()
    cpus = [_cpu_of_column(word) for word in body[0][1:]]
    table: dict[str, list[int]] = {}
    for words in body[1:]:
        label, values = words[0], words[1:]
        if label in table or not re.fullmatch(r"\d{1,9}|(?:over|count|min|avg|max):", label):
            raise SuiteError(Raw.HISTOGRAM_ROW, file="hist.txt", row=label[:40])
        if len(values) != len(cpus) or not all(re.fullmatch(r"\d{1,12}", v) for v in values):
            raise SuiteError(Raw.HISTOGRAM_COUNTS, file="hist.txt", row=label[:20])
        table[label] = [int(value) for value in values]
    if not {"over:", "count:"} <= table.keys():
        raise SuiteError(Raw.HISTOGRAM_END, file="hist.txt")
    for place, cpu in enumerate(cpus):
        buckets = {int(label): row[place] for label, row in table.items() if label.isdigit()}
        if sum(buckets.values()) + table["over:"][place] != table["count:"][place]:
            raise SuiteError(Raw.HISTOGRAM_SUM, file="hist.txt", cpu=cpu)
    return tuple(cpus)


def _cpu_of_column(word: str) -> int:
    match = re.fullmatch(r"CPU-(\d{1,5})", word)
    if match is None:
        raise SuiteError(Raw.HISTOGRAM_COLUMN, file="hist.txt", column=word[:20])
    return int(match[1])


SUITE = Suite(
    name=NAME,
    parse=parse,
    windows=(Window(name="rtla-off", suites=(NAME,)),),
    # Two runs of a window's length, and what begins and ends them (lava-jobs/suites/rtla/rtla.sh).
    lengths=3.0,
    counted_by=osnoise.COUNTED_BY,
)
