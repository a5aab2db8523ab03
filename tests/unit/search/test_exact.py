# SPDX-License-Identifier: GPL-2.0-or-later
"""The search by a figure without noise."""

import math
import random

import pytest

from helpers.depth import deep
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.search.ancestry import Ancestry
from rtbisect.search.exact import Exact


def searched(graph, figures, untestable=()):
    """The last state of a search, and the revisions that were measured."""
    ancestry, known, broken = Ancestry(graph), {}, set()
    for end in graph.ends:
        known[end] = figures(end)
    middle = sum(known.values()) / 2
    while True:
        exact = Exact(ancestry, dict(known), frozenset(broken), middle)
        sha = exact.next()
        if sha is None:
            return exact, known, broken
        assert sha not in known
        assert sha not in broken
        if sha in untestable:
            broken.add(sha)
        else:
            known[sha] = figures(sha)


def line(count):
    commits = tuple(Commit(f"c{n}", (f"c{n - 1}",)) for n in range(1, count + 1))
    return CommitGraph("c0", f"c{count}", commits)


def from_number(culprit, *, steps=()):
    """Commits from this one on execute a tenth more; each (number, size) of `steps` adds that."""
    return lambda sha: (
        100.0 + 10 * (int(sha[1:]) >= culprit) + sum(s for n, s in steps if int(sha[1:]) >= n)
    )


@pytest.mark.parametrize("culprit", [1, 2, 333, 500, 999, 1000])
def test_one_commit_of_a_thousand_is_found_with_twelve_revisions(culprit):
    exact, known, _ = searched(line(1000), from_number(culprit))
    assert exact.left == (f"c{culprit}",)
    assert f"c{culprit - 1}" in known
    assert len(known) <= 12


def test_smaller_steps_beside_it_do_not_mislead():
    steps = [(200, 1.5), (640, -1.0), (900, 2.0)]
    exact, *_ = searched(line(1000), from_number(617, steps=steps))
    assert exact.suspect == "c617"


def random_history(rng, count):
    """Merges of branches; some branches fork before the good end."""
    commits = []
    for n in range(1, count + 1):
        back = lambda far: f"c{max(0, n - rng.randint(1, far))}"  # noqa: B023, E731
        parents = {f"c{n - 1}"} if rng.random() < 0.7 else {back(3), back(9)}
        parents |= {f"old{n}"} if rng.random() < 0.03 else set()
        commits.append(Commit(f"c{n}", tuple(sorted(parents, key=lambda p: (len(p), p)))))
    return CommitGraph("c0", f"c{count}", tuple(commits))


@pytest.mark.parametrize("seed", range(deep(20, 300)))
def test_the_commit_is_found_in_any_history(seed):
    rng = random.Random(seed)
    graph = random_history(rng, rng.choice((3, 30, 200)))
    ancestry = Ancestry(graph)
    inside = [c.sha for c in graph.commits if ancestry.side(graph.newer)[ancestry.index[c.sha]]]
    culprit = rng.choice(inside)
    place = ancestry.index[culprit]

    def figures(sha):
        return 100.0 + bool(ancestry.side(sha)[place])

    exact, known, _ = searched(graph, figures)
    assert exact.left == (culprit,)
    assert set(graph.parents_of(culprit)) <= known.keys()
    assert len(known) <= 2 * math.log2(len(graph)) + 8


def test_what_cannot_be_measured_is_left_and_hides_only_its_own_stretch():
    broken = {f"c{n}" for n in range(440, 560)}
    exact, known, tried = searched(line(1000), from_number(700), broken)
    assert exact.left == ("c700",)
    assert len(tried) <= 6
    exact, known, tried = searched(line(1000), from_number(500), broken)
    assert exact.left == tuple(f"c{n}" for n in range(440, 561))
    assert tried == broken
    assert len(known) <= 20


def test_a_bad_parent_is_suspected_although_a_later_commit_is_good_again():
    # c30 adds what c60 takes back and c80 adds again: both ends of a step are found.
    figures = from_number(30, steps=[(60, -10.0), (80, 10.0)])
    exact, known, _ = searched(line(100), figures)
    before = f"c{int(exact.suspect[1:]) - 1}"
    assert exact.suspect in ("c30", "c80")
    assert known[exact.suspect] - known[before] == 10


def test_a_merge_whose_parents_are_good_is_the_commit():
    graph = CommitGraph(
        "good", "z",
        (Commit("a", ("good",)), Commit("b", ("good",)), Commit("m", ("a", "b")),
         Commit("z", ("m",))),
    )  # fmt: skip
    exact, known, _ = searched(graph, lambda sha: 1.0 + (sha in ("m", "z")))
    assert exact.left == ("m",)
    assert {"a", "b"} <= known.keys()
