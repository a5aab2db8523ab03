# SPDX-License-Identifier: GPL-2.0-or-later
"""Commits and merges by plumbing, without a worktree, an index or a hook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError
from rtbisect.process.command import printable
from rtbisect.trees.plumbing import WALK_S, last_line

if TYPE_CHECKING:
    from rtbisect.trees.plumbing import Git

#: The date of commits that are made here, so that the same revert is the same commit; by it they
#: are known, too.
DATE = "2000-01-01T00:00:00+00:00"


@dataclass(frozen=True, slots=True)
class Merged:
    """A three-way merge."""

    #: Tree id of the result; None if there are conflicts.
    tree: str | None
    #: Paths of the conflicting files.
    conflicts: tuple[str, ...] = ()


def parents_of(git: Git, sha: str) -> list[str]:
    return git("rev-list", "--parents", "--max-count=1", sha).split()[1:]


def tree_id(git: Git, sha: str) -> str:
    """Id of the files of a commit: equal for equal files."""
    return git("rev-parse", "--verify", f"{sha}^{{tree}}").strip()


def commit_tree(git: Git, tree: str, parent: str | None, message: str) -> str:
    """A commit with fixed author and dates: the same input gives the same sha."""
    above = () if parent is None else ("-p", parent)
    dates = {"GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE}
    return git(
        "commit-tree", "--no-gpg-sign", tree, *above, stdin=message.encode("utf-8"), env=dates
    ).strip()


def merge(git: Git, base: str, ours: str, theirs: str) -> Merged:
    """Merge two commits with the base that is given.

    `git merge-tree` learnt --merge-base only in 2.40; three commits made for the
    occasion give it the base that a revert needs.
    """
    root = commit_tree(git, f"{base}^{{tree}}", None, "base\n")
    our_commit = commit_tree(git, f"{ours}^{{tree}}", root, "ours\n")
    their_commit = commit_tree(git, f"{theirs}^{{tree}}", root, "theirs\n")
    words = ("merge-tree", "--write-tree", "--no-messages", "--name-only", "-z")
    done = git.try_(*words, our_commit, their_commit, timeout_s=WALK_S)
    if done.returncode not in (0, 1):
        raise ConfigError(
            f"git merge-tree failed: {printable(last_line(done))}", "git 2.38 or later is needed"
        )
    tree, *names = done.stdout.split("\0")
    if done.ok:
        return Merged(tree)
    return Merged(None, tuple(dict.fromkeys(name for name in names if name)))
