# SPDX-License-Identifier: GPL-2.0-or-later
"""Submodules of a revision, at the commits that it names, from what the clone of a person has.

Nothing is fetched: of `.gitmodules`, which anybody may have written, only names and paths are read,
as git's own checks let them pass, and neither a URL nor a command.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.errors import InfrastructureError
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Commands
from rtbisect.process.command import printable
from rtbisect.process.folders import place_of, remove
from rtbisect.trees.plumbing import FULL_SHA, GITLINK, Git, full_sha, is_partial
from rtbisect.trees.store import Store
from rtbisect.trees.worktree import Worktree

if TYPE_CHECKING:
    from collections.abc import Mapping

_FILE = ".gitmodules"


@dataclass(frozen=True, slots=True)
class _Module:
    """A submodule of one revision."""

    name: str
    #: Path from the top of the repository that holds the submodule.
    path: str
    commit: str


@dataclass(frozen=True)
class _Holder:
    """A repository that may hold submodules: the one under test, or a submodule itself."""

    #: The repository whose commits are read.
    git: Git
    #: Where the clone keeps the repositories of submodules.
    kept: tuple[Path, ...]
    #: The work tree of the clone, in which an old submodule may still have a repository.
    work: Path | None
    #: Its own path from the top, with a slash at the end; "" for the top.
    prefix: str = ""

    @cached_property
    def _known(self) -> dict[str, tuple[_Module, ...]]:
        return {}

    def modules(self, sha: str) -> tuple[_Module, ...]:
        """Submodules of a revision; () where it is not there. What has no name in `.gitmodules` is
        an empty folder in every clone.
        """
        if sha not in self._known:
            self._known[sha] = tuple(self._read(sha))
        return self._known[sha]

    def paths(self, sha: str) -> frozenset[str]:
        """Where a revision has submodules."""
        return frozenset(module.path for module in self.modules(sha))

    def _read(self, sha: str) -> Iterator[_Module]:
        mode = self._entries(sha, (_FILE,)).get(_FILE, ("", ""))[0]
        if not mode.startswith("100"):
            # A link would be followed to what nobody has committed.
            return
        blob = f"--blob={full_sha(sha)}:{_FILE}"
        done = self.git.try_("config", "-z", blob, "--get-regexp", r"^submodule\..*\.(path|update)")
        values = dict(row.partition("\n")[::2] for row in done.stdout.split("\0") if row)
        names = {
            path: key.removeprefix("submodule.").removesuffix(".path")
            for key, path in values.items()
            if key.endswith(".path") and _is_plain(path)
        }
        for path, (kind, commit) in self._entries(sha, tuple(names)).items():
            name = names.get(path, "")
            # As git reads it; other values are commands, which it does not take from this file.
            left_out = values.get(f"submodule.{name}.update") == "none"
            if kind == GITLINK and _is_plain(name) and not left_out:
                yield _Module(name, path, commit)

    def _entries(self, sha: str, paths: tuple[str, ...]) -> Mapping[str, tuple[str, str]]:
        """Mode and object of those paths that a revision has."""
        if not paths:
            return {}
        words = ("--literal-pathspecs", "ls-tree", "-z", "--full-tree", full_sha(sha), "--", *paths)
        rows = (row.partition("\t") for row in self.git.try_(*words).stdout.split("\0") if row)
        entries = ((path, about.split(" ")) for about, _, path in rows)
        return {path: (about[0], about[2]) for path, about in entries}

    def holder_of(self, module: _Module) -> _Holder | None:
        """The repository of a submodule in the clone; None where there is none."""
        places = [folder / module.name for folder in self.kept]
        work = self.work / module.path if self.work else None
        if work is not None and not any(p.is_symlink() for p in (work, *work.parents)):
            places.append(work / ".git")
        for place in places:
            git = Git(cwd=place, git_dir=place, work_tree=place)
            if not (place / "HEAD").is_file() or not git.try_("rev-parse", "--git-dir").ok:
                continue
            # Git would fetch what a partial clone lacks, into the clone and from the network.
            if not is_partial(git):
                prefix = f"{self.prefix}{module.path}/"
                return _Holder(git, (place / "modules",), work, prefix)
        return None

    def has(self, commit: str) -> bool:
        return (
            bool(FULL_SHA.fullmatch(commit))
            and self.git.try_("cat-file", "-e", f"{commit}^{{commit}}").ok
        )


def _is_plain(path: str) -> bool:
    """Whether a path or a name stays below the folder that it is given for."""
    parts = path.replace("\\", "/").split("/")
    return not any(part in ("", ".", "..") or part.casefold() == ".git" for part in parts)


@dataclass(frozen=True)
class Submodules:
    """The submodules of the revisions that are checked out in one worktree."""

    #: Our bare repository with the commits of the repository under test.
    store: Store
    worktree: Worktree

    @cached_property
    def _top(self) -> _Holder:
        source = self.store.source_git
        shown = source("rev-parse", "--path-format=absolute", "--git-path", "modules",
                       "--git-common-dir")  # fmt: skip
        own, common = (Path(line) for line in shown.rstrip("\n").split("\n"))
        return _Holder(self.store.git, (own, common / "modules"), Path(self.store.source))

    @cached_property
    def _holders(self) -> dict[tuple[str, str], _Holder | None]:
        return {}

    def _holder(self, above: _Holder, module: _Module) -> _Holder | None:
        key = (above.prefix + module.path, module.name)
        if key not in self._holders:
            self._holders[key] = above.holder_of(module)
        return self._holders[key]

    def lacking(self, sha: str) -> Finding | None:
        """The first submodule of a revision, or of a submodule, that the clone does not have."""
        return self._lacking(self._top, sha)

    def _lacking(self, above: _Holder, sha: str) -> Finding | None:
        for module in above.modules(sha):
            path, holder = printable(above.prefix + module.path, 200), self._holder(above, module)
            if holder is None:
                return Finding.of(Commands.NO_SUBMODULE, path=path)
            if not holder.has(module.commit):
                commit = printable(module.commit, 64)
                return Finding.of(Commands.NO_SUBMODULE_COMMIT, path=path, commit=commit)
            if (inner := self._lacking(holder, module.commit)) is not None:
                return inner
        return None

    def paths(self, sha: str) -> frozenset[str]:
        """Those folders of a revision that `put` fills."""
        return self._top.paths(sha)

    def clear_stale(self, sha: str) -> None:
        """Before `sha` is checked out: remove submodules that it does not have there, with all that
        was built in them. What else is in their place comes then.
        """
        self._clear_stale(self._top, self.worktree, sha)

    def _clear_stale(self, above: _Holder, worktree: Worktree, sha: str) -> None:
        before = worktree.head()
        if before in ("", sha):
            return
        stay = above.paths(sha)
        for module in above.modules(before):
            if module.path not in stay:
                remove(place_of(worktree.path, module.path))

    def put(self, sha: str, lock_fd: int, *, clean: bool) -> None:
        """After `sha` was checked out: its submodules, too. InfrastructureError where the clone
        lacks one, or the disk is full.
        """
        self._put(self._top, self.worktree.path, sha, lock_fd, clean=clean)

    def _put(self, above: _Holder, top: Path, sha: str, lock_fd: int, *, clean: bool) -> None:
        for module in above.modules(sha):
            holder = self._holder(above, module)
            if holder is None or not holder.has(module.commit):
                raise InfrastructureError(
                    f"the submodule {printable(module.path, 200)} of {sha[:12]} has gone",
                    "run `git submodule update --init --recursive`",
                    retryable=False,
                )
            place = place_of(top, module.path)
            worktree = self._worktree(holder, place)
            if not worktree.head():
                # A folder of another revision, or what a command has left there.
                remove(place)
            self._clear_stale(holder, worktree, module.commit)
            filled = holder.paths(module.commit)
            worktree.put(module.commit, lock_fd, clean=clean, filled=filled)
            self._put(holder, place, module.commit, lock_fd, clean=clean)

    def _worktree(self, holder: _Holder, place: Path) -> Worktree:
        """A worktree of a submodule, in a store of ours that borrows from the clone."""
        source = holder.git.cwd
        digest = hashlib.sha256(bytes(source)).hexdigest()[:12]
        store = Store(self.store.path / "modules" / digest, source, part=True)
        if not store.ready():
            store.prepare()
        return Worktree(place, store)

    def _all(self, above: _Holder, top: Path, sha: str) -> Iterator[tuple[str, Worktree]]:
        """Commits and worktrees of submodules, where they are."""
        for module in above.modules(sha):
            if (holder := self._holder(above, module)) is not None:
                yield module.commit, self._worktree(holder, top / module.path)
                yield from self._all(holder, top / module.path, module.commit)

    def settle(self, lock_fd: int) -> bool:
        """See `Worktree.settle`."""
        inside = self._all(self._top, self.worktree.path, self.worktree.head())
        return all(worktree.settle(lock_fd) for _, worktree in inside)

    def settled(self, sha: str, lock_fd: int) -> bool:
        """See `Worktree.settled`."""
        inside = self._all(self._top, self.worktree.path, sha)
        return all(worktree.settled(commit, lock_fd) for commit, worktree in inside)
