# SPDX-License-Identifier: GPL-2.0-or-later
"""Artefacts (images, modules, logs) in files that are named by their sha256."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from rtbisect.errors import InfrastructureError, InternalError


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

    def put_file(self, source: Path) -> str:
        """Copy a file into the store and give its sha256."""
        with self._guard(), source.open("rb") as stream:
            sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
            place = self._place(sha256)
            if not place.is_file():
                place.parent.mkdir(parents=True, exist_ok=True)
                handle, name = tempfile.mkstemp(dir=place.parent)
                with os.fdopen(handle, "wb") as copy:
                    stream.seek(0)
                    shutil.copyfileobj(stream, copy)
                    copy.flush()
                    os.fsync(copy.fileno())
                Path(name).chmod(0o644)
                Path(name).replace(place)
        return sha256

    def put_bytes(self, data: bytes) -> str:
        """Keep bytes and give their sha256."""
        sha256 = hashlib.sha256(data).hexdigest()
        place = self._place(sha256)
        if not place.is_file():
            with self._guard():
                place.parent.mkdir(parents=True, exist_ok=True)
                handle, name = tempfile.mkstemp(dir=place.parent)
                with os.fdopen(handle, "wb") as copy:
                    copy.write(data)
                    copy.flush()
                    os.fsync(copy.fileno())
                Path(name).chmod(0o644)
                Path(name).replace(place)
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
