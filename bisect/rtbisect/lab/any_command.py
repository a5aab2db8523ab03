# SPDX-License-Identifier: GPL-2.0-or-later
"""Any command as a lab: it runs in a worktree at the revision, and its last lines are figures.

For `rtbisect run`: the same search for any repository. The command builds what it needs by
itself, so that a build is only the promise that a revision can be tried.
"""

from __future__ import annotations

import json
import math
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.command import failure, printable, run
from rtbisect.errors import InfrastructureError
from rtbisect.model.code import Build, BuildRequest, BuildStatus
from rtbisect.model.command import SUITE, VALUE, WINDOW
from rtbisect.model.lab import Measurement, Run, RunRequest, RunStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

#: git bisect run: this revision cannot be tested; and from here on: stop.
SKIP = 125
ABORT = 128

#: Figures stand in the last lines of stdout; this much of it is read.
TAIL_BYTES = 64 * 1024
TAIL_LINES = 50

_PAIR = re.compile(r"([A-Za-z_][A-Za-z0-9_.:/%-]{0,63})\s*=\s*(\S{1,40})")


@dataclass(frozen=True, slots=True)
class CommandSettings:
    """`argv` is started in what `checkout` gives for a revision. With `pass_fail` the exit code
    is the figure: 0 is good, 1 to 127 bad. `metric` is a name, "" for a bare number.
    """

    argv: tuple[str, ...]
    metric: str
    pass_fail: bool
    timeout_s: float
    work_dir: Path
    checkout: Callable[[str], Path]


class CommandLab:
    """Implements ports.Lab."""

    def __init__(self, settings: CommandSettings) -> None:
        self._settings = settings
        self._at = ""
        self._source = settings.work_dir

    def run(self, request: RunRequest, note: Callable[[str], None]) -> Run:
        """Run the command once. ConfigError when it cannot be started, InfrastructureError when
        it asks to stop (exit code 128 and more, also when a signal ended it).
        """
        asked = self._settings
        # A revision that is there stays as it is: what the command built is not built again.
        if request.revision != self._at:
            self._at, self._source = "", asked.checkout(request.revision)
            self._at = request.revision
        asked.work_dir.mkdir(parents=True, exist_ok=True)
        out = asked.work_dir / f"{request.run_id}.out"
        err = asked.work_dir / f"{request.run_id}.err"
        for path in (out, err):
            path.unlink(missing_ok=True)
        begin = time.monotonic()
        done = run(
            asked.argv,
            cwd=self._source,
            timeout_s=asked.timeout_s,
            env={"RTBISECT_REVISION": request.revision},
            log=out,
            error_log=err,
            on_start=lambda pgid: note(f"pgid:{pgid}"),
        )
        seconds = time.monotonic() - begin
        status, reason, value = self._read(done.returncode, done.timed_out, out)
        if status is RunStatus.INVALID and (said := tail(err)):
            reason += f": {printable(said[-1], 160)}"
        if not done.timed_out and not 0 <= done.returncode < ABORT:
            raise InfrastructureError(
                f"{failure(done)} on {request.revision[:12]}",
                f"see {err}; `rtbisect resume` goes on when it is mended",
                retryable=False,
            )
        figures = () if value is None else (Measurement(SUITE, self._name(), WINDOW, value, ""),)
        return Run(
            run_id=request.run_id,
            revision=request.revision,
            status=status,
            reason=reason,
            measurements=figures,
            window_order=(WINDOW,),
            log=out.name,
            seconds=seconds,
        )

    def _name(self) -> str:
        return self._settings.metric or VALUE

    def _read(self, code: int, late: bool, out: Path) -> tuple[RunStatus, str, float | None]:  # noqa: FBT001
        if late:
            limit = self._settings.timeout_s
            return RunStatus.HUNG, f"the command ran longer than {limit:.0f} s", None
        if code == SKIP:
            return RunStatus.SKIPPED, "the command ended with 125", None
        if self._settings.pass_fail:
            return RunStatus.COMPLETE, "", float(code != 0)
        if code:
            return RunStatus.INVALID, f"the command ended with {code}", None
        try:
            return RunStatus.COMPLETE, "", figure_of(tail(out), self._settings.metric)
        except ValueError as error:
            return RunStatus.INVALID, str(error), None


def tail(path: Path) -> list[str]:
    """The last lines of a file that may be large or hold anything."""
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - TAIL_BYTES))
        data = stream.read(TAIL_BYTES)
    lines = data.decode("utf-8", "replace").splitlines()
    return [line.strip() for line in lines if line.strip()][-TAIL_LINES:]


def figure_of(lines: Sequence[str], metric: str) -> float:
    """The figure in the last lines of a command; ValueError says what is missing.

    A JSON object in the last line, `name=value` lines, or a number alone in the last line. A
    name that stands twice has its last value.
    """
    if not lines:
        raise ValueError("the command printed nothing")
    last = lines[-1]
    if last.startswith("{"):
        return _member(last, metric)
    if not metric:
        return _number(last.split("=", 1)[-1].strip() if _PAIR.fullmatch(last) else last, last)
    for line in reversed(lines):
        pair = _PAIR.fullmatch(line)
        if pair and pair[1] == metric:
            return _number(pair[2], line)
    raise ValueError(f"no line {metric}=... in the output, the last one is {_quoted(last)}")


def _member(text: str, metric: str) -> float:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the last line is no JSON object: {_quoted(text)}") from error
    numbers = {
        key: value
        for key, value in found.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    if metric:
        if metric not in numbers:
            raise ValueError(f"no number {metric!r} in the JSON object")
        return _number(str(numbers[metric]), text)
    if len(numbers) != 1:
        raise ValueError(f"{len(numbers)} numbers in the JSON object; name one with --metric")
    return _number(str(next(iter(numbers.values()))), text)


def _number(text: str, line: str) -> float:
    try:
        value = float(text)
    except (ValueError, OverflowError):
        raise ValueError(f"no number in {_quoted(line)}") from None
    if not math.isfinite(value):
        raise ValueError(f"{_quoted(line)} is not finite")
    return value


def _quoted(text: str) -> str:
    return repr(printable(text, 80))


@dataclass(frozen=True, slots=True)
class NoBuild:
    """Implements ports.Builder for commands that build by themselves. `tree_of` gives what
    identifies the sources of a revision: equal sources are equal kernels to the search.
    """

    tree_of: Callable[[str], str]

    def preflight(self) -> None:
        """There is nothing to check."""

    def files(self, build: Build) -> frozenset[str]:  # noqa: ARG002
        """Nobody knows what the command reads."""
        return frozenset()

    def build(
        self,
        source: Path,  # noqa: ARG002
        request: BuildRequest,
        note: Callable[[str], None],  # noqa: ARG002  (no process, nothing to record)
    ) -> Build:
        """A revision that is ready to be tried."""
        return Build(
            revision=request.revision,
            config_name=request.config_name,
            status=BuildStatus.OK,
            signature=self.tree_of(request.revision),
        )
