# SPDX-License-Identifier: GPL-2.0-or-later
"""Output: one JSON object or readable text on stdout, everything else on stderr."""

from __future__ import annotations

import json
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbisect.config import state_dir

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rtbisect.errors import RtbisectError

#: On something that is not a terminal, progress of the same work is told this often.
PLAIN_EVERY_S = 10.0


@dataclass(frozen=True, slots=True)
class Output:
    """Where state lies and how answers are given; the object of every command."""

    state: Path

    def answer(self, data: Mapping[str, Any], text: str, *, as_json: bool) -> None:
        """The answer of a command."""
        if as_json:
            sys.stdout.write(json.dumps(data, ensure_ascii=True, sort_keys=True) + "\n")
        else:
            sys.stdout.write(text.rstrip("\n") + "\n")
        sys.stdout.flush()


def fail(error: RtbisectError, as_json: bool, cause: BaseException | None = None) -> int:
    """Tell an error: one line for a person, an object for a program; gives the exit code."""
    code = int(error.exit_code)
    line = " ".join(str(error).split())
    sys.stderr.write(f"rtbisect: {line}\n")
    if cause is not None:
        with suppress(OSError):
            log = state_dir() / "internal-error.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text("".join(traceback.format_exception(cause)), encoding="utf-8")
    if as_json:
        data = {"error": error.message, "hint": error.hint, "exit_code": code}
        sys.stdout.write(json.dumps(data, ensure_ascii=True, sort_keys=True) + "\n")
    return code


class PlainProgress:
    """ports.Progress on stderr: plain lines, and on a terminal one line that is rewritten."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._last = ("", 0.0)
        self._open = False

    def say(self, line: str) -> None:
        self._close()
        sys.stderr.write(line + "\n")
        sys.stderr.flush()

    def step(self, what: str, done: int, total: int, left_s: float | None) -> None:
        estimate = "" if left_s is None else f", about {duration(left_s)} left"
        line = f"[{done}/{total}] {what}{estimate}"
        if self._terminal:
            sys.stderr.write("\r\033[K" + line)
            self._open = True
        elif what != self._last[0] or time.monotonic() - self._last[1] >= PLAIN_EVERY_S:
            sys.stderr.write(line + "\n")
        self._last = (what, time.monotonic())
        sys.stderr.flush()

    def _close(self) -> None:
        if self._open:
            sys.stderr.write("\n")
            self._open = False


def duration(seconds: float) -> str:
    """Seconds for a person: 45 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
