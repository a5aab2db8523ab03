# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a command of foreign code in the sandbox, within bounds of memory, processes and disk.

Where this machine has control groups for us the kernel holds memory and processes to their bounds;
else they are counted here, a few times a second, over all that lives below bubblewrap. Disk is
looked at here in both cases. What exceeds a bound is ended, and that is the tree's doing: a value,
like a build that fails.
"""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.kernel import bounds as counting
from rtbisect.kernel import cgroups, seccomp
from rtbisect.process import command

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rtbisect.kernel.bounds import Bounds
    from rtbisect.kernel.cgroups import Group
    from rtbisect.kernel.sandbox import Sandbox

#: Seconds between looks at processes, and the share of the time that looks at the disk may take.
_LOOK_S = 0.2
_DISK_SHARE = 0.05

#: Seconds for a program that does nothing.
_PROBE_S = 60.0

#: Free bytes below which the disk is looked at at once, and a command that has taken the second of
#: them since it began is ended: what else writes there needs the rest. Half of what a build is
#: promised (preflight.MIN_DISK_BYTES), so that one of a usual size is never blamed for a full disk.
_LOW_BYTES = 1 << 30
_LARGE_BYTES = 4 << 30


@dataclass(frozen=True, slots=True)
class Confined:
    """A command that ended."""

    done: command.Completed
    #: The bound that it ran into, for a person; "" for none.
    exceeded: str = ""


def run(  # noqa: PLR0913  (keyword-only, as of command.run)
    box: Sandbox,
    argv: Sequence[str],
    *,
    cwd: Path,
    timeout_s: float,
    log: Path,
    error_log: Path | None = None,
    pass_fds: Sequence[int] = (),
    held: int | None = None,
    on_start: Callable[[int], None] = lambda _pid: None,
    grouped: bool = True,
) -> Confined:
    """`command.run` in the sandbox and within its bounds; `cwd` is a folder of ours. `held` is a
    descriptor that the sandbox keeps open, out of reach of what runs in it. Without `grouped`
    nothing is asked of control groups.
    """
    group = cgroups.make(box.bounds, cwd) if grouped else None
    watch = _BoundsWatch(box, log, group)
    held_fds = () if held is None else (held,)

    def started(pid: int) -> None:
        on_start(pid)
        watch.begin(pid)

    try:
        with seccomp.descriptor() as rules:
            words = box.argv(argv, rules=rules, counted=group is None, held=held)
            done = command.run(
                group.words(words) if group else words,
                cwd=cwd,
                timeout_s=timeout_s,
                env=cgroups.environment(),
                log=log,
                error_log=error_log,
                pass_fds=(*pass_fds, *held_fds, rules),
                on_start=started,
            )
        return Confined(done, watch.end())
    finally:
        watch.stop()
        if group is not None:
            group.close()


def works(box: Sandbox, log: Path) -> bool:
    """Whether anything at all runs in the sandbox; it is asked beside `log`, a file of ours."""
    aside = log.with_suffix(".probe")
    try:
        return run(box, ["true"], cwd=log.parent, timeout_s=_PROBE_S, log=aside).done.ok
    finally:
        aside.unlink(missing_ok=True)


class _BoundsWatch:
    """A thread that counts while a command runs, and ends it when it takes too much."""

    def __init__(self, box: Sandbox, log: Path, group: Group | None) -> None:
        self._bounds: Bounds = box.bounds
        self._places = (*box.writable, log)
        self._group = group
        self._free = _free(log)
        self._lowest = self._free
        self._exceeded = ""
        self._pid = 0
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, pid: int) -> None:
        self._pid = pid
        self._thread = threading.Thread(target=self._look, args=(pid,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def end(self) -> str:
        """What was exceeded; called when the command has ended."""
        self.stop()
        # Since the last look.
        return self._exceeded or self._group_exceeded() or self._disk_exceeded()

    def _over_bound(self, resource: str) -> str:
        bound = self._bounds
        if resource == "memory":
            return f"the build took more than its {bound.memory_bytes >> 20} MiB of memory"
        return f"the build had more than its {bound.processes} processes"

    def _look(self, pid: int) -> None:
        disk_at = time.monotonic()
        while not self._stopped.wait(_LOOK_S):
            exceeded = self._processes_exceeded(pid)
            now = time.monotonic()
            self._lowest = min(self._lowest, _free(self._places[-1]))
            if not exceeded and (now >= disk_at or self._lowest < _LOW_BYTES):
                exceeded = self._disk_exceeded()
                disk_at = now + max(1.0, (time.monotonic() - now) / _DISK_SHARE)
            if exceeded:
                self._exceeded = exceeded
                _kill_tree(pid)
                return

    def _processes_exceeded(self, pid: int) -> str:
        if self._group:
            return self._group_exceeded()
        alive = counting.processes_below(pid)
        if alive.memory_bytes > self._bounds.memory_bytes:
            return self._over_bound("memory")
        return self._over_bound("processes") if alive.threads >= self._bounds.processes else ""

    def _group_exceeded(self) -> str:
        resource = self._group.exceeded(self._pid) if self._group else ""
        return self._over_bound(resource) if resource else ""

    def _disk_exceeded(self) -> str:
        taken = counting.on_disk(self._places, self._bounds.files)
        if taken.hidden:
            return "the build made folders too deep to be looked into"
        if taken.files > self._bounds.files:
            return f"the build left more than its {self._bounds.files} files"
        if taken.bytes > self._bounds.disk_bytes:
            return f"the build wrote more than its {self._bounds.disk_bytes >> 20} MiB to the disk"
        if self._lowest < _LOW_BYTES and self._free - self._lowest > _LARGE_BYTES:
            size = (self._free - self._lowest) >> 20
            return f"the build wrote {size} MiB and nearly filled the disk"
        return ""


def _free(place: Path) -> int:
    with suppress(OSError):
        return shutil.disk_usage(place.parent).free
    return _LOW_BYTES


def _kill_tree(pid: int) -> None:
    """End bubblewrap and all below it, at once: what is over a bound takes more by the second."""
    pids = counting.processes_below(pid).pids
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    for member in pids:
        with suppress(OSError):
            os.kill(member, signal.SIGKILL)
