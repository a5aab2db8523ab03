# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may read a state directory: its owner. There are drafts in it that nobody has approved, mails
of other people, and sources that may be secret.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

#: What has drafts or mails in it, also where the directory itself cannot be closed.
FOLDERS = ("reports", "outbox", "replies")

#: A file of SQLite and what it makes beside it, with the rights of the first.
_BESIDE = ("", "-wal", "-shm", "-journal")

#: Rights of anybody else.
_OTHERS = 0o077


def close_folder(state: Path) -> None:
    """Take a state directory that others can enter from them, with the drafts that are in it.
    OSError where that is refused.
    """
    status = state.stat()
    if status.st_uid != os.geteuid() or not status.st_mode & _OTHERS:
        return
    for path in _drafts(state):
        _close(path)
    # Last: a kill before this does it all again. A folder with the sticky bit is everybody's.
    if not status.st_mode & stat.S_ISVTX:
        _close(state)


def close_database(path: Path) -> None:
    """Make a database, if it is not there, and take it from others, whatever the umask is."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    for end in _BESIDE:
        # Beside another process: what is there at one moment may be gone at the next.
        with suppress(FileNotFoundError):
            _close(path.with_name(path.name + end))


def _drafts(state: Path) -> Iterator[Path]:
    for name in FOLDERS:
        folder = state / name
        if folder.is_dir() and not folder.is_symlink():
            yield folder
            yield from folder.rglob("*")


def _close(path: Path) -> None:
    status = path.lstat()
    mode = stat.S_IMODE(status.st_mode)
    # Never through a link, and a file of somebody else stays as its owner wants it.
    if not stat.S_ISLNK(status.st_mode) and mode & _OTHERS and status.st_uid == os.geteuid():
        path.chmod(mode & ~_OTHERS)
