# SPDX-License-Identifier: GPL-2.0-or-later
"""File locks that children inherit, so that a lock outlives a killed parent.

flock(2) belongs to the open file description: as long as a child of ours (make, QEMU)
still holds the descriptor, nobody else gets the lock.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rtbisect.errors import BusyError, ConfigError

POLL_S = 0.2

#: Never through a link: a lock may lie in a folder that everybody writes to.
_FLAGS = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW


@contextmanager
def hold(path: Path, *, wait_s: float = 0.0, what: str = "", shared: bool = False) -> Iterator[int]:
    """Hold the lock at `path`; gives the descriptor to pass on to children.

    `what` is held, for a person: the name of the file, if it is "". `shared`: it is one lock for
    every user of the machine. BusyError after `wait_s` seconds, with the process id of the holder
    where it is known; ConfigError when `path` is not to be opened.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _open(path, 0o666 if shared else 0o600)
    except OSError as error:
        raise ConfigError(
            f"the lock {path} cannot be opened: {error.strerror}",
            "remove it or what stands there instead, or let this user write to it",
        ) from error
    try:
        _acquire(descriptor, path, wait_s, what)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether somebody holds a lock right now. Who asks is in nobody's way but that of who wants to
    hold it at the same moment.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


def write_word(descriptor: int, word: str) -> None:
    """Write a word for others into a lock that is held; `read_word` reads it."""
    os.pwrite(descriptor, f"{os.getpid()} {word}".encode(), 0)


def read_word(path: Path) -> str:
    """What the holder of a lock said last, "" for nothing."""
    try:
        words = path.read_text("ascii", "replace").split()
    except OSError:
        return ""
    return words[1] if len(words) > 1 else ""


def _open(path: Path, mode: int) -> int:
    """Descriptor of a regular file, made when there is none; OSError otherwise."""
    try:
        # Not with O_CREAT: where everybody writes, fs.protected_regular then refuses a
        # file that another user made.
        descriptor = os.open(path, _FLAGS)
    except FileNotFoundError:
        try:
            descriptor = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError:  # another process was faster
            descriptor = os.open(path, _FLAGS)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file")
    if mode & ~status.st_mode:
        with suppress(PermissionError):  # the umask took rights; not our file: as it is
            os.fchmod(descriptor, mode)
    return descriptor


def _acquire(descriptor: int, path: Path, wait_s: float, what: str) -> None:
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").partition(" ")[0]
                by = f" by process {holder}" if holder.isdigit() else ""
                raise BusyError(
                    f"{what or path.name} is in use{by}",
                    "wait until it ends, or see `rtbisect status`",
                ) from None
            time.sleep(POLL_S)
        else:
            return
