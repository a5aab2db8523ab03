# SPDX-License-Identifier: GPL-2.0-or-later
"""What a worktree holds of submodules, whatever was there before; hostile `.gitmodules`."""

import shutil
from itertools import combinations

import pytest

from helpers.run_command import git
from helpers.submodules import WithSubmodules
from rtbisect.campaign.trees import command_tree
from rtbisect.model.kinds.boot import Commands


@pytest.fixture
def made(tmp_path):
    made = WithSubmodules(tmp_path)
    made.origin.commit("start", start="1\n")
    return made


def files(top):
    """All but git's own."""
    found = [path for path in top.rglob("*") if path.is_symlink() or path.is_file()]
    return {str(path.relative_to(top)) for path in found if not path.name.startswith(".git")}


IN_LIB = {"text", "inner/text"}


def under(path):
    return {f"{path}/{name}" for name in IN_LIB}


def test_submodules_come_move_and_go_in_any_order_and_leave_nothing(tmp_path, made):
    """What was a submodule becomes a file, a folder, a link, nothing, and comes back; with what a
    command has left in it.
    """
    origin = made.origin
    shas = {made.add("part"): under("part")}
    origin("mv", "part", "moved")
    shas[origin.commit("moved")] = under("moved")
    origin("rm", "-q", "moved")
    shas[origin.commit("dropped, a file now", part="x\n", moved="x\n")] = {"part", "moved"}
    origin("rm", "-q", "part", "moved")
    shas[origin.commit("a folder", part__own="x\n", moved__text="x\n")] = {"part/own", "moved/text"}
    origin("rm", "-q", "-r", "part", "moved")
    (origin.path / "part").symlink_to("/etc")
    shas[origin.commit("a link")] = {"part"}
    (origin.path / "part").unlink()
    shas[origin.commit("nothing", last="x\n")] = {"last"}
    origin("checkout", "-q", next(iter(shas)), "--", "part", ".gitmodules")
    shas[origin.commit("back again")] = under("part") | {"last"}
    clone = made.clone("--recurse-submodules")
    tree = command_tree(tmp_path / "state", str(clone), submodules=True)
    for pair in combinations(shas, 2):
        for sha in pair:
            top = tree.checkout(sha)
            assert files(top) == shas[sha] | {"start"}, (pair, sha)
            for path in sorted(shas[sha] - {"part"}):
                (top / path).with_name("built.o").write_text("x\n")
    assert not (top / "part/.git").is_symlink()
    assert git(clone, "status", "--porcelain") == ""
    assert not list((clone / ".git/modules/lib/worktrees").glob("*"))


def test_a_link_that_a_command_puts_in_the_way_is_not_followed(tmp_path, made):
    sha, other = made.add("libs/lib"), made.origin.commit("other", other="x\n")
    made.origin("rm", "-q", "libs/lib")
    without = made.origin.commit("without")
    made.origin("checkout", "-q", other, "--", "libs", ".gitmodules")
    made.origin.commit("back again")
    tree = command_tree(
        tmp_path / "state", str(made.clone("--recurse-submodules")), submodules=True
    )
    mine = tmp_path / "mine/lib"
    (mine / "precious").mkdir(parents=True)
    for after in (sha, other, without):
        top = tree.checkout(sha)
        shutil.rmtree(top / "libs")
        (top / "libs").symlink_to(tmp_path / "mine")
        tree.checkout(after)
        assert (mine / "precious").is_dir()
        assert not (top / "libs").is_symlink()


@pytest.mark.parametrize("name", ["../lib", "x/../../modules/lib", "..", "a\\..\\b", ""])
def test_a_name_that_leaves_its_folder_is_no_submodule(tmp_path, made, name):
    made.add()
    text = f'[submodule "{name}"]\n\tpath = libs/lib\n\turl = ext::touch /tmp/x\n'
    (made.origin.path / ".gitmodules").write_text(text.replace("\\", "\\\\"))
    sha = made.origin.commit("a hostile name")
    tree = command_tree(tmp_path / "state", str(made.clone()), submodules=True)
    assert tree.lacking(sha) is None
    assert files(tree.checkout(sha)) == {"start"}


@pytest.mark.parametrize("path", ["../x", "/etc", ".git/x", "libs/../../x", "nothing", "start"])
def test_a_path_that_is_none_of_a_submodule_is_nothing(tmp_path, made, path):
    made.add()
    text = f'[submodule "lib"]\n\tpath = {path}\n\turl = ../lib\n\tupdate = !touch {tmp_path}/ran\n'
    (made.origin.path / ".gitmodules").write_text(text)
    sha = made.origin.commit("a hostile path")
    tree = command_tree(tmp_path / "state", str(made.clone()), submodules=True)
    assert tree.lacking(sha) is None
    assert files(tree.checkout(sha)) == {"start"}
    assert not (tmp_path / "ran").exists()


def test_gitmodules_that_is_a_link_is_not_followed(tmp_path, made):
    made.add()
    (made.origin.path / ".gitmodules").rename(made.origin.path / "other")
    (made.origin.path / ".gitmodules").symlink_to("other")
    sha = made.origin.commit("a link")
    # Git itself checks out no such revision.
    tree = command_tree(tmp_path / "state", str(made.clone("--no-checkout")), submodules=True)
    assert tree.lacking(sha) is None


def test_neither_hooks_nor_settings_of_the_clones_submodule_are_run(tmp_path, made):
    """Of the repository of the submodule only objects are taken."""
    sha = made.add()
    clone = made.clone("--recurse-submodules")
    module = clone / ".git/modules/lib"
    hook = module / "hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    for name, value in (
        ("core.fsmonitor", f"touch {tmp_path}/ran; false"),
        ("filter.x.smudge", f"touch {tmp_path}/ran; cat"),
        ("core.worktree", "../../../../nowhere"),
        ("core.autocrlf", "true"),
    ):
        git(tmp_path, "config", "-f", str(module / "config"), name, value)
    (module / "info/attributes").write_text("* filter=x\n")
    tree = command_tree(tmp_path / "state", str(clone), submodules=True)
    top = tree.checkout(sha)
    assert (top / "libs/lib/text").read_bytes() == b"0\n"
    assert not (tmp_path / "ran").exists()


def test_a_shallow_submodule_and_one_with_its_own_git_folder_will_do(tmp_path, made):
    sha = made.add()
    clone = made.clone("--recurse-submodules")
    module = clone / ".git/modules/lib"
    (module / "shallow").write_text(git(clone / "libs/lib", "rev-parse", "HEAD") + "\n")
    tree = command_tree(tmp_path / "state", str(clone), submodules=True)
    assert files(tree.checkout(sha)) == under("libs/lib") | {"start"}
    (clone / "libs/lib/.git").unlink()
    shutil.move(module, clone / "libs/lib/.git")
    git(tmp_path, "config", "-f", str(clone / "libs/lib/.git/config"), "core.worktree", "..")
    tree = command_tree(tmp_path / "other", str(clone), submodules=True)
    assert files(tree.checkout(sha)) == under("libs/lib") | {"start"}


def test_what_is_missing_is_named_by_its_path_from_the_top(tmp_path, made):
    sha = made.add()
    clone = made.clone("--recurse-submodules")
    tree = command_tree(tmp_path / "state", str(clone), submodules=True)
    assert tree.lacking(sha) is None
    shutil.rmtree(clone / ".git/modules/lib/modules")
    tree = command_tree(tmp_path / "state", str(clone), submodules=True)
    absent = tree.lacking(sha)
    assert (absent.kind, absent.data) == (Commands.NO_SUBMODULE, {"path": "libs/lib/inner"})


@pytest.mark.parametrize("setting", ["remote.origin.promisor", "extensions.partialClone"])
def test_a_partial_submodule_is_missing_and_git_fetches_nothing(tmp_path, made, setting):
    sha = made.add()
    clone = made.clone("--recurse-submodules")
    config = clone / ".git/modules/lib/config"
    git(tmp_path, "config", "-f", str(config), setting, "true")
    tree = command_tree(tmp_path / "state", str(clone), submodules=True)
    absent = tree.lacking(sha)
    assert (absent.kind, absent.data) == (Commands.NO_SUBMODULE, {"path": "libs/lib"})


@pytest.mark.parametrize("submodules", [True, False])
def test_what_a_command_leaves_in_an_empty_submodule_is_gone_at_the_next_revision(
    tmp_path, made, submodules
):
    """One that `.gitmodules` does not name, and, where none is filled, all; a submodule of one,
    too.
    """
    made.add()
    clone, shas = made.clone("--recurse-submodules"), []
    # Git itself clones nothing that has one without a name.
    for repo, path in ((clone / "libs/lib", "nameless"), (clone, "deep/nameless")):
        git(repo, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},{path}")
        git(repo, "commit", "-q", "-m", path)
    for _ in range(2):
        git(clone, "commit", "-q", "--allow-empty", "-m", "change", "libs/lib")
        shas.append(git(clone, "rev-parse", "HEAD"))
    tree = command_tree(tmp_path / "state", str(clone), submodules=submodules)
    mine = tmp_path / "mine"
    (mine / "nameless/precious").mkdir(parents=True)
    empty = ["deep/nameless", *(["libs/lib/nameless"] if submodules else ["libs/lib"])]
    seen = under("libs/lib") if submodules else set()
    for sha in (*shas, *shas):
        top = tree.checkout(sha)
        assert files(top) == seen | {"start"}
        assert all(not any((top / folder).iterdir()) for folder in empty)
        for folder in empty:
            git(top, "init", "-q", folder)
            (top / folder / "built.o").write_text(f"{sha}\n")
        if sha == shas[1]:
            shutil.rmtree(top / "deep")
            (top / "deep").symlink_to(mine)
    # The same revision again keeps what was built there.
    assert (tree.restore(sha) / empty[1] / "built.o").is_file()
    assert (mine / "nameless/precious").is_dir()
