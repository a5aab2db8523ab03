# SPDX-License-Identifier: GPL-2.0-or-later
"""A control group of its own for a command of foreign code: memory and processes bounded by the
kernel.

Three ways, the first that works here is taken: a scope of systemd, because nobody else may make
groups where systemd runs; a group of version 2, or of version 1, below those that we are in. Where
none works there is none, and `confined.py` counts by itself.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rtbisect.process import command

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rtbisect.kernel.bounds import Bounds

_NUMBERS = itertools.count(1)
_PREFIX = "rtbisect-"

#: Files in which groups of either version count what they refused.
_COUNTS = ("memory.events", "memory.oom_control", "pids.events")

#: Seconds for the last process of a group to be gone.
_GONE_S = 10.0
_PROBE_S = 30.0

#: Enters the groups that stand before "--", then becomes the command.
_ENTER = (
    'while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs" || exit 1; shift; done; shift; exec "$@"'
)

#: Runs the command and writes what its group counted: a scope is gone with its last process. No
#: program is started for that, there may be no room for one. Of SIGTERM it hears and stays: systemd
#: sends it to all of a scope in which the kernel has killed one for its memory (OOMPolicy=stop).
_COUNT = """\
trap : TERM; report=$1; shift; "$@"; status=$?
while IFS=: read -r number names path; do
  for file in /sys/fs/cgroup$path/memory.events /sys/fs/cgroup$path/pids.events \
    /sys/fs/cgroup/memory$path/memory.oom_control /sys/fs/cgroup/pids$path/pids.events; do
    if [ -r "$file" ]; then while read -r line; do echo "${file##*/} $line"; done < "$file"; fi
  done
done < /proc/self/cgroup > "$report"
exit $status"""


class Group(Protocol):
    """Where a command runs."""

    def words(self, argv: Sequence[str]) -> list[str]:
        """The command line that runs `argv` in the group."""

    def exceeded(self, pid: int) -> str:
        """The bound that the kernel has held the group to so far: "memory", "processes", "" for
        none. `pid` is the process that `words` became.
        """

    def close(self) -> None:
        """Nothing runs there any more."""


@dataclass(frozen=True, slots=True)
class FolderGroup:
    """A group of version 1 or 2, made of folders."""

    #: One, or one for each controller.
    folders: tuple[Path, ...]

    def words(self, argv: Sequence[str]) -> list[str]:
        return ["/bin/sh", "-c", _ENTER, "sh", *map(str, self.folders), "--", *argv]

    def exceeded(self, pid: int) -> str:  # noqa: ARG002  (one group, one command)
        return _exceeded_bound(_counts(self.folders))

    def close(self) -> None:
        end = time.monotonic() + _GONE_S
        for folder in self.folders:
            while folder.exists() and not _removed(folder) and time.monotonic() < end:
                time.sleep(0.02)


@dataclass(frozen=True, slots=True)
class Scope:
    """A scope of systemd."""

    #: Name of the unit, without ".scope".
    name: str
    bounds: Bounds
    #: File that has the counts of the scope once it has ended.
    report: Path

    def words(self, argv: Sequence[str]) -> list[str]:
        words = [*_systemd_run(), f"--unit={self.name}", "-p", "MemorySwapMax=0"]
        words += ["-p", f"MemoryMax={self.bounds.memory_bytes}"]
        words += ["-p", f"TasksMax={self.bounds.processes}"]
        # The shell stands between us and bubblewrap, so it has to end with us, too.
        return [
            *(*words, "--", "setpriv", "--pdeathsig", "KILL", "--"),
            *("/bin/sh", "-c", _COUNT, "sh", str(self.report), *argv),
        ]

    def exceeded(self, pid: int) -> str:
        return _exceeded_bound(_read_text(self.report) or self._so_far(pid))

    def _so_far(self, pid: int) -> str:
        """Counts of the scope while it is there."""
        lines = [
            line.split(":", 2) for line in _read_text(Path(f"/proc/{pid}/cgroup")).splitlines()
        ]
        root = Path("/sys/fs/cgroup")
        names = [path.lstrip("/") for _, _, path in lines if path.endswith(f"/{self.name}.scope")]
        return _counts(
            [folder / n for n in names for folder in (root, root / "memory", root / "pids")]
        )

    def close(self) -> None:
        self.report.unlink(missing_ok=True)


def make(bounds: Bounds, place: Path) -> Group | None:
    """A group with these bounds, None where this machine has none for us; `place` is a folder of
    ours for its counts.
    """
    name = f"{_PREFIX}{os.getpid()}-{next(_NUMBERS)}"
    if systemd_works():
        return Scope(name, bounds, place / f".{name}")
    for parents in _parents():
        if group := _folder_group(parents, name, bounds):
            return group
    return None


@cache
def systemd_works() -> bool:
    """Whether systemd is this machine's first process and makes scopes for us."""
    if not Path("/run/systemd/system").is_dir() or shutil.which("systemd-run") is None:
        return False
    argv = [*_systemd_run(), "-p", "TasksMax=64", "-p", "MemoryMax=64M", "--", "true"]
    return command.run(argv, cwd=Path("/"), timeout_s=_PROBE_S, env=_bus_environment()).ok


def environment() -> dict[str, str]:
    """What systemd-run needs of our environment."""
    return _bus_environment() if systemd_works() else {}


def _bus_environment() -> dict[str, str]:
    names = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
    return {name: os.environ[name] for name in names if name in os.environ}


def _systemd_run() -> list[str]:
    user = [] if os.geteuid() == 0 else ["--user"]
    return ["systemd-run", *user, "--scope", "--quiet", "--collect"]


def _parents(
    groups: Path = Path("/proc/self/cgroup"), mounts: Path = Path("/proc/self/mountinfo")
) -> list[dict[str, Path]]:
    """Folders that groups may be made in, by controller: of version 2, then of version 1."""
    ours = [line.split(":", 2) for line in _read_text(groups).splitlines()]
    by_controller: dict[str, Path] = {}
    unified: list[Path] = []
    for line in _read_text(mounts).splitlines():
        before, _, after = line.partition(" - ")
        root, mounted = before.split(" ")[3:5]
        kind, _, options = after.split(" ", 2)
        controllers = set(options.split(" ")[-1].split(","))
        for _number, names, path in ours:
            place = Path(mounted, os.path.relpath(path, root))
            inside = path == root or path.startswith(root.rstrip("/") + "/")
            if kind == "cgroup2" and not names and inside:
                # Version 2 lets no group have processes and bounded groups at a time.
                unified += [place, *itertools.takewhile(
                    lambda folder: folder.is_relative_to(mounted), place.parents)]  # noqa: B023  # fmt: skip
            for name in set(names.split(",")) & controllers & {"memory", "pids"}:
                if kind == "cgroup" and inside:
                    by_controller[name] = place
    in_unified = [
        {"memory": folder, "pids": folder}
        for folder in unified
        if {"memory", "pids"} <= set(_read_text(folder / "cgroup.subtree_control").split())
    ]
    return [*in_unified[:1], *([by_controller] if len(by_controller) == 2 else [])]


def _folder_group(parents: dict[str, Path], name: str, bounds: Bounds) -> FolderGroup | None:
    _sweep(set(parents.values()))
    folders = tuple(dict.fromkeys(parent / name for parent in parents.values()))
    group = FolderGroup(folders)
    try:
        for folder in folders:
            folder.mkdir()
        memory, pids = parents["memory"] / name, parents["pids"] / name
        (pids / "pids.max").write_text(f"{bounds.processes}\n")
        if (memory / "memory.max").exists():
            limits = {
                "memory.max": bounds.memory_bytes,
                "memory.swap.max": 0,
                "memory.oom.group": 1,
            }
        else:
            # In this order: the second bounds memory and swap together.
            limits = dict.fromkeys(
                ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"), bounds.memory_bytes
            )
        for at, (file, value) in enumerate(limits.items()):
            if at == 0 or (memory / file).exists():
                (memory / file).write_text(f"{value}\n")
    except OSError:
        group.close()
        return None
    return group


def _sweep(parents: set[Path]) -> None:
    """Remove groups that a process left which was killed; one with processes in it stays."""
    for parent in parents:
        for folder in parent.glob(f"{_PREFIX}*"):
            owner = re.fullmatch(rf"{_PREFIX}(\d+)-\d+", folder.name)
            if owner and not Path("/proc", owner[1]).exists():
                _removed(folder)


def _removed(folder: Path) -> bool:
    with suppress(OSError):
        folder.rmdir()
        return True
    return False


def _counts(folders: Iterable[Path]) -> str:
    """What groups have counted: lines of a file, a name in it and a number."""
    return "\n".join(
        f"{file} {line}"
        for folder in folders
        for file in _COUNTS
        for line in _read_text(folder / file).splitlines()
    )


def _exceeded_bound(counts: str) -> str:
    """The bound that counts tell of."""
    if re.search(r"^memory\.(?:events|oom_control) oom_kill [1-9]", counts, re.MULTILINE):
        return "memory"
    return "processes" if re.search(r"^pids\.events max [1-9]", counts, re.MULTILINE) else ""


def _read_text(path: Path) -> str:
    with suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace")
    return ""
