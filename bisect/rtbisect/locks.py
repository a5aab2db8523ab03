# SPDX-License-Identifier: GPL-2.0-or-later
"""File locks that children inherit, so that a lock outlives a killed parent.

flock(2) belongs to the open file description: as long as a child of ours (make, QEMU)
still holds the descriptor, nobody else gets the lock.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rtbisect.errors import BusyError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

POLL_S = 0.2


@contextmanager
def hold(path: Path, *, wait_s: float = 0.0, what: str = "") -> Iterator[int]:
    """Hold the lock at `path`; gives the descriptor to pass on to children.

    BusyError after `wait_s` seconds, with the process id of the holder where it is known.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _acquire(descriptor, path, wait_s, what)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, path: Path, wait_s: float, what: str) -> None:
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
                by = f" by process {holder}" if holder.isdigit() else ""
                raise BusyError(
                    f"{what or path.name} is in use{by}",
                    "wait until it ends, or see `rtbisect status`",
                ) from None
            time.sleep(POLL_S)
        else:
            return
