# SPDX-License-Identifier: GPL-2.0-or-later
"""A worktree of a tree, at one path that all campaigns share.

The path stays the same so that ccache and incremental make find their files again; a
checkout rewrites only files that differ, so the others keep their modification times.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.process.folders import open_up, place_of, remove
from rtbisect.trees.plumbing import CHECKOUT_S, GITLINK, Git

if TYPE_CHECKING:
    from rtbisect.trees.store import Store


@dataclass(frozen=True, slots=True)
class Worktree:
    """The detached worktree of a store. The caller holds the lock of the tree."""

    path: Path
    store: Store
    #: Folders of submodules by commit, of those that were checked out.
    _links: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)

    def put(
        self, sha: str, lock_fd: int, *, clean: bool = True, filled: Collection[str] = ()
    ) -> None:
        """Make the worktree equal to `sha`: nothing else in it, also no ignored files, unless it is
        not to be `clean`. Folders of submodules become empty, but for those that somebody else
        fills.

        Children inherit `lock_fd`: when we are killed, the lock lasts until git ends, so
        a lock file of git that is found here belongs to a git that is dead.
        """
        gitdir = self._gitdir()
        if gitdir is not None:
            self._unlock(gitdir)
            if self._fill(gitdir, sha, lock_fd, clean=clean, filled=filled):
                return
        gitdir = self._make(sha, lock_fd)
        if not self._fill(gitdir, sha, lock_fd, clean=clean, filled=filled):
            raise InfrastructureError(
                f"{sha[:12]} cannot be checked out at {self.path}",
                f"look at the free space there, and at `git fsck` in {self.store.source}",
                retryable=False,
            )

    def head(self) -> str:
        """The sha that is checked out, "" where there is none."""
        gitdir = self._gitdir()
        return "" if gitdir is None else _text(gitdir / "HEAD")

    def settle(self, lock_fd: int) -> bool:
        """Let files of the commit be as a build left them, for `settled`. False where git fails."""
        return self._carried_out(lock_fd, ("add", "--update", "--", "."))

    def settled(self, sha: str, lock_fd: int) -> bool:
        """Put files of the commit back to what `settle` saw, and leave all others. False where the
        worktree is not at `sha`, gone or damaged.
        """
        if self.head() != sha:
            return False
        return self._carried_out(lock_fd, ("checkout-index", "--force", "--all", "--quiet"))

    def _carried_out(self, lock_fd: int, words: tuple[str, ...]) -> bool:
        gitdir = self._gitdir()
        if gitdir is None:
            return False
        self._unlock(gitdir)
        git = Git(cwd=self.path, git_dir=gitdir, work_tree=self.path)
        return git.try_(*words, timeout_s=CHECKOUT_S, pass_fds=(lock_fd,)).ok

    def _fill(
        self, gitdir: Path, sha: str, lock_fd: int, *, clean: bool, filled: Collection[str]
    ) -> bool:
        # GIT_DIR is told: a .git that the tree or a build brought along is not obeyed.
        git = Git(cwd=self.path, git_dir=gitdir, work_tree=self.path)
        steps = [("reset", "--quiet", "--hard", sha), *([("clean", "-ffdxq")] if clean else [])]
        for words in steps:
            if not git.try_(*words, timeout_s=CHECKOUT_S, pass_fds=(lock_fd,)).ok:
                return False
        if clean:
            self._empty_modules(name for name in self._modules(git, sha) if name not in filled)
        return _text(gitdir / "HEAD") == sha

    def _modules(self, git: Git, sha: str) -> tuple[str, ...]:
        """Folders of submodules of `sha`, which is checked out."""
        if sha not in self._links:
            listing = git("ls-files", "--stage", "-z", timeout_s=CHECKOUT_S).split("\0")
            entries = (entry.partition("\t") for entry in listing)
            self._links[sha] = tuple(n for about, _, n in entries if about.startswith(GITLINK))
        return self._links[sha]

    def _empty_modules(self, names: Iterable[str]) -> None:
        """Remove what a command has put into folders of submodules: `git clean` leaves it."""
        for name in names:
            place = place_of(self.path, name)
            open_up(place)
            if place.is_symlink() or not place.is_dir() or any(place.iterdir()):
                remove(place)
                place.mkdir()

    def _gitdir(self) -> Path | None:
        """Our store's folder for this worktree, None when it is missing or broken."""
        if self.path.is_symlink():
            # A build may have moved its worktree to where other files are.
            return None
        open_up(self.path)
        link = self.path / ".git"
        target = "" if link.is_symlink() else _text(link)
        for gitdir in self._registered():
            if target == f"gitdir: {gitdir}" and (gitdir / "HEAD").is_file():
                return gitdir
        return None

    def _registered(self) -> list[Path]:
        """Folders of our store that name this path."""
        link, known = str(self.path / ".git"), (self.store.path / "worktrees").glob("*")
        return [gitdir for gitdir in sorted(known) if _text(gitdir / "gitdir") == link]

    def _ours(self) -> bool:
        """True when removing the folder destroys nothing of anybody else."""
        if not self.path.exists() or (self.path.is_dir() and not any(self.path.iterdir())):
            return True
        own = f"gitdir: {self.store.path}/worktrees/"
        return bool(self._registered()) or _text(self.path / ".git").startswith(own)

    def _make(self, sha: str, lock_fd: int) -> Path:
        if self.path.is_symlink() or not self._ours():
            raise ConfigError(
                f"{self.path} holds something that rtbisect did not put there",
                "move it away or choose another state directory",
            )
        if self.path.exists():
            remove(self.path)
        for gitdir in self._registered():
            shutil.rmtree(gitdir)
        self._unlock(self.store.path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        words = ("worktree", "add", "--quiet", "--force", "--detach", "--no-checkout")
        self.store.git(*words, str(self.path), sha, timeout_s=CHECKOUT_S, pass_fds=(lock_fd,))
        new_gitdir = self._gitdir()
        if new_gitdir is None:
            raise InfrastructureError(
                f"git made no worktree at {self.path}", "see the free space there"
            )
        return new_gitdir

    def _unlock(self, gitdir: Path) -> None:
        for stale in gitdir.glob("*.lock"):
            stale.unlink(missing_ok=True)


def _text(file: Path) -> str:
    """What a file of git's says, "" where there is none."""
    return file.read_text("utf-8", "surrogateescape").strip() if file.is_file() else ""
