# SPDX-License-Identifier: GPL-2.0-or-later
"""Ancestor sets of a commit graph as packed bits: n stretches of history take n * n / 8 bytes.

A stretch is commits in a row with one parent and one child each: all of them, or its first ones,
are ancestors of a commit. In a graph of few commits each is a stretch of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rtbisect.errors import ConfigError, InternalError
from rtbisect.model.code import CommitGraph

Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]

_ROWS = 512
#: Up to so many commits each one is a stretch (50 MB): sums of probabilities keep their last digit,
#: on which the next trial of a campaign that goes on may depend.
_PLAIN = 20_000
#: Of 512 MB. Histories as that of Linux have a stretch for every four or five commits.
MOST_STRETCHES = 65_536

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


def forks(graph: CommitGraph, older: str, merge: str) -> dict[str, str]:
    """Parents of a merge that lack what `older` has, each with the last candidate that both have in
    common (the older end of the graph where there is none). A culprit on such a branch looks like
    the merge where kernels are compared with `older`.
    """
    ancestry, found = Ancestry(graph), {}
    if (start := ancestry.index.get(older)) is None:
        return {}
    history = ancestry.ancestors_or_self(start)
    for parent in graph.parents_of(merge):
        branch = ancestry.side(parent)
        if parent not in ancestry.index or branch[start]:
            continue
        common = np.flatnonzero(branch & history)
        found[parent] = graph.commits[int(common[-1])].sha if common.size else graph.older
    return found


@dataclass(frozen=True, slots=True)
class _Stretches:
    """Which stretch each commit is in, and at which place."""

    number: npt.NDArray[np.intp]
    place: npt.NDArray[np.intp]
    #: Each commit is one, in their order.
    plain: bool

    @classmethod
    def of(
        cls, parents: Sequence[tuple[int, ...]], children: Sequence[tuple[int, ...]]
    ) -> _Stretches:
        """The stretches of a graph, in which parents come before children."""
        size = len(parents)
        if size <= _PLAIN:
            return cls(np.arange(size), np.zeros(size, dtype=np.intp), plain=True)
        number, place, count = [0] * size, [0] * size, 0
        for i, above in enumerate(parents):
            if len(above) == 1 and len(children[above[0]]) == 1:
                number[i], place[i] = number[above[0]], place[above[0]] + 1
            else:
                number[i], count = count, count + 1
        return cls(np.array(number), np.array(place), plain=False)

    def ancestors(self, parents: Sequence[tuple[int, ...]]) -> npt.NDArray[np.uint8]:
        """Bits of the stretches that each one has in its history, with itself. ConfigError for more
        than a matrix of them has room for.
        """
        firsts = np.flatnonzero(self.place == 0)
        count = len(firsts)
        if count > MOST_STRETCHES:
            raise ConfigError(
                f"{len(parents)} candidates in {count} branches and stretches between merges"
                f" (at most {MOST_STRETCHES}) are too many for one search",
                "take nearer ends, --first-parent, or --path",
            )
        rows = np.zeros((count, (count + 7) // 8), dtype=np.uint8)
        # A parent of the first commit of a stretch is the last one of its own.
        for own, i in enumerate(firsts.tolist()):
            for j in parents[i]:
                rows[own] |= rows[self.number[j]]
            rows[own, own >> 3] |= 0x80 >> (own & 7)
        return rows

    def cut(self, bits: Bools, own: int, within: Bools) -> Bools:
        """Bits of stretches as those of commits; of stretch `own` the commits that are `within`."""
        found: Bools = bits[self.number] & ((self.number != own) | within)
        return found

    def sums(self, weights: Floats) -> Floats:
        """Shape (n,): sum of `weights` over the commits of a stretch up to each one."""
        order = np.lexsort((self.place, self.number))
        running = np.cumsum(weights[order])
        firsts = np.flatnonzero(self.place[order] == 0)
        before = np.concatenate(([0.0], running))[firsts]
        found = np.empty_like(running)
        found[order] = running - before[self.number[order]]
        return found


def check_size(graph: CommitGraph) -> None:
    """ConfigError for a graph that is too large to be searched."""
    if len(graph) > MOST_STRETCHES:
        Ancestry(graph)


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
            self.parents.append(tuple(parents))
        self.children = [tuple(indices) for indices in children]
        self.boundary = frozenset(boundary)
        self._stretches = _Stretches.of(self.parents, self.children)
        self._rows = self._stretches.ancestors(self.parents)

    def places(self, shas: Iterable[str]) -> list[int]:
        """Indices of those of `shas` that are candidates, in order."""
        return sorted(self.index[sha] for sha in shas if sha in self.index)

    def side(self, sha: str) -> Bools:
        """For each candidate culprit c: would `sha` be bad? All False for the good side."""
        i = self.index.get(sha)
        return np.zeros(self.size, dtype=np.bool_) if i is None else self.ancestors_or_self(i)

    def ancestors_or_self(self, i: int) -> Bools:
        """Shape (n,): candidate c is commit i or an ancestor of it."""
        whole = self._stretches
        own = int(whole.number[i])
        bits: Bools = np.unpackbits(self._rows[own], count=len(self._rows)).view(np.bool_)
        if whole.plain:
            return bits
        return whole.cut(bits, own, whole.place <= whole.place[i])

    def descendants_or_self(self, i: int) -> Bools:
        """Shape (n,): commit j is candidate i or a descendant of it."""
        whole = self._stretches
        own = int(whole.number[i])
        bits: Bools = (self._rows[:, own >> 3] & (0x80 >> (own & 7))) != 0
        if whole.plain:
            return bits
        return whole.cut(bits, own, whole.place >= whole.place[i])

    def mass(self, weights: Floats) -> Floats:
        """Shape (n,): sum of `weights` over the ancestors of each commit and itself."""
        whole = self._stretches
        if whole.plain:
            return self._mass(weights)
        by_stretch = np.bincount(whole.number, weights, len(self._rows)).astype(np.float64)
        within = whole.sums(weights)
        return (self._mass(by_stretch) - by_stretch)[whole.number] + within

    def _mass(self, weights: Floats) -> Floats:
        """The same of whole stretches."""
        size, width = self._rows.shape
        padded = np.zeros(width * 8)
        padded[:size] = weights
        octets = padded.reshape(width, 8)
        used = np.flatnonzero(octets.any(axis=1))
        table = octets[used] @ _BITS
        column = np.arange(used.size)
        total = np.empty(size)
        for start in range(0, size, _ROWS):
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
