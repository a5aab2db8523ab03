# SPDX-License-Identifier: GPL-2.0-or-later
"""What a build leaves as the signature of a revision."""

import hashlib

import pytest

from helpers.folder_tree import FolderTree, silent
from rtbisect.errors import MisaskedError
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Commands
from rtbisect.program.build_trees import BuildSettings, BuildTrees
from rtbisect.program.products import NoProductError, Products
from rtbisect.program.wanted import Wanted
from rtbisect.program.worktree_run import CommandInWorktree, CommandSettings

A, B = "a" * 40, "b" * 40


def no_elf(_path):
    raise ValueError


@pytest.fixture
def subject(tmp_path):
    """A command whose build is this script; and what it tells."""

    def made(script, **changes):
        told = []
        built = BuildSettings(
            argv=("/bin/sh", "-c", f"echo x >>{tmp_path}/builds; {script}"),
            timeout_s=20.0, keep=2, work_dir=tmp_path / "work", campaign="run-1",
            tree=lambda number: FolderTree(tmp_path / f"trees/t-b{number:02}"),
            tell=lambda _finding: None, env={"SOME": "thing"},
        )  # fmt: skip
        settings = CommandSettings(
            argv=("/bin/true",), wanted=Wanted(), pass_fail=True, timeout_s=20.0,
            work_dir=tmp_path / "work", checkout=lambda _sha: tmp_path,
            restore=lambda _sha: tmp_path, tree_of=lambda sha: f"tree of {sha[0]}",
            tell=told.append, builds=BuildTrees(built), products=Products(("out",), no_elf),
        )  # fmt: skip
        return CommandInWorktree(settings), told

    return made


def signatures(command, *shas):
    return [command.build(sha, 0, silent).signature for sha in shas]


def test_equal_products_are_one_signature_whatever_the_sources(subject):
    command, told = subject("echo $SOME >out")
    one, two = signatures(command, A, B)
    assert one == two
    assert not told
    assert command.traits.products


def test_the_first_build_is_made_twice_and_says_where_its_products_vary(subject, tmp_path):
    command, told = subject("date +%N >out")
    one, two = signatures(command, A, B)
    assert one != two
    assert told == [Finding.of(Commands.PRODUCTS_VARY, revision=A)]
    assert len((tmp_path / "builds").read_text().split()) == 3


def test_a_build_that_takes_long_is_made_once(subject, tmp_path, monkeypatch):
    monkeypatch.setattr("rtbisect.program.worktree_run.QUICK_S", 0.0)
    signatures(subject("date +%N >out")[0], A)
    assert len((tmp_path / "builds").read_text().split()) == 1


def test_a_revision_without_the_product_is_one_of_its_own(subject):
    command, told = subject(f"test $RTBISECT_REVISION != {A} || echo x >out")
    assert signatures(command, A, B)[1] == "tree of b"
    why = NoProductError("out").found
    assert told == [Finding.of(Commands.ALONE, revision=B, why=why)]


LARGE = "head -c 20 /dev/zero >out"


def test_a_later_product_that_is_too_large_makes_its_revision_one_of_its_own(subject, monkeypatch):
    monkeypatch.setattr("rtbisect.program.products.MOST_BYTES", 10)
    command, told = subject(f"if [ $RTBISECT_REVISION = {A} ]; then echo x >out; else {LARGE}; fi")
    assert signatures(command, A, B)[1] == "tree of b"
    why = Finding.of(Commands.LARGE_PRODUCT, path="out", most=10)
    assert told == [Finding.of(Commands.ALONE, revision=B, why=why)]


def test_a_first_product_that_is_too_large_is_a_wrong_request(subject, monkeypatch):
    monkeypatch.setattr("rtbisect.program.products.MOST_BYTES", 10)
    with pytest.raises(MisaskedError):
        signatures(subject(LARGE)[0], A)


def test_a_first_build_without_the_product_is_a_wrong_request(subject):
    with pytest.raises(MisaskedError):
        signatures(subject("true")[0], A)


def test_a_failed_build_has_no_signature(subject):
    command, _ = subject(f"test $RTBISECT_REVISION = {A} && echo x >out")
    assert signatures(command, A, B)[1] == ""
    assert len(signatures(command, A)[0]) == len(hashlib.sha256().hexdigest())
