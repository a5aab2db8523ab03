# SPDX-License-Identifier: GPL-2.0-or-later
"""Process groups that a killed rtbisect left behind: named so that they can be found again.

A process id alone may have been given to somebody else meanwhile; the boot id and the
start time of the group's leader (proc(5), field 22 of stat) make it unique.
"""

from __future__ import annotations

from pathlib import Path

from rtbisect import command

PROC = Path("/proc")


def group_id(pgid: int) -> str:
    """External id of a process group that was just started."""
    return f"pgid:{pgid}:{_started(pgid)}:{_boot_id()}"


def end_leftover(external_id: str) -> bool:
    """End what is left of a recorded group; True when there was something to end."""
    parts = external_id.split(":")
    if len(parts) != 4 or parts[0] != "pgid" or not parts[1].isdigit() or not parts[2].isdigit():
        return False
    pgid, started = int(parts[1]), int(parts[2])
    if parts[3] != _boot_id():
        return False
    members = _members(pgid)
    if not members or min(members) < started:
        return False
    return command.end_group(pgid)


def _members(pgid: int) -> list[int]:
    """Start times of the living members of a process group."""
    found = []
    for entry in PROC.iterdir():
        if not entry.name.isdigit():
            continue
        fields = _stat(int(entry.name))
        if fields and int(fields[2]) == pgid and fields[0] != "Z":
            found.append(int(fields[19]))
    return found


def _stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the third on (state is index 0), [] when it is gone."""
    try:
        text = (PROC / str(pid) / "stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _started(pid: int) -> int:
    fields = _stat(pid)
    return int(fields[19]) if fields else 0


def _boot_id() -> str:
    return (PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
