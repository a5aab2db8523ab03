# SPDX-License-Identifier: GPL-2.0-or-later
"""What a build leaves: revisions with equal products are one to the search."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import NamedTemporaryFile, gettempdir

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Commands
from rtbisect.process.command import cut, encode

#: Most bytes of one file; it is read as a whole.
MOST_BYTES = 512 << 20

#: The byte that stands for each byte of the path of a worktree: all of them are equally long.
_ANYWHERE = b"/"


class NoProductError(Exception):
    """The build has not left what was named, or what cannot be compared; `found` says what."""

    def __init__(self, path: str, *, large: bool = False) -> None:
        shown = cut(path, 160)
        self.found = (
            Finding.of(Commands.LARGE_PRODUCT, path=shown, most=MOST_BYTES)
            if large
            else Finding.of(Commands.NO_PRODUCT, path=shown)
        )
        super().__init__(self.found)


def product_paths(paths: Sequence[str]) -> tuple[str, ...]:
    """The paths of `--product` in a plain form; ConfigError for one that leaves the worktree."""
    plain = tuple(os.path.normpath(path) for path in paths)
    for given, path in zip(paths, plain, strict=True):
        if not given or PurePosixPath(path).is_absolute() or path.split("/")[0] == "..":
            raise ConfigError(
                f"--product {given!r} lies in no worktree of a revision",
                "give a path from the top of the repository, as --product build/bench",
            )
    return plain


@dataclass(frozen=True, slots=True)
class Products:
    """Files and folders that a build leaves in its worktree, by their paths from its top."""

    paths: tuple[str, ...]
    #: sha256 (hex) of what runs of an ELF file, without build id and debug information; ValueError
    #: for any other file.
    hash_elf: Callable[[Path], str]

    def signature(self, tree: Path) -> str:
        """sha256 (hex) of the products in a built tree, wherever that lies. NoProductError where
        one is not there, cannot be read, or is too large.
        """
        digest = hashlib.sha256()
        for path in self.paths:
            try:
                entries = list(_entries(tree / path))
                for entry in entries:
                    digest.update(encode(f"\0product {entry.relative_to(tree)}\n"))
                    digest.update(self._hash(entry, tree).encode())
            except OSError as error:
                raise NoProductError(path) from error
            if not any(map(Path.is_file, entries)):
                raise NoProductError(path)
        return digest.hexdigest()

    def _hash(self, file: Path, tree: Path) -> str:
        """Of a file what it is, of a link to something else where that leads."""
        here = os.fsencode(tree)
        if not file.is_file():
            target = os.fsencode(file.readlink()).replace(here, _ANYWHERE * len(here))
            return f"link {target!r}"
        if file.stat().st_size > MOST_BYTES:
            raise NoProductError(str(file.relative_to(tree)), large=True)
        data = file.read_bytes().replace(here, _ANYWHERE * len(here))
        of_elf = self._hash_elf(data) if data.startswith(b"\x7fELF") else ""
        # One that nobody may start is another program, or none.
        mode = "" if os.access(file, os.X_OK) else " not executable"
        return (of_elf or hashlib.sha256(data).hexdigest()) + mode

    def _hash_elf(self, data: bytes) -> str:
        """Nothing for a file of another byte order, or one that is cut off: as of any other."""
        try:
            moved = NamedTemporaryFile()  # noqa: SIM115  (closed below)
        except OSError as error:
            raise InfrastructureError(f"{gettempdir()}: {error.strerror}") from error
        with moved:
            try:
                moved.write(data)
                moved.flush()
            except OSError as error:
                raise InfrastructureError(
                    f"{gettempdir()}: {error.strerror}", "make room there", retryable=False
                ) from error
            try:
                return self.hash_elf(Path(moved.name))
            except ValueError:
                return ""


def _entries(path: Path) -> Iterator[Path]:
    """The plain files of a product in a fixed order, and links that lead to none; nothing where
    there is nothing. No link to a folder is followed but the product itself.
    """
    if path.is_file():
        yield path
    for folder, folders, names in os.walk(path):
        folders.sort()
        found = [Path(folder, name) for name in sorted(names)]
        yield from (each for each in found if each.is_file() or each.is_symlink())
        yield from (each for name in folders if (each := Path(folder, name)).is_symlink())
