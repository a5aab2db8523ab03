# SPDX-License-Identifier: GPL-2.0-or-later
"""The log of a LAVA job: one YAML flow map a line, from lava-run or from a server.

`msg` of a "target" line is one line of the device's console, that is foreign text: LAVA
removes carriage returns and escapes, quotes double quotes, and joins empty lines. Lines
that are no such map (tracebacks, words of tools, a line cut by a kill) are kept apart.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

#: Longest log that is read, in characters; more is a flood, not a log.
LONGEST = 64 * 1024 * 1024

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A result of LAVA. Suite "lava" is LAVA itself; all others come from the device."""

    suite: str
    case: str
    result: str
    measurement: str = ""
    units: str = ""
    error_type: str = ""
    error_msg: str = ""
    extra: str = ""

    @property
    def passed(self) -> bool:
        return self.result == "pass"


@dataclass(frozen=True, slots=True)
class LavaLog:
    """A parsed log. `job` is LAVA's last word, None when it never came.

    `console` has the device's lines in order, `errors` what LAVA called an error.
    """

    results: tuple[CaseResult, ...]
    console: tuple[str, ...]
    errors: tuple[str, ...]
    stray: tuple[str, ...]
    job: CaseResult | None

    @property
    def failing(self) -> tuple[CaseResult, ...]:
        """Results of LAVA itself that did not pass, in order, without the job's own."""
        return tuple(r for r in self.results if r.suite == "lava" and not r.passed)

    def of_device(self) -> dict[str, str]:
        """Results that the device told, by case; one that did not pass outweighs all others."""
        found: dict[str, str] = {}
        for each in self.results:
            if each.suite != "lava" and (each.case not in found or not each.passed):
                found[each.case] = each.result
        return found


def parse(text: str) -> LavaLog:
    """Parse a whole log; never raises for what is in it."""
    results: list[CaseResult] = []
    console: list[str] = []
    errors: list[str] = []
    stray: list[str] = []
    job = None
    # Not splitlines(): that also splits at form feeds and other marks inside a line.
    for line in text[:LONGEST].split("\n"):
        if not line.strip():
            continue
        event = _load(line)
        if event is None:
            stray.append(line)
            continue
        level, message = event.get("lvl"), event.get("msg")
        if level in ("target", "feedback"):
            console.append(_text(message))
        elif level == "results" and isinstance(message, Mapping):
            result = _result(message)
            if (result.suite, result.case) == ("lava", "job"):
                job = result
            else:
                results.append(result)
        elif level in ("error", "exception"):
            errors.append(_text(message))
    return LavaLog(tuple(results), tuple(console), tuple(errors), tuple(stray), job)


def _load(line: str) -> Mapping[str, Any] | None:
    """One event, or None. Nearly all lines are JSON, which is a hundred times faster."""
    line = line.removeprefix("- ")  # a server hands out the lines as one YAML list
    if not line.startswith("{"):
        return None
    try:
        event = json.loads(line)
    except ValueError:
        try:
            event = yaml.load(line, Loader=_LOADER)  # noqa: S506  (a safe loader)
        except (yaml.YAMLError, ValueError, RecursionError, OverflowError):
            return None
    except RecursionError:
        return None
    return event if isinstance(event, Mapping) and "lvl" in event else None


def _result(message: Mapping[str, Any]) -> CaseResult:
    extra = message.get("extra")
    return CaseResult(
        suite=_text(message.get("definition")),
        case=_text(message.get("case")),
        result=_text(message.get("result")),
        measurement=_text(message.get("measurement")),
        units=_text(message.get("units")),
        error_type=_text(message.get("error_type")),
        error_msg=_text(message.get("error_msg")),
        extra=json.dumps(extra, default=str)[:10_000] if extra is not None else "",
    )


def _text(value: object) -> str:
    return "" if value is None else str(value)
