# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of today that are laid over each revision: packed once, at the start of a campaign.

A symbolic link of a revision is never followed: what is in the way of a file is removed, and comes
back when the next revision is checked out.
"""

from __future__ import annotations

import io
import os
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.process.command import printable
from rtbisect.process.folders import place_of, remove
from rtbisect.trees.ignores import as_its_owner_ignores
from rtbisect.trees.plumbing import Git

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Largest size of all overlay files together, in bytes.
MOST_BYTES = 256 << 20


def pack(repo: Path, files: Sequence[Path]) -> tuple[bytes, tuple[str, ...]]:
    """A tar with files of a work tree, equal for equal files, and the paths that were given, from
    its top. `files` are paths from where we stand; of a folder all that git does not ignore.
    ConfigError for what leaves the work tree, by its path or as a symbolic link, and for a
    path through a linked folder.
    """
    asked = tuple(_inside(repo, file) for file in files)
    names = sorted({name for path in asked for name in _files_at(repo, path)})
    packed = io.BytesIO()
    size = 0
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name in names:
            entry, data = _entry(repo, name, MOST_BYTES - size)
            size += len(data)
            tar.addfile(entry, io.BytesIO(data))
    return packed.getvalue(), asked


def _inside(repo: Path, file: Path) -> str:
    """A path from the top of the work tree, by its name."""
    place, told = (
        Path(os.path.normpath(Path.cwd() / file)),
        f"--overlay {printable(str(file), 200)}",
    )
    # The folder that we stand in may be known by another name.
    real = place.parent.resolve() / place.name
    if not real.is_relative_to(repo) or real == repo:
        raise ConfigError(
            f"{told} is not below {repo}",
            "copy it into the work tree: it needs a place in each revision",
        )
    if not real.is_symlink() and not real.exists():
        raise ConfigError(f"{told} is not there", "name a file or folder of your work tree")
    name = str(real.relative_to(repo))
    if ".git" in [part.casefold() for part in Path(name).parts]:
        raise ConfigError(f"{told} belongs to git", "name a file outside of it")
    tops = (above for above in place.parents if above.resolve() == repo)
    if (top := next(tops, None)) and str(place.relative_to(top)) != name:
        raise ConfigError(
            f"{told} leads through a linked folder", f"give {printable(name, 200)}, which it is"
        )
    return name


def _files_at(repo: Path, path: str) -> Iterator[str]:
    """The file itself, or those in a folder, from the top of the work tree."""
    if not (repo / path).is_dir() or (repo / path).is_symlink():
        yield path
        return
    words = (
        *as_its_owner_ignores(repo),
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
        "--",
        f":(top,literal){path}",
    )
    found = [name for name in Git(cwd=repo)(*words).split("\0") if name]
    # git ls-files also lists files that are deleted in the work tree, or lie below a link there.
    there = [
        name
        for name in found
        if not _through_link(repo, name) and ((repo / name).is_symlink() or (repo / name).is_file())
    ]
    if not there:
        raise ConfigError(f"--overlay {printable(path, 200)} has no files", "name files in it")
    yield from there


def _through_link(repo: Path, name: str) -> bool:
    return any((repo / above).is_symlink() for above in Path(name).parents)


def _entry(repo: Path, name: str, most_bytes: int) -> tuple[tarfile.TarInfo, bytes]:
    place, entry = repo / name, tarfile.TarInfo(name)
    if place.is_symlink():
        target = str(place.readlink())
        landing = os.path.normpath(place.parent / target)
        if Path(target).is_absolute() or not Path(landing).is_relative_to(repo):
            raise ConfigError(
                f"--overlay {printable(name, 200)} is a link out of the work tree",
                "give the file that it names",
            )
        entry.type, entry.linkname = tarfile.SYMTYPE, target
        return entry, b""
    if not place.is_file():
        raise ConfigError(
            f"--overlay {printable(name, 200)} is not a file or folder",
            "give paths of your work tree",
        )
    with place.open("rb") as stream:
        # The size of the file is no promise: it may grow.
        data = stream.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise ConfigError(
            f"the files of --overlay have more than {MOST_BYTES >> 20} MB, with"
            f" {printable(name, 200)}",
            "lay over what measures, and build the rest",
        )
    entry.size, entry.mode = len(data), 0o755 if os.access(place, os.X_OK) else 0o644
    return entry, data


@dataclass(slots=True)
class Overlay:
    """Packed files, to be laid over revisions."""

    packed: bytes
    #: When each file was laid over the revision that is checked out: it keeps this time, so that
    #: nothing is built anew. In ns since 1970.
    _times: dict[str, int] = field(default_factory=dict)

    def lay(self, worktree: Path, *, clean: bool) -> None:
        """Put the files there. `clean`: a revision was checked out anew."""
        if clean:
            self._times.clear()
        try:
            with tarfile.open(fileobj=io.BytesIO(self.packed)) as tar:
                for entry in tar:
                    data = tar.extractfile(entry) if entry.isreg() else None
                    self._lay_one(worktree, entry, data.read() if data else b"")
        except OSError as error:
            raise InfrastructureError(
                f"the files of --overlay cannot be laid over {worktree}: {error}",
                "look at the free space there",
                retryable=False,
            ) from error

    def _lay_one(self, worktree: Path, entry: tarfile.TarInfo, data: bytes) -> None:
        place = place_of(worktree, entry.name)
        if not _same(place, entry, data):
            remove(place)
            if entry.issym():
                place.symlink_to(entry.linkname)
            else:
                place.write_bytes(data)
                place.chmod(entry.mode)
        then = self._times.setdefault(entry.name, place.lstat().st_mtime_ns)
        if place.lstat().st_mtime_ns != then:
            os.utime(place, ns=(then, then), follow_symlinks=False)


def _same(place: Path, entry: tarfile.TarInfo, data: bytes) -> bool:
    if entry.issym() or place.is_symlink():
        both = entry.issym() and place.is_symlink()
        return both and str(place.readlink()) == entry.linkname
    if not place.is_file() or place.stat().st_size != len(data):
        return False
    return (
        bool(place.stat().st_mode & 0o100) == bool(entry.mode & 0o100)
        and place.read_bytes() == data
    )
