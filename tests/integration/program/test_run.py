# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect run` on a real repository with merges and a noisy command."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.repositories import ENV
from helpers.run_command import checker, git, history, noisy, rtbisect, run_words
from helpers.signals import hears_signals
from rtbisect.campaign import session
from rtbisect.evidence.replay import Silence
from rtbisect.model.campaign import CampaignRequest, Cause, Sought
from rtbisect.model.code import BuildRequest
from rtbisect.model.command import SUITE, CommandRequest
from rtbisect.model.kinds.pipeline import Ends, Work
from rtbisect.model.lab import DeviceType, HostProfile, RunRequest, Window
from rtbisect.model.setup import KernelSetup


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
    story = Path(answer["report"]).with_name("campaign.log").read_text()
    recipe = story.partition("\nReproduce\n")[2].replace("\\\n", "").split()
    again = f"rtbisect run --good {good} --bad {bad} --metric p50_us".split()
    assert [word for word in recipe if word in again] == again
    replay = tmp_path / "log"
    replay.write_text(log)
    assert culprit in git(repo, "bisect", "replay", str(replay))
    assert git(repo, "status", "--porcelain") == ""


def test_a_command_meets_no_kernel_and_no_device(tmp_path, repo, monkeypatch):
    good, bad, culprit = history(repo, 3)
    asked = CommandRequest(
        argv=(sys.executable, str(noisy(tmp_path, 5))), metric="p50_us", cost_run_s=1.0
    )
    request = CampaignRequest(
        kind="run",
        site="",
        tree=str(repo),
        older=good,
        newer=bad,
        suite=SUITE,
        metric="p50_us",
        seed=0,
        extra=asked.extra(),
        repo=str(repo),
    )
    for kind in (KernelSetup, DeviceType, HostProfile, Window, RunRequest, BuildRequest):
        monkeypatch.setattr(kind, "__init__", lambda *_words, **_named: pytest.fail("a kernel"))
    record = session.start(tmp_path / "state", request, Silence())
    assert (record.result.culprit, record.result.cause) == (culprit, Cause.NONE)
    # What readers of the file know stays there.
    told = json.loads((Path(record.report.path).parent / "result.json").read_text())
    assert (told["device"]["name"], told["profile"]["name"]) == ("this machine", "as-is")
    assert (told["config_name"], told["facts"]) == ("command", [])


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
    commits = int(git(repo, "rev-list", "--count", f"{old}..{new}"))
    told = run_words(Ends.RANGE, sought=Sought.REPAIR, commits=commits, older=old, newer=new)
    assert told in done.stderr


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
    done = rtbisect(tmp_path / "state", *words, "--", "../check.sh", "cold boot", cwd=repo)
    assert done.returncode == 4, done.stderr
    good = git(repo, "rev-parse", "other")
    assert run_words(Ends.MERGE_BASE, given=good) in done.stderr
    found = json.loads(done.stdout)["reasons_found"][0]
    assert (found["kind"], found["data"]["given"]) == (Ends.OTHER_BRANCH, good)
    typed = found["data"]["command"]
    assert f"--good {good[:12]} --bad {base[:12]} --find-fix -- " in typed
    # Nobody edits what is to be typed.
    assert typed.endswith("check.sh 'cold boot'")


def test_ctrl_c_leaves_a_campaign_that_resumes(tmp_path, repo):
    good, bad, culprit = history(repo, 8, count=24)
    program, state = Path(sys.executable).with_name("rtbisect"), tmp_path / "state"
    words = ["run", "--good", good, "--bad", bad, "--metric", "p50_us", "--json"]
    script = noisy(tmp_path, 9)
    seventh = run_words(Work.BOOTING, number=7, revision="", purpose="").partition("7")[0] + "7"
    with subprocess.Popen(
        [program, "--state", state, *words, "--", sys.executable, script],
        cwd=repo, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=hears_signals,  # noqa: PLW1509
    ) as started:  # fmt: skip
        for line in started.stderr:
            if seventh in line:
                started.send_signal(signal.SIGINT)
                break
        said, told = started.stderr.read(), json.loads(started.stdout.read())
    assert started.returncode == 130
    # Once: which campaign, and how it goes on.
    assert "run-1" in told["error"]
    assert [said.count(each) for each in (told["error"], told["hint"], "resume")] == [1, 1, 1]
    done = rtbisect(state, "resume", "run-1", "--json", cwd=tmp_path)
    answer = json.loads(done.stdout)
    assert (answer["outcome"], answer["culprit"]) == ("culprit", culprit), done.stderr
