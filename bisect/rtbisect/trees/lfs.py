# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of Git LFS: a revision has a pointer, and the contents lie beside the clone's objects.

Nothing is fetched, and no filter of anybody is run: what the clone has is copied over the pointer.
The format: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rtbisect.errors import InfrastructureError
from rtbisect.process.command import encode, printable
from rtbisect.process.folders import place_of, remove
from rtbisect.trees.plumbing import WALK_S, Git, blobs, full_sha

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbisect.trees.store import Store

#: A pointer is shorter than this, by its specification.
_MOST_BYTES = 1024
_VERSION = b"version https://git-lfs"
_OID, _SIZE = re.compile(rb"sha256:([0-9a-f]{64})"), re.compile(rb"[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Pointer:
    """A file whose contents are kept by LFS."""

    #: Path from the top of the repository.
    path: str
    #: sha256 of the contents, and their bytes.
    oid: str
    size: int


@dataclass(frozen=True)
class LfsFiles:
    """The LFS files of the revisions of a local repository."""

    store: Store
    _known: dict[str, tuple[Pointer, ...]] = field(default_factory=dict)
    #: When each file was laid over the revision that is checked out: it keeps this time, so that
    #: nothing is built anew. In ns since 1970.
    _times: dict[str, int] = field(default_factory=dict)

    def missing(self, sha: str) -> tuple[str, ...]:
        """Paths of a revision whose contents the clone does not have."""
        return tuple(
            printable(each.path, 200)
            for each in self._pointers(sha)
            if self._contents(each) is None
        )

    def lay(self, worktree: Path, sha: str, *, clean: bool) -> None:
        """Put contents in the place of pointers. `clean`: `sha` was checked out anew."""
        if clean:
            self._times.clear()
        for pointer in self._pointers(sha):
            contents = self._contents(pointer)
            place = place_of(worktree, pointer.path)
            if contents is not None and place.is_file() and not place.is_symlink():
                self._lay_one(pointer, contents, place)

    def _lay_one(self, pointer: Pointer, contents: Path, place: Path) -> None:
        mode = place.stat().st_mode
        try:
            remove(place)
            shutil.copyfile(contents, place)
            place.chmod(mode)
        except OSError as error:
            raise InfrastructureError(
                f"{printable(pointer.path, 200)} of Git LFS cannot be laid at {place}: {error}",
                "look at the free space there",
                retryable=False,
            ) from error
        then = self._times.setdefault(pointer.path, place.stat().st_mtime_ns)
        os.utime(place, ns=(then, then))

    @cached_property
    def _kept(self) -> Path:
        """Where the clone keeps contents."""
        own = self.store.source_git("rev-parse", "--path-format=absolute", "--git-common-dir")
        return Path(own.removesuffix("\n")) / "lfs/objects"

    def _contents(self, pointer: Pointer) -> Path | None:
        """The file in the clone; None where it has none of that size."""
        oid = pointer.oid
        place = self._kept / oid[:2] / oid[2:4] / oid
        return place if place.is_file() and place.stat().st_size == pointer.size else None

    def _pointers(self, sha: str) -> tuple[Pointer, ...]:
        if sha not in self._known:
            self._known[sha] = tuple(_read(self.store.git, full_sha(sha)))
        return self._known[sha]


def _read(git: Git, sha: str) -> Iterator[Pointer]:
    if not _has_lfs(git, sha):
        return
    words = ("ls-tree", "-r", "-l", "-z", "--full-tree", sha)
    rows = (row.partition("\t") for row in git(*words, timeout_s=WALK_S).split("\0") if row)
    files = ((path, about.split()) for about, _, path in rows)
    small = [
        (about[2], path)
        for path, about in files
        if about[0].startswith("100") and int(about[3]) < _MOST_BYTES
    ]
    owned = _owned(git, sha, [path for _, path in small])
    ours = [each for each in small if each[1] in owned]
    for (_, path), text in zip(ours, blobs(git, [name for name, _ in ours]), strict=True):
        values = dict(line.partition(b" ")[::2] for line in text.split(b"\n"))
        oid = _OID.fullmatch(values.get(b"oid", b""))
        size = _SIZE.fullmatch(values.get(b"size", b""))
        if text.startswith(_VERSION) and oid and size:
            yield Pointer(path, oid[1].decode("ascii"), int(size[0]))


def _has_lfs(git: Git, sha: str) -> bool:
    """Whether a `.gitattributes` of a revision hands files to LFS."""
    words = ("grep", "-q", "-F", "-e", "filter=lfs", sha, "--")
    return git.try_(*words, ":(top,glob)**/.gitattributes", timeout_s=WALK_S).ok


def _owned(git: Git, sha: str, paths: Sequence[str]) -> frozenset[str]:
    """Those of the paths that the attributes of a revision hand to LFS. The store has attributes of
    its own, which come before those; so this asks in an empty repository with its objects.
    """
    assert git.git_dir is not None
    with TemporaryDirectory(prefix="rtbisect-") as folder:
        bare = Git(cwd=Path(folder), git_dir=Path(folder))
        kind = "sha256" if len(sha) == 64 else "sha1"
        bare("init", "--quiet", "--bare", "--template=", f"--object-format={kind}")
        (bare.cwd / "objects/info").mkdir(exist_ok=True)
        (bare.cwd / "objects/info/alternates").write_text(f"{git.git_dir.resolve()}/objects\n")
        bare("read-tree", sha, timeout_s=WALK_S)
        asked = b"".join(encode(path) + b"\0" for path in paths)
        words = ("check-attr", "--cached", "-z", "--stdin", "filter")
        fields = bare(*words, stdin=asked, timeout_s=WALK_S).split("\0")
    return frozenset(
        path for path, value in zip(fields[::3], fields[2::3], strict=False) if value == "lfs"
    )
