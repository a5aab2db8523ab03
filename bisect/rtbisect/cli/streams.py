# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers and errors on the standard streams, whatever became of these. Imports nothing heavy."""

from __future__ import annotations

import io
import json
import math
import os
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

from rtbisect.errors import CampaignInterrupted, InfrastructureError, Interrupted
from rtbisect.process.command import one_line

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.errors import RtbisectError

RESUME = "an unfinished campaign goes on with `rtbisect resume`"


def fail(error: RtbisectError, as_json: bool) -> int:
    """Tell an error: one line for a person, an object for a program; gives the exit code."""
    code = int(error.exit_code)
    with suppress(OSError):
        write(sys.stderr, f"rtbisect: {one_line(str(error))}\n")
    if as_json:
        data = {"error": one_line(error.message), "hint": one_line(error.hint), "exit_code": code}
        try:
            write(sys.stdout, json_line(data))
        except OSError:
            drop_stdout()
    return code


def told_of(interruption: KeyboardInterrupt) -> Interrupted:
    """What is told of Ctrl-C: how the campaign that it has paused goes on, else that of any."""
    if isinstance(interruption, CampaignInterrupted):
        return interruption.told
    return Interrupted("interrupted", RESUME)


def fault_of(error: OSError) -> InfrastructureError:
    """What the system has refused, as a fault of the machine."""
    where = f"{error.filename}: " if error.filename else ""
    what = error.strerror or one_line(str(error)) or type(error).__name__
    return InfrastructureError(f"{where}{what}", "check disk space and permissions; " + RESUME)


def keep_traceback(error: BaseException, state: Path) -> None:
    """Write `internal-error.log` of the state directory, where that can be."""
    with suppress(OSError):
        state.mkdir(0o700, parents=True, exist_ok=True)
        text = "".join(traceback.format_exception(error))
        (state / "internal-error.log").write_text(text, encoding="utf-8", errors="replace")


def tolerate_any_text() -> None:
    """Text that the locale cannot write is escaped; it must not end a campaign."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def drop_stdout() -> None:
    """Nobody reads: what is still buffered must not fail again when Python ends."""
    with suppress(OSError):
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, 1)
        os.close(sink)


def write(stream: TextIO | None, text: str) -> None:
    """Write and flush; a stream that the caller closed is None and takes nothing."""
    if stream is not None:
        stream.write(text)
        stream.flush()


def json_line(data: Mapping[str, Any]) -> str:
    """An object in one line; numbers that JSON does not know become null."""
    return json.dumps(_plain(data), ensure_ascii=True, sort_keys=True, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
