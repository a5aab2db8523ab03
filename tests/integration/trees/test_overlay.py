# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of today, laid over revisions of a repository and gone with them."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.repositories import Repo
from rtbisect.errors import ConfigError
from rtbisect.trees import overlay
from rtbisect.trees.git import GitTree, GitTreeSettings
from rtbisect.trees.overlay import pack


@pytest.fixture
def repo(tmp_path, monkeypatch):
    made = Repo(tmp_path / "repo")
    monkeypatch.chdir(made.path)
    return made


def tree_of(tmp_path, repo, *files):
    packed, _ = pack(repo.path, [Path(file) for file in files])
    settings = GitTreeSettings(
        name="t", repo=repo.path, worktree=tmp_path / "tree", lock=tmp_path / "lock", overlay=packed
    )
    return GitTree(settings)


def test_each_revision_has_the_file_and_none_is_stained(tmp_path, repo):
    old = repo.commit("old", bench_c="old\n", a_c="a\n")
    new = repo.commit("new", a_c="b\n")
    (repo.path / "bench.c").write_text("today\n")
    (repo.path / "tests").mkdir()
    (repo.path / "tests/more.sh").write_text("#!/bin/sh\n")
    (repo.path / "tests/more.sh").chmod(0o755)
    tree = tree_of(tmp_path, repo, "bench.c", "tests")
    for sha, text in ((old, "a\n"), (new, "b\n")):
        path = tree.checkout(sha)
        assert (path / "bench.c").read_text() == "today\n"
        assert os.access(path / "tests/more.sh", os.X_OK)
        assert (path / "a.c").read_text() == text
    plain = GitTree(replace(tree._settings, overlay=b""))
    path = plain.checkout(old)
    assert ((path / "bench.c").read_text(), (path / "tests").exists()) == ("old\n", False)
    assert repo("status", "--porcelain") == "M bench.c\n?? tests/"


def test_a_file_that_is_laid_over_again_keeps_its_time_and_a_changed_one_comes_back(tmp_path, repo):
    sha = repo.commit("one", bench_c="old\n")
    (repo.path / "bench.c").write_text("today\n")
    tree = tree_of(tmp_path, repo, "bench.c")
    file = tree.checkout(sha) / "bench.c"
    then = file.stat().st_mtime_ns
    file.write_text("spoiled\n")
    tree.restore(sha)
    assert (file.read_text(), file.stat().st_mtime_ns) == ("today\n", then)
    tree.settle()
    file.write_text("spoiled\n")
    assert tree.settled(sha)
    assert (file.read_text(), file.stat().st_mtime_ns) == ("today\n", then)


def test_what_is_in_the_way_is_replaced_and_no_link_is_followed(tmp_path, repo):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "bench.c").write_text("of others\n")
    (repo.path / "tests").symlink_to(outside)
    (repo.path / "bench.c").symlink_to(outside / "bench.c")
    linked = repo.commit("links")
    for name in ("tests", "bench.c"):
        (repo.path / name).unlink()
    odd = repo.commit("a file and a folder", tests="file\n", bench_c__x="in a folder\n")
    (repo.path / "tests").unlink()
    repo("rm", "-q", "-r", "--cached", ".")
    (repo.path / "bench.c/x").unlink(missing_ok=True)
    for folder in repo.path.glob("bench.c"):
        folder.rmdir()
    for name in ("tests/bench.c", "bench.c"):
        (repo.path / name).parent.mkdir(exist_ok=True)
        (repo.path / name).write_text("today\n")
    tree = tree_of(tmp_path, repo, "tests", "bench.c")
    for sha in (linked, odd):
        path = tree.checkout(sha)
        assert (path / "tests/bench.c").read_text() == "today\n"
        assert (path / "bench.c").read_text() == "today\n"
    assert (outside / "bench.c").read_text() == "of others\n"
    plain = GitTree(replace(tree._settings, overlay=b""))
    assert (plain.checkout(linked) / "tests").is_symlink()


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("../outside", "is not below"),
        ("/etc/hostname", "is not below"),
        (".", "is not below"),
        ("away/hostname", "is not below"),
        ("passwd", "is a link out of the work tree"),
        ("gone", "is not there"),
        (".git/config", "belongs to git"),
        ("empty", "has no files"),
        ("pipe", "is not a file or folder"),
        ("near/bench.c", "leads through a linked folder"),
        ("tests", "has no files"),
        ("large", "more than"),
    ],
)
def test_a_path_that_leaves_the_work_tree_is_refused(tmp_path, repo, file, said):
    (tmp_path / "outside").write_text("x")
    (repo.path / "passwd").symlink_to("/etc/passwd")
    (repo.path / "away").symlink_to("/etc")
    os.mkfifo(repo.path / "pipe")
    (repo.path / "empty").mkdir()
    (repo.path / "real").mkdir()
    (repo.path / "real/bench.c").write_text("x")
    (repo.path / "near").symlink_to("real")
    # A folder of the commit that is a link today.
    repo.commit("tests", tests__of__hostname="x\n")
    shutil.rmtree(repo.path / "tests/of")
    (repo.path / "tests/of").symlink_to("/etc")
    (repo.path / ".git/info").mkdir(exist_ok=True)
    (repo.path / ".git/info/exclude").write_text("of\n")
    with (repo.path / "large").open("wb") as stream:
        stream.truncate(overlay.MOST_BYTES + 1)
    with pytest.raises(ConfigError, match=said):
        pack(repo.path, [Path(file)])


def test_equal_files_are_packed_equally_and_a_link_inside_stays_one(tmp_path, repo):
    (repo.path / "bench.c").write_text("today\n")
    (repo.path / "link").symlink_to("bench.c")
    first, names = pack(repo.path, [Path("link"), Path("bench.c")])
    os.utime(repo.path / "bench.c", (1, 1))
    assert pack(repo.path, [Path("bench.c"), Path("link")])[0] == first
    assert names == ("link", "bench.c")
    sha = repo.commit("one", a_c="a\n")
    path = tree_of(tmp_path, repo, "link", "bench.c").checkout(sha)
    assert (path / "link").readlink() == Path("bench.c")
