# SPDX-License-Identifier: GPL-2.0-or-later
"""Commits that cannot change the kernel: they touch no file that it was made from."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rtbisect.model.code import Change, CommitGraph

#: Folders whose programs make parts of a kernel without standing in any record.
TOOLS = ("scripts/", "tools/", "usr/", "certs/")
#: Files that decide what is built, how it is laid out or what its release is called.
RULES = re.compile(r"(?:Kconfig|Makefile|Kbuild|localversion).*|.*\.(?:lds|lds\.[Sh]|tbl)")
#: Default configurations are questions that the build asks, like Kconfig.
CONFIGS = re.compile(r"(?:arch/[^/]+|kernel)/configs/")


@dataclass(frozen=True)
class Closure:
    """Files that kernels were made from."""

    #: Paths relative to the source tree.
    files: frozenset[str]
    #: The same without their suffix: a new fs/a.c may take the place of fs/a.S.
    stems: frozenset[str]

    @classmethod
    def of(cls, files: Iterable[str]) -> Closure:
        paths = frozenset(path for path in files if PurePosixPath(path).name)
        return cls(paths, frozenset(str(PurePosixPath(path).with_suffix("")) for path in paths))

    def touched_by(self, change: Change) -> bool:
        """Whether a change can change a kernel that was made from these files."""
        path = change.path
        if path in self.files or path.startswith(TOOLS) or CONFIGS.match(path):
            return True
        name = path.rpartition("/")[2]
        if RULES.fullmatch(name):
            return True
        if change.status == "M":
            return False
        # A file that comes or goes may hide another one from the compiler or from make.
        return (
            "include/" in path
            or name.endswith(".h")
            or str(PurePosixPath(path).with_suffix("")) in self.stems
        )


def shared_files(
    changes: Mapping[str, tuple[Change, ...]], pairs: Iterable[tuple[str, str]]
) -> dict[str, frozenset[int]]:
    """Of the commits of `pairs` those that touch a file which another one touches too, with a
    number for each such file: what one of them does another one may take back.
    """
    shas = [sha for sha, _parent in pairs]
    times = Counter(path for sha in shas for path in {change.path for change in changes[sha]})
    number = {path: i for i, path in enumerate(sorted(p for p in times if times[p] > 1))}
    file_numbers = {
        sha: frozenset(number[c.path] for c in changes[sha] if c.path in number) for sha in shas
    }
    return {sha: files for sha, files in file_numbers.items() if files}


def silent_pairs(
    graph: CommitGraph, changes: Mapping[str, tuple[Change, ...]], closure: Closure
) -> tuple[tuple[str, str], ...]:
    """Pairs (commit, first parent) with equal kernels, by what the commit changes. A commit
    whose changes are not known is in no pair.
    """
    return tuple(
        (commit.sha, commit.parents[0])
        for commit in graph.commits
        if commit.sha in changes
        and commit.parents
        and not any(closure.touched_by(change) for change in changes[commit.sha])
    )
