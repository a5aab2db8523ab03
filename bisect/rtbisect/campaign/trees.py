# SPDX-License-Identifier: GPL-2.0-or-later
"""The trees of a site, and of a command, in a state directory."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError
from rtbisect.trees.git import GitTree, GitTreeSettings, ls_remote

if TYPE_CHECKING:
    from rtbisect.config.kernelci import BuildTarget


def command_tree(state: Path, repo: str) -> GitTree:
    """The tree of a repository that no site names; its worktree has a place of its own."""
    name = hashlib.sha256(repo.encode()).hexdigest()[:12]
    worktree = state / "trees" / f"run-{name}"
    return GitTree(
        GitTreeSettings(
            name=repo, repo=Path(repo), worktree=worktree, lock=worktree.with_suffix(".lock")
        )
    )


def tree_of(state: Path, target: BuildTarget) -> GitTree:
    worktree = state / "trees" / target.tree
    local = target.url.removeprefix("file://")
    return GitTree(
        GitTreeSettings(
            name=target.tree,
            repo=Path(local) if Path(local).is_absolute() else target.url,
            worktree=worktree,
            lock=worktree.with_suffix(".lock"),
        )
    )


def head_of(tree: GitTree, target: BuildTarget, branch: str = "") -> str:
    """Where a branch of a target's repository, "" for the target's own, is now."""
    name = branch or target.branch
    sha = ls_remote(target.url, name)
    if sha is None:
        raise ConfigError(
            f"no branch {name!r} in {target.url}", "check trees and build_configs of the site"
        )
    return tree.resolve(sha)
