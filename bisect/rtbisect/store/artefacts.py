# SPDX-License-Identifier: GPL-2.0-or-later
"""Artefacts (images, modules, logs) in files that are named by their sha256."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from rtbisect.errors import InfrastructureError, InternalError


def write_whole(
    place: Path,
    source: bytes | BinaryIO,
    mode: int = 0o644,
    before_rename: Callable[[], None] = lambda: None,
) -> None:
    """Write bytes, or what a stream gives, aside, to the disk, and put it in place by rename: who
    reads sees the old file or the new one, never a part, also after a loss of power. OSError when
    the disk refuses; nothing is left behind then. `before_rename` is called right before readers
    see it.
    """
    handle, aside = _aside(place)
    with os.fdopen(handle, "wb") as stream:
        try:
            if isinstance(source, bytes):
                stream.write(source)
            else:
                shutil.copyfileobj(source, stream)
            stream.flush()
            os.fsync(handle)
            aside.chmod(mode)
            before_rename()
            aside.replace(place)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
    sync(place.parent)


def _aside(place: Path) -> tuple[int, Path]:
    """A new file beside `place`, locked for as long as it is open: `sweep` leaves it alone."""
    while True:
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
        fcntl.flock(handle, fcntl.LOCK_EX)
        # Between the two lines somebody may have swept it away.
        if os.fstat(handle).st_nlink:
            return handle, Path(name)
        os.close(handle)


def sync(path: Path) -> None:
    """Wait until a file, or what stands in a folder, is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sweep(folder: Path) -> None:
    """Remove what a kill has left of `write_whole` below `folder`. Files that a living process
    writes just now stay.
    """
    for left in folder.rglob(".*.????????"):
        with suppress(OSError), left.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()


class ArtefactStore:
    """A folder of immutable files, written by rename, so that none is ever half there."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, sha256: str) -> Path:
        """Where the artefact lies; InfrastructureError when it is gone."""
        place = self._place(sha256)
        if not place.is_file():
            raise InfrastructureError(
                f"artefact {sha256[:12]} is not in {self.root}",
                "it may have been cleaned up; start the campaign again",
                retryable=False,
            )
        return place

    def has(self, sha256: str) -> bool:
        """Whether the artefact is there."""
        return self._place(sha256).is_file()

    def put_file(self, source: Path) -> str:
        """Copy a file into the store and give its sha256."""
        with self._guard(), source.open("rb") as stream:
            sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
            stream.seek(0)
            self._put(sha256, stream)
        return sha256

    def put_bytes(self, data: bytes) -> str:
        """Keep bytes and give their sha256."""
        sha256 = hashlib.sha256(data).hexdigest()
        with self._guard():
            self._put(sha256, data)
        return sha256

    def _put(self, sha256: str, source: bytes | BinaryIO) -> None:
        place = self._place(sha256)
        if place.is_file():
            return
        if not place.parent.is_dir():
            place.parent.mkdir(parents=True, exist_ok=True)
            sync(self.root)
        write_whole(place, source)

    def _place(self, sha256: str) -> Path:
        if len(sha256) != 64 or any(c not in "0123456789abcdef" for c in sha256):
            raise InternalError(f"not the name of an artefact: {sha256[:80]!r}")
        return self.root / sha256[:2] / sha256

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """Turns a full or broken disk into a fault of the lab, with the place in it."""
        try:
            yield
        except OSError as error:
            raise InfrastructureError(
                f"cannot keep an artefact in {self.root}: {error.strerror}",
                "free disk space (8 GB are needed) and run `rtbisect resume`",
            ) from error
