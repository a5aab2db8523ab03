# SPDX-License-Identifier: GPL-2.0-or-later
"""Artefacts (images, modules, logs) in files that are named by their sha256."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from rtbisect.errors import InfrastructureError, InternalError

if TYPE_CHECKING:
    from collections.abc import Callable


def write_whole(place: Path, fill: Callable[[BinaryIO], object], mode: int = 0o644) -> None:
    """Write a file aside, to the disk, and put it in place by rename: who reads sees the old file
    or the new one, never a part. OSError when the disk refuses.
    """
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    with os.fdopen(handle, "wb") as stream:
        fill(stream)
        stream.flush()
        os.fsync(stream.fileno())
    Path(name).chmod(mode)
    Path(name).replace(place)


class ArtefactStore:
    """A folder of immutable files, written by rename, so that none is ever half there."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, sha256: str) -> Path:
        """Where the artefact lies; InfrastructureError when it is gone."""
        found = self._place(sha256)
        if not found.is_file():
            raise InfrastructureError(
                f"artefact {sha256[:12]} is not in {self.root}",
                "it may have been cleaned up; start the campaign again",
                retryable=False,
            )
        return found

    def has(self, sha256: str) -> bool:
        """Whether the artefact is there."""
        return self._place(sha256).is_file()

    def put_file(self, source: Path) -> str:
        """Copy a file into the store and give its sha256."""
        with self._guard(), source.open("rb") as stream:
            sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
            place = self._place(sha256)
            if not place.is_file():
                place.parent.mkdir(parents=True, exist_ok=True)
                stream.seek(0)
                write_whole(place, lambda copy: shutil.copyfileobj(stream, copy))
        return sha256

    def put_bytes(self, data: bytes) -> str:
        """Keep bytes and give their sha256."""
        sha256 = hashlib.sha256(data).hexdigest()
        place = self._place(sha256)
        if not place.is_file():
            with self._guard():
                place.parent.mkdir(parents=True, exist_ok=True)
                write_whole(place, lambda copy: copy.write(data))
        return sha256

    def _place(self, sha256: str) -> Path:
        if len(sha256) != 64 or any(c not in "0123456789abcdef" for c in sha256):
            raise InternalError(f"not the name of an artefact: {sha256[:80]!r}")
        return self.root / sha256[:2] / sha256

    def _guard(self) -> _DiskGuard:
        return _DiskGuard(self.root)


class _DiskGuard:
    """Turns a full or broken disk into a fault of the lab, with the place in it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise InfrastructureError(
                f"cannot keep an artefact in {self.root}: {error.strerror}",
                "free disk space (8 GB are needed) and run `rtbisect resume`",
            ) from error
