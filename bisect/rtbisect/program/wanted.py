# SPDX-License-Identifier: GPL-2.0-or-later
"""Which figure of a command's output is wanted, and the reading that a run gives of it."""

from __future__ import annotations

import re
import signal
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError
from rtbisect.model.kinds.boot import Commands
from rtbisect.process.command import cut
from rtbisect.program.figures import (
    NoFigureError,
    Reading,
    in_json,
    in_lines,
    matching,
    reading_of,
    steps_of,
)
from rtbisect.program.output import MOST_BYTES, tail, whole
from rtbisect.program.tool_outputs import Format, unit_of_tool
from rtbisect.program.tool_outputs import read as read_tool
from rtbisect.program.units import unit_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rtbisect.model.command import CommandRequest
    from rtbisect.program.figures import Figure

#: CPU time that --extract may take of one output: `(a+)+$` takes years.
EXTRACT_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Where a figure stands in an output: in the last lines, unless one of the others is given."""

    #: Name of the figure, by which it is found unless an expression or a path says where it is; ""
    #: for a number without a name, or for the only one.
    metric: str = ""
    #: Value of a `Format`: the tool that wrote the output; "" for none.
    tool: str = ""
    #: Regular expression whose first group is the figure; "" for none.
    extract: str = ""
    #: A path as `results[*].mean`.
    json_path: str = ""
    #: Unit to convert to; "" keeps the printed one.
    unit: str = ""

    def checked(self) -> Wanted:
        """The same with the unit that a name tells; ConfigError for what makes no sense."""
        if sum(map(bool, (self.tool, self.extract, self.json_path))) > 1:
            raise ConfigError(
                "--format, --extract and --json-path each say where the figure stands", "give one"
            )
        try:
            groups = re.compile(self.extract, re.MULTILINE).groups
            steps_of(self.json_path)
        except re.error as error:
            raise ConfigError(f"--extract is no expression: {error}", "see Python's re") from error
        except ValueError as error:
            raise ConfigError(
                f"--json-path is no path from {str(error)!r} on", "give one as results[*].mean"
            ) from error
        if groups > 1:
            raise ConfigError(
                f"--extract has {groups} groups, and one is the figure", "write others as (?:...)"
            )
        unit = unit_of(self.metric)
        if self.tool:
            unit = unit_of_tool(Format(self.tool), self.metric)
        return replace(self, unit=unit)


def wanted_of(command: CommandRequest) -> Wanted:
    """What a request wants."""
    return Wanted(
        metric=command.metric,
        tool=command.format,
        extract=command.extract,
        json_path=command.json_path,
        unit=command.unit,
    )


def read(out: Path, wanted: Wanted) -> Reading:
    """What the output of a run says; NoFigureError says what is missing."""
    if not (wanted.tool or wanted.extract or wanted.json_path):
        return reading_of(in_lines(tail(out), wanted.metric), wanted.unit)
    if (size := out.stat().st_size) > MOST_BYTES:
        raise NoFigureError(Commands.TOO_LONG, size=size, most=MOST_BYTES)
    text = whole(out)
    if not text.strip():
        raise NoFigureError(Commands.NOTHING)
    if wanted.tool:
        figures = read_tool(text, Format(wanted.tool), wanted.metric)
    elif wanted.extract:
        figures = _extracted(text, wanted.extract)
    else:
        figures = in_json(text, wanted.json_path)
    return reading_of(figures, wanted.unit)


def _extracted(text: str, pattern: str) -> list[Figure]:
    """What an expression finds in EXTRACT_S; NoFigureError where it takes longer."""
    try:
        with _bounded(EXTRACT_S):
            return matching(text, re.compile(pattern, re.MULTILINE))
    except TimeoutError:
        raise NoFigureError(
            Commands.SLOW_MATCH, pattern=cut(pattern, 80), limit_s=EXTRACT_S
        ) from None


@contextmanager
def _bounded(limit_s: float) -> Iterator[None]:
    """TimeoutError where more CPU time is taken. In the main thread, where `re` looks for signals
    while it matches.
    """

    def end(_signal: int, _frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
