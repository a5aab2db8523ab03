# SPDX-License-Identifier: GPL-2.0-or-later
"""Searches by counts in histories with merges: what is named adds instructions."""

import random

import pytest

from helpers.campaigns import sha
from helpers.commanded import Commanded, searched
from helpers.depth import deep
from rtbisect.model.campaign import Outcome
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.model.kinds.counts import Counts

#: A revision that the older end descends from.
BEFORE = 900


def history(*parents):
    """Commit n has the parents in place n - 1; 0 is the older end."""
    commits = tuple(Commit(sha(n), tuple(map(sha, own))) for n, own in enumerate(parents, 1))
    return CommitGraph(sha(0), commits[-1].sha, commits)


def adding(graph, added, of_older=0):
    """What revisions execute: what their history adds; the older end has `of_older` more than what
    it descends from.
    """
    made = {sha(BEFORE): set(), sha(0): {0}}
    for commit in graph.commits:
        made[commit.sha] = {int(commit.sha, 16)}.union(*map(made.get, commit.parents))
    known = {0: of_older} | added
    return made, lambda number, _run: 1_000_000 + sum(known.get(n, 0) for n in made[sha(number)])


def named(result):
    return [int(found, 16) for found, _ in result.candidates]


@pytest.mark.parametrize(
    ("graph", "added"),
    [
        # The branch forked at the older end.
        (history([0], [0], [1, 2], [3]), {1: 600_000, 2: 300_000}),
        (history([0], [0], [2, 1], [3]), {1: 600_000, 2: 300_000}),
        # It forked before it.
        (history([0], [BEFORE], [1, 2], [3]), {1: 600_000, 2: 300_000}),
        # It forked in the range, before the first one that is found.
        (history([0], [1], [2], [1], [3, 4], [5]), {3: 600_000, 4: 300_000}),
        # Both are on branches.
        (history([0], [0], [1, 2], [0], [3, 4], [5]), {2: 600_000, 4: 300_000}),
    ],
)
@pytest.mark.parametrize("of_older", [0, 200_000])
def test_two_commits_are_named_and_not_the_merge_of_them(tmp_path, graph, added, of_older):
    _, counts = adding(graph, added, of_older)
    result = searched(tmp_path, Commanded(counts), graph)
    assert result.outcome is Outcome.MULTIPLE_CULPRITS
    assert named(result) == sorted(added, key=lambda n: -added[n])
    told = [each for each in result.reasons if each.kind == Counts.STEP]
    assert sorted(each.data["sha"] for each in told) == sorted(map(sha, added))


def test_a_commit_behind_a_fork_is_told_once(tmp_path):
    graph = history([0], [1], [2], [1], [4], [3, 5], [6])
    _, counts = adding(graph, {3: 700_000, 4: 150_000, 5: 150_000})
    result = searched(tmp_path, Commanded(counts), graph)
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(3))
    told = [each for each in result.reasons if each.kind == Counts.STEP]
    assert [round(each.data["part"], 3) for each in told] == [0.7]


def random_history(rng, count):
    """Branches that end in merges of two; some began before the older end."""
    commits, tips = [], []
    for n in range(1, count + 1):
        back = lambda far: max(0, n - rng.randint(1, far))  # noqa: B023, E731
        parents = [n - 1] if rng.random() < 0.6 else list(dict.fromkeys((back(3), back(9))))
        if rng.random() < 0.08:
            parents = [BEFORE]
        if n > count - len(tips) and len(tips) > 1:
            parents = tips[:-3:-1]
        tips = [*(tip for tip in tips if tip not in parents), n]
        commits.append(parents)
    return history(*commits)


@pytest.mark.parametrize("of_older", [0, 200_000])
@pytest.mark.parametrize("seed", range(deep(25, 400)))
def test_what_is_named_adds_and_what_adds_much_is_named(tmp_path, seed, of_older):
    rng = random.Random(seed)
    graph = random_history(rng, rng.choice((5, 12, 40)))
    made, _ = adding(graph, {})
    inside = sorted(made[graph.newer] - {0})
    many = min(len(inside), rng.randint(1, 3))
    added = {n: rng.choice((200_000, 300_000, 500_000)) for n in rng.sample(inside, many)}
    if 0 not in made[graph.newer]:
        return
    _, counts = adding(graph, added, of_older)
    found = named(searched(tmp_path, Commanded(counts), graph))
    assert len(found) == len(set(found))
    assert set(found) <= added.keys()
    # A merge whose branches have forked at several places may not be told from these.
    limit = 0.2 * sum(added.values())
    lone = {n for n in added if len(graph.parents_of(sha(n))) == 1}
    assert {n for n in lone if added[n] >= limit} <= set(found)
