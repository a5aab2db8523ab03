# SPDX-License-Identifier: GPL-2.0-or-later
import random

import numpy as np
import pytest

from rtbisect.errors import ConfigError, InternalError
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.search import ancestry
from rtbisect.search.ancestry import (
    Ancestry,
    candidates_between,
    check_size,
    forks,
)

#   good - a - b - m - z      x hangs on an ancestor of good (boundary `old`)
#           \- c -/ |
#   old - x --------/
DIAMOND = CommitGraph(
    "good",
    "z",
    (
        Commit("a", ("good",)),
        Commit("x", ("old",)),
        Commit("b", ("a",)),
        Commit("c", ("a",)),
        Commit("m", ("b", "c", "x")),
        Commit("z", ("m",)),
    ),
)


def names(graph, bits):
    return {graph.commits[i].sha for i in np.flatnonzero(bits)}


def test_ancestors_and_descendants_of_a_merge():
    found = Ancestry(DIAMOND)
    assert names(DIAMOND, found.side("m")) == {"a", "b", "c", "x", "m"}
    assert names(DIAMOND, found.side("b")) == {"a", "b"}
    assert names(DIAMOND, found.descendants_or_self(found.index["c"])) == {"c", "m", "z"}


def test_good_and_boundary_commits_are_on_the_good_side():
    found = Ancestry(DIAMOND)
    assert found.boundary == {"good", "old"}
    assert not found.side("good").any()
    assert not found.side("old").any()


def tangled(size):
    """A history with branches, merges and stretches between them."""
    rng = random.Random(4)
    commits = [Commit("c0", ("good",))]
    for i in range(1, size):
        back = rng.choice((1, 1, 1, 9))
        picks = {f"c{max(0, i - rng.randint(1, back))}" for _ in range(rng.choice((1, 1, 2)))}
        commits.append(Commit(f"c{i}", tuple(sorted(picks))))
    return CommitGraph("good", f"c{size - 1}", tuple(commits))


def test_mass_sums_over_the_ancestors_of_each_commit():
    found = Ancestry(tangled(700))
    weights = np.random.default_rng(1).random(700)
    expected = [weights[found.ancestors_or_self(i)].sum() for i in range(700)]
    assert found.mass(weights) == pytest.approx(np.array(expected))


def test_stretches_of_history_say_the_same_as_commits(monkeypatch):
    graph, weights = tangled(300), np.random.default_rng(1).random(300)
    by_commits = Ancestry(graph)
    monkeypatch.setattr(ancestry, "_PLAIN", 0)
    found = Ancestry(graph)
    assert found.mass(weights) == pytest.approx(by_commits.mass(weights))
    for i in range(300):
        assert (found.ancestors_or_self(i) == by_commits.ancestors_or_self(i)).all()
        assert (found.descendants_or_self(i) == by_commits.descendants_or_self(i)).all()


def test_a_long_line_is_one_stretch_and_too_many_branches_are_refused(monkeypatch):
    line = [Commit(f"c{i}", (f"c{i - 1}",)) for i in range(1, 60_000)]
    graph = CommitGraph("good", "c59999", (Commit("c0", ("good",)), *line))
    found = Ancestry(graph)
    assert found.mass(np.ones(60_000))[[0, 59_999]] == pytest.approx([1, 60_000])
    monkeypatch.setattr(ancestry, "_PLAIN", 0)
    monkeypatch.setattr(ancestry, "MOST_STRETCHES", 20)
    with pytest.raises(ConfigError, match="300 candidates"):
        check_size(tangled(300))
    check_size(tangled(20))


def test_distances_stop_at_walls():
    found = Ancestry(DIAMOND)
    a, b, c, m, z = (found.index[s] for s in "abcmz")
    free = found.distances(a, 3, ())
    assert free == {a: 0, b: 1, c: 1, m: 2, z: 3, found.index["x"]: 3}
    assert found.distances(a, 3, (b, c)) == {a: 0}


def test_children_before_parents_are_refused():
    broken = CommitGraph("good", "b", (Commit("b", ("a",)), Commit("a", ("b",))))
    with pytest.raises(InternalError, match="after its child"):
        Ancestry(broken)


def test_a_part_of_a_graph_holds_what_lies_between_two_revisions():
    # good - a - b ----- m - t
    #          \- x - y -/
    graph = CommitGraph(
        "good",
        "t",
        (
            Commit("a", ("good",)),
            Commit("b", ("a",)),
            Commit("x", ("a",)),
            Commit("y", ("x",)),
            Commit("m", ("b", "y")),
            Commit("t", ("m",)),
        ),
    )
    held = lambda good, bad: [c.sha for c in candidates_between(graph, good, bad).commits]  # noqa: E731
    assert held("good", "b") == ["a", "b"]
    assert held("a", "t") == ["b", "x", "y", "m", "t"]
    # The side branch forked before b: its merge stands for it.
    assert held("b", "t") == ["m", "t"]
    assert held("good", "good") == held("t", "t") == []
    assert Ancestry(candidates_between(graph, "b", "t")).boundary == {"b", "y"}


@pytest.mark.parametrize(
    ("older", "branches"),
    [
        ("good", {}),
        ("a", {"x": "good"}),
        ("b", {"c": "a", "x": "good"}),
        ("m", {"b": "b", "c": "c", "x": "x"}),
    ],
)
def test_branches_of_a_merge_that_forked_before_a_revision(older, branches):
    assert forks(DIAMOND, older, "m") == branches
