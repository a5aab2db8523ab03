# SPDX-License-Identifier: GPL-2.0-or-later
"""Commits that cannot change the kernel need no build, and hide no culprit."""

import pytest

from helpers.searches import Toy, chain, spec
from rtbisect.model.campaign import Outcome
from rtbisect.model.code import Change, Commit, CommitGraph
from rtbisect.search import engine
from rtbisect.search.equal_kernels import Closure, shared_files, silent_pairs
from rtbisect.search.events import Silent
from rtbisect.search.spec import Finish
from searchbench.simulate import events

CLOSURE = Closure.of(["fs/eventpoll.c", "include/linux/fs.h", "arch/x86/entry/entry_64.S"])


@pytest.mark.parametrize(
    ("status", "path"),
    [
        ("M", "fs/eventpoll.c"),
        ("D", "include/linux/fs.h"),
        ("A", "arch/x86/include/asm/fs.h"),
        ("A", "fs/internal.h"),
        ("T", "include/uapi/linux/x.txt"),
        ("M", "drivers/net/Kconfig.debug"),
        ("M", "drivers/net/Makefile"),
        ("M", "lib/Kbuild"),
        ("M", "scripts/mod/modpost.c"),
        ("M", "tools/objtool/check.c"),
        ("M", "usr/gen_init_cpio.c"),
        ("M", "certs/extract-cert.c"),
        ("M", "arch/x86/kernel/vmlinux.lds.S"),
        ("M", "arch/x86/entry/syscalls/syscall_64.tbl"),
        ("M", "arch/x86/configs/x86_64_defconfig"),
        ("M", "kernel/configs/tiny.config"),
        ("A", "arch/x86/entry/entry_64.c"),
        ("A", "Makefile"),
        # scripts/setlocalversion reads them all; the release is a part of the image.
        ("A", "localversion-rt"),
    ],
)
def test_these_changes_can_change_the_kernel(status, path):
    assert CLOSURE.touched_by(Change(status, path))


@pytest.mark.parametrize(
    ("status", "path"),
    [
        ("M", "Documentation/scheduler/x.rst"),
        ("M", "fs/ext4/inode.c"),
        ("A", "drivers/net/new.c"),
        ("D", "drivers/net/old.c"),
        ("M", "include/linux/never_included.h"),
        ("M", "fs/eventpoll.c.orig"),
        ("M", "MAINTAINERS"),
    ],
)
def test_these_changes_cannot(status, path):
    assert not CLOSURE.touched_by(Change(status, path))


def test_commits_of_unknown_changes_are_in_no_pair():
    graph = chain(4)
    changes = {
        "c0": (Change("M", "Documentation/a"),),
        "c1": (Change("M", "fs/eventpoll.c"), Change("M", "Documentation/a")),
        "c3": (),
    }
    assert silent_pairs(graph, changes, CLOSURE) == (("c0", "good"), ("c3", "c2"))


def world(silent, culprit, size=32):
    """A chain in which the commits of `silent` have the kernel of their parent."""
    graph, signatures = chain(size), {}
    for i in range(size):
        parent = f"c{i - 1}" if i else "good"
        same = f"c{i}" in silent
        signatures[f"c{i}"] = signatures.get(parent, "kernel of good") if same else f"kernel {i}"
    signatures["good"] = "kernel of good"
    return Toy(graph, culprit, signatures=signatures)


def search(world, pairs, files=None):
    """Rehearse with pairs that are taken to be equal. `files` are those that several of them
    touch; where nothing is told every commit touches the same.
    """
    together = {sha: frozenset([0]) for sha, _parent in pairs}
    state = engine.start(spec(world.graph))
    state = engine.apply(state, Silent(pairs, together if files is None else files))
    for _ in range(1000):
        first = engine.propose(state)[0]
        if isinstance(first, Finish):
            return state, first, engine.answer(state)
        for event in events(state, world, first):
            state = engine.apply(state, event)
    raise AssertionError("no end")


def pairs_of(silent):
    return tuple((sha, f"c{int(sha[1:]) - 1}" if sha != "c0" else "good") for sha in silent)


@pytest.mark.parametrize("culprit", ["c0", "c7", "c14", "c21", "c28", "c31"])
def test_silent_commits_are_built_only_where_they_could_hide_the_culprit(culprit):
    silent = [f"c{i}" for i in range(32) if i % 7 and f"c{i}" != culprit and i != 31]
    here = world(silent, culprit)
    state, finish, answer = search(here, pairs_of(silent))
    assert (finish.outcome, answer.culprit) == (Outcome.CULPRIT, culprit)
    kept = state.ledger.equal.same_as(culprit)
    assert all(state.ledger.built(sha) for sha in kept)
    # Six kernels are left to search.
    assert len(here.builds) <= 2 + 3 + 1 + len(kept) + 2


@pytest.mark.parametrize(
    ("files", "needed"),
    [
        ({}, {"c20"}),
        ({"c16": {0}, "c18": {0}}, {"c20", "c17"}),
        # One kernel between stands for both files; c15 was there before the first of them.
        ({"c16": {0}, "c17": {1}, "c18": {0}, "c19": {1}}, {"c20", "c17"}),
        ({"c15": {0}, "c16": {0, 1}, "c19": {1}}, {"c20", "c15", "c18"}),
        # The culprit itself touches what only others touch.
        ({"c3": {0}, "c17": {0}}, {"c20"}),
        ({"c19": {0}, "c20": {0}}, {"c20", "c19"}),
    ],
)
def test_a_chain_is_proven_by_few_builds_where_nothing_is_taken_back(files, needed):
    silent = [f"c{i}" for i in range(32) if i % 7 and i != 31]
    here = world(silent, "c14")
    kin = {f"c{i}" for i in range(15, 21)}
    told = {sha: frozenset(numbers) for sha, numbers in files.items()}
    state, finish, answer = search(here, pairs_of(silent), told)
    assert (finish.outcome, answer.culprit) == (Outcome.CULPRIT, "c14")
    assert {sha for sha in kin if state.ledger.built(sha)} == needed
    assert kin - needed <= state.ledger.equal.spanned


def test_a_build_that_fails_between_gives_way_to_another_one():
    silent = [f"c{i}" for i in range(32) if i % 7 and i != 31]
    here = world(silent, "c14")
    here.broken = frozenset({"c18", "c20"})
    told = {"c15": frozenset([0]), "c19": frozenset([0])}
    state, finish, answer = search(here, pairs_of(silent), told)
    assert (finish.outcome, answer.culprit) == (Outcome.CULPRIT, "c14")
    # c20 cannot be the lower end, c19 is it; c18 cannot stand between, c17 does.
    assert {sha for sha in state.ledger.signatures if "c14" < sha <= "c20"} == {"c17", "c19"}


def test_files_of_one_commit_alone_are_shared_with_nobody():
    changes = {
        "c0": (Change("M", "Documentation/a"),),
        "c1": (Change("M", "Documentation/b"), Change("M", "MAINTAINERS")),
        "c2": (Change("M", "Documentation/c"), Change("M", "MAINTAINERS")),
        "c3": (),
    }
    assert shared_files(changes, pairs_of(changes)) == {"c1": {0}, "c2": {0}}


@pytest.mark.parametrize("culprit", ["c3", "c9", "c17", "c30"])
def test_a_wrong_assumption_is_found_out_at_the_end_of_its_chain(culprit):
    silent = [f"c{i}" for i in range(31) if i % 5]
    here = world([sha for sha in silent if sha != culprit], culprit)
    _state, finish, answer = search(here, pairs_of(silent), {})
    assert (finish.outcome, answer.culprit) == (Outcome.CULPRIT, culprit)


@pytest.mark.parametrize("culprit", ["c3", "c9", "c17", "c30"])
def test_a_wrong_assumption_is_found_out(culprit):
    """The culprit itself is taken to be silent: its class is opened before it is closed."""
    silent = [f"c{i}" for i in range(31) if i % 5]
    here = world([sha for sha in silent if sha != culprit], culprit)
    state, finish, answer = search(here, pairs_of(silent))
    assert (finish.outcome, answer.culprit) == (Outcome.CULPRIT, culprit)
    assert (culprit, f"c{int(culprit[1:]) - 1}") not in state.ledger.equal.assumed


def test_a_silent_merge_keeps_the_kernel_of_its_first_parent():
    graph = CommitGraph(
        "good",
        "d",
        (
            Commit("a", ("good",)),
            Commit("b", ("good",)),
            Commit("m", ("a", "b")),
            Commit("d", ("m",)),
        ),
    )
    state = engine.start(spec(graph))
    state = engine.apply(state, Silent((("m", "a"),)))
    here = Toy(graph, "d", signatures={"a": "k", "m": "k"})
    while state.ends.reproduced is None:
        for event in events(state, here, engine.propose(state)[0]):
            state = engine.apply(state, event)
    # b reached m and is not in a: it cannot be the culprit, as m has the kernel of a.
    allowed = dict(zip("abmd", state.belief.commits > 0, strict=True))
    assert allowed == {"a": True, "b": False, "m": False, "d": True}


def test_the_tree_itself_is_no_file():
    assert Closure.of([".", "fs/a.c"]).files == {"fs/a.c"}
