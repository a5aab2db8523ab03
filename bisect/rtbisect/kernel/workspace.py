# SPDX-License-Identifier: GPL-2.0-or-later
"""The O= directory of one configuration, with what lies beside it.

    <root>/<name>-<hash>/lock        held while somebody builds here, also by the children
                         DIRTY       there while make runs: the objects cannot be trusted
                         stamp.json  source and configuration that the objects belong to
                         build.log   output of the last build
                         out/ mod/   written by foreign code: O= and our modules
                         fragments/  read by foreign code

Foreign code writes only below out/ and mod/; it may leave symbolic links there, so files
are read through `plain_file` and nothing of ours is ever written into out/.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
from typing import TYPE_CHECKING, Any

from rtbisect import locks
from rtbisect.errors import InfrastructureError
from rtbisect.kernel.settings import BUILD_UID

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from rtbisect.model.code import BuildRequest

#: A log is read from both ends: the first errors and the last words.
_LOG_HEAD = 8 << 20
_LOG_TAIL = 1 << 20


class NotPlainError(ValueError):
    """Foreign code left something else where a regular file is expected."""


def directory_name(request: BuildRequest) -> str:
    """Name of the O= directory: readable, and unique for base, fragments and variant."""
    text = json.dumps([request.base, request.fragments, request.variant])
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    name = re.sub(r"[^A-Za-z0-9_-]", "_", request.config_name)[:40]
    return f"{name}-{digest[:12]}"


class Workspace:
    """One O= directory. `hold` it before anything else."""

    def __init__(self, root: Path, name: str) -> None:
        self.root = root / name
        self.out = self.root / "out"
        self.modules = self.root / "mod"
        self.fragments = self.root / "fragments"
        self.log = self.root / "build.log"
        self.ccache = root / f"ccache-{_owner()}"
        self._dirty = self.root / "DIRTY"
        self._stamp = self.root / "stamp.json"

    def hold(self, wait_s: float) -> AbstractContextManager[int]:
        """The lock; its descriptor is passed to make, so that a leftover make keeps it."""
        return locks.hold(self.root / "lock", wait_s=wait_s, what=f"build directory {self.root}")

    def open(self, source: Path, *, fresh: bool) -> str:
        """Make the folders; why old objects were thrown away, "" when they were kept."""
        found = self.stamp()
        why = self._why_refill(found, source, fresh=fresh)
        try:
            if why:
                self._stamp.unlink(missing_ok=True)
                _remove(self.out)
            for folder in (self.modules, self.fragments):
                _remove(folder)
            for folder in (self.out, self.modules, self.ccache):
                _make(folder)
            self.fragments.mkdir(mode=0o755)
            self.log.write_bytes(b"")
            if why:
                self._write_stamp({"source": identity(source), "owner": _owner()})
        except OSError as error:
            raise _disk(self.root, error) from error
        return why

    def mark(self, reason: str) -> None:
        """From here on the objects are in motion."""
        try:
            self._dirty.write_text(reason + "\n", encoding="utf-8")
        except OSError as error:
            raise _disk(self.root, error) from error

    def unmark(self) -> None:
        """Make ended by itself: objects and dependencies agree."""
        self._dirty.unlink(missing_ok=True)

    @property
    def is_dirty(self) -> bool:
        return self._dirty.exists()

    def stamp(self) -> dict[str, Any]:
        """What the objects belong to; empty when unknown."""
        try:
            found = json.loads(self._stamp.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def set_config_key(self, key: str) -> None:
        """Remember what .config was made from; "" before it is made."""
        self._write_stamp(self.stamp() | {"config_key": key})

    def put(self, folder: Path, name: str, text: str) -> Path:
        """Write a file of ours into a folder that `open` has just emptied."""
        path = folder / name
        try:
            with path.open("x", encoding="utf-8", errors="surrogateescape") as stream:
                stream.write(text)
            path.chmod(0o644)
        except OSError as error:
            raise _disk(self.root, error) from error
        return path

    def plain_file(self, name: str) -> Path:
        """A regular file below out/, reached without symbolic links; else NotPlainError."""
        path = self.out
        for part in name.split("/"):
            path = path / part
            try:
                mode = path.lstat().st_mode
            except OSError as error:
                raise NotPlainError(f"make left no {name}") from error
            if stat.S_ISLNK(mode):
                raise NotPlainError(f"{name} is or goes through a symbolic link")
        if not stat.S_ISREG(mode):
            raise NotPlainError(f"{name} is not a regular file")
        return path

    def text(self, name: str) -> str:
        """Text of a regular file below out/; NotPlainError when there is none."""
        data = self.plain_file(name).read_bytes()
        return data.decode("utf-8", "surrogateescape")

    def kernel_modules(self) -> list[Path]:
        """Every *.ko, one a name, ours before the tree's; links are passed over."""
        found: dict[str, Path] = {}
        for folder in (self.modules, self.out):
            for path in _regular_files(folder, ".ko"):
                found.setdefault(path.name, path)
        return [found[name] for name in sorted(found)]

    def log_text(self, start: int = 0) -> str:
        """The log from byte `start`; without its middle when it is longer than 9 MiB."""
        with self.log.open("rb") as stream:
            stream.seek(start)
            data = stream.read(_LOG_HEAD)
            size = os.fstat(stream.fileno()).st_size
            if size > start + _LOG_HEAD:
                stream.seek(max(start + _LOG_HEAD, size - _LOG_TAIL))
                data += b"\n" + stream.read(_LOG_TAIL)
        return data.decode("utf-8", "surrogateescape")

    def _why_refill(self, found: dict[str, Any], source: Path, *, fresh: bool) -> str:
        if not self.out.is_dir():
            return "there are none yet"
        if fresh:
            return "a fresh build is asked for"
        if self.is_dirty:
            return "the last build was interrupted"
        if found.get("source") != identity(source) or found.get("owner") != _owner():
            return "they belong to another source directory"
        return ""

    def _write_stamp(self, stamp: dict[str, Any]) -> None:
        new = self._stamp.with_suffix(".new")
        try:
            new.write_text(json.dumps(stamp, sort_keys=True), encoding="utf-8")
            new.replace(self._stamp)
        except OSError as error:
            raise _disk(self.root, error) from error


def identity(source: Path) -> str:
    """Changes when a source directory is made anew: then file times may lie."""
    found = source.stat()
    return f"{source.resolve()}:{found.st_dev}:{found.st_ino}"


def _regular_files(folder: Path, suffix: str) -> Iterator[Path]:
    for place, _, names in os.walk(folder, followlinks=False):
        for name in sorted(names):
            path = folder.__class__(place) / name
            if name.endswith(suffix) and stat.S_ISREG(path.lstat().st_mode):
                yield path


def _owner() -> int:
    """Uid outside the sandbox of what foreign code writes."""
    return BUILD_UID if os.geteuid() == 0 else os.geteuid()


def _make(folder: Path) -> None:
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    if os.geteuid() == 0:
        os.chown(folder, BUILD_UID, BUILD_UID, follow_symlinks=False)


def _remove(folder: Path) -> None:
    """Remove a tree that foreign code wrote: it may have taken our rights away."""
    if not folder.exists():
        return
    for place, names, _ in os.walk(folder, followlinks=False):
        for name in names:
            path = folder.__class__(place) / name
            if not path.is_symlink():
                path.chmod(0o700)
    shutil.rmtree(folder)


def _disk(where: Path, error: OSError) -> InfrastructureError:
    return InfrastructureError(
        f"cannot write below {where}: {error.strerror}",
        "free disk space (8 GB are needed) or correct the owner, then run `rtbisect resume`",
    )
