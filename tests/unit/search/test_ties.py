# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that are worth the same: which one is next must not hang on how a processor rounds."""

import numpy as np
import pytest

from helpers.searches import Toy, search
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.search import plan
from rtbisect.search.events import Built
from rtbisect.search.parts import Parts

BRANCH = 9


def branches():
    """Two branches of the same length and their merge."""
    commits = [
        Commit(f"{side}{i}", (f"{side}{i - 1}" if i else "good",), f"{side} {i}")
        for side in "ab"
        for i in range(BRANCH)
    ]
    last = (f"a{BRANCH - 1}", f"b{BRANCH - 1}")
    return CommitGraph("good", "merge", (*commits, Commit("merge", last, "merge")))


def first_build(**changes):
    """The first revision that a search builds between the ends."""
    world = Toy(branches(), "b4")
    state, _, _ = search(world, **changes)
    builds = [event.revision for event in state.events if isinstance(event, Built)]
    return next(sha for sha in builds if sha not in ("good", "merge"))


def other(sha):
    return {"a": "b", "b": "a"}[sha[0]] + sha[1:]


def round_up(monkeypatch, sha, share):
    """A boot of this revision tells so much more than it does."""
    whole = plan._gain

    def rounded(state, groups):
        gain = whole(state, groups)
        ours = [commit.sha == sha for commit in state.spec.graph.commits]
        return np.where(ours, gain * (1 + share), gain)

    monkeypatch.setattr(plan, "_gain", rounded)


@pytest.mark.parametrize(("share", "counts"), [(-1e-13, False), (1e-13, False), (1e-6, True)])
def test_the_last_bit_chooses_nothing(monkeypatch, share, counts):
    first = first_build()
    round_up(monkeypatch, other(first), share)
    assert first_build() == (other(first) if counts else first)


def test_older_searches_take_again_what_they_built_next():
    older = {"parts": Parts(ties=False)}
    first = first_build()
    assert first_build(**older, built_before=("good", "merge", other(first), first)) == other(first)
    assert first_build(**older, built_before=("good", "merge", first, other(first))) == first
    # Not what is worth less.
    assert first_build(**older, built_before=("a0", "b0")) == first_build(**older)


def test_older_searches_go_on_by_the_last_bit(monkeypatch):
    first = first_build()
    round_up(monkeypatch, other(first), 1e-13)
    assert first_build(parts=Parts(ties=False)) == other(first)
