# SPDX-License-Identifier: GPL-2.0-or-later
"""Commit graphs for the benchmark: linear, kernel-like, and real ones."""

from __future__ import annotations

import gzip
import random
from functools import lru_cache
from pathlib import Path

from rtbisect.model.code import Commit, CommitGraph

DATA = Path(__file__).resolve().parents[1] / "data" / "dag"


@lru_cache(maxsize=8)
def history(name: str) -> CommitGraph:
    """`linear-N`, `kernel-N`, or the name of a file of tools/data/dag without its suffix."""
    kind, _, size = name.partition("-")
    if kind == "linear":
        return linear(int(size))
    if kind == "kernel":
        return kernel_like(int(size))
    return real(name)


def linear(size: int) -> CommitGraph:
    commits = [Commit(f"{0:040x}", ("good",))]
    commits += [Commit(f"{i:040x}", (f"{i - 1:040x}",)) for i in range(1, size)]
    return CommitGraph("good", commits[-1].sha, tuple(commits))


def kernel_like(size: int, seed: int = 1) -> CommitGraph:
    """Topic branches of geometric length from old bases, pulled through maintainer trees into a
    main line, as in a merge window: most commits lie on side branches, one in ten is a merge.
    """
    rng = random.Random(seed)
    commits: list[Commit] = []

    def add(*parents: str) -> str:
        name = f"{len(commits):040x}"
        commits.append(Commit(name, tuple(dict.fromkeys(parents))))
        return name

    main = [add("good")]
    while len(commits) < size - 1:
        base = rng.choice(main[-20:]) if rng.random() < 0.5 else "good"
        tree = base
        for _ in range(min(rng.randint(1, 6), max(1, (size - len(commits)) // 12))):
            topic = tree if rng.random() < 0.5 else base
            for _ in range(min(1 + int(rng.expovariate(1 / 9)), size - len(commits) - 3)):
                topic = add(topic)
            tree = topic if tree in (base, topic) else add(tree, topic)
        main.append(add(main[-1], tree) if tree != base else add(main[-1]))
    return _connected(commits)


def real(name: str) -> CommitGraph:
    """A graph of `git rev-list --topo-order --parents`: children first."""
    with gzip.open(DATA / f"{name}.txt.gz", "rt", encoding="ascii") as stream:
        rows = [line.split() for line in stream if line.strip()]
    commits = [Commit(row[0], tuple(row[1:])) for row in reversed(rows)]
    return _connected(commits)


def _connected(commits: list[Commit]) -> CommitGraph:
    """The graph below its last commit; parents outside of it become the good end."""
    known = {commit.sha: commit for commit in commits}
    todo, inside = [commits[-1].sha], set[str]()
    while todo:
        sha = todo.pop()
        if sha not in inside and sha in known:
            inside.add(sha)
            todo.extend(known[sha].parents)
    kept = [
        Commit(c.sha, tuple(dict.fromkeys(p if p in inside else "good" for p in c.parents)))
        for c in commits
        if c.sha in inside
    ]
    return CommitGraph("good", kept[-1].sha, tuple(kept))
