# SPDX-License-Identifier: GPL-2.0-or-later
"""Outputs of tools that measure, by their names (`run --format`). Pure.

Each reader gives all figures of an output in its order; those of one name are repetitions. What a
tool tells as JSON is taken from there, else from what it prints for people.
"""

from __future__ import annotations

import re
from enum import StrEnum
from statistics import median
from typing import TYPE_CHECKING, Any

from rtbisect.model.kinds.boot import Commands
from rtbisect.process.command import cut
from rtbisect.program.figures import (
    Figure,
    NoFigureError,
    listed,
    number,
)
from rtbisect.program.json_documents import documents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


class Format(StrEnum):
    """Tools whose outputs are known."""

    HYPERFINE = "hyperfine"
    GOOGLE_BENCHMARK = "google-benchmark"
    PYTEST_BENCHMARK = "pytest-benchmark"
    GO = "go"
    CRITERION = "criterion"
    CYCLICTEST = "cyclictest"
    RTLA = "rtla"


#: Unit of the times that a tool reports.
_UNITS: Mapping[Format, str] = {
    Format.HYPERFINE: "ms",
    Format.GOOGLE_BENCHMARK: "ns",
    Format.PYTEST_BENCHMARK: "us",
    Format.CRITERION: "ns",
    Format.CYCLICTEST: "us",
    Format.RTLA: "us",
}
#: Figure that is read if --metric names none.
_USUAL = {Format.CYCLICTEST: "max"}


def unit_of_tool(tool: Format, metric: str) -> str:
    """The unit in which a figure of a tool is told; "" where only the output says it."""
    if tool is Format.GO:
        _, colon, unit = metric.rpartition(":")
        # What stands behind a colon may be a part of the name, as in BenchmarkRead/size:10.
        return _TIME_OF_GO if not colon else unit if unit.endswith(_RATES) else ""
    return "%" if (tool, metric) == (Format.RTLA, "noise") else _UNITS[tool]


#: Unit of the time of a benchmark of Go.
_TIME_OF_GO = "ns/op"
#: What the name of the CPU time of a benchmark of google-benchmark ends with.
_CPU = ":cpu"

#: Ends of units that `go test -bench` prints.
_RATES = ("/op", "/s")

#: Longest unit, in characters.
_LONGEST_UNIT = 16
#: Longest line that is parsed, in characters.
_LONGEST_LINE = 2000

_N = r"([0-9][0-9,]{0,30}(?:\.[0-9]{1,20})?)"
_TIME = r"(ps|ns|us|µs|μs|ms|s|min)"


def read(text: str, tool: Format, metric: str) -> list[Figure]:
    """The figures of one name, the usual one of the tool where `metric` is ""; NoFigureError says
    what is missing.
    """
    figures = list(_READERS[tool](text))
    if not figures:
        raise NoFigureError(Commands.NO_OUTPUT_OF, tool=tool.value)
    wanted = metric or _USUAL.get(tool, "")
    names = list(dict.fromkeys(each.name for each in figures))
    if not wanted:
        times = _times(figures, names, tool)
        if len(times) > 1:
            raise NoFigureError(Commands.SEVERAL, figures=len(times), **listed(times))
        # A benchmark of Go may tell other figures alone, each of which has a name to ask for.
        wanted = times[0] if times else _TIME_OF_GO
    found = [each for each in figures if each.name == wanted]
    if not found:
        raise NoFigureError(
            Commands.OTHER_OF, tool=tool.value, metric=cut(wanted, 80), **listed(names)
        )
    return found


def _times(figures: list[Figure], names: list[str], tool: Format) -> list[str]:
    """Those of the names that are no allocation or CPU time beside the time of a benchmark."""
    if tool is Format.GO:
        return list(dict.fromkeys(each.name for each in figures if each.unit == _TIME_OF_GO))
    beside = {name + _CPU for name in names} if tool is Format.GOOGLE_BENCHMARK else ()
    return [name for name in names if name not in beside]


def _lines(text: str) -> Iterator[str]:
    """The lines that may be a result: none of these is longer."""
    return (line for line in text.splitlines() if len(line) <= _LONGEST_LINE)


def _rows(text: str, key: str) -> list[dict[str, Any]]:
    """The objects in the lists of this name of all JSON documents in a text."""
    lists = [document.value.get(key) for document in documents(text)]
    rows = [row for each in lists if isinstance(each, list) for row in each]
    return [row for row in rows if isinstance(row, dict)]


def _floats(value: Any) -> Iterator[float]:
    """The numbers in a number or a list of them; NoFigureError where one is not finite."""
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, int | float) and not isinstance(each, bool):
            yield number(str(each), cut(str(each), 80))


def _number(text: str) -> float:
    return number(text.replace(",", ""), text)


_HYPERFINE_NAME = re.compile(r"Benchmark (?:#)?[0-9]{1,6}: (.{1,300})")
_HYPERFINE_TIME = re.compile(
    rf"\s{{0,8}}Time \((?:mean ± [^)]|abs ≡)\):\s{{1,20}}{_N} {_TIME}\b.{{0,200}}"
)


def _hyperfine(text: str) -> Iterator[Figure]:
    """The times of all runs from `--export-json`, else the mean that is printed."""
    rows = _rows(text, "results")
    for row in rows:
        times = row.get("times", row.get("mean"))
        yield from (Figure(str(row.get("command", "")), each, "s") for each in _floats(times))
    name = ""
    for line in () if rows else _lines(text):
        if found := _HYPERFINE_NAME.fullmatch(line.rstrip()):
            name = found[1]
        elif found := _HYPERFINE_TIME.fullmatch(line):
            yield Figure(name, _number(found[1]), found[2])


_GOOGLE = re.compile(
    rf"(\S{{1,300}})\s{{1,200}}{_N} {_TIME}\s{{1,40}}{_N} {_TIME}\s{{1,40}}[0-9]{{1,20}}.{{0,300}}"
)
_AGGREGATES = ("_mean", "_median", "_stddev", "_cv", "_min", "_max")


def _google_benchmark(text: str) -> Iterator[Figure]:
    """Real time of an iteration as NAME, CPU time as NAME:cpu; aggregate rows are left out."""
    rows = _rows(text, "benchmarks")
    for row in rows:
        if row.get("run_type", "iteration") != "iteration":
            continue
        # One that failed, or left itself out, has times of 0.
        if row.get("error_occurred") is True or row.get("skipped") is True:
            continue
        name = str(row.get("run_name", row.get("name", "")))
        unit = cut(str(row.get("time_unit", "ns")), _LONGEST_UNIT)
        for key, end in (("real_time", ""), ("cpu_time", _CPU)):
            yield from (Figure(name + end, each, unit) for each in _floats(row.get(key)))
    lines = [_GOOGLE.fullmatch(line.rstrip()) for line in (() if rows else _lines(text))]
    table = [found for found in lines if found]
    names = {found[1] for found in table}
    for found in table:
        # Beside the rows that it is made of; a benchmark may be called so, too.
        if not any(found[1].removesuffix(end) in names - {found[1]} for end in _AGGREGATES):
            yield Figure(found[1], _number(found[2]), found[3])
            yield Figure(found[1] + _CPU, _number(found[4]), found[5])


_PYTEST_HEAD = re.compile(rf"Name \(time in {_TIME}\)\s{{1,200}}Min\s.{{0,400}}")
#: How much of the best one it is stands behind a number, but not where a table has one row.
_PYTEST_ROW = re.compile(
    rf"(\S{{1,300}})((?:\s{{1,250}}{_N}(?: \([0-9.>,inf]{{1,20}}\))?){{5}})(?:\s.{{0,300}})?"
)
_PYTEST_CELL = re.compile(rf"\s{_N}")


def _pytest_benchmark(text: str) -> Iterator[Figure]:
    """The median of the rounds: of `--benchmark-json`, else of the table."""
    rows = _rows(text, "benchmarks")
    for row in rows:
        stats = row.get("stats")
        median = stats.get("median") if isinstance(stats, dict) else None
        yield from (Figure(str(row.get("name", "")), each, "s") for each in _floats(median))
    unit = ""
    for line in () if rows else _lines(text):
        if found := _PYTEST_HEAD.fullmatch(line.rstrip()):
            unit = found[1]
        elif unit and (found := _PYTEST_ROW.fullmatch(line.rstrip())):
            # Min, Max, Mean, StdDev, Median.
            yield Figure(found[1], _number(_PYTEST_CELL.findall(found[2])[4]), unit)


_GO = re.compile(r"(Benchmark\S{0,300}?)(-[0-9]{1,5})?\s{1,200}[0-9]{1,20}\t(.{1,400})")
_GO_CELL = re.compile(r"([0-9.e+-]{1,40}) (\S{1,60})")


def _go(text: str) -> Iterator[Figure]:
    """NAME is the time of an operation, NAME:B/op and the like what stands beside it; names have no
    number of CPUs, which all lines end with, unless there is one CPU.
    """
    lines = [_GO.fullmatch(line.strip()) for line in _lines(text)]
    table = [found for found in lines if found]
    of_cpus = len({found[2] for found in table}) == 1
    for found in table:
        benchmark = found[1] if of_cpus else found[1] + (found[2] or "")
        for value, unit in _GO_CELL.findall(found[3]):
            name = benchmark if unit == _TIME_OF_GO else f"{benchmark}:{unit}"
            yield Figure(name, _number(value), unit)


#: Times of a benchmark of criterion, which stand behind its name.
_CRITERION = re.compile(rf"time:\s{{1,20}}\[{_N} {_TIME} {_N} {_TIME} {_N} {_TIME}\]\s{{0,20}}")


def _criterion(text: str) -> Iterator[Figure]:
    """The estimate, which stands between its bounds; a long name has a line of its own."""
    before = ""
    for line in _lines(text):
        at = line.find("time:   [")
        if at >= 0 and (found := _CRITERION.fullmatch(line, at)):
            name = line[:at].strip() or before.strip()
            yield Figure(name, _number(found[3]), found[4])
        before = line


_CYCLIC = re.compile(
    r"T:\s{0,4}([0-9]{1,4}) \(.{1,200}Min:\s{0,9}([0-9]{1,12}) Act:\s{0,9}([0-9]{1,12})"
    r" Avg:\s{0,9}([0-9]{1,12}) Max:\s{0,9}([0-9]{1,12})\s{0,9}"
)
_CYCLIC_HISTOGRAM = re.compile(r"# (Min|Avg|Max) Latencies:((?: [0-9]{1,12}){1,4096})\s{0,9}")


def _cyclictest(text: str) -> Iterator[Figure]:
    """`max` and `min` over all threads, and the median of their `avg`; the last state of each."""
    threads: dict[str, dict[str, float]] = {}
    told = [document.value.get("thread") for document in documents(text)]
    for name, row in [pair for each in told if isinstance(each, dict) for pair in each.items()]:
        if isinstance(row, dict) and row.get("cycles") != 0:
            values = {key: [*_floats(row.get(key))] for key in ("min", "avg", "max")}
            threads[name] = {key: found[0] for key, found in values.items() if found}
    for line in _lines(text):
        if found := _CYCLIC.fullmatch(line.strip()):
            values_of = zip(("min", "act", "avg", "max"), found.groups()[1:], strict=True)
            threads[found[1]] = {key: float(value) for key, value in values_of}
        elif found := _CYCLIC_HISTOGRAM.fullmatch(line.strip()):
            for thread, value in enumerate(found[2].split()):
                threads.setdefault(str(thread), {})[found[1].lower()] = float(value)
    of_all: dict[str, Callable[[list[float]], float]] = {
        "min": min,
        "avg": median,
        "max": max,
    }
    for key, summary in of_all.items():
        if of_threads := [thread[key] for thread in threads.values() if key in thread]:
            yield Figure(key, summary(of_threads), "us")


#: Of a row of `rtla osnoise top`, behind the CPU; fields may touch (suites/rtla.py).
_OSNOISE = re.compile(
    r"\s{0,2}[0-9]{1,4} #([0-9]{1,9})\s{1,12}([0-9]{1,12})\s{1,12}([0-9]{1,12})"
    r"\s{1,12}([0-9]{1,3}\.[0-9]{5})\s{0,11}([0-9]{1,12})\s{1,12}([0-9]{1,12})\b.{0,200}"
)
#: Of `rtla timerlat top`: current, least, average and greatest latency of the interrupt and of the
#: thread, and of a return to user space.
_TIMERLAT = re.compile(
    r"\s{0,2}[0-9]{1,4} #([0-9]{1,9})\s{0,9}"
    r"((?:\|(?:\s{1,12}[0-9]{1,12}){4}\s{0,9}){2,3})"
)


def _rtla(text: str) -> Iterator[Figure]:
    """Over all CPUs: of osnoise the share `noise` in percent, `max_noise` and `max_single`; of
    timerlat `irq_max`, `thread_max` and `user_max`, and the median of each `_avg`.
    """
    of_cpus: dict[str, list[float]] = {}
    time = "ns" if "Latency (ns)" in text else "us"
    for line in _lines(text):
        if found := _OSNOISE.fullmatch(line.rstrip()):
            of_cpus.setdefault("noise", []).append(100.0 - float(found[4]))
            of_cpus.setdefault("max_noise", []).append(float(found[5]))
            of_cpus.setdefault("max_single", []).append(float(found[6]))
        elif found := _TIMERLAT.fullmatch(line.rstrip()):
            parts = [part.split() for part in found[2].split("|")[1:]]
            for name, part in zip(("irq", "thread", "user"), parts, strict=False):
                of_cpus.setdefault(f"{name}_avg", []).append(float(part[2]))
                of_cpus.setdefault(f"{name}_max", []).append(float(part[3]))
    for name, values in of_cpus.items():
        middle = name == "noise" or name.endswith("_avg")
        figure = median(values) if middle else max(values)
        yield Figure(name, figure, "%" if name == "noise" else time)


_READERS: Mapping[Format, Callable[[str], Iterator[Figure]]] = {
    Format.HYPERFINE: _hyperfine,
    Format.GOOGLE_BENCHMARK: _google_benchmark,
    Format.PYTEST_BENCHMARK: _pytest_benchmark,
    Format.GO: _go,
    Format.CRITERION: _criterion,
    Format.CYCLICTEST: _cyclictest,
    Format.RTLA: _rtla,
}
