# SPDX-License-Identifier: GPL-2.0-or-later
"""The worktree of a tree: exact, its own, and no source of what runs here."""

import os
import shutil
import subprocess

import pytest

from helpers.repositories import ENV, history
from helpers.rights import python_as_anybody
from rtbisect.errors import BusyError, ConfigError


def content(path):
    return {
        str(p.relative_to(path)): p.read_bytes()
        for p in path.rglob("*")
        if p.is_file() and not p.is_symlink()
    }


def gitdir(place):
    return place.with_name("src.git") / "worktrees" / "src"


def test_checkout_is_exact_and_keeps_times(repo, make):
    good, one, _, bad = history(repo)
    tree = make(repo.path)
    place = tree.checkout(good)
    old = 1_000_000_000
    for name in ("a.c", "b.c"):
        os.utime(place / name, (old, old))
    # git has to learn the new times once, as after any touch.
    assert tree.checkout(good) == place
    kept = (place / "b.c").stat().st_mtime_ns
    (place / "junk.o").write_text("x")
    (place / "dir").mkdir()
    (place / "dir" / "nested").write_text("x")
    tree.checkout(one)
    assert (place / "b.c").stat().st_mtime_ns == kept
    assert set(content(place)) == {".git", "a.c", "b.c"}
    assert (place / "a.c").read_text().startswith("one")
    tree.checkout(bad)
    assert (place / "b.c").stat().st_mtime_ns == kept
    assert (place / "s.c").read_text() == "s\n"


def test_checkout_removes_ignored_files_and_foreign_repositories(repo, make):
    good = repo.commit("start", _gitignore="*.o\n", a_c="a\n")
    tree = make(repo.path)
    place = tree.checkout(good)
    (place / "a.o").write_text("x")
    (place / "a.c").write_text("changed\n")
    subprocess.run(["git", "init", "-q", str(place / "inner")], check=True, env=ENV)
    tree.checkout(good)
    assert set(content(place)) == {".git", ".gitignore", "a.c"}
    assert (place / "a.c").read_text() == "a\n"


def test_nothing_is_written_to_the_source(repo, make):
    good, one, _, bad = history(repo)
    before = content(repo.path)
    tree = make(repo.path)
    tree.graph(good, bad)
    tree.checkout(bad)
    assert tree.revert_on(bad, one) is not None
    assert content(repo.path) == before


def test_bare_repository_and_worktree_as_source(repo, make, tmp_path):
    good, _, _, bad = history(repo)
    repo("worktree", "add", "-q", "--detach", str(tmp_path / "linked"), good)
    subprocess.run(
        ["git", "clone", "-q", "--bare", str(repo.path), str(tmp_path / "bare")],
        check=True,
        env=ENV,
    )
    for name in ("bare", "linked"):
        tree = make(tmp_path / name, name)
        assert len(tree.graph(good, bad)) == 3
        assert (tree.checkout(bad) / "s.c").is_file()
    assert make(tmp_path / "linked", "linked").resolve("HEAD") == good


def test_a_held_revision_stays_until_the_block_ends(repo, make):
    good, one, _, bad = history(repo)
    tree, other = make(repo.path), make(repo.path)
    with tree.held(good) as source:
        with pytest.raises(BusyError, match="the worktree of tree t is in use"):
            other.held(bad, wait_s=0.0).__enter__()
        assert (source.path / "a.c").read_text().startswith("1\n")
        assert other.resolve("main") == bad
    with other.held(one, wait_s=0.0) as source:
        assert (source.path / "a.c").read_text().startswith("one")


@pytest.mark.parametrize(
    "damage",
    [
        lambda place: (gitdir(place) / "index.lock").write_text(""),
        lambda place: (gitdir(place) / "HEAD.lock").write_text(""),
        lambda place: (gitdir(place) / "index").write_bytes(b"DIRC rubbish"),
        lambda place: (gitdir(place) / "HEAD").unlink(),
        lambda place: shutil.rmtree(gitdir(place)),
        lambda place: (gitdir(place) / "locked").write_text("initializing"),
        lambda place: (place / ".git").unlink(),
        lambda place: (place / ".git").write_text("gitdir: /nowhere\n"),
        lambda place: (place / "a.c").unlink(),
        shutil.rmtree,
        lambda place: shutil.rmtree(place.with_name("src.git")),
    ],
)
def test_checkout_survives_what_a_kill_leaves(repo, make, damage):
    good, one, _, _ = history(repo)
    place = make(repo.path).checkout(good)
    damage(place)
    tree = make(repo.path)
    assert tree.checkout(one) == place
    assert (place / "a.c").read_text().startswith("one")
    assert set(content(place)) == {".git", "a.c", "b.c"}


def test_a_folder_of_somebody_else_is_not_removed(repo, make, tmp_path):
    good = repo.commit("start", a_c="a\n")
    place = tmp_path / "state" / "t" / "src"
    place.mkdir(parents=True)
    (place / "thesis.txt").write_text("years of work")
    with pytest.raises(ConfigError, match="did not put there"):
        make(repo.path).checkout(good)
    assert (place / "thesis.txt").read_text() == "years of work"


def test_hooks_filters_and_eol_rules_of_the_source_do_nothing(repo, make, tmp_path):
    trace = tmp_path / "trace"
    repo.commit("start", a_c="a\n$Id$\n")
    sha = repo.commit("attributes", _gitattributes="*.c filter=evil text eol=crlf ident\n")
    hook = repo.path / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {trace}\n")
    hook.chmod(0o755)
    repo("config", "filter.evil.smudge", f"touch {trace}; cat")
    repo("config", "core.fsmonitor", str(hook))
    place = make(repo.path).checkout(sha)
    assert (place / "a.c").read_bytes() == b"a\n$Id$\n"
    assert not trace.exists()


def test_a_worktree_that_was_moved_behind_a_link_is_not_followed(repo, make, tmp_path):
    good, *_ = history(repo)
    tree = make(repo.path)
    place = tree.checkout(good)
    elsewhere = tmp_path / "elsewhere"
    place.rename(elsewhere)
    (elsewhere / "precious").write_text("text")
    place.symlink_to(elsewhere)
    with pytest.raises(ConfigError):
        tree.checkout(good)
    assert not tree.settled(good)
    assert (elsewhere / "precious").read_text() == "text"
    place.unlink()
    assert (tree.checkout(good) / "a.c").is_file()


AGAIN = """
import os, sys
from pathlib import Path
from rtbisect.campaign.trees import command_tree
state, repo, one, other, mode = sys.argv[1:]
tree = command_tree(Path(state), repo)
place = tree.checkout(one)
(place / "src/built").mkdir()
for folder in (place / "src/built", place / "src", place):
    folder.chmod(int(mode, 8))
tree.settled(one)
tree.checkout(other)
print(*sorted(str(path.relative_to(place)) for path in place.rglob("*")))
"""


@pytest.mark.parametrize("mode", ["000", "500", "600"])
def test_a_checkout_takes_back_the_rights_that_a_command_took(repo, tmp_path, mode):
    one = repo.commit("one", src__a="1\n")
    other = repo.commit("other", src__a="2\n", b="2\n")
    listed = python_as_anybody(AGAIN, tmp_path / "state", repo.path, one, other, mode)
    assert listed == ".git b src src/a"
