# SPDX-License-Identifier: GPL-2.0-or-later
"""The tree in memory keeps the promises of the port."""

import pytest

from rtbisect.errors import ConfigError
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.model.report import SeriesState, Standing
from rtbisect.trees.fake import FakeTree

GRAPH = CommitGraph(
    "g",
    "m",
    (
        Commit("a", ("g",), "one"),
        Commit("s", ("g",), "side"),
        Commit("b", ("a",), "two"),
        Commit("m", ("b", "s"), "merge"),
    ),
)


@pytest.fixture
def tree(tmp_path):
    return FakeTree(
        commits=GRAPH, folder=tmp_path / "w", names={"bad": "m"}, reverts={("m", "a"): "r"}
    )


def test_graph_is_cut_at_both_ends(tree):
    assert tree.graph("g", "m") == GRAPH
    assert [c.sha for c in tree.graph("a", "m").commits] == ["s", "b", "m"]
    assert [c.sha for c in tree.graph("g", "b").commits] == ["a", "b"]


def test_bad_ends_are_refused(tree):
    with pytest.raises(ConfigError, match="not an ancestor"):
        tree.graph("s", "b")
    with pytest.raises(ConfigError, match="same commit"):
        tree.graph("a", "a")
    with pytest.raises(ConfigError, match="no commit"):
        tree.resolve("z")


def test_names_merge_base_revert_and_checkout(tree):
    assert tree.resolve("bad") == "m"
    assert tree.merge_base("b", "s") == "g"
    assert tree.merge_base("b", "m") == "b"
    assert tree.revert_on("m", "a") == "r"
    assert tree.revert_on("m", "b") is None
    assert (tree.checkout("b") / "REVISION").read_text() == "b\n"
    assert tree.checkouts == ["b"]
    with tree.held("a") as source:
        assert (source.path / "REVISION").read_text() == "a\n"
    assert tree.describe("b").subject == "two"


def test_series_stand_as_it_was_told(tree):
    state = SeriesState(
        name="linux-6.1.y", tip="t", date="", release="v6.1.2", standing=Standing.APPLIES
    )
    tree.standing = {"b": (state,)}
    assert tree.series(tree.describe("b"), ("g", "m")) == (state,)
    assert tree.series(tree.describe("a"), ("g", "m")) == ()
