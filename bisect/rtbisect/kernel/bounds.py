# SPDX-License-Identifier: GPL-2.0-or-later
"""What foreign code may take of this machine, and what it has taken (docs/bounds.md)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_GIB = 1 << 30
_DISK_BYTES = 32 * _GIB

#: Bytes of a path that we can still open; beyond it folders hide what is in them.
_PATH_BYTES = 3500

#: What /proc/PID/status tells of a process, in kB where it is memory.
_STATUS = re.compile(r"^(PPid|Threads|RssAnon|RssShmem):\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Bounds of one command and all that it starts."""

    #: Memory of all its processes together.
    memory_bytes: int
    processes: int = 4096
    #: Bytes of all that lies in the folders that it writes to.
    disk_bytes: int = _DISK_BYTES
    files: int = 1_000_000
    #: Size of its /tmp.
    tmp_bytes: int = 2 * _GIB
    #: Size of one file that it writes.
    file_bytes: int = 8 * _GIB

    @classmethod
    def of_machine(cls, memory_bytes: int = 0, disk_bytes: int = 0) -> Bounds:
        """The bounds of this machine: without `memory_bytes` three quarters of its memory."""
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        memory = memory_bytes or total * 3 // 4
        return cls(
            memory_bytes=memory,
            disk_bytes=disk_bytes or _DISK_BYTES,
            tmp_bytes=min(2 * _GIB, memory // 4),
        )


@dataclass(frozen=True, slots=True)
class DiskUse:
    """Bytes and files that lie in some folders."""

    bytes: int
    files: int
    #: There is a folder so deep that nobody sees what is in it.
    hidden: bool = False


def on_disk(places: Iterable[Path], most_files: int) -> DiskUse:
    """What files and folders take; it stops looking at `most_files`."""
    left = [os.fsencode(place) for place in places]
    size = files = 0
    while left:
        place = left.pop()
        if len(place) > _PATH_BYTES:
            return DiskUse(size, files, hidden=True)
        # Foreign code writes meanwhile, and may have taken our rights away.
        with suppress(OSError):
            if not os.path.isdir(place) or os.path.islink(place):  # noqa: PTH112, PTH114  (bytes)
                size += os.lstat(place).st_blocks * 512
                continue
            with os.scandir(place) as entries:
                for entry in entries:
                    files += 1
                    if files > most_files:
                        return DiskUse(size, files)
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
                    with suppress(OSError):
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
    return DiskUse(size, files)


@dataclass(frozen=True, slots=True)
class ProcessTree:
    """The processes below one."""

    pids: tuple[int, ...]
    threads: int
    #: Memory that is theirs: not what they map of files.
    memory_bytes: int


def processes_below(root: int) -> ProcessTree:
    """What lives below a process. The first process of a PID namespace adopts the orphans in it, so
    nothing of a sandbox gets away from bubblewrap's.
    """
    statuses: dict[int, dict[str, int]] = {}
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208  (names alone, four times a second)
        if not name.isdecimal():
            continue
        with suppress(OSError):
            text = Path("/proc", name, "status").read_text(encoding="utf-8", errors="replace")
            statuses[int(name)] = status = {key: int(value) for key, value in _STATUS.findall(text)}
            children.setdefault(status.get("PPid", 0), []).append(int(name))
    pids: list[int] = []
    left = [root]
    while left:
        begun = children.get(left.pop(), [])
        pids += begun
        left += begun
    rows = [statuses[pid] for pid in pids]
    kib = sum(row.get("RssAnon", 0) + row.get("RssShmem", 0) for row in rows)
    return ProcessTree(tuple(pids), sum(row.get("Threads", 0) for row in rows), kib * 1024)
