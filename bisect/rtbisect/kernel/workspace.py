# SPDX-License-Identifier: GPL-2.0-or-later
"""The O= directory of one configuration, with what lies beside it.

    <root>/<name>-<hash>/lock        held while somebody builds here, also by the children
                         DIRTY       there while make runs: the objects cannot be trusted
                         stamp.json  source and configuration that the objects belong to, and
                                     the tree object and the signature of the build, where they
                                     are kept for further links
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
import stat
import time
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from rtbisect.errors import InfrastructureError
from rtbisect.kernel.bounds import Bounds, on_disk
from rtbisect.kernel.settings import uid_of
from rtbisect.process import command, locks
from rtbisect.store.artefacts import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rtbisect.model.code import BuildRequest

#: A log is read from both ends: the first errors and the last words.
_LOG_HEAD = 8 << 20
_LOG_TAIL = 1 << 20

#: Bytes of a text of the build (.config, modules.order): twelve times an honest one.
TEXT_LIMIT = 4 << 20

#: Bytes of any other file that is read; vmlinux with debug information has 1 to 2 GiB.
_FILE_LIMIT = 4 << 30

#: Names that an archive and a shell of the device take without a thought.
_MODULE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,60}\.ko")

_REMOVE_S = 600.0


class NotPlainError(ValueError):
    """Foreign code left something else where a regular file of some size is expected."""


def directory_name(request: BuildRequest) -> str:
    """Name of the O= directory: readable, and unique for base, fragments and variant."""
    text = json.dumps([request.base, request.fragments, request.variant])
    digest = hashlib.sha256(command.encode(text)).hexdigest()
    name = re.sub(r"[^A-Za-z0-9_-]", "_", request.config_name)[:40]
    return f"{name}-{digest[:12]}"


def slot_of(root: Path, name: str, tree: str, slots: int) -> Workspace:
    """Of several O= directories of one name the one with the objects of `tree`, the id of a tree
    object; else an empty one, or that which was used longest ago.
    """
    spaces = [Workspace(root, f"{name}-{number}") for number in range(1, slots + 1)]
    return min(spaces, key=lambda space: (space.objects != tree, space.used_ns))


class Workspace:
    """One O= directory. `hold` it before anything else."""

    def __init__(self, root: Path, name: str) -> None:
        #: Outside the sandbox of what foreign code writes.
        self.uid = uid_of(root) if os.geteuid() == 0 else os.geteuid()
        self.root = root / name
        self.out = self.root / "out"
        self.modules = self.root / "mod"
        self.fragments = self.root / "fragments"
        self.log = self.root / "build.log"
        self.ccache = root / f"ccache-{self.uid}"
        self._dirty = self.root / "DIRTY"
        self._stamp = self.root / "stamp.json"

    def hold(self, wait_s: float) -> AbstractContextManager[int]:
        """The lock; its descriptor is passed to make, so that a leftover make keeps it."""
        return locks.hold(self.root / "lock", wait_s=wait_s, what=f"build directory {self.root}")

    def open(self, source: Path, *, fresh: bool, tools: str = "") -> str:
        """Make the folders; why old objects were thrown away, "" when they were kept. make does not
        compare the `tools` that made them.
        """
        stamp = self.stamp()
        why = self._why_refill(stamp, source, tools, fresh=fresh)
        lasting = {name: stamp[name] for name in ("passed",) if name in stamp}
        with self._writing():
            if why:
                self._write_stamp(lasting)
                remove(self.out)
            for folder in (self.modules, self.fragments):
                remove(folder)
            for folder in (self.out, self.modules, self.ccache):
                self._make(folder)
            self.fragments.mkdir(mode=0o755)
            self.log.write_bytes(b"")
            if why:
                now = {"source": identity(source), "owner": self.uid, "tools": tools}
                self._write_stamp(lasting | now)
        return why

    def mark(self, reason: str) -> None:
        """From here on the objects are in motion."""
        with self._writing():
            self._dirty.write_text(reason + "\n", encoding="utf-8")

    def unmark(self) -> None:
        """Make ended by itself: objects and dependencies agree."""
        self._dirty.unlink(missing_ok=True)

    @property
    def is_dirty(self) -> bool:
        return self._dirty.exists()

    def outgrown(self, bounds: Bounds) -> bool:
        """Do the objects take so much that the next build might run into its bounds without a fault
        of its own? A compiler cache that does is removed.
        """
        if _takes_half(self.ccache, bounds):
            remove(self.ccache)
        return _takes_half(self.out, bounds)

    def give_up_space(self) -> None:
        """After a build that ran into a bound: the disk may be nearly full now."""
        for folder in (self.out, self.modules, self.ccache):
            remove(folder)
        self.log.write_bytes(command.encode(self.log_text()))

    def stamp(self) -> dict[str, Any]:
        """What the objects belong to; empty when unknown."""
        try:
            stamp = json.loads(self._stamp.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return stamp if isinstance(stamp, dict) else {}

    @property
    def used_ns(self) -> int:
        """When it was held last, in ns of the clock of files; 0 for never."""
        try:
            return (self.root / "lock").stat().st_mtime_ns
        except OSError:
            return 0

    @property
    def objects(self) -> str:
        """Id of the tree object whose objects, all of them, are in out/; "" where nobody knows."""
        return "" if self.is_dirty else str(self.stamp().get("objects", ""))

    def set_objects(self, tree: str, signature: str = "") -> None:
        """Remember of which tree all objects are, and what `signature` of a build they were linked
        to; "" before any of them is made.
        """
        self._write_stamp(self.stamp() | {"objects": tree, "signature": signature})

    def has_objects(self, tree: str, signature: str) -> bool:
        """Are all objects of a build here? One of the same tree may have had other flags."""
        return (self.objects, self.stamp().get("signature")) == (tree, signature)

    def settle(self) -> None:
        """Let make take all that is below out/ for what it would make: nothing there is older than
        anything else, or than the source. For who knows that all of it is of this source.
        NotPlainError where foreign code has closed a folder.
        """
        now = time.time_ns()
        with self._writing():
            try:
                for folder, folders, names in os.walk(self.out, onerror=_raise, followlinks=False):
                    for name in (*folders, *names):
                        os.utime(f"{folder}/{name}", ns=(now, now), follow_symlinks=False)
            except PermissionError as error:
                raise NotPlainError(f"a folder of {self.out.name}/ cannot be entered") from error

    def discard(self, name: str) -> None:
        """A file below out/ is to be made again; NotPlainError where it is no file."""
        if self.has(name):
            self.plain_file(name).unlink()

    def set_config_key(self, key: str) -> None:
        """Remember what .config was made from; "" before it is made."""
        self._write_stamp(self.stamp() | {"config_key": key})

    def set_passed(self, source: Path) -> None:
        """Remember that a revision of `source` gave every option that is asked here."""
        self._write_stamp(self.stamp() | {"passed": str(source.resolve())})

    def has_passed(self, source: Path) -> bool:
        """Did a revision of `source` ever? Kept when the objects are thrown away."""
        return self.stamp().get("passed") == str(source.resolve())

    def put(self, folder: Path, name: str, text: str) -> Path:
        """Write a file of ours into a folder that `open` has emptied. NotPlainError when foreign
        code has put something there since, or has taken the folder away from us.
        """
        path = folder / name
        with self._writing():
            try:
                with path.open("x", encoding="utf-8", errors="surrogateescape") as stream:
                    stream.write(text)
                path.chmod(0o644)
            except (FileExistsError, PermissionError, NotADirectoryError) as error:
                raise NotPlainError(
                    f"the build wrote to {folder.name}/, where {name} is ours"
                ) from error
        return path

    def has(self, name: str) -> bool:
        """Is there anything of that name below out/?"""
        return os.path.lexists(self.out / name)

    def plain_file(self, name: str, limit: int = _FILE_LIMIT) -> Path:
        """A regular file below out/ with at most `limit` bytes, reached without symbolic
        links; else NotPlainError.
        """
        path = self.out
        for part in name.split("/"):
            if part in {"", ".", ".."}:
                raise NotPlainError(f"{name} is not a path below O=")
            path = path / part
            try:
                status = path.lstat()
            except (OSError, ValueError) as error:
                raise NotPlainError(f"make left no {name}") from error
            if stat.S_ISLNK(status.st_mode):
                raise NotPlainError(f"{name} is or goes through a symbolic link")
        if not stat.S_ISREG(status.st_mode):
            raise NotPlainError(f"{name} is not a regular file")
        if status.st_size > limit:
            raise NotPlainError(f"{name} has {status.st_size} bytes, more than {limit}")
        _check_readable(path, name)
        return path

    def text(self, name: str) -> str:
        """Text of a regular file below out/; NotPlainError when there is none, or too much."""
        return command.decode(self.plain_file(name, TEXT_LIMIT).read_bytes())

    def kernel_modules(self) -> list[Path]:
        """Modules of this build, one a name, ours before the tree's.

        The tree's are those of modules.order: make deletes no module that a later
        revision stops building. NotPlainError when one is not there, cannot be read or is oddly
        named.
        """
        by_name = {path.name: path for path in self._own_modules()}
        for line in self.text("modules.order").splitlines():
            # Lines read a.o, in older trees a.ko, in old ones kernel/a.ko for a.ko.
            name = re.sub(r"\.k?o$", ".ko", line)
            if not self.has(name):
                name = name.removeprefix("kernel/")
            by_name.setdefault(name.rpartition("/")[2], self.plain_file(name))
        for name in by_name:
            if not _MODULE_NAME.fullmatch(name):
                raise NotPlainError(f"{name!r} is not the name of a module")
        return [by_name[name] for name in sorted(by_name)]

    def _own_modules(self) -> list[Path]:
        """Our modules, all of which can be read: the tree may have closed the folder that they lie
        in, or one of them.
        """
        try:
            paths = [path for path in self.modules.iterdir() if path.name.endswith(".ko")]
            ours = [path for path in sorted(paths) if stat.S_ISREG(path.lstat().st_mode)]
        except OSError as error:
            raise NotPlainError(f"{self.modules.name}/ cannot be read") from error
        for path in ours:
            _check_readable(path, f"{self.modules.name}/{path.name}")
        return ours

    def log_text(self, start: int = 0) -> str:
        """The log from byte `start`; without its middle when it is longer than 9 MiB."""
        with self.log.open("rb") as stream:
            stream.seek(start)
            data = stream.read(_LOG_HEAD)
            size = os.fstat(stream.fileno()).st_size
            if size > start + _LOG_HEAD:
                stream.seek(max(start + _LOG_HEAD, size - _LOG_TAIL))
                data += b"\n" + stream.read(_LOG_TAIL)
        return command.decode(data)

    def _make(self, folder: Path) -> None:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        if os.geteuid() == 0:
            os.chown(folder, self.uid, self.uid, follow_symlinks=False)

    def _why_refill(self, stamp: dict[str, Any], source: Path, tools: str, *, fresh: bool) -> str:
        if not self.out.is_dir():
            return "there are none yet"
        if fresh:
            return "a fresh build is asked for"
        if self.is_dirty:
            return "the last build was interrupted"
        if stamp.get("source") != identity(source) or stamp.get("owner") != self.uid:
            return "they belong to another source directory"
        if stamp.get("tools", "") != tools:
            return "other tools made them"
        return ""

    def _write_stamp(self, stamp: dict[str, Any]) -> None:
        with self._writing():
            write_whole(self._stamp, json.dumps(stamp, sort_keys=True).encode())

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """InfrastructureError for what the disk refuses."""
        try:
            yield
        except OSError as error:
            raise InfrastructureError(
                f"cannot write below {self.root}: {error.strerror}",
                "free disk space (8 GB are needed) or correct the owner, then run"
                " `rtbisect resume`",
            ) from error


def _raise(error: OSError) -> NoReturn:
    raise error


def _check_readable(path: Path, name: str) -> None:
    """NotPlainError, with this name, for a file that foreign code has closed to us."""
    if not os.access(path, os.R_OK, effective_ids=True):
        raise NotPlainError(f"{name} cannot be read")


def identity(source: Path) -> str:
    """Changes when a source directory is made anew: then file times may lie."""
    status = source.stat()
    return f"{source.resolve()}:{status.st_dev}:{status.st_ino}"


def _takes_half(folder: Path, bounds: Bounds) -> bool:
    """More than a half of what a build may leave."""
    taken = on_disk((folder,), bounds.files)
    half = taken.bytes > bounds.disk_bytes // 2 or taken.files > bounds.files // 2
    return taken.hidden or half


def remove(folder: Path) -> None:
    """Remove a tree that foreign code wrote: it may have taken our rights away, and be
    deeper than Python can recurse. Neither program follows links in the tree.
    """
    if not os.path.lexists(folder):
        return
    for argv in (["chmod", "-R", "--", "u+rwx"], ["rm", "-rf", "--"]):
        command.run([*argv, str(folder)], cwd=folder.parent, timeout_s=_REMOVE_S, check=True)
