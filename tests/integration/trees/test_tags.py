# SPDX-License-Identifier: GPL-2.0-or-later
"""Tags of a repository, as a command in a worktree sees them."""

import subprocess

import pytest

from helpers.repositories import ENV, history
from rtbisect.trees import store
from rtbisect.trees.git import GitTree, GitTreeSettings


@pytest.fixture
def tree_of(tmp_path):
    def made(source):
        state = tmp_path / "state"
        return GitTree(
            GitTreeSettings(
                name="t", repo=source, worktree=state / "src", lock=state / "lock", tags=True
            )
        )

    return made


def seen(place, *words):
    return subprocess.run(
        ["git", *words], cwd=place, env=ENV, check=True, capture_output=True
    ).stdout.decode("utf-8", "surrogateescape").strip()  # fmt: skip


def test_a_worktree_knows_versions_by_tags_and_no_object_is_copied(repo, tree_of, tmp_path):
    good, _, side, bad = history(repo)
    repo("tag", "-a", "-m", "a version", "v1.0", good)
    repo("tag", "here", side)
    tree = tree_of(repo.path)
    tree.take_tags()
    place = tree.checkout(bad)
    assert seen(place, "describe").startswith("v1.0-3-g")
    assert seen(tree.checkout(side), "describe", "--tags") == "here"
    assert seen(place, "cat-file", "-t", "v1.0") == "tag"
    objects = tmp_path / "state" / "src.git" / "objects"
    assert [f for f in objects.rglob("*") if f.is_file()] == [objects / "info" / "alternates"]


def test_tags_are_those_of_when_they_were_taken(repo, tree_of):
    good, one, side, bad = history(repo)
    for name in ("moved", "gone", "folder"):
        repo("tag", name, good)
    tree = tree_of(repo.path)
    place = tree.checkout(bad)
    assert seen(place, "tag").split() == ["folder", "gone", "moved"]
    seen(place, "tag", "of-a-command", one)
    repo("tag", "-d", "gone", "folder")
    repo("tag", "-f", "moved", one)
    repo("tag", "folder/new", side)
    place = tree_of(repo.path).checkout(good)
    assert seen(place, "rev-parse", "moved") == good
    tree.take_tags()
    assert seen(place, "tag").split() == ["folder/new", "moved"]
    assert seen(place, "rev-parse", "moved", "folder/new").split() == [one, side]
    for name in ("folder/new", "moved"):
        repo("tag", "-d", name)
    tree.take_tags()
    assert seen(place, "tag") == ""


def test_a_tag_that_leads_nowhere_or_looks_like_a_commit_does_no_harm(repo, tree_of):
    good, one, _side, bad = history(repo)
    repo("tag", "v1", one)
    (repo.path / ".git" / "refs" / "tags" / "broken").write_text("1" * 40 + "\n")
    (repo.path / ".git" / "refs" / "tags" / good).write_text(bad + "\n")
    repo("tag", "\udcff", bad)
    tree = tree_of(repo.path)
    tree.take_tags()
    place = tree.checkout(good)
    assert seen(place, "rev-parse", "HEAD") == good
    assert sorted(seen(place, "tag").split()) == sorted([good, "v1", "\udcff"])
    assert tree.resolve(good) == good


def test_what_a_killed_git_has_locked_is_taken_all_the_same(repo, tree_of, tmp_path):
    good, *_ = history(repo)
    tree = tree_of(repo.path)
    place = tree.checkout(good)
    repo("tag", "v1", good)
    folder = tmp_path / "state" / "src.git"
    (folder / "packed-refs.lock").touch()
    (folder / "refs" / "tags" / "v1.lock").touch()
    tree.take_tags()
    assert seen(place, "tag") == "v1"


def test_of_too_many_tags_there_are_none(repo, tree_of, monkeypatch):
    good, *_ = history(repo)
    repo("tag", "v1", good)
    tree = tree_of(repo.path)
    tree.take_tags()
    repo("tag", "v2", good)
    monkeypatch.setattr(store, "MOST_TAGS", 1)
    tree.take_tags()
    assert seen(tree.checkout(good), "tag") == ""


def test_the_tree_of_a_kernel_has_none(repo, make):
    good, *_ = history(repo)
    repo("tag", "v1", good)
    assert seen(make(repo.path).checkout(good), "tag") == ""
