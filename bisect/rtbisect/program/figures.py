# SPDX-License-Identifier: GPL-2.0-or-later
"""The figure in what a command prints. Pure: text in, a reading or a finding out.

Without an option the last lines are read: a number alone (`12.5`, `12.5us`, `1234 ns/op`), lines
`name=value` or `name: value`, or a JSON object. Several values of one name are repetitions in one
run, which counts as one observation: their median.
"""

from __future__ import annotations

import json
import math
import re
import statistics
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from rtbisect.model.finding import Finding, Value
from rtbisect.model.kinds.boot import Commands
from rtbisect.process.command import cut
from rtbisect.program.json_documents import Document, UnreadableError, last_documents, repeated
from rtbisect.program.units import factor, is_unit, usual

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: No measurement is larger than this; squares of such figures would not be numbers any more.
LARGEST = 1e100
#: Of the figures that a command prints so many are named in a message.
MOST_NAMES = 12
#: Repetitions of one run that count; of more the last ones do.
MOST_VALUES = 100_000

_NUMBER = r"[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,9})?"
_NO_NUMBER = r"[+-]?(?:nan|inf(?:inity)?)"
#: A number, and what stands behind it.
_VALUE = re.compile(rf"({_NUMBER}|{_NO_NUMBER})\s{{0,4}}([^\s\d][^\s]{{0,15}})?", re.IGNORECASE)
#: More digits than that: no measurement is that long.
_TOO_LONG = re.compile(r"[+-]?[\d.]{401}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:/%-]{0,63}")


class NoFigureError(Exception):
    """The output has no figure; `found` says what is missing."""

    def __init__(self, kind: Commands, **data: Value) -> None:
        self.found = Finding.of(kind, **data)
        super().__init__(self.found)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number as it was printed."""

    #: "" for a number alone.
    name: str
    value: float
    #: Unit as printed; "" where none was.
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one run says: its repetitions."""

    #: In `unit`; at least one value.
    values: tuple[float, ...]
    #: "" if the unit is unknown.
    unit: str = ""

    @property
    def value(self) -> float:
        """The median of the repetitions: one run is one observation."""
        return statistics.median(self.values)

    def in_unit(self, unit: str) -> Reading:
        """The same in another unit; NoFigureError where that is of another kind."""
        times = factor(self.unit, unit)
        if times is None:
            units = tuple(each or "none" for each in (unit, self.unit))
            raise NoFigureError(Commands.UNITS_DIFFER, units=units)
        return Reading(tuple(value * times for value in self.values), unit)


def reading_of(figures: Sequence[Figure], unit: str) -> Reading:
    """Figures of one name as repetitions, in `unit`; where that is "", times in ns, sizes in B, and
    all else in the unit of the first one. NoFigureError where their units do not fit each other, or
    this one.
    """
    figures = figures[-MOST_VALUES:]
    like = figures[0].unit
    converted = [_in_unit(each, unit or usual(each.unit, like)) for each in figures]
    units = list(dict.fromkeys(each.unit for each in converted))
    if len(units) > 1:
        raise NoFigureError(Commands.UNITS_DIFFER, units=tuple(each or "none" for each in units))
    return Reading(tuple(each.value for each in converted), units[0])


def _in_unit(figure: Figure, unit: str) -> Figure:
    """A figure without a unit is in this one."""
    times = factor(figure.unit, unit) if figure.unit else 1.0
    if times is None:
        raise NoFigureError(Commands.UNITS_DIFFER, units=(unit, figure.unit))
    return Figure(figure.name, figure.value * times, unit)


def in_lines(lines: Sequence[str], metric: str) -> list[Figure]:
    """The figures of one name in the last lines; NoFigureError says what is missing."""
    if not lines:
        raise NoFigureError(Commands.NOTHING)
    last = lines[-1]
    if not (last.startswith("{") or last.endswith("}")):
        return _in_plain_lines(lines, metric)
    try:
        return _in_last_objects("\n".join(lines), metric)
    except NoFigureError as error:
        if last.startswith("{") or error.found.kind != Commands.NO_OBJECT:
            raise
        # A line of another kind, as "done {3}"; what is said where the lines have nothing either.
        with suppress(NoFigureError):
            return _in_plain_lines(lines, metric)
        raise


def _in_plain_lines(lines: Sequence[str], metric: str) -> list[Figure]:
    """The figures of one name in lines that are no JSON."""
    last = lines[-1]
    if not metric:
        return _last_figures(lines)
    named_so = ((*(_named(line, metric) or _pair(line)), line) for line in lines)
    pairs = [(name, value, line) for name, value, line in named_so if name]
    if found := [_figure(metric, value, line) for name, value, line in pairs if name == metric]:
        return found
    wanted = cut(metric, 80)
    if named := list(dict.fromkeys(name for name, value, _ in pairs if _is_number(value))):
        raise NoFigureError(Commands.OTHER_LINES, metric=wanted, **listed(named))
    if _is_number(last):
        raise NoFigureError(Commands.UNNAMED, metric=wanted, line=cut(last, 80))
    raise NoFigureError(Commands.NO_LINE, metric=wanted, line=cut(last, 80))


def matching(text: str, pattern: re.Pattern[str]) -> list[Figure]:
    """What an expression finds: its first group, where that takes part, or all that it matches."""
    groups = (match[1] if pattern.groups else match[0] for match in pattern.finditer(text))
    found = [value for value in groups if value is not None]
    if not found:
        raise NoFigureError(Commands.NO_MATCH, pattern=cut(pattern.pattern, 80))
    return [_figure("", value.strip(), value) for value in found]


def in_json(text: str, path: str) -> list[Figure]:
    """Numbers of JSON documents by a path as `results[*].times[*]`, `["a key"][0]`."""
    here = _documents(text)
    for step in steps_of(path):
        there = [value for each in here for value in _below(each, step)]
        if not there:
            names = [*here[0]] if here and isinstance(here[0], dict) else []
            seen = listed(names)["names"]
            raise NoFigureError(
                Commands.NO_PATH, step="*" if step is None else str(step), names=seen
            )
        here = there
    return [_from_json(path, value) for value in here]


_STEP = re.compile(
    r"""\.?([^.\[\]"'\s][^.\[\]"']{0,99})|\[(\d{1,9}|\*)\]|\["([^"]{1,200})"\]|\['([^']{1,200})'\]"""
)


def steps_of(path: str) -> list[str | int | None]:
    """Keys, places and None for all of them; ValueError for what is no path."""
    steps: list[str | int | None] = []
    at = 2 if path.startswith("$.") else 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            raise ValueError(path[at:])
        if match[2]:
            steps.append(None if match[2] == "*" else int(match[2]))
        else:
            steps.append(match[1] or match[3] or match[4])
        at = match.end()
    return steps


def _below(value: Any, step: str | int | None) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values() if step is None else [value[step]] if step in value else []
    if isinstance(value, list):
        if step is None:
            return value
        return [value[step]] if isinstance(step, int) and step < len(value) else []
    return []


def _documents(text: str) -> list[Any]:
    """All of the text as one JSON document, else the last objects in it that have nothing between
    them.
    """
    try:
        return [json.loads(text, parse_int=float, object_pairs_hook=repeated)]
    except RecursionError:
        raise NoFigureError(Commands.UNREADABLE) from None
    except ValueError:
        if found := _last_documents(text):
            return [each.value for each in found]
    raise NoFigureError(Commands.NO_OBJECT, line=cut(_last_line(text), 80))


def _last_documents(text: str) -> list[Document]:
    """As `last_documents`: an earlier object does not stand in for one that cannot be read."""
    try:
        return last_documents(text)
    except UnreadableError:
        raise NoFigureError(Commands.UNREADABLE) from None


def _last_figures(lines: Sequence[str]) -> list[Figure]:
    """The last lines that are a number each, or have one name; NoFigureError for several names."""
    if _is_pair(lines[-1]):
        block = [_pair(line) for line in takewhile(_is_pair, reversed(lines))]
        names = list(dict.fromkeys(name for name, _ in block))
        if len(names) > 1:
            raise NoFigureError(Commands.SEVERAL, figures=len(names), **listed(names))
        return [_figure(name, value, value) for name, value in reversed(block)]
    numbers = list(takewhile(_is_number, reversed(lines))) or lines[-1:]
    return [_figure("", line, line) for line in reversed(numbers)]


def _pair(line: str) -> tuple[str, str]:
    """Name and value of a line; both "" where it is no such line."""
    for mark in ("=", ":"):
        name, found, value = line.partition(mark)
        if found and name.strip() and value.strip():
            return name.strip(), value.strip()
    return "", ""


def _named(line: str, metric: str) -> tuple[str, str] | None:
    """The pair of a line with a name that has a mark in it, as `std::sort: 12 ns`."""
    rest = line.removeprefix(metric).lstrip()
    value = rest[1:].strip()
    there = line.startswith(metric) and rest[:1] in ("=", ":") and _is_number(value)
    return (metric, value) if there else None


def _is_pair(line: str) -> bool:
    name, value = _pair(line)
    return bool(_NAME.fullmatch(name)) and (" " not in value or _is_number(value))


def _is_number(text: str) -> bool:
    try:
        _figure("", text, text)
    except NoFigureError:
        return False
    return True


def _figure(name: str, text: str, line: str) -> Figure:
    """A number with its unit, if any; NoFigureError for anything else."""
    match = _VALUE.fullmatch(text)
    if match is None:
        kind = Commands.NOT_FINITE if _TOO_LONG.match(text) else Commands.NO_NUMBER
        raise NoFigureError(kind, line=cut(line, 80))
    unit = match[2] or ""
    if unit and not is_unit(unit):
        raise NoFigureError(Commands.NO_NUMBER, line=cut(line, 80))
    return Figure(name, number(match[1], line), unit)


def number(text: str, line: str) -> float:
    """A finite number, or NoFigureError."""
    try:
        value = float(text)
    except (ValueError, OverflowError):
        raise NoFigureError(Commands.NO_NUMBER, line=cut(line, 80)) from None
    if not math.isfinite(value):
        raise NoFigureError(Commands.NOT_FINITE, line=cut(line, 80))
    if abs(value) > LARGEST:
        raise NoFigureError(Commands.TOO_LARGE, line=cut(line, 80))
    return value


def listed(names: Sequence[str]) -> dict[str, Value]:
    """Names for a finding; of many the first ones, and how many more there are."""
    first = tuple(cut(name, 64) for name in names[:MOST_NAMES])
    return {"names": first, "more": len(names) - len(first)}


def _in_last_objects(text: str, metric: str) -> list[Figure]:
    """The figures of a name in the objects at the very end, one behind the other; of several
    objects those that do not have it say nothing.
    """
    found = _last_documents(text)
    if not found or text[found[-1].end :].strip():
        raise NoFigureError(Commands.NO_OBJECT, line=cut(_last_line(text), 80))
    objects = [each.value for each in found]
    having = [each for each in objects if not metric or metric in each] or objects[-1:]
    return [figure for each in having for figure in _in_object(each, metric)]


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2]


def _in_object(document: dict[str, Any], metric: str) -> list[Figure]:
    """Numbers of a name in an object; a list of numbers is as many repetitions."""
    numbers = {key: value for key, value in document.items() if _are_numbers(value)}
    if metric and metric not in numbers:
        wanted = cut(metric, 80)
        if numbers:
            raise NoFigureError(Commands.OTHER_KEYS, metric=wanted, **listed([*numbers]))
        raise NoFigureError(Commands.NO_KEY, metric=wanted)
    if not numbers:
        raise NoFigureError(Commands.NO_NUMBERS)
    if not metric and len(numbers) > 1:
        raise NoFigureError(Commands.SEVERAL_KEYS, figures=len(numbers), **listed([*numbers]))
    name = metric or next(iter(numbers))
    values = numbers[name]
    return [_from_json(name, each) for each in (values if isinstance(values, list) else [values])]


def _are_numbers(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_are_numbers, value)) and not isinstance(value[0], list)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _from_json(name: str, value: Any) -> Figure:
    if isinstance(value, str):
        return _figure(name, value.strip(), value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NoFigureError(Commands.NO_NUMBER, line=cut(str(value), 80))
    return Figure(name, number(str(value), cut(str(value), 80)))
