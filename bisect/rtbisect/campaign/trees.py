# SPDX-License-Identifier: GPL-2.0-or-later
"""The trees of a site, and of a command, in a state directory."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError
from rtbisect.trees.git import GitTree, GitTreeSettings
from rtbisect.trees.plumbing import ls_remote

if TYPE_CHECKING:
    from rtbisect.config.kernelci import BuildTarget


def command_tree(  # noqa: PLR0913  (what a request says of it)
    state: Path,
    repo: str,
    *,
    overlay: bytes = b"",
    carry: tuple[str, bytes] = ("", b""),
    submodules: bool = False,
    lfs: bool = False,
) -> GitTree:
    """The tree of a repository that no site names; its worktree has a place of its own. The others
    as in `GitTreeSettings`.
    """
    digest = hashlib.sha256(repo.encode()).hexdigest()[:12]
    worktree = state / "trees" / f"run-{digest}"
    lock = worktree.with_suffix(".lock")
    settings = GitTreeSettings(
        name=repo,
        repo=Path(repo),
        worktree=worktree,
        lock=lock,
        overlay=overlay,
        carry=carry,
        submodules=submodules,
        lfs=lfs,
        # Not of a kernel: its version would change with them.
        tags=True,
    )
    return GitTree(settings)


def tree_of(state: Path, target: BuildTarget) -> GitTree:
    local = Path(target.url.removeprefix("file://"))
    repo = local if local.is_absolute() else target.url
    return _tree(target.tree, repo, state / "trees" / target.tree)


def _tree(name: str, repo: Path | str, worktree: Path) -> GitTree:
    return GitTree(
        GitTreeSettings(name=name, repo=repo, worktree=worktree, lock=worktree.with_suffix(".lock"))
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
