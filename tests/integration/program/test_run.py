# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect run` on a real repository with merges and a noisy command."""

import json
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.signals import hears_signals

ENV = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Person 001",
    "GIT_AUTHOR_EMAIL": "person-001@example.org",
    "GIT_COMMITTER_NAME": "Person 001",
    "GIT_COMMITTER_EMAIL": "person-001@example.org",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
}
#: A run counts itself and draws its noise from revision and number: the same for everybody.
NOISY = """
import os, pathlib, random
revision = os.environ["RTBISECT_REVISION"]
count = pathlib.Path(COUNTS) / revision
number = len(count.read_text()) if count.exists() else 0
count.write_text("x" * (number + 1))
rng = random.Random(f"{SEED}/{revision}/{number}")
slow = pathlib.Path("slow").exists()
print("p50_us=%.3f" % (10 + EFFECT * slow + rng.gauss(0, 1)))
"""


def git(repo, *words):
    done = subprocess.run(
        ["git", "-C", str(repo), *words], env=ENV, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def history(repo, seed, count=40):
    """A history with merges; one commit adds the file that makes the command slow."""
    rng = random.Random(seed)
    git(repo.parent, "init", "-q", "-b", "main", str(repo))
    number = 0

    def commit(name="", text=""):
        nonlocal number
        number += 1
        path = repo / (name or f"file{number % 7}")
        path.write_text(text or f"{number}\n")
        git(repo, "add", "-A")
        git(repo, "commit", "-q", "-m", f"change {number}")
        return git(repo, "rev-parse", "HEAD")

    good = commit()
    culprit_at = rng.randint(2, count - 1)
    culprit = ""
    while number < count:
        if rng.random() < 0.2 and number + 3 < count:
            git(repo, "checkout", "-q", "-b", f"side{number}")
            name = f"side{number}"
            for _ in range(2):
                here = commit("slow" if number + 1 == culprit_at else f"{name}.txt")
                culprit = here if number == culprit_at else culprit
            git(repo, "checkout", "-q", "main")
            git(repo, "merge", "-q", "--no-ff", "-m", f"merge {name}", name)
        else:
            here = commit("slow" if number + 1 == culprit_at else "")
            culprit = here if number == culprit_at else culprit
    return good, git(repo, "rev-parse", "HEAD"), culprit


def rtbisect(state, *words, cwd):
    program = Path(sys.executable).with_name("rtbisect")
    return subprocess.run(
        [str(program), "--state", str(state), *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def repo(tmp_path):
    return tmp_path / "repo"


def noisy(tmp_path, seed, effect=3.0):
    """A command whose figure is `effect` standard deviations worse with the file `slow`."""
    counts = tmp_path / "counts"
    counts.mkdir(exist_ok=True)
    script = tmp_path / "noisy.py"
    text = NOISY.replace("SEED", repr(seed)).replace("COUNTS", repr(str(counts)))
    script.write_text(text.replace("EFFECT", repr(effect)))
    return script


def checker(tmp_path, text):
    script = tmp_path / "check.sh"
    script.write_text(f"#!/bin/sh\n{text}\n")
    script.chmod(0o755)


def test_a_noisy_command_finds_the_commit_among_merges(tmp_path, repo):
    good, bad, culprit = history(repo, 3)
    words = ["run", "--good", good, "--bad", bad, "--metric", "p50_us", "--json"]
    done = rtbisect(
        tmp_path / "state", *words, "--", sys.executable, str(noisy(tmp_path, 5)), cwd=repo
    )
    answer = json.loads(done.stdout)
    assert (answer["outcome"], answer["culprit"]) == ("culprit", culprit)
    assert done.returncode == 0
    assert answer["confidence"] >= 0.95
    log = Path(answer["report"]).read_text()
    assert f"git bisect bad {culprit}" in log
    replay = tmp_path / "log"
    replay.write_text(log)
    assert culprit in git(repo, "bisect", "replay", str(replay))
    assert git(repo, "status", "--porcelain") == ""


def test_the_answer_says_whose_commit_it_is_and_no_byte_of_it_steers_a_terminal(tmp_path, repo):
    git(repo.parent, "init", "-q", "-b", "main", str(repo))
    for number in range(4):
        (repo / "file").write_text(f"{number}\n")
        if number == 2:
            (repo / "slow").touch()
        git(repo, "add", "-A")
        subject = b"\x1b]0;owned\x07 \xe2\x80\xae \xff change" if number == 2 else b"change"
        subprocess.run(
            ["git", "-C", repo, "commit", "-q", "-F", "-"], input=subject, check=True,
            env=ENV | {"GIT_AUTHOR_NAME": "P\x1b[31m 002", "GIT_AUTHOR_DATE": "1700000000 +0200"},
        )  # fmt: skip
    checker(tmp_path, "test ! -e slow")
    words = ["run", "--good", "main~3", "--bad", "main", "--pass-fail"]
    done = rtbisect(tmp_path / "state", *words, "--", "../check.sh", cwd=repo)
    assert f"culprit {git(repo, 'rev-parse', 'main~1')}" in done.stdout, done.stderr
    assert "Author: P?[31m 002 <person-001@example.org>" in done.stdout
    assert "Date:   Wed Nov 15 00:13:20 2023 +0200" in done.stdout
    assert "?]0;owned? ? " in done.stdout
    assert set(done.stdout) & {"\x1b", "\x07", "\u202e"} == set()
    told = rtbisect(tmp_path / "state", "resume", "run-1", "--json", cwd=repo)
    (commit,) = json.loads(told.stdout)["commits"]
    assert commit["commit"] == git(repo, "rev-parse", "main~1")
    repo.rename(tmp_path / "gone")
    told = rtbisect(tmp_path / "state", "resume", "run-1", "--json", cwd=tmp_path)
    assert (told.returncode, json.loads(told.stdout)["commits"]) == (0, [])


def test_pass_fail_finds_the_commit(tmp_path, repo):
    good, bad, culprit = history(repo, 4, count=20)
    checker(tmp_path, "test ! -e slow")
    words = ["run", "--good", good, "--bad", bad, "--repo", str(repo), "--pass-fail", "--json"]
    done = rtbisect(tmp_path / "state", *words, "--", "../check.sh", cwd=repo)
    answer = json.loads(done.stdout)
    assert (answer["outcome"], answer["culprit"]) == ("culprit", culprit), done.stderr


def test_a_skipped_parent_gives_the_set_that_holds_the_commit(tmp_path, repo):
    good, bad, culprit = history(repo, 5, count=20)
    parent = git(repo, "rev-parse", f"{culprit}^")
    # Another revision with the same files would do in its place.
    files = [
        git(repo, "rev-parse", f"{sha}^{{tree}}") for sha in git(repo, "rev-list", bad).split()
    ]
    assert files.count(git(repo, "rev-parse", f"{parent}^{{tree}}")) == 1
    checker(tmp_path, f'test "$RTBISECT_REVISION" = {parent} && exit 125\ntest ! -e slow')
    words = ["run", "--good", good, "--bad", bad, "--pass-fail", "--json"]
    done = rtbisect(tmp_path / "state", *words, "--", "../check.sh", cwd=repo)
    answer = json.loads(done.stdout)
    assert (answer["outcome"], answer["skipped"]) == ("culprit_set", 1), done.stderr
    assert {found["commit"] for found in answer["candidates"]} == {culprit, parent}
    assert {found["commit"] for found in answer["commits"]} == {culprit, parent}
    told = rtbisect(tmp_path / "state", "resume", answer["campaign"], cwd=repo).stdout
    assert f"{parent[:12]} {git(repo, 'show', '-s', '--format=%s', parent)} (Person 001 " in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--", "no-such-program-anywhere"], "is not there"),
        (["--ratio", "0.5", "--", "true"], "is no change"),
        (["--cost-run", "nan", "--", "true"], "is no cost"),
        (["--timeout", "0", "--", "true"], "is no time"),
        (["--repo", "/nonexistent", "--", "true"], "is not there"),
        (["--repo", "/usr", "--", "true"], "is in no git repository"),
        (["--pass-fail", "--better", "higher", "--", "true"], "--pass-fail has no figure"),
        (["--pass-fail", "--metric", "p99", "--", "true"], "--pass-fail has no figure"),
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
        ("echo 5", "not_reproduced", 0, "10+10 runs of the ends all gave the same figure"),
        ("echo nan", "inconclusive", 4, "'nan' is not finite"),
        ("echo 1e999", "inconclusive", 4, "'1e999' is not finite"),
        ("echo fast", "inconclusive", 4, "no number in 'fast'"),
        ("true", "inconclusive", 4, "the command printed nothing"),
        ("echo 1e300", "inconclusive", 4, "'1e300' cannot be a measurement"),
        ("head -c 9000000 /dev/zero | tr '\\0' x", "inconclusive", 4, "no number in 'xxx"),
        ("printf '\\033[2Jbad\\007' >&2; exit 3", "inconclusive", 4, "ended with 3: bad?"),
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
        (["--metric", "p99"], "echo 5", "a number without a name: '5'"),
        ([], "echo p50_us=1; echo p99_us=2", "p99_us, p50_us"),
        ([], """echo '{"p50_us": 1, "p99_us": 2}'""", "p50_us, p99_us"),
        (["--metric", "p99"], "printf 'a\\033[2Jb\\001c=1\\n'", "it has ab?c"),
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
    assert "no line fast=... in the output, it has slow" in json.loads(done.stdout)["reasons"][-1]


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


def test_the_budget_is_kept_also_where_it_is_too_small(tmp_path, repo):
    good, bad, culprit = history(repo, 4, count=20)
    checker(tmp_path, "test ! -e slow")
    words = ["run", "--good", good, "--bad", bad, "--pass-fail", "--json", "--max-runs"]
    done = rtbisect(tmp_path / "state", *words, "36", "--", "../check.sh", cwd=repo)
    answer = json.loads(done.stdout)
    # What the search could not make sure of, the runs of the proof may.
    assert done.returncode in (0, 4)
    assert answer["boots"] <= 36
    assert answer["culprit"] == (culprit if done.returncode == 0 else None)
    assert (answer["confidence"] is None) == (done.returncode == 4)
    done = rtbisect(tmp_path / "state", *words, "35", "--", "../check.sh", cwd=repo)
    assert done.returncode == 2


def test_equal_ends_and_a_small_budget_say_what_was_seen_and_what_is_kept(tmp_path, repo):
    good, bad, _ = history(repo, 4, count=6)
    words = ["run", "--good", good, "--bad", bad, "--metric", "p50_us", "--json", "--max-runs"]
    script = noisy(tmp_path, 3, effect=0.0)
    done = rtbisect(tmp_path / "state", *words, "40", "--", sys.executable, str(script), cwd=repo)
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["outcome"]) == (4, "inconclusive"), done.stderr
    said = " ".join(answer["reasons"])
    assert "of the ends look alike (p = " in said
    assert f"{40 - answer['boots']} of 40 runs are kept for the proof" in said


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


def test_the_commit_that_repairs_is_found(tmp_path, repo):
    """The file `slow` comes with a commit; here it is the repair."""
    old, new, fix = history(repo, 6, count=24)
    checker(tmp_path, "test -e slow")
    words = ["run", "--find-fix", "--bad", old, "--good", new, "--pass-fail", "--json"]
    done = rtbisect(tmp_path / "state", *words, "--", "../check.sh", cwd=repo)
    answer = json.loads(done.stdout)
    assert (answer["outcome"], answer["culprit"]) == ("culprit", fix), done.stderr
    log = Path(answer["report"]).read_text()
    assert log.startswith("git bisect start '--term-old=broken' '--term-new=fixed'\n")
    replay = tmp_path / "log"
    replay.write_text(log)
    assert f"{fix} is the first fixed commit" in git(repo, "bisect", "replay", str(replay))
    # Answer and story call both ends as the user did.
    assert (answer["good"], answer["bad"]) == (new, old)
    assert f"between {old[:12]} (broken) and {new[:12]} (fixed)" in done.stderr


def test_a_good_end_beside_the_bad_one_gives_way_to_the_merge_base(tmp_path, repo):
    good, bad, culprit = history(repo, 7, count=24)
    git(repo, "checkout", "-q", "-b", "other", good)
    (repo / "other").write_text("1\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "beside")
    checker(tmp_path, "test ! -e slow")
    words = ["run", "--good", "other", "--bad", bad, "--pass-fail", "--json"]
    done = rtbisect(tmp_path / "state", *words, "--", "../check.sh", cwd=repo)
    answer = json.loads(done.stdout)
    assert (answer["culprit"], answer["good"]) == (culprit, good), done.stderr


def test_a_merge_base_that_is_bad_is_no_answer(tmp_path, repo):
    """The older end is bad already; the good one is beside it and has a repair."""
    _good, bad, _culprit = history(repo, 7, count=8)
    git(repo, "checkout", "-q", "-b", "other", "main~2")
    (repo / "repaired").write_text("1\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "repair")
    base = git(repo, "merge-base", "other", bad)
    checker(tmp_path, "test -e repaired && echo 1 || echo 5")
    words = ["run", "--good", "other", "--bad", bad, "--json"]
    done = rtbisect(tmp_path / "state", *words, "--", "../check.sh", cwd=repo)
    assert done.returncode == 4, done.stderr
    assert "is no ancestor of bad; their merge base takes its place" in done.stderr
    good = git(repo, "rev-parse", "other")
    assert (
        f"--good {good[:12]} --bad {base[:12]} --find-fix -- "
        in json.loads(done.stdout)["reasons"][0]
    )


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
    assert done.returncode == 4
    assert f"the good end {good[:12]} is skipped by the command" in done.stdout
    assert "./check.sh is not in this revision" in done.stderr


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


def test_ctrl_c_leaves_a_campaign_that_resumes(tmp_path, repo):
    good, bad, culprit = history(repo, 8, count=24)
    program, state = Path(sys.executable).with_name("rtbisect"), tmp_path / "state"
    words = ["run", "--good", good, "--bad", bad, "--metric", "p50_us", "--json"]
    script = noisy(tmp_path, 9)
    with subprocess.Popen(
        [program, "--state", state, *words, "--", sys.executable, script],
        cwd=repo, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        preexec_fn=hears_signals,  # noqa: PLW1509
    ) as started:  # fmt: skip
        for line in started.stderr:
            if "run 7:" in line:
                started.send_signal(signal.SIGINT)
                break
        started.stderr.read()
    assert started.returncode == 130
    done = rtbisect(state, "resume", "run-1", "--json", cwd=tmp_path)
    answer = json.loads(done.stdout)
    assert (answer["outcome"], answer["culprit"]) == ("culprit", culprit), done.stderr
