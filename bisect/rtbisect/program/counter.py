# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts the instructions that a command and its children execute in user space: by the counters of
the CPU (`perf stat`), or where there are none by valgrind's cachegrind.

Of a child that forks and starts no other program valgrind counts what its parent had executed
before the fork once more.
"""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.model.kinds.boot import Commands
from rtbisect.process.command import cut, run
from rtbisect.program.figures import NoFigureError
from rtbisect.program.output import tail

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_EVENT = "instructions:u"
#: Seconds that a look at the machine may take.
_LOOK_S = 60.0
_SUMMARY = re.compile(r"^summary: (\d{1,30})\b", re.MULTILINE)
#: What valgrind says of a program that it does not run, in its own files and among the errors.
_REFUSED = re.compile(r"valgrind: .*|Warning: Can't execute .*")
#: perf itself ends with 0 where a signal ended what it started. A shell between them tells such an
#: end as 128 and more; it adds the same instructions to each count (some 200,000).
_TELLS_SIGNALS = ("/bin/sh", "-c", '(exec "$@"); exit "$?"', "sh")


class Counter(StrEnum):
    """What counts."""

    PERF = "perf stat"
    #: Without the shell that tells signals: older campaigns, whose counts it would change.
    PERF_ALONE = "perf"
    VALGRIND = "valgrind"


def counter_here() -> Counter:
    """What counts on this machine; ConfigError where nothing does."""
    if shutil.which("perf") is not None:
        with TemporaryDirectory() as folder, suppress(ConfigError, InfrastructureError):
            counting = Counting(Counter.PERF, Path(folder))
            run(counting.argv(("true",)), cwd=Path(folder), timeout_s=_LOOK_S)
            with suppress(NoFigureError):
                counting.count()
                return Counter.PERF
    if shutil.which(Counter.VALGRIND) is not None:
        return Counter.VALGRIND
    raise ConfigError(
        "nothing counts instructions here: perf does not, and there is no valgrind",
        "install valgrind (apt-get install valgrind), or let perf use the counters of the CPU",
    )


@cache
def counts_here() -> bool:
    """Whether this machine counts instructions; a process asks it once."""
    with suppress(ConfigError):
        return bool(counter_here())
    return False


@dataclass(frozen=True, slots=True)
class Counting:
    """The counts of one run."""

    counter: Counter
    #: Folder in which the counter leaves its files; empty before the run.
    folder: Path

    def argv(self, argv: Sequence[str]) -> tuple[str, ...]:
        """The command, counted."""
        if self.counter is not Counter.VALGRIND:
            place = str(self.folder / "perf")
            shell = _TELLS_SIGNALS if self.counter is Counter.PERF else ()
            return ("perf", "stat", "-e", _EVENT, "-x", ",", "-o", place, "--", *shell, *argv)
        # %p is the process: each writes files of its own.
        folder = str(self.folder).replace("%", "%%")
        # A revision may bring a .valgrindrc, which would make it count otherwise than its parent.
        return (
            "valgrind", "--command-line-only=yes", "--tool=cachegrind", "--cache-sim=no",
            "--branch-sim=no", "--trace-children=yes", f"--cachegrind-out-file={folder}/%p.out",
            f"--log-file={folder}/%p.log", "--", *argv,
        )  # fmt: skip

    def count(self) -> float:
        """Instructions of all processes; NoFigureError where nothing was counted."""
        by_valgrind = self.counter is Counter.VALGRIND
        counts = list(self._of_valgrind() if by_valgrind else self._of_perf())
        if not sum(counts):
            raise NoFigureError(Commands.NOT_COUNTED, counter=self.counter.value)
        return float(sum(counts))

    def refused(self, errors: Sequence[str]) -> str:
        """What valgrind says of a program that it does not run; "" where it says nothing. `errors`
        are the lines that the run printed as such.
        """
        if self.counter is not Counter.VALGRIND:
            return ""
        logs = [line for path in sorted(self.folder.glob("*.log")) for line in tail(path)]
        found = (_REFUSED.search(line) for line in (*logs, *errors))
        return next((cut(match[0], 160) for match in found if match), "")

    def _of_perf(self) -> Iterator[int]:
        path = self.folder / "perf"
        for line in tail(path) if path.is_file() else ():
            value, _unit, event = [*line.split(","), "", ""][:3]
            if event == _EVENT and value.isdecimal():
                yield int(value)

    def _of_valgrind(self) -> Iterator[int]:
        for path in sorted(self.folder.glob("*.out")):
            # The sum is the last line of what may be megabytes.
            yield from (int(each) for each in _SUMMARY.findall("\n".join(tail(path))))
