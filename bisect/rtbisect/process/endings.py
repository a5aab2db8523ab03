# SPDX-License-Identifier: GPL-2.0-or-later
"""Ends processes: a group, what carries a mark, and what a killed rtbisect left behind."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import starmap
from pathlib import Path
from secrets import token_hex

from rtbisect.errors import InfrastructureError, InternalError

#: By this variable processes of a session are known after it was killed; the value is drawn anew by
#: each process of rtbisect.
MARK = {"RTBISECT_SESSION": token_hex(16)}

#: By this one what a command started is known that is to be cleared away; drawn anew for each.
RUN_MARK = "RTBISECT_RUN"

PROC = Path("/proc")

#: The external id of a process group. Programs of the first schema noted no mark, later ones no
#: place.
_RECORDED = re.compile(r"pgid:([0-9]+):([0-9]+):([^:]*)(?::([^:]*))?(?::([^:]*))?")

#: Seconds between SIGTERM and SIGKILL when a child is ended.
GRACE_S = 5.0
#: Seconds for which a process that begins is waited for, until it has its variables.
EXEC_S = 1.0


def end_group(pgid: int, grace_s: float | None = None) -> bool:
    """End a process group: SIGTERM, then SIGKILL. True when there was one to end. Who is dead and
    waits for a parent to hear of it, as where process 1 reaps nobody, is not waited for.
    InfrastructureError where who lives in it then belongs to another user, as what sudo started.
    """
    if pgid <= 1 or pgid == os.getpgrp():
        raise InternalError(f"process group {pgid} must not be ended by rtbisect")
    with suppress(ForeignError):
        if not signal_group(pgid, signal.SIGTERM):
            return False
    deadline = time.monotonic() + (GRACE_S if grace_s is None else grace_s)
    try:
        # A process that sudo started may be about to end by itself.
        while members(pgid) and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        # Also where no member was seen: one that was just forked is in no list yet. And at once
        # where another Ctrl-C ends the wait.
        signal_group(pgid, signal.SIGKILL)
    return True


def end_started(pgid: int, mark: str) -> None:
    """End what a command has started: its group, then servers that left it, by their RUN_MARK."""
    try:
        end_group(pgid)
    finally:
        end_run(mark)


class ForeignError(InfrastructureError):
    """All who live in a process group belong to another user."""


def signal_group(pgid: int, number: signal.Signals) -> bool:
    """Send a signal to a group; False where nobody is in it. ForeignError where nobody in it
    takes one from us.
    """
    try:
        os.killpg(pgid, number)
    except ProcessLookupError:
        return False
    except PermissionError as error:
        if not members(pgid):
            return False
        raise ForeignError(
            f"process group {pgid} cannot be ended: what is left of it belongs to another user",
            f"end it, as by `sudo kill -KILL -- -{pgid}`; `rtbisect resume` goes on then",
            retryable=False,
        ) from error
    return True


def _end_marked(is_marked: Callable[[int], bool], grace_s: float = GRACE_S) -> bool:
    """End all processes with a mark, also servers that left the group; True when there was one. Not
    what we were started from, as a terminal server that a command of the session began.
    """
    spared = _ourselves()
    # One that ends has no variables any more before it is gone: then its start tells.
    marked = {pid: _start_ticks(pid) for pid in _pids() if pid not in spared and is_marked(pid)}
    deadline = time.monotonic() + grace_s

    def send(number: signal.Signals) -> None:
        for pid in marked:
            # Do not signal a stranger that got the number meanwhile.
            if is_marked(pid):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)

    def wait() -> None:
        while time.monotonic() < deadline and any(starmap(_lives, marked.items())):
            time.sleep(0.05)

    try:
        send(signal.SIGTERM)
        wait()
    finally:
        # At once where another Ctrl-C ends the wait.
        send(signal.SIGKILL)
    wait()
    return bool(marked)


def _lives(pid: int, start_ticks: int) -> bool:
    return stat_of(pid)[:1] not in ([], ["Z"]) and _start_ticks(pid) == start_ticks


def _ourselves() -> set[int]:
    """This process and all that it descends from."""
    pid, found = os.getpid(), set[int]()
    while pid > 1 and pid not in found:
        found.add(pid)
        pid = int((stat_of(pid) or ["", "0"])[1])
    return found


def _pids() -> list[int]:
    return [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]


def members(pgid: int) -> list[int]:
    """The living members of a process group."""
    fields = ((pid, stat_of(pid)) for pid in _pids())
    return [pid for pid, of in fields if of and int(of[2]) == pgid and of[0] != "Z"]


def stat_of(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the third on (state is index 0), [] when it is gone. Source:
    proc(5).
    """
    try:
        text = (PROC / str(pid) / "stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def group_id(pgid: int, place: Path) -> str:
    """External id of a process group that was just started, by which it is found again where a
    killed rtbisect has left it behind. `place` is the file in which it is kept: in a copy of that
    it says nothing, as the group is the business of the original.

    A process id alone may have been given to somebody else meanwhile. A living leader is ours if it
    was started in the same boot at exactly the recorded time (proc(5), field 22 of stat). Where the
    leader is dead, a stranger may have had its number and be gone, too: then one of the group has
    to carry the mark of the killed session in its environment.
    """
    (mark,) = MARK.values()
    return f"pgid:{pgid}:{_start_ticks(pgid)}:{_boot_id()}:{mark}:{_file_id(place)}"


def _file_id(place: Path) -> str:
    """What tells a file from a copy of it, for as long as the machine is not started again."""
    status = place.stat()
    return f"{status.st_dev:x}-{status.st_ino:x}"


def end_leftover(external_id: str, place: Path) -> bool:
    """End what is left of a recorded group, and what users' commands of its session left running
    beside it; True when there was something to end. `place` as in `group_id`.
    """
    match = _RECORDED.fullmatch(external_id)
    if match is None:
        return False
    pgid, started, boot, mark = int(match[1]), int(match[2]), match[3], match[4] or ""
    if boot != _boot_id() or (match[5] and match[5] != _file_id(place)):
        return False
    ended = _is_ours(pgid, started, mark) and end_group(pgid)
    return _end_marked(partial(_is_of_command, mark=mark)) or ended


def end_run(mark: str) -> None:
    """End what carries that mark of a run (RUN_MARK) in its environment."""
    _end_marked(partial(_has_variable, variable=f"{RUN_MARK}={mark}"))


def _is_ours(pgid: int, started: int, mark: str) -> bool:
    """Whether a group is the recorded one, and has somebody to end."""
    alive = members(pgid)
    if leader := _start_ticks(pgid):
        return bool(alive) and leader == started
    return any(_carries_mark(pid, mark) for pid in alive)


def _is_of_command(pid: int, mark: str) -> bool:
    """Whether a command that was to be cleared away has started a process, in that session."""
    run_mark = f"{RUN_MARK}=".encode()
    return _carries_mark(pid, mark) and any(
        variable.startswith(run_mark) for variable in _variables(pid)
    )


def _carries_mark(pid: int, mark: str) -> bool:
    """Whether a process carries the mark of a session."""
    (name,) = MARK
    return bool(mark) and _has_variable(pid, f"{name}={mark}")


def _has_variable(pid: int, variable: str) -> bool:
    """Whether a living process began with NAME=VALUE; not where we may not look."""
    return os.fsencode(variable) in _variables(pid)


def _variables(pid: int) -> list[bytes]:
    deadline = time.monotonic() + EXEC_S
    try:
        while not (found := (PROC / str(pid) / "environ").read_bytes()):
            if not _begins(pid) or time.monotonic() > deadline:
                break
            time.sleep(0.001)
    except OSError:
        return []
    return found.split(b"\0")


def _begins(pid: int) -> bool:
    """Whether a process is within execve(2): it has memory (field 23 of stat), and the kernel has
    not put its variables there yet (field 51). Who started it goes on before that.
    """
    fields = stat_of(pid)
    return bool(fields) and fields[20] != "0" and fields[48] == "0"


def _start_ticks(pid: int) -> int:
    """Clock ticks from the boot to the start of a process, 0 when it is gone."""
    fields = stat_of(pid)
    return int(fields[19]) if fields else 0


def _boot_id() -> str:
    return (PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
