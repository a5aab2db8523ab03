# SPDX-License-Identifier: GPL-2.0-or-later
"""Commits that are made here, by plumbing and without a worktree: the same input, the same sha."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError
from rtbisect.process.command import printable
from rtbisect.trees.plumbing import WALK_S

if TYPE_CHECKING:
    from rtbisect.trees.plumbing import Git

#: Their date, so that the same revert is the same commit; by it they are known, too.
_DATE = "2000-01-01T00:00:00+00:00"
MADE_TIME = f"{datetime.fromisoformat(_DATE).timestamp():.0f}"


def commit_tree(git: Git, tree: str, parent: str | None, message: str) -> str:
    """A commit with fixed author and dates: the same input gives the same sha."""
    above = () if parent is None else ("-p", parent)
    dates = {"GIT_AUTHOR_DATE": _DATE, "GIT_COMMITTER_DATE": _DATE}
    return git(
        "commit-tree", "--no-gpg-sign", tree, *above, stdin=message.encode("utf-8"), env=dates
    ).strip()


def merged(git: Git, base: str, ours: str, theirs: str) -> str | None:
    """Tree of a three-way merge, None on conflict.

    `git merge-tree` learnt --merge-base only in 2.40; three commits made for the
    occasion give it the base that a revert needs.
    """
    root = commit_tree(git, f"{base}^{{tree}}", None, "base\n")
    our_commit = commit_tree(git, f"{ours}^{{tree}}", root, "ours\n")
    their_commit = commit_tree(git, f"{theirs}^{{tree}}", root, "theirs\n")
    done = git.try_(
        "merge-tree", "--write-tree", "--no-messages", our_commit, their_commit, timeout_s=WALK_S
    )
    if done.returncode == 1:
        return None
    if not done.ok:
        last = done.stderr.strip().split("\n")[-1]
        raise ConfigError(
            f"git merge-tree failed: {printable(last)}", "git 2.38 or later is needed"
        )
    return done.stdout.split("\n", 1)[0].strip()
