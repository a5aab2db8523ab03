# SPDX-License-Identifier: GPL-2.0-or-later
"""Words, ends, figures and programs that `run` refuses, and what it says."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.repositories import ENV
from helpers.run_command import checker, git, history, noisy, rtbisect, run_words
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Commands
from rtbisect.model.kinds.search import Endings

FAILED = run_words(Commands.LAST_ERROR, why=Finding.of(Commands.ENDED, code=3), line="bad?")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--", "no-such-program-anywhere"], "is not there"),
        (["--ratio", "0.5", "--", "true"], "is not a finite number above 1"),
        (["--max-runs", "999999999999999999999", "--", "true"], "--max-runs"),
        (["--max-runs", "1e9", "--", "true"], "whole number"),
        (["--cost-run", "nan", "--", "true"], "is not a cost"),
        (["--timeout", "0", "--", "true"], "is not a time limit"),
        (["--repo", "/nonexistent", "--", "true"], "is not there"),
        (["--repo", "/usr", "--", "true"], "is in no git repository"),
        (["--pass-fail", "--better", "higher", "--", "true"], "--pass-fail reads no number"),
        (["--pass-fail", "--metric", "p99", "--", "true"], "--pass-fail reads no number"),
        (["--carry", "--refuse-uncommitted", "--", "true"], "--refuse-uncommitted"),
    ],
)
def test_bad_words_are_one_line(tmp_path, repo, words, said):
    good, bad, _ = history(repo, 5, count=4)
    done = rtbisect(tmp_path / "state", "run", "--good", good, "--bad", bad, *words, cwd=repo)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("script", "outcome", "code", "said"),
    [
        ("echo 5", "not_reproduced", 0, run_words(Endings.STILL, boots=10)),
        ("echo nan", "inconclusive", 3, run_words(Commands.NOT_FINITE, line="nan")),
        ("echo 1e999", "inconclusive", 3, run_words(Commands.NOT_FINITE, line="1e999")),
        ("echo 1e300", "inconclusive", 3, run_words(Commands.TOO_LARGE, line="1e300")),
        (
            "printf '\\033[2Jbad\\007' >&2; exit 3",
            "inconclusive",
            3,
            FAILED,
        ),
    ],
)
def test_a_figure_that_is_none_is_said(tmp_path, repo, script, outcome, code, said):
    good, bad, _ = history(repo, 5, count=4)
    checker(tmp_path, script)
    words = ["run", "--good", good, "--bad", bad]
    done = rtbisect(tmp_path / "state", *words, "--", "../check.sh", cwd=repo)
    assert (done.returncode, outcome in done.stdout) == (code, True), done.stderr
    assert said in done.stdout
    assert "\033" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("metric", "script", "said"),
    [
        (["--metric", "p99"], "echo p50_us=1; echo 'p99 (us)=2'; echo done", "p50_us, p99 (us)"),
        (["--metric", "p99"], """echo '{"p50_us": 1, "p99_us": 2}'""", "p50_us, p99_us"),
        (["--metric", "p99"], "echo 5", run_words(Commands.UNNAMED, metric="p99", line="5")),
        ([], "echo p50_us=1; echo p99_us=2", "p99_us, p50_us"),
        ([], """echo '{"p50_us": 1, "p99_us": 2}'""", "p50_us, p99_us"),
        (["--metric", "p99"], "printf 'a\\033[2Jb\\001c=1\\n'", "ab?c"),
        (["--metric", "p99"], "echo fast", "'fast'"),
        (["--metric", "p99"], """echo '{"p99_us": "none"}'""", "p99_us"),
        (["--extract", "took (.*)"], "echo fast; echo 'in 3 s'", "'fast', 'in 3 s'"),
        (["--format", "go"], "echo '?  example.org/x [no test files]'", "no test files"),
        ([], "echo fast", run_words(Commands.NO_NUMBER, line="fast")),
        ([], "head -c 9000000 /dev/zero | tr '\\0' x", "x" * 70),
        ([], "echo no device >&2", "it printed 'no device'"),
        ([], "true", run_words(Commands.NOTHING)),
    ],
)
def test_a_figure_that_the_command_does_not_print_is_a_usage_error(
    tmp_path, repo, metric, script, said
):
    """One run tells it, and nothing is left to resume."""
    good, bad, _ = history(repo, 5, count=4)
    checker(tmp_path, f"echo x >>{tmp_path}/runs\n{script}")
    words = ["run", "--good", good, "--bad", bad, *metric, "--json"]
    done = rtbisect(tmp_path / "state", *words, "--", "../check.sh", cwd=repo)
    assert done.returncode == 2, done.stderr
    assert said in json.loads(done.stdout)["error"]
    assert (tmp_path / "runs").read_text() == "x\n"
    assert rtbisect(tmp_path / "state", "resume", cwd=repo).returncode == 2
    told = json.loads(rtbisect(tmp_path / "state", "status", "--json", cwd=repo).stdout)
    assert [row["state"] for row in told["campaigns"]] == ["done"]


def test_a_program_that_no_shell_finds_is_a_usage_error_and_no_failing_test(tmp_path, repo):
    """At the good end, as `git bisect run` has it; a bad one may well lack the program."""
    good, bad, culprit = history(repo, 4, count=8)
    words = ["run", "--good", good, "--bad", bad, "--pass-fail", "--json"]
    checker(tmp_path, f"echo x >>{tmp_path}/runs\nno-such-bench")
    done = rtbisect(tmp_path / "state", *words, "--", "../check.sh", cwd=repo)
    assert done.returncode == 2, done.stderr
    assert "ended with 127: " in json.loads(done.stdout)["error"]
    assert (tmp_path / "runs").read_text() == "x\n"
    checker(tmp_path, "test ! -e slow || no-such-bench")
    done = rtbisect(tmp_path / "state", *words, "--", "../check.sh", cwd=repo)
    assert json.loads(done.stdout)["culprit"] == culprit, done.stderr


def test_a_figure_that_only_some_revisions_print_does_not_end_the_search(tmp_path, repo):
    """The bad end prints another name: that is a revision that cannot be tested."""
    good, bad, _ = history(repo, 5, count=4)
    checker(tmp_path, "test -e slow && echo slow=1.$$ || echo fast=1.$$")
    words = ["run", "--good", good, "--bad", bad, "--metric", "fast", "--json"]
    done = rtbisect(tmp_path / "state", *words, "--", "../check.sh", cwd=repo)
    assert done.returncode == 4, done.stderr
    found = json.loads(done.stdout)["reasons_found"][-1]
    assert (found["kind"], found["data"]["names"]) == (Commands.OTHER_LINES, ["slow"])


def test_a_shallow_clone_and_foreign_histories_are_refused(tmp_path, repo):
    good, bad, _ = history(repo, 5, count=8)
    subprocess.run(
        ["git", "clone", "-q", "--depth", "3", f"file://{repo}", tmp_path / "cut"],
        env=ENV, check=True,
    )  # fmt: skip
    git(repo, "checkout", "-q", "--orphan", "other")
    git(repo, "commit", "-q", "-m", "another beginning")
    for place, first, said in (
        (tmp_path / "cut", "HEAD~1", "git fetch --unshallow"),
        (repo, "other", "no common history"),
        (repo, "nowhere", "is no commit"),
    ):
        words = ["run", "--good", first, "--bad", bad, "--", "true"]
        done = rtbisect(tmp_path / "state", *words, cwd=place)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
        assert done.stderr.count("\n") == 1
    assert good != bad


def test_a_partial_clone_is_refused_with_the_command_that_completes_it(tmp_path, repo):
    good, bad, culprit = history(repo, 5, count=8)
    git(repo, "config", "uploadpack.allowFilter", "true")
    part = tmp_path / "part"
    subprocess.run(
        ["git", "clone", "-q", "-o", "upstream", "--filter=blob:none", f"file://{repo}", part],
        env=ENV, check=True,
    )  # fmt: skip
    words = ["run", "--good", good, "--bad", bad, "--pass-fail", "--json", "--"]
    words += ["sh", "-c", "test ! -e slow"]
    refused = rtbisect(tmp_path / "state", *words, cwd=part)
    assert refused.returncode == 2
    _, told, _ = json.loads(refused.stdout)["hint"].split("`")
    subprocess.run(["sh", "-c", told], cwd=part, env=ENV, check=True, capture_output=True)
    assert "?" not in git(part, "rev-list", "--objects", "--all", "--missing=print")
    done = rtbisect(tmp_path / "state", *words, cwd=part)
    assert json.loads(done.stdout).get("culprit") == culprit, done.stderr


def test_a_bare_repository_has_no_script_and_the_hint_starts_that_of_each_revision(tmp_path, repo):
    history(repo, 5, count=4)
    checker(repo, "test ! -e late")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "a test")
    good = git(repo, "rev-parse", "HEAD")
    (repo / "late").touch()
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "a change")
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
    words = ["run", "--good", good, "--bad", "HEAD", "--pass-fail", "--json", "--"]
    refused = json.loads(rtbisect(tmp_path / "state", *words, "./check.sh", cwd=bare).stdout)
    assert (refused["exit_code"], "bare repository" in refused["error"]) == (2, True)
    assert "sh -c ./check.sh," in refused["hint"]
    done = rtbisect(tmp_path / "state", *words, "sh", "-c", "./check.sh", cwd=bare)
    assert json.loads(done.stdout).get("culprit") == git(repo, "rev-parse", "HEAD"), done.stderr


def test_ends_that_a_small_budget_does_not_tell_apart_are_left_open(tmp_path, repo):
    good, bad, _ = history(repo, 4, count=6)
    words = ["run", "--good", good, "--bad", bad, "--metric", "p50_us", "--json", "--max-runs"]
    script = noisy(tmp_path, 3, effect=2.0)
    done = rtbisect(tmp_path / "state", *words, "40", "--", sys.executable, str(script), cwd=repo)
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["outcome"]) == (4, "inconclusive"), done.stderr
    (seen,) = answer["reasons_found"]
    assert (seen["kind"], seen["data"]["boots"]) == (Endings.MAY_DIFFER, 8)


def test_names_that_are_no_utf_8_are_refused_before_a_search(tmp_path):
    """Nothing could be kept of it."""
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    good, bad, _ = history(Path(odd), 5, count=4)
    words = ["run", "--good", good, "--bad", bad, "--", "true"]
    good, bad, _ = history(tmp_path / "repo", 5, count=4)
    other = ["run", "--repo", str(tmp_path / "repo"), "--good", good, "--bad", bad, "--", "true"]
    for state, asked in (
        (tmp_path / "state", words),
        (odd + "state", other),
        (tmp_path / "state", ["status", "\udcff"]),
        (tmp_path / "state", ["resume", "\udcff"]),
    ):
        done = rtbisect(state, *asked, cwd=odd)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
