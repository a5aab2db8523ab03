# SPDX-License-Identifier: GPL-2.0-or-later
"""What the command of `run` finds around it, and what becomes of what it leaves."""

import json
from pathlib import Path

from helpers.run_command import checker, git, history, rtbisect, run_words
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Commands
from rtbisect.model.kinds.search import Endings, Untestable


def test_what_is_not_committed_is_neither_tested_nor_touched(tmp_path, repo):
    good, bad, culprit = history(repo, 4, count=20)
    (repo / "file1").write_text("mine\n")
    (repo / "slow").unlink()
    (repo / "own").write_text("mine\n")
    before = git(repo, "status", "--porcelain")
    checker(tmp_path, "test ! -e slow")
    words = ["run", "--good", good, "--bad", bad, "--pass-fail"]
    done = rtbisect(tmp_path / "state", *words, "--", "../check.sh", cwd=repo)
    assert f"culprit {culprit}" in done.stdout
    assert "boot" not in done.stdout
    assert git(repo, "status", "--porcelain") == before


def test_a_repository_that_vanishes_stops_the_search_and_keeps_it(tmp_path, repo):
    good, bad, culprit = history(repo, 4, count=20)
    aside = tmp_path / "aside"
    checker(
        tmp_path, f"test -e {aside} -o ! -e {tmp_path}/now || mv {repo} {aside}\ntest ! -e slow"
    )
    words = ["run", "--good", good, "--bad", bad, "--repo", str(repo), "--pass-fail", "--json"]
    (tmp_path / "now").touch()
    script = str(tmp_path / "check.sh")
    done = rtbisect(tmp_path / "state", *words, "--", script, cwd=tmp_path)
    assert (done.returncode, str(repo) in json.loads(done.stdout)["error"]) == (2, True)
    aside.rename(repo)
    (tmp_path / "now").unlink()
    done = rtbisect(tmp_path / "state", "resume", "run-1", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["culprit"] == culprit, done.stderr


def test_the_command_has_the_environment_of_its_user(tmp_path, repo, monkeypatch):
    good, bad, culprit = history(repo, 4, count=12)
    checker(
        tmp_path, 'test -z "$GIT_DIR" || exit 200; test "$THREADS" = 4 || exit 201; test ! -e slow'
    )
    monkeypatch.setenv("THREADS", "4")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    words = ["run", "--good", good, "--bad", bad, "--repo", str(repo), "--pass-fail", "--json"]
    script = str(tmp_path / "check.sh")
    done = rtbisect(tmp_path / "state", *words, "--", script, cwd=tmp_path)
    assert json.loads(done.stdout).get("culprit") == culprit, done.stderr


def test_what_the_command_leaves_running_is_ended(tmp_path, repo):
    good, bad, _culprit = history(repo, 4, count=12)
    checker(tmp_path, f"sleep 987 & echo $! >>{tmp_path}/left; test ! -e slow")
    words = ["run", "--good", good, "--bad", bad, "--pass-fail", "--json"]
    done = rtbisect(tmp_path / "state", *words, "--", "../check.sh", cwd=repo)
    left = [int(pid) for pid in (tmp_path / "left").read_text().split()]
    assert len(left) == json.loads(done.stdout)["boots"]
    for pid in left:
        status = Path(f"/proc/{pid}/status")
        assert not status.exists() or "State:\tZ" in status.read_text()


def test_a_script_is_found_from_wherever_one_stands(tmp_path, repo):
    """Below the top of the repository, and in another one that has such a script too."""
    good, bad, culprit = history(repo, 4, count=12)
    for folder in (repo / "below", tmp_path / "elsewhere"):
        folder.mkdir()
        (folder / "check.sh").write_text("#!/bin/sh\ntest ! -e slow\n")
        (folder / "check.sh").chmod(0o755)
    git(tmp_path, "init", "-q", str(tmp_path / "elsewhere"))
    git(tmp_path / "elsewhere", "add", "-A")
    words = ["run", "--good", good, "--bad", bad, "--pass-fail", "--json"]
    for at, more in (("repo/below", []), ("elsewhere", ["--repo", str(repo)])):
        state = tmp_path / "state" / at
        done = rtbisect(state, *words, *more, "--", "./check.sh", cwd=tmp_path / at)
        assert json.loads(done.stdout).get("culprit") == culprit, done.stderr


def test_a_script_of_the_repository_that_a_revision_lacks_skips_it(tmp_path, repo):
    """The script comes with the last commit."""
    good, _bad, _culprit = history(repo, 4, count=6)
    check = repo / "check.sh"
    check.write_text("#!/bin/sh\ntest -e late && echo 9 || echo $((RANDOM % 3))\n")
    check.chmod(0o755)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "script")
    words = ["run", "--good", good, "--bad", git(repo, "rev-parse", "HEAD")]
    done = rtbisect(tmp_path / "state", *words, "--", "./check.sh", cwd=repo)
    # The only end that was tried has nothing to run.
    assert done.returncode == 3
    skipped = Finding.of(Untestable.SKIPPED)
    assert run_words(Endings.OLDER_UNTESTABLE, sha=good, why=skipped) in done.stdout
    assert run_words(Commands.NOT_THERE, program="./check.sh") in done.stderr


def test_what_the_command_changes_is_put_back_and_what_it_builds_stays(tmp_path, repo):
    good, bad, culprit = history(repo, 4, count=12)
    checker(
        tmp_path,
        "grep -q patched file1 && exit 3; echo patched >>file1\n"
        f"test -e built && echo built >>{tmp_path}/again; touch built; test -e slow && echo 9.$$"
        " || echo 1.$$",
    )
    words = ["run", "--good", good, "--bad", bad, "--json"]
    done = rtbisect(tmp_path / "state", *words, "--", "../check.sh", cwd=repo)
    assert json.loads(done.stdout)["culprit"] == culprit, done.stderr
    assert (tmp_path / "again").exists()


def test_builds_and_commands_see_the_tags_of_the_repository(tmp_path, repo):
    good, bad, _culprit = history(repo, 4, count=6)
    git(repo, "tag", "plain", good)
    git(repo, "tag", "-a", "-m", "a version", "v1.0", bad)
    checker(tmp_path, f"git describe --tags >>{tmp_path}/seen; echo 1")
    words = ["run", "--good", "plain", "--bad", bad, "--build", "git describe --tags"]
    done = rtbisect(tmp_path / "state", *words, "--", "../check.sh", cwd=repo)
    assert done.returncode == 0, done.stderr
    assert {"plain", "v1.0"} <= set((tmp_path / "seen").read_text().split())
