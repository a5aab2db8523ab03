# SPDX-License-Identifier: GPL-2.0-or-later
"""Histories that are limited to commits of some paths, where a candidate follows the one before it
whatever lies between them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.model.code import Commit, CommitGraph, CommitHead, Narrowing
from rtbisect.trees.merge import parents_of
from rtbisect.trees.plumbing import WALK_S

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rtbisect.trees.plumbing import Git


def alone(git: Git, graph: CommitGraph, sha: str, paths: Sequence[str]) -> bool:
    """See ports.Tree."""
    own = tuple(parents_of(git, sha))
    return own == graph.parents_of(sha) or _nearest(git, sha, paths) == sha


def with_own_parents(
    git: Git,
    graph: CommitGraph,
    sha: str,
    narrowed: Narrowing,
    head: Callable[[str], CommitHead],
) -> CommitGraph:
    """See ports.Tree. `head` describes a commit."""
    place = next((n for n, commit in enumerate(graph.commits) if commit.sha == sha), None)
    if place is None or _nearest(git, sha, narrowed.paths) != sha:
        return graph
    candidates = {commit.sha for commit in graph.commits}
    goods = (graph.older, *narrowed.goods)
    own = tuple(parents_of(git, sha)[: 1 if narrowed.first_parent else None])
    between = []
    for parent in dict.fromkeys(own):
        # A good revision has it, too.
        older = not _nearest(git, parent, (), goods)
        if parent not in candidates and not older:
            before = _nearest(git, parent, narrowed.paths, goods, narrowed.first_parent)
            above = before if before in candidates else graph.older
            between.append(Commit(parent, (above,), head(parent).subject))
    mine = replace(graph.commits[place], parents=own)
    commits = (*graph.commits[:place], *between, mine, *graph.commits[place + 1 :])
    return replace(graph, commits=commits)


def _nearest(
    git: Git,
    sha: str,
    paths: Sequence[str],
    goods: Sequence[str] = (),
    first_parent: bool = False,  # noqa: FBT001, FBT002
) -> str:
    """The last commit up to `sha` that touches the paths, where there are any, and that no good
    revision has; "" for none.
    """
    words = ["--literal-pathspecs", "rev-list", "--topo-order", "--max-count=1"]
    words += ["--first-parent"] if first_parent else []
    listing = git(*words, sha, *(f"^{good}" for good in goods), "--", *paths, timeout_s=WALK_S)
    return listing.strip()
