# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds that may turn out to be a kernel that is known."""

from itertools import pairwise

import numpy as np
import pytest

from helpers.searches import built, chain, event, replayed, spec
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.search import engine
from rtbisect.search.ancestry import Ancestry
from rtbisect.search.equal_kernels import EqualKernels
from rtbisect.search.events import Silent
from rtbisect.search.other_kernels import TAKEN_BACK, other_kernels
from rtbisect.search.spec import Trial
from searchbench.arms import run
from searchbench.world import Cell, world

SIZE = 40


def asked(signatures, graph=None, silent=(), commits=0.0):
    ancestry = Ancestry(chain(SIZE) if graph is None else graph)
    needs_none = np.zeros(ancestry.size, dtype=np.bool_)
    needs_none[ancestry.places(signatures)] = True
    equal = EqualKernels(signatures, frozenset(), silent, {})
    return other_kernels(ancestry, equal, needs_none, np.zeros(ancestry.size) + commits)


def chances(signatures, graph=None, silent=()):
    found = asked(signatures, graph, silent)
    assert found is not None
    return found.chance


ENDS = {"good": "a", f"c{SIZE - 1}": "b"}
#: c4 has the kernel of the older end, and c30 that of the newer one.
EQUAL = ENDS | {"c4": "a", "c30": "b"}


@pytest.mark.parametrize(
    "signatures",
    [
        ENDS,
        ENDS | {"c4": "other"},
        ENDS | {"c4": "", "c5": ""},
        {"c4": "a", "c5": "a"} | ENDS | {"good": ""},
    ],
)
def test_each_build_is_another_kernel_until_two_were_one(signatures):
    assert asked(signatures) is None


def test_what_lies_between_two_revisions_of_a_kernel_is_that_kernel():
    chance = chances(EQUAL)
    assert chance[[0, 3, 31, 38]].tolist() == [TAKEN_BACK] * 4
    assert (chance[5:30] > TAKEN_BACK).all()
    # What is built is what it is.
    assert chance[[4, 30, SIZE - 1]].tolist() == [1.0] * 3


def test_another_kernel_is_likelier_far_from_those_that_are_known():
    between = chances(EQUAL)[5:30]
    up_to_middle = [bool(one < other) for one, other in pairwise(between)]
    assert up_to_middle == [True] * 12 + [False] * 12


def test_builds_tell_how_often_commits_change_the_kernel():
    seldom = chances(EQUAL | {"c8": "a", "c12": "a", "c26": "b"})
    often = chances(EQUAL | {"c8": "c", "c12": "d", "c26": "e"})
    assert seldom[17] < chances(EQUAL)[17] < often[17]


def test_one_of_two_commits_changed_the_kernel():
    # With share q, after one commit that did not, both did with q^2 / (1 - (1-q)^2); over all
    # shares the integral of q^2 (1-q) by that of (1 - (1-q)^2)(1-q), which is a third.
    chance = chances({"good": "a", "c0": "a", "c2": "b"}, chain(3))
    assert chance[1] == pytest.approx(1 / 3, abs=0.01)


def test_silent_commits_do_not_count():
    pairs = tuple((f"c{i}", f"c{i - 1}") for i in range(11, 20))
    chance = chances(EQUAL, silent=pairs)
    assert chance[11:20].tolist() == pytest.approx([chance[10]] * 9)


def test_a_side_branch_lies_not_between_revisions_of_the_mainline():
    main = [Commit("m0", ("good",), "m0"), Commit("m1", ("m0",), "m1"), Commit("m2", ("m1",), "m2")]
    side = [Commit("s0", ("good",), "s0"), Commit("s1", ("s0",), "s1")]
    merge = Commit("merge", ("m2", "s1"), "merge")
    graph = CommitGraph("good", "merge", (*main, *side, merge))
    chance = chances({"good": "a", "m2": "a", "merge": "b"}, graph)
    assert chance[:2].tolist() == [TAKEN_BACK] * 2
    assert (chance[3:5] > TAKEN_BACK).all()
    # The branch with all of its commits lies before the merge.
    assert chance[3] == pytest.approx(chance[4], rel=0.5)


def test_bits_of_a_known_kernel_tell_of_the_commits_between():
    commits = np.zeros(SIZE)
    commits[[5, 25]] = 0.5
    found = asked(EQUAL, commits=commits)
    assert found is not None
    fresh = np.ones(SIZE)
    bits = found.bits(fresh)
    # Of what is built, those of a boot; c20 lies between both commits, which a known kernel tells
    # apart, too; c28 does not.
    assert bits[[4, 30]].tolist() == [1.0, 1.0]
    assert bits[20] == pytest.approx(1.0)
    assert bits[28] == pytest.approx(found.chance[28])
    # Never more than another kernel tells.
    assert found.bits(fresh / 4)[20] == pytest.approx(0.25)


def test_histories_of_any_length():
    # 0.99 to the power of their lengths is no number.
    size = 90_000
    last = {f"c{size - 1}": "b"}
    alike = chances({"good": "a", f"c{size - 100}": "a"} | last, chain(size))
    assert alike[[0, size - 50]].tolist() == [TAKEN_BACK] * 2
    changing = chances({"good": "a", "c10": "a", "c20": "c"} | last, chain(size))
    assert changing[size // 2] > 0.99


@pytest.mark.parametrize(("length", "silent"), [(30, ()), (400, ()), (30, (("m0", "c29"),))])
def test_no_search_ends_because_builds_were_often_equal(length, silent):
    """The last commit to build forks where the culprit's branch does: of long histories in which
    hardly a commit changes the kernel, too.
    """
    last = f"c{length - 1}"
    branches = [Commit(sha, (last,), sha) for sha in ("s0", "m0")]
    merge = Commit("merge", ("m0", "s0"), "merge")
    graph = CommitGraph("good", "merge", (*chain(length).commits, *branches, merge))
    wanted = spec(graph, build_cost_s=300.0, boot_cost_s=60.0)
    known = {"good": "a", "merge": "b", f"c{length // 2}": "a", last: "a", "m0": "a"}
    values = {"good": 1.0, "merge": 5.0}
    events = [
        *(built(sha, signature) for sha, signature in known.items()),
        *(event(sha, value + n / 100) for n in range(8) for sha, value in values.items()),
        Silent(silent),
    ]
    trial = engine.propose(replayed(engine, wanted, events))[0]
    assert isinstance(trial, Trial)
    assert trial.revision == "s0"


def test_a_search_builds_less():
    cell = Cell("equal", "", 5.0, equal=0.85, tail="normal", build_s=300, boot_s=60, run_s=0)
    rows = {
        arm: [run(world(cell, Ancestry(chain(SIZE)), seed), arm, seed) for seed in (1, 2)]
        for arm in ("ours-run", "ours-run-no-other-kernels")
    }
    assert all(row.right for found in rows.values() for row in found)
    fewer, more = (sum(row.builds for row in found) for found in rows.values())
    assert fewer < 0.9 * more
