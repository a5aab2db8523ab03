# SPDX-License-Identifier: GPL-2.0-or-later
"""Hold what the log of a build says of this machine against this machine.

The log is foreign text. A tree that prints "No space left on device" would otherwise pause each
campaign that builds it, and one that fills its own /tmp or its own share of memory really gets that
answer. Only what this machine bears out is its fault; all else is the tree's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.kernel.first_error import HOST_HEADERS, HOST_TOOLS, FirstError, Owner

#: Free bytes and files below which a disk is as good as full; a share of memory likewise.
_DISK_BYTES = 512 << 20
_DISK_FILES = 1000
_MEMORY_BYTES = 256 << 20

_VMSTAT = Path("/proc/vmstat")
_MEMINFO = Path("/proc/meminfo")

#: Folders of this machine that the sandbox shows.
_PROGRAMS = (Path("/usr/bin"), Path("/usr/sbin"))
_HEADERS = Path("/usr/include")


class TreeError(Exception):
    """The tree's own failure on its way to Build.first_error; never leaves the builder. After a
    `suspect` one the objects cannot be trusted, after a `large` one they fill the disk.
    """

    def __init__(self, line: str, *, suspect: bool = False, large: bool = False) -> None:
        super().__init__(line)
        self.line = line
        self.suspect = suspect
        self.large = large


@dataclass(frozen=True, slots=True)
class MachineState:
    """This machine before a command, to be compared with how it is after it."""

    #: Any path on the disk that the command fills.
    place: Path
    #: Processes that were ended since the machine booted because memory was short.
    ended: int

    @classmethod
    def before(cls, place: Path) -> MachineState:
        return cls(place, _ended())

    def out_of_memory(self) -> bool:
        """Whether a process was ended since for want of memory, or there is none now."""
        available_kib = _number(_MEMINFO, r"^MemAvailable:\s+(\d+) kB$", _MEMORY_BYTES)
        return _ended() > self.ended or available_kib * 1024 < _MEMORY_BYTES

    def disk_full(self) -> bool:
        """Whether the disk is. One that cannot be asked is."""
        with suppress(OSError):
            filesystem = os.statvfs(self.place)
            few_files = bool(filesystem.f_files) and filesystem.f_favail < _DISK_FILES
            return filesystem.f_bavail * filesystem.f_frsize < _DISK_BYTES or few_files
        return True


def checked(
    error: FirstError, machine: MachineState, sandbox_works: Callable[[], bool]
) -> FirstError:
    """The error with the owner that this machine bears out."""
    facts: dict[Owner, Callable[[], bool]] = {
        Owner.DISK: machine.disk_full,
        Owner.MEMORY: machine.out_of_memory,
        Owner.TOOL: lambda: not _installed(error.package),
        Owner.SANDBOX: lambda: not sandbox_works(),
    }
    borne_out = facts.get(error.owner, lambda: True)()
    return error if borne_out else replace(error, owner=Owner.TREE, package="")


def fault(error: FirstError, revision: str) -> Exception:
    """The exception of the owner of an error."""
    where = f"the build of {revision[:12]} stopped: {error.line}"
    if error.owner is Owner.TREE:
        return TreeError(error.line)
    if error.owner is Owner.TOOL:
        return ConfigError(where, f"run `apt-get install {error.package}`")
    if error.owner is Owner.UNCLEAN:
        return ConfigError(where, "build from a clean work tree (`git clean -xdf` makes one)")
    if error.owner is Owner.SANDBOX:
        return InfrastructureError(where, "bubblewrap must work here", retryable=False)
    hint = "free disk space (8 GB are needed)" if error.owner is Owner.DISK else "end programs"
    return InfrastructureError(where, f"{hint}, then run `rtbisect resume`")


def _installed(package: str) -> bool:
    """Whether all that we know of a package is there."""
    tools = [name for name, of in HOST_TOOLS.items() if of == package]
    headers = [_HEADERS / name for name, of in HOST_HEADERS.items() if of == package]
    has_tools = all(any((folder / name).exists() for folder in _PROGRAMS) for name in tools)
    # Headers of elfutils lie in one of two places.
    return has_tools and (not headers or any(header.exists() for header in headers))


def _ended() -> int:
    return _number(_VMSTAT, r"^oom_kill (\d+)$")


def _number(path: Path, pattern: str, unknown: int = 0) -> int:
    with suppress(OSError):
        match = re.search(pattern, path.read_text(encoding="ascii"), re.MULTILINE)
        return int(match[1]) if match else unknown
    return unknown
