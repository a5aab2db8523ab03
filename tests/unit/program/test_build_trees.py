# SPDX-License-Identifier: GPL-2.0-or-later
"""Trees of built revisions: how many are kept, which one goes, and a disk that is full."""

import shutil
from types import SimpleNamespace

import pytest

from helpers.findings import words
from helpers.folder_tree import FolderTree, silent
from rtbisect.errors import BusyError, ConfigError, InfrastructureError, MisaskedError
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Commands
from rtbisect.model.kinds.pipeline import Work
from rtbisect.program import build_trees
from rtbisect.program.build_trees import BuildSettings, BuildTrees

GB = 1 << 30


def trees_in(tmp_path, script="true", **changes):
    told = []
    settings = {
        "argv": ("/bin/sh", "-c", f"echo $RTBISECT_REVISION >>{tmp_path}/built; {script}"),
        "timeout_s": 20.0,
        "keep": 2,
        "work_dir": tmp_path / "work",
        "campaign": "run-1",
        "tree": lambda number: FolderTree(tmp_path / f"trees/t-b{number:02}"),
        "tell": told.append,
    }
    return BuildTrees(BuildSettings(**settings | changes)), told


def with_disk(monkeypatch, *free):
    """A disk that has so many bytes free, each time it is asked; the last one from then on."""
    left = list(free)
    usage = lambda _path: SimpleNamespace(free=left.pop(0) if len(left) > 1 else left[0])  # noqa: E731
    monkeypatch.setattr(build_trees.shutil, "disk_usage", usage)


def test_the_tree_that_was_used_longest_ago_goes_first(tmp_path):
    trees, _ = trees_in(tmp_path)
    for sha in ("a" * 40, "b" * 40):
        assert trees.make(sha, silent).path is not None
    assert trees.ready("a" * 40) is not None
    trees.make("c" * 40, silent)
    assert [trees.ready(letter * 40) is not None for letter in "abc"] == [True, False, True]
    assert len(list((tmp_path / "trees").glob("t-b??"))) == 2


def test_a_build_script_without_an_interpreter_is_run_as_a_shell_runs_it(tmp_path):
    (tmp_path / "build.sh").write_text("echo built >product\n")
    (tmp_path / "build.sh").chmod(0o755)
    trees, _ = trees_in(tmp_path, argv=(f"{tmp_path}/build.sh",))
    assert (trees.make("a" * 40, silent).path / "product").is_file()


class WithProgram(FolderTree):
    """A tree with a program of another machine."""

    def checkout(self, sha):
        path = super().checkout(sha)
        (path / "build").write_bytes(b"\x7fELF\2\1\1\0")
        (path / "build").chmod(0o755)
        return path


def test_a_build_program_that_the_kernel_refuses_fails_its_revision(tmp_path):
    tree = WithProgram(tmp_path / "trees/t-b01")
    trees, _ = trees_in(tmp_path, argv=("./build",), tree=lambda _number: tree)
    made = trees.make("a" * 40, silent)
    assert (made.path, made.seconds) == (None, 0.0)
    assert made.error


def test_a_tree_is_known_after_a_restart_and_to_its_own_campaign_alone(tmp_path):
    path = trees_in(tmp_path)[0].make("a" * 40, silent).path
    assert trees_in(tmp_path)[0].ready("a" * 40) == path
    other, _ = trees_in(tmp_path, campaign="run-2")
    assert other.ready("a" * 40) is None
    assert other.make("b" * 40, silent).path == path


def test_a_disk_with_room_for_few_trees_keeps_few(tmp_path, monkeypatch):
    with_disk(monkeypatch, 10 * GB)
    trees, told = trees_in(tmp_path, keep=0)
    trees.make("a" * 40, silent)
    assert (told[0].kind, told[0].data["trees"]) == (Work.TREES_KEPT, build_trees.MOST_TREES)
    with_disk(monkeypatch, GB // 2)
    trees.make("b" * 40, silent)
    assert [trees.ready(letter * 40) is not None for letter in "ab"] == [False, True]


def test_a_full_disk_gives_up_other_trees_before_it_stops(tmp_path, monkeypatch):
    trees, _ = trees_in(tmp_path, f"test ! -e {tmp_path}/full")
    trees.make("a" * 40, silent)
    (tmp_path / "full").touch()
    with_disk(monkeypatch, 0)
    monkeypatch.setattr(BuildTrees, "_has_room", lambda *_words: True)
    with pytest.raises(InfrastructureError) as error:
        trees.make("b" * 40, silent)
    assert "resume" in error.value.hint
    assert (tmp_path / "built").read_text().split() == ["a" * 40, *["b" * 40] * 2]
    assert not list((tmp_path / "trees").glob("*"))


def test_a_tree_that_prints_that_the_disk_is_full_is_a_failure_of_its_own(tmp_path):
    trees, _ = trees_in(tmp_path, "echo x.c: No space left on device; exit 1")
    made = trees.make("a" * 40, silent)
    assert (made.path, "No space left" in made.error) == (None, True)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo a.c:3: error: no such member; echo make: Error 1; exit 2", "a.c:3: error: no such"),
        ("echo something is wrong; exit 1", "something is wrong"),
        ("echo ld: unrecognized option --x; echo error: ld returned 1; exit 1", "option --x"),
        ("exit 125", "125"),
        ("printf 'er\\033[31mror: \\001x\\n'; exit 1", "error: ?x"),
    ],
)
def test_why_a_build_failed_is_one_line(tmp_path, script, said):
    made = trees_in(tmp_path, script)[0].make("a" * 40, silent)
    assert made.path is None
    assert said in made.error
    assert made.error.isprintable()


def test_a_missing_program_is_a_usage_error_only_at_the_first_build(tmp_path):
    trees, _ = trees_in(tmp_path, "exit 127")
    with pytest.raises(MisaskedError):
        trees.make("a" * 40, silent)
    assert trees.make("b" * 40, silent).path is None


def test_a_first_build_that_was_paused_is_the_first_one_again(tmp_path):
    script = f"test -e {tmp_path}/again && exit 127; touch {tmp_path}/again; exit 130"
    trees, _ = trees_in(tmp_path, script)
    with pytest.raises(InfrastructureError):
        trees.make("a" * 40, silent)
    with pytest.raises(MisaskedError):
        trees.make("a" * 40, silent)


@pytest.mark.parametrize("mode", [None, 0o644])
def test_a_revision_without_the_program_of_the_build_is_skipped(tmp_path, mode):
    def tree(number):
        made = FolderTree(tmp_path / f"trees/t-b{number:02}")
        begin = made.checkout

        def checkout(sha):
            path = begin(sha)
            if mode is not None or sha.startswith("b"):
                (path / "build.sh").write_text("#!/bin/sh\n")
                (path / "build.sh").chmod(0o755 if sha.startswith("b") else mode)
            return path

        made.checkout = checkout
        return made

    trees, _ = trees_in(tmp_path, argv=("./build.sh",), tree=tree)
    made = trees.make("a" * 40, silent)
    assert (made.path, bool(made.error)) == (None, True)
    assert trees.make("b" * 40, silent).path is not None


def test_a_build_may_leave_folders_that_nobody_may_write_to(tmp_path):
    trees, _ = trees_in(tmp_path, "mkdir -p mod/x; touch mod/x/y; chmod -R a-w mod", keep=1)
    assert trees.make("a" * 40, silent).path is not None
    path = trees.make("b" * 40, silent).path
    assert (path / "sha").read_text() == "b" * 40


def test_a_tree_that_somebody_removed_is_built_again(tmp_path):
    trees, _ = trees_in(tmp_path)
    shutil.rmtree(trees.make("a" * 40, silent).path)
    assert trees.ready("a" * 40) is None
    assert trees.make("a" * 40, silent).path is not None


@pytest.mark.parametrize(
    "left",
    [
        "rm -rf $PWD; ln -s {0} $PWD",
        "rm -rf $PWD",
        "rm -rf $PWD; touch $PWD",
    ],
)
def test_a_build_that_replaces_its_tree_fails_and_nothing_else_is_removed(tmp_path, left):
    others = tmp_path / "others"
    others.mkdir()
    (others / "precious").write_text("text")
    others.chmod(0o755)
    trees, _ = trees_in(tmp_path, left.format(others), keep=1)
    for sha in ("a" * 40, "b" * 40):
        made = trees.make(sha, silent)
        assert (made.path, bool(made.error)) == (None, True)
        assert trees.ready(sha) is None
    assert (others / "precious").read_text() == "text"
    assert others.stat().st_mode & 0o777 == 0o755


class FullTree(FolderTree):
    """A worktree on a disk that is full in one of its steps."""

    fails = ""

    def checkout(self, sha):
        path = super().checkout(sha)
        if self.fails == "checkout":
            raise InfrastructureError("git cannot write", "")
        return path

    def settle(self):
        if self.fails == "settle":
            raise InfrastructureError("git cannot write", "")


@pytest.mark.parametrize("fails", ["checkout", "settle", "record"])
def test_a_disk_that_is_full_around_a_build_pauses_and_leaves_nothing(tmp_path, monkeypatch, fails):
    def full(*_words):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FullTree, "fails", fails)
    tree = lambda number: FullTree(tmp_path / f"trees/t-b{number:02}")  # noqa: E731
    trees, _ = trees_in(tmp_path, tree=tree)
    with_disk(monkeypatch, 0)
    with monkeypatch.context() as context:
        if fails == "record":
            context.setattr(BuildTrees, "_keep", full)
        with pytest.raises(InfrastructureError) as error:
            trees.make("a" * 40, silent)
    assert "resume" in error.value.hint
    assert not list((tmp_path / "trees").iterdir())
    monkeypatch.setattr(FullTree, "fails", "")
    assert trees.make("a" * 40, silent).path is not None


def test_a_checkout_that_fails_where_there_is_room_is_told_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(FullTree, "fails", "checkout")
    trees, _ = trees_in(tmp_path, tree=lambda number: FullTree(tmp_path / f"trees/t-b{number:02}"))
    with_disk(monkeypatch, 10 * GB)
    with pytest.raises(InfrastructureError, match="git cannot write"):
        trees.make("a" * 40, silent)
    assert not list((tmp_path / "trees").iterdir())


def test_a_build_that_prints_for_ever_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(build_trees, "MOST_PRINTED_BYTES", 1 << 20)
    trees, _ = trees_in(tmp_path, "yes")
    made = trees.make("a" * 40, silent)
    assert made.path is None
    assert made.error == words(Finding.of(Commands.OVERRAN, most=1 << 20))


@pytest.mark.parametrize("error", [ConfigError, BusyError])
def test_what_somebody_else_has_put_there_or_holds_is_not_deleted(tmp_path, error):
    class Taken(FolderTree):
        def checkout(self, sha):
            raise error(f"{self.path} is not ours to fill with {sha}", "move it away")

    folder = tmp_path / "trees/t-b01"
    folder.mkdir(parents=True)
    (folder / "precious").write_text("text")
    trees, _ = trees_in(tmp_path, tree=lambda number: Taken(tmp_path / f"trees/t-b{number:02}"))
    with pytest.raises(error):
        trees.make("a" * 40, silent)
    assert (folder / "precious").read_text() == "text"


def test_a_link_on_a_full_disk_is_no_failure_of_its_revision(tmp_path, monkeypatch):
    trees, _ = trees_in(tmp_path, f"test ! -e {tmp_path}/full", relayout=True)
    trees.make("a" * 40, silent)
    path = trees.make("b" * 40, silent).path
    (tmp_path / "full").touch()
    with_disk(monkeypatch, 0)
    with pytest.raises(InfrastructureError) as error:
        trees.link("b" * 40, path, "run-1-r1", silent)
    assert "resume" in error.value.hint
    # Of the others there is room when it goes on.
    assert [trees.ready(letter * 40) is not None for letter in "ab"] == [False, True]


def test_links_go_on_where_the_folder_of_logs_was_removed(tmp_path):
    trees, _ = trees_in(tmp_path, "echo $RTBISECT_LAYOUT_SEED >program", relayout=True)
    path = trees.make("a" * 40, silent).path
    shutil.rmtree(tmp_path / "work")
    assert trees_in(tmp_path)[0].ready("a" * 40) == path
    assert not trees.link("a" * 40, path, "run-1-r1", silent).error
    assert (tmp_path / f"work/link-{'a' * 12}.log").is_file()


def test_a_seed_is_asked_about_until_links_have_shown_what_it_does(tmp_path):
    trees, _ = trees_in(tmp_path, f"test ! -e {tmp_path}/broken", relayout=True)
    path = trees.make("a" * 40, silent).path
    (tmp_path / "broken").touch()
    assert trees.link("a" * 40, path, "run-1-r1", silent).error
    (tmp_path / "broken").unlink()
    with pytest.raises(MisaskedError):
        trees.link("a" * 40, path, "run-1-r2", silent)
