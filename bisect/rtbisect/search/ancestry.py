# SPDX-License-Identifier: GPL-2.0-or-later
"""Ancestor sets of a commit graph as packed bits: n commits take n * n / 8 bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rtbisect.errors import InternalError
from rtbisect.model.code import CommitGraph

Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]

_ROWS = 512

#: _BITS[b, v] is bit b (most significant first) of byte v.
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[None, :], axis=0).astype(np.float64)


def candidates_between(graph: CommitGraph, older: str, newer: str) -> CommitGraph:
    """The candidates between two revisions of a graph: what `newer` is made of, and of that only
    what descends from `older` where this is a candidate itself. A side branch that forked before
    `older` comes in by its merge.
    """
    ancestry = Ancestry(graph)
    inside = ancestry.side(newer)
    if (start := ancestry.index.get(older)) is not None:
        inside &= ancestry.descendants_or_self(start)
        inside[start] = False
    candidates = (commit for commit, held in zip(graph.commits, inside, strict=True) if held)
    return CommitGraph(older, newer, tuple(candidates))


class Ancestry:
    """Who is an ancestor of whom among the candidates; immutable after construction.

    Commits are known by their index in `graph.commits`. Boundary commits and `good` have
    no index: no candidate is their ancestor, so they are on the good side by definition.
    """

    def __init__(self, graph: CommitGraph) -> None:
        size = len(graph)
        self.graph = graph
        self.size = size
        self.index: dict[str, int] = {c.sha: i for i, c in enumerate(graph.commits)}
        self.parents: list[tuple[int, ...]] = []
        children: list[list[int]] = [[] for _ in range(size)]
        boundary: dict[str, None] = {graph.older: None}
        self._rows = np.zeros((size, (size + 7) // 8), dtype=np.uint8)
        for i, commit in enumerate(graph.commits):
            parents = []
            for sha in commit.parents:
                j = self.index.get(sha)
                if j is None:
                    boundary[sha] = None
                    continue
                if j >= i:
                    raise InternalError(f"commit graph: parent {sha[:12]} stands after its child")
                parents.append(j)
                children[j].append(i)
                self._rows[i] |= self._rows[j]
            self._rows[i, i >> 3] |= 0x80 >> (i & 7)
            self.parents.append(tuple(parents))
        self.children = [tuple(indices) for indices in children]
        self.boundary = frozenset(boundary)

    def places(self, shas: Iterable[str]) -> list[int]:
        """Indices of those of `shas` that are candidates, in order."""
        return sorted(self.index[sha] for sha in shas if sha in self.index)

    def side(self, sha: str) -> Bools:
        """For each candidate culprit c: would `sha` be bad? All False for the good side."""
        i = self.index.get(sha)
        return np.zeros(self.size, dtype=np.bool_) if i is None else self.ancestors_or_self(i)

    def ancestors_or_self(self, i: int) -> Bools:
        """Shape (n,): candidate c is commit i or an ancestor of it."""
        bits: Bools = np.unpackbits(self._rows[i], count=self.size).view(np.bool_)
        return bits

    def descendants_or_self(self, i: int) -> Bools:
        """Shape (n,): commit j is candidate i or a descendant of it."""
        bits: Bools = (self._rows[:, i >> 3] & (0x80 >> (i & 7))) != 0
        return bits

    def mass(self, weights: Floats) -> Floats:
        """Shape (n,): sum of `weights` over the ancestors of each commit and itself."""
        width = self._rows.shape[1]
        padded = np.zeros(width * 8)
        padded[: self.size] = weights
        octets = padded.reshape(width, 8)
        used = np.flatnonzero(octets.any(axis=1))
        table = octets[used] @ _BITS
        column = np.arange(used.size)
        total = np.empty(self.size)
        for start in range(0, self.size, _ROWS):
            rows = self._rows[start : start + _ROWS, used]
            total[start : start + _ROWS] = table[column, rows].sum(axis=1)
        return total

    def distances(self, start: int, limit: int, walls: Iterable[int]) -> dict[int, int]:
        """Steps along parent and child edges from `start` to the commits within `limit`
        steps; the walk does not pass through `walls`.
        """
        closed = frozenset(walls)
        distances = {start: 0}
        frontier = [start]
        for step in range(1, limit + 1):
            next_frontier = []
            for i in frontier:
                for j in (*self.parents[i], *self.children[i]):
                    if j not in distances and j not in closed:
                        distances[j] = step
                        next_frontier.append(j)
            frontier = next_frontier
        return distances
