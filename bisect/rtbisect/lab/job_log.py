# SPDX-License-Identifier: GPL-2.0-or-later
"""The log of a LAVA job: one YAML flow map a line, from lava-run or from a server.

`msg` of a "target" line is one line of the device's console, that is foreign text: LAVA
removes carriage returns and escapes, quotes double quotes, and joins empty lines. Lines
that are no such map (tracebacks, words of tools, a line cut by a kill) are kept apart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

#: Longest log that is read, in characters.
LONGEST = 64 * 1024 * 1024

#: Bytes of a log that are kept of its begin and of its end; a boot has 1 MB. More is a flood.
_HEAD, _TAIL = 8 << 20, 8 << 20

#: Stands alone on a line in the place of what a flood lost; a device's lines are inside maps.
_CUT = re.compile(r"RTBISECT-CUT ([0-9]{1,18}) bytes")

#: Characters of a line of the console, and of a line that is no JSON and read as YAML.
_LONGEST_LINE = 4096
_LONGEST_YAML = 64 * 1024

#: Marks in such a line that may open a level: the loader is C, whose stack ends with the program.
_MOST_OPENED = 1000

#: Values inside one event. Those of a YAML alias are counted each time, as they would be written.
_MOST_VALUES = 10_000

#: Bits of a number: Python writes none of more than 4300 digits, but reads one in hexadecimal.
_MOST_BITS = 1024

#: What the constructors of PyYAML raise for a tag whose text is none of its kind, beside its own
#: error: KeyError of !!bool, IndexError of !!int, AttributeError of !!timestamp.
_NO_YAML = (
    yaml.YAMLError,
    ValueError,
    LookupError,
    AttributeError,
    TypeError,
    ArithmeticError,
    RecursionError,
)

_TARGET = re.compile(r'(?:- )?\{"dt": "[^"]{0,40}", "lvl": "(?:target|feedback)"')

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """A result of LAVA."""

    #: "lava" is LAVA itself; all others come from the device.
    suite: str
    case: str
    #: "pass" or another word of LAVA.
    result: str
    #: A number as text, and its unit; "" for none.
    measurement: str = ""
    units: str = ""
    #: LAVA's words, where one of its own did not pass.
    error_type: str = ""
    error_msg: str = ""
    #: JSON, cut at 10,000 characters.
    extra: str = ""

    @property
    def passed(self) -> bool:
        return self.result == "pass"


@dataclass(frozen=True, slots=True, kw_only=True)
class LavaLog:
    """A parsed log."""

    #: Results of the cases in their order, without that of the job.
    results: tuple[CaseResult, ...]
    #: The device's lines, in order.
    console: tuple[str, ...]
    #: Messages that LAVA called an error.
    errors: tuple[str, ...]
    #: Lines that are no event of LAVA.
    stray: tuple[str, ...]
    #: LAVA's last word; None where it never came.
    job: CaseResult | None
    #: Bytes of a flood that were not kept.
    lost: int = 0
    #: The device's console was the flood.
    flooded: bool = False

    @property
    def failing(self) -> tuple[CaseResult, ...]:
        """Results of LAVA itself that did not pass, in order, without the job's own."""
        return tuple(r for r in self.results if r.suite == "lava" and not r.passed)

    def of_device(self) -> dict[str, str]:
        """Results that the device told, by case; one that did not pass outweighs all others."""
        by_case: dict[str, str] = {}
        for result in self.results:
            if result.suite != "lava" and (result.case not in by_case or not result.passed):
                by_case[result.case] = result.result
        return by_case


class Clip:
    """A log that is kept in bounded memory, however long it is: its begin and its end, where LAVA's
    verdict stands.
    """

    def __init__(self) -> None:
        self._head, self._tail = bytearray(), bytearray()
        self._lost = 0

    def add(self, data: bytes) -> None:
        """The next bytes of it."""
        room = _HEAD - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * _TAIL:
            self._cut()

    def _cut(self) -> None:
        over = max(0, len(self._tail) - _TAIL)
        del self._tail[:over]
        self._lost += over

    def data(self) -> bytes:
        """What is kept, with a line in the place of what is not."""
        self._cut()
        mark = f"\nRTBISECT-CUT {self._lost} bytes\n".encode() if self._lost else b""
        return bytes(self._head) + mark + bytes(self._tail)


def read(path: Path) -> bytes:
    """A log that was written to a file, as `Clip` keeps it."""
    clip = Clip()
    with path.open("rb") as stream:
        while part := stream.read(1 << 20):
            clip.add(part)
    return clip.data()


def parse(content: str) -> LavaLog:
    """Parse a whole log; never raises for what is in it."""
    results: list[CaseResult] = []
    console: list[str] = []
    errors: list[str] = []
    stray: list[str] = []
    job = None
    lost = lines = torn = 0
    # Not splitlines(): that also splits at form feeds and other marks inside a line.
    for line in content[:LONGEST].split("\n"):
        if not line.strip():
            continue
        lines += 1
        event = _load(line)
        if event is None:
            torn += _TARGET.match(line) is not None
            cut = _CUT.fullmatch(line)
            lost += int(cut[1]) if cut else 0
            stray.append(line)
            continue
        level, message = event.get("lvl"), event.get("msg")
        if level in ("target", "feedback"):
            console.append(text(event, "msg")[:_LONGEST_LINE])
        elif level == "results" and isinstance(message, Mapping):
            result = _result(message)
            if (result.suite, result.case) == ("lava", "job"):
                job = result
            else:
                results.append(result)
        elif level in ("error", "exception"):
            errors.append(text(event, "msg")[:_LONGEST_LINE])
    flooded = lost > 0 and 2 * (len(console) + torn) >= lines
    return LavaLog(
        results=tuple(results),
        console=tuple(console),
        errors=tuple(errors),
        stray=tuple(stray),
        job=job,
        lost=lost,
        flooded=flooded,
    )


def _load(line: str) -> Mapping[str, Any] | None:
    """One event, or None. Nearly all lines are JSON, which is a hundred times faster."""
    line = line.removeprefix("- ")  # a server hands out the lines as one YAML list
    if not line.startswith("{"):
        return None
    try:
        event = json.loads(line)
    except ValueError:
        if len(line) > _LONGEST_YAML or sum(map(line.count, "[{?-:")) > _MOST_OPENED:
            return None
        event = yaml_value(line, _LOADER)
    except RecursionError:
        return None
    return event if isinstance(event, Mapping) and "lvl" in event else None


def yaml_value(text: str, loader: Any = yaml.SafeLoader) -> Any:
    """What a text of YAML stands for, by a safe loader; None also for what cannot be read, or
    cannot be written out.
    """
    try:
        value = yaml.load(text, Loader=loader)  # noqa: S506
    except _NO_YAML:
        return None
    return value if _bounded(value) else None


def _bounded(event: object) -> bool:
    """Whether it can be written out: a few aliases of aliases stand for more than memory holds."""
    waiting, left = [event], _MOST_VALUES
    while waiting:
        value = waiting.pop()
        left -= 1
        if left < 0:
            return False
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            return False
        if isinstance(value, Mapping):
            # JSON has no dates and no bytes for keys.
            if not all(isinstance(key, str | int | float | None) for key in value):
                return False
            waiting += (*value, *value.values())
        elif isinstance(value, (list, tuple, set)):
            waiting += value
    return True


def _result(message: Mapping[str, Any]) -> CaseResult:
    extra = message.get("extra")
    return CaseResult(
        suite=text(message, "definition"),
        case=text(message, "case"),
        result=text(message, "result"),
        measurement=text(message, "measurement"),
        units=text(message, "units"),
        error_type=text(message, "error_type"),
        error_msg=text(message, "error_msg"),
        extra=json.dumps(extra, default=str)[:10_000] if extra is not None else "",
    )


def text(row: Mapping[str, Any], key: str) -> str:
    """A value of a row as text; "" where there is none."""
    value = row.get(key)
    return "" if value is None else str(value)
