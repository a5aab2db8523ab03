# SPDX-License-Identifier: GPL-2.0-or-later
"""A code layout of its own for each run: before it, the build step links again with another seed.

Runs of one build follow the luck of its linker, however many there are. With a link before each run
that luck is drawn anew, and more runs average it away (Curtsinger and Berger, Stabilizer, ASPLOS
2013).
"""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rtbisect.errors import MisaskedError
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Commands
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: Seed of all first builds: equal code makes equal products.
FIRST_SEED = 1

#: Two links with one seed; then others, two of which may agree where few functions move.
_SEEDS = (2, 2, 3, 4, 5)

#: Of the head of an ELF file: how it begins, its byte order, and its type where it is linked, which
#: is ET_EXEC or ET_DYN (elf(5)).
_ELF, _BIG_ENDIAN, _LINKED = b"\x7fELF", b"\2", (2, 3)

#: The clock of a file system stands still for up to 10 ms (CONFIG_HZ=100).
TICK_S = 0.02

#: (modification time in ns, size in bytes) of each file of a tree, by its path.
Stamps = dict[Path, tuple[int, int]]


def check_seed(tree: Path, link: Callable[[int], bool]) -> Finding | None:
    """MisaskedError where the build step makes the same files of two seeds, or no program although
    the tree has one. What is to be said where nobody can know: no file of it is the same when it is
    made twice. `link` runs the build step with a seed and gives whether that went well.
    """
    made: list[dict[Path, str]] = [{}]
    programs: set[Path] = set()
    before = _stamps(tree)
    for seed in _SEEDS:
        time.sleep(TICK_S)
        if not link(seed):
            # The run that follows tells why.
            return None
        after = _stamps(tree)
        written = [path for path in after if after[path] != before.get(path) and path.is_file()]
        programs.update(filter(_is_program, written))
        # A file that a link does not write stays as it was.
        made.append(made[-1] | _hashes(written))
        before = after
    if programs or any(map(_is_linked, before)):
        # A file with the seed, as options for the linker, is no layout.
        made = [{path: text for path, text in each.items() if path in programs} for each in made]
    _, one, again, *others = made
    # Logs, and programs that hold the time of their build, differ without a seed.
    repeated = {path for path in one if one[path] == again[path]}
    if any(one[path] != other[path] for path in repeated for other in others):
        return None
    if len(repeated) < len(one):
        return Finding.of(Commands.LINKS_DIFFER)
    why = Finding.of(Commands.SEED_IGNORED if one else Commands.NOTHING_LINKED)
    raise MisaskedError(
        str(speak(why)), 'docs/run.md, "A layout for each run", has the lines of a build that does'
    )


def _stamps(tree: Path) -> Stamps:
    found: Stamps = {}
    for folder, folders, files in os.walk(tree):
        if ".git" in folders:
            folders.remove(".git")
        for name in files:
            path = Path(folder, name)
            with suppress(OSError):
                stat = path.lstat()
                found[path] = (stat.st_mtime_ns, stat.st_size)
    return found


def _hashes(paths: Iterable[Path]) -> dict[Path, str]:
    found = {}
    for path in paths:
        with suppress(OSError), path.open("rb") as stream:
            found[path] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found


def _is_program(path: Path) -> bool:
    """Whether it may be started, or is linked: ELF, or with the right to be executed."""
    with suppress(OSError), path.open("rb") as stream:
        return os.access(path, os.X_OK) or stream.read(4) == _ELF
    return False


def _is_linked(path: Path) -> bool:
    """Whether it is an ELF program or library, and no object that is yet to be linked."""
    if path.is_symlink() or not path.is_file():
        return False
    with suppress(OSError), path.open("rb") as stream:
        head = stream.read(18)
        order: Literal["little", "big"] = "big" if head[5:6] == _BIG_ENDIAN else "little"
        return head.startswith(_ELF) and int.from_bytes(head[16:], order) in _LINKED
    return False
