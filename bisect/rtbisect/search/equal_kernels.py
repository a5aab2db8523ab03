# SPDX-License-Identifier: GPL-2.0-or-later
"""Which revisions of a search are one kernel: by their builds, or as nothing between touches a file
that it was made from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from posixpath import splitext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtbisect.model.code import Change, CommitGraph

#: Folders whose programs make parts of a kernel without standing in any record.
TOOLS = ("scripts/", "tools/", "usr/", "certs/")
#: Files that decide what is built, how it is laid out or what its release is called.
RULES = re.compile(r"(?:Kconfig|Makefile|Kbuild|localversion).*|.*\.(?:lds|lds\.[Sh]|tbl)")
#: Default configurations are questions that the build asks, like Kconfig.
CONFIGS = re.compile(r"(?:arch/[^/]+|kernel)/configs/")


@dataclass(frozen=True)
class EqualKernels:
    """What is known and what is taken of equal kernels."""

    #: The kernel of each built revision; empty where nobody knows it.
    signatures: Mapping[str, str]
    #: Revisions whose build was tried in vain.
    build_failed: frozenset[str]
    #: Pairs (commit, parent) of one kernel, by the files that the commit touches.
    silent: tuple[tuple[str, str], ...]
    #: Numbers of the files of a silent commit that others of them touch too.
    shared: Mapping[str, frozenset[int]]

    @cached_property
    def twins(self) -> tuple[tuple[str, ...], ...]:
        """Revisions with the same signature, where there are at least two of them."""
        groups: dict[str, list[str]] = {}
        for sha, signature in self.signatures.items():
            if signature:
                groups.setdefault(signature, []).append(sha)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    @cached_property
    def assumed(self) -> tuple[tuple[str, str], ...]:
        """Silent pairs that no signature contradicts. Where two members of a chain have
        different kernels, nobody knows which of its pairs is wrong, and none is believed.
        """
        if not self.silent:
            return ()
        chain = _group_roots(self.silent)
        kernels: dict[str, set[str]] = {}
        for sha, signature in self.signatures.items():
            if signature and sha in chain:
                kernels.setdefault(chain[sha], set()).add(signature)
        wrong = {root for root, signatures in kernels.items() if len(signatures) > 1}
        return tuple(pair for pair in self.silent if chain[pair[0]] not in wrong)

    @cached_property
    def _silent_parent(self) -> Mapping[str, str]:
        """The parent of each commit that is taken to have its kernel."""
        return dict(self.assumed)

    @cached_property
    def kin(self) -> Mapping[str, tuple[str, ...]]:
        """For each revision that has any: those with the same kernel, by signature or as nothing
        touches it, itself too; built ones first.
        """
        pairs = [(sha, twin) for group in self.twins for sha, twin in pairwise(group)]
        chain = _group_roots((*pairs, *self.assumed))
        members: dict[str, list[str]] = {}
        for sha, root in chain.items():
            members.setdefault(root, []).append(sha)
        built = self.signatures
        groups = (sorted(g, key=lambda sha: (sha not in built, sha)) for g in members.values())
        return {sha: group for group in map(tuple, groups) for sha in group}

    def same_as(self, sha: str) -> tuple[str, ...]:
        """All revisions with the kernel of `sha`, at least itself; built ones first."""
        return self.kin.get(sha, (sha,))

    @cached_property
    def stretches(self) -> tuple[tuple[str, ...], ...]:
        """Silent commits between two built kernels of a chain, the upper one of which is left out
        and the lower one is the last; in the order of the chain.
        """
        stretches = []
        for sha, signature in self.signatures.items():
            path, parent = [sha], self._silent_parent.get(sha)
            while parent is not None and parent not in self.signatures:
                path.append(parent)
                parent = self._silent_parent.get(parent)
            if signature and parent is not None and self.signatures[parent]:
                stretches.append(tuple(reversed(path)))
        return tuple(stretches)

    @cached_property
    def spanned(self) -> frozenset[str]:
        """Revisions that need no build of their own to be proven equal: built kernels before and
        after them in a chain of silent commits are equal, and nothing between touches their files
        again, so that nothing is taken back.
        """
        shas: set[str] = set()
        for path in self.stretches:
            times = Counter(file for sha in path for file in self.shared.get(sha, ()))
            shas.update(
                sha for sha in path[:-1] if all(times[f] == 1 for f in self.shared.get(sha, ()))
            )
        return frozenset(shas)

    def to_prove(self, shas: Iterable[str]) -> list[str]:
        """What to build so that all of `shas`, which are taken to be one kernel, are proven to be
        one: the ends of chains, then as few as can be between commits that touch the same file.
        """
        wanted = set(shas)
        inside = {sha for path in self.stretches for sha in path}
        hanging = {sha for sha in wanted - inside if not self.tried(sha)}
        if hanging:
            return sorted(hanging - {self._silent_parent.get(sha, "") for sha in hanging})
        cuts: dict[str, None] = {}
        for path in self.stretches:
            if wanted.issuperset(path):
                cuts.update(dict.fromkeys(self._fewest_cuts(path)))
        return list(cuts)

    def _fewest_cuts(self, path: tuple[str, ...]) -> Iterable[str]:
        """The fewest points of a stretch between which no file is touched twice: as late as can be
        each (the classic cover of intervals by points).
        """
        last: dict[int, int] = {}
        cut = -1
        for i, sha in enumerate(path):
            files = self.shared.get(sha, frozenset())
            first = max((last[file] for file in files if file in last), default=-1)
            if first > cut:
                untried = [k for k in range(first, i) if not self.tried(path[k])]
                if untried:
                    cut = untried[-1]
                    yield path[cut]
            last.update(dict.fromkeys(files, i))

    def stand_in(self, sha: str) -> str:
        """A built revision with the kernel of `sha`, itself where there is none."""
        first = self.same_as(sha)[0]
        return first if sha not in self.signatures and first in self.signatures else sha

    def tried(self, sha: str) -> bool:
        """A build was tried, so another one costs nothing or is hopeless."""
        return sha in self.signatures or sha in self.build_failed


def _group_roots(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The first member of the group of each revision that pairs connect."""
    above: dict[str, str] = {}

    def root(sha: str) -> str:
        while above[sha] != sha:
            above[sha] = above[above[sha]]
            sha = above[sha]
        return sha

    for one, other in pairs:
        for sha in (one, other):
            above.setdefault(sha, sha)
        above[root(one)] = root(other)
    return {sha: root(sha) for sha in list(above)}


@dataclass(frozen=True)
class Closure:
    """Files that kernels were made from."""

    #: Paths relative to the source tree.
    files: frozenset[str]
    #: The same without their suffix: a new fs/a.c may take the place of fs/a.S.
    stems: frozenset[str]

    @classmethod
    def of(cls, files: Iterable[str]) -> Closure:
        paths = frozenset(path for path in files if path.rpartition("/")[2] not in {"", "."})
        return cls(paths, frozenset(splitext(path)[0] for path in paths))

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
        return "include/" in path or name.endswith(".h") or splitext(path)[0] in self.stems


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
