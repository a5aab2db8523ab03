# SPDX-License-Identifier: GPL-2.0-or-later
"""Pointers of Git LFS, written by hand, and contents that a clone has of them."""

import hashlib
import os
import shutil
import subprocess

import pytest

from helpers.run_command import checker, rtbisect, run_words
from rtbisect.campaign.trees import command_tree
from rtbisect.model.kinds.pipeline import Ends
from rtbisect.trees.carry import changed_names, uncommitted_diff

VERSION = "version https://git-lfs.github.com/spec/v1\n"


def pointer(text, *, extra=""):
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{VERSION}{extra}oid sha256:{digest}\nsize {len(text)}\n"


def keep(repo, text):
    """What `git lfs fetch` leaves."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    place = repo.path / ".git/lfs/objects" / digest[:2] / digest[2:4] / digest
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


@pytest.fixture
def tracked(repo):
    """A repository that hands *.bin to a filter."""
    repo.commit("start", _gitattributes="*.bin filter=lfs diff=lfs merge=lfs -text\n", text="1\n")
    return repo


def test_contents_that_the_clone_has_stand_for_their_pointers(tmp_path, tracked):
    keep(tracked, "new data\n")
    keep(tracked, "old data\n")
    files = {"sub__a_bin": pointer("old data\n"), "gone_bin": pointer("never fetched\n")}
    one = tracked.commit("one", **files, text=f"{VERSION}oid of nothing\n")
    with_extension = pointer("new data\n", extra=f"ext-0-x sha256:{'1' * 64}\n")
    other = tracked.commit("other", sub__a_bin=with_extension, **{"b é_bin": files["sub__a_bin"]})
    tracked("config", "filter.lfs.smudge", f"touch {tracked.path}/ran; cat")
    tracked("config", "filter.lfs.process", f"touch {tracked.path}/ran; false")
    tree = command_tree(tmp_path / "state", str(tracked.path), lfs=True)
    assert tree.unfetched(one) == tree.unfetched(other) == ("gone.bin",)
    top = tree.checkout(one)
    assert (top / "sub/a.bin").read_text() == "old data\n"
    assert (top / "gone.bin").read_text() == files["gone_bin"]
    assert (top / "text").read_text() == f"{VERSION}oid of nothing\n"
    # What a command changes is put back, and looks no newer than it was.
    os.utime(top / "sub/a.bin", ns=(10**18, 10**18))
    before = tree.checkout(one) and (top / "sub/a.bin").stat().st_mtime_ns
    (top / "sub/a.bin").write_text("mine\n")
    assert (tree.restore(one) / "sub/a.bin").read_text() == "old data\n"
    assert (top / "sub/a.bin").stat().st_mtime_ns == before
    top = tree.checkout(other)
    assert [(top / name).read_text() for name in ("sub/a.bin", "b é.bin")] == [
        "new data\n",
        "old data\n",
    ]
    assert not (tracked.path / "ran").exists()


def test_a_file_that_no_attribute_hands_to_lfs_stays(tmp_path, tracked):
    """A test of LFS, or a pointer that somebody has committed as it is."""
    keep(tracked, "x\n")
    sha = tracked.commit("fixtures", fixture_txt=pointer("x\n"), a_bin=pointer("x\n"))
    top = command_tree(tmp_path / "state", str(tracked.path), lfs=True).checkout(sha)
    assert (top / "a.bin").read_text() == "x\n"
    assert (top / "fixture.txt").read_text() == pointer("x\n")


def test_a_repository_without_lfs_has_no_pointers(tmp_path, repo):
    sha = repo.commit("a file that looks like one", a_bin=pointer("x\n"))
    tree = command_tree(tmp_path / "state", str(repo.path), lfs=True)
    assert tree.unfetched(sha) == ()
    assert (tree.checkout(sha) / "a.bin").read_text() == pointer("x\n")


def test_a_search_says_at_the_start_what_was_not_fetched(tmp_path, tracked):
    good = tracked.commit("good", b_bin=pointer("0\n"))
    bad = tracked.commit("bad", a_bin=pointer("1\n"), b_bin=pointer("2\n"), c_bin=pointer("3\n"))
    keep(tracked, "0\n")
    keep(tracked, "2\n")
    checker(tmp_path, f"cat b.bin >>{tmp_path}/seen; kill -KILL $$")
    words = ["run", "--pass-fail", "--good", good, "--bad", bad, "--", "../check.sh"]
    done = rtbisect(tmp_path / "state", *words, cwd=tracked.path)
    said = run_words(Ends.UNFETCHED, revision=bad, files=2, first="a.bin")
    assert (done.returncode, said in done.stdout + done.stderr) == (3, True), done.stderr
    assert (tmp_path / "seen").read_text() == "0\n"


def test_a_filter_that_is_not_installed_changes_no_file(tracked, monkeypatch):
    tracked.commit("one", a_bin=pointer("data\n"))
    for setting, value in (("process", "git-lfs filter-process"), ("required", "true")):
        tracked("config", f"filter.lfs.{setting}", value)
    # As after a clone: git cannot tell by the time that it is not changed.
    (tracked.path / "a.bin").write_text(pointer("data\n"))
    (tracked.path / "text").write_text("2\n")
    monkeypatch.setattr(shutil, "which", lambda _program: None)
    assert changed_names(tracked.path) == ("text",)
    assert b"a.bin" not in uncommitted_diff(tracked.path)[1]


def test_a_clone_by_git_lfs_is_unchanged_and_has_what_it_fetched(tmp_path, repo, monkeypatch):
    """Whose filter stands in the configuration of its owner, as `git lfs install` leaves it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}

    def git(*words, cwd=repo.path):
        subprocess.run(["git", *words], cwd=cwd, env=environment, check=True, capture_output=True)

    git("lfs", "install", "--skip-repo")
    repo("lfs", "install", "--local")
    old = repo.commit("old", _gitattributes="*.bin filter=lfs -text\n", a_bin="old\n")
    new = repo.commit("new", a_bin="new\n")
    git("init", "--bare", "-b", "main", str(tmp_path / "server"))
    git("push", f"file://{tmp_path}/server", "HEAD:main")
    git("clone", f"file://{tmp_path}/server", str(tmp_path / "clone"))
    clone = tmp_path / "clone"
    # As right after a clone: git cannot tell by the time that it is not changed.
    (clone / "a.bin").write_text("new\n")
    assert changed_names(clone) == ()
    (clone / "a.bin").write_text("mine\n")
    assert changed_names(clone) == ("a.bin",)
    tree = command_tree(tmp_path / "state", str(clone), lfs=True)
    assert (tree.unfetched(old), tree.unfetched(new)) == (("a.bin",), ())
    git("lfs", "fetch", "--all", cwd=clone)
    for sha, text in ((old, "old\n"), (new, "new\n")):
        assert tree.unfetched(sha) == ()
        assert (tree.checkout(sha) / "a.bin").read_text() == text
