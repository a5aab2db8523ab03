# SPDX-License-Identifier: GPL-2.0-or-later
"""Process groups that a killed rtbisect left behind: named so that they can be found again.

A process id alone may have been given to somebody else meanwhile. A living leader is ours if it
was started in the same boot at exactly the recorded time (proc(5), field 22 of stat). Where the
leader is dead, a stranger may have had its number and be gone, too: then one of the group has to
carry the mark of the killed session in its environment.
"""

from __future__ import annotations

import os
import re

from rtbisect.process import command

#: Programs of the first schema noted no mark.
_RECORDED = re.compile(r"pgid:([0-9]+):([0-9]+):([^:]*)(?::([^:]*))?")


def group_id(pgid: int) -> str:
    """External id of a process group that was just started."""
    (mark,) = command.MARK.values()
    return f"pgid:{pgid}:{_start_ticks(pgid)}:{_boot_id()}:{mark}"


def end_leftover(external_id: str) -> bool:
    """End what is left of a recorded group; True when there was something to end."""
    match = _RECORDED.fullmatch(external_id)
    if match is None:
        return False
    pgid, started, boot, mark = int(match[1]), int(match[2]), match[3], match[4] or ""
    if boot != _boot_id() or not _is_ours(pgid, started, mark):
        return False
    return command.end_group(pgid)


def _is_ours(pgid: int, started: int, mark: str) -> bool:
    """Whether a group is the recorded one, and has somebody to end."""
    members = command.members(pgid)
    if leader := _start_ticks(pgid):
        return bool(members) and leader == started
    return any(_carries_mark(pid, mark) for pid in members)


def _carries_mark(pid: int, mark: str) -> bool:
    """Whether a process carries the mark; not where we may not look."""
    (name,) = command.MARK
    try:
        words = (command.PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return bool(mark) and os.fsencode(f"{name}={mark}") in words


def _start_ticks(pid: int) -> int:
    """Clock ticks from the boot to the start of a process, 0 when it is gone."""
    fields = command.stat_of(pid)
    return int(fields[19]) if fields else 0


def _boot_id() -> str:
    return (command.PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
