# SPDX-License-Identifier: GPL-2.0-or-later
"""More runs at one commit, on a person's word: the answer is judged anew with them."""

import json
import shutil
import sys

import pytest

from helpers.run_command import git, history, noisy, rtbisect


@pytest.fixture
def searched(tmp_path, repo):
    """A search, its culprit, and `resume` of it."""

    def search(*options):
        good, bad, culprit = history(repo, 3)
        words = ["run", "--good", good, "--bad", bad, "--metric", "p50_us", *options, "--json"]
        command = sys.executable, str(noisy(tmp_path, 5))
        done = rtbisect(tmp_path / "state", *words, "--", *command, cwd=repo)
        return json.loads(done.stdout), culprit

    def resume(*options):
        done = rtbisect(tmp_path / "state", "resume", "run-1", *options, "--json", cwd=repo)
        return done, json.loads(done.stdout)

    return search, resume


def test_an_answer_is_judged_anew_with_more_runs_of_its_commit(tmp_path, repo, searched):
    search, resume = searched
    first, culprit = search()
    assert first["culprit"] == culprit
    parent = git(repo, "rev-parse", f"{culprit}^")
    done, answer = resume("--again", parent[:10], "--runs", "4")
    assert (done.returncode, answer["culprit"]) == (0, culprit), done.stderr
    assert answer["again"] == [{"commit": parent, "runs": 4}]
    # The proof stands, as the commit does: no other runs are made.
    assert answer["runs"] == first["runs"] + 4
    assert answer["confidence"] > 0.9
    # So is a replay.
    folder = tmp_path / "bundle"
    rtbisect(tmp_path / "state", "report", "bundle", "run-1", folder, cwd=repo)
    told = rtbisect(tmp_path / "state", "rejudge", folder, "--json", cwd=repo)
    assert json.loads(told.stdout)["same"] is True, told.stdout + told.stderr


def test_a_search_that_its_budget_ended_hears_runs_beside_the_budget(repo, searched):
    search, resume = searched
    first, culprit = search("--max-runs", "36")
    assert first["outcome"] == "inconclusive"
    done, answer = resume("--again", culprit)
    assert answer["runs"] == first["runs"] + 6, done.stderr
    assert answer["outcome"] == "inconclusive"
    done, answer = resume("--max-runs", "200")
    assert (done.returncode, answer["culprit"]) == (0, culprit)
    assert answer["again"] == [{"commit": culprit, "runs": 6}]


def test_words_that_ask_for_nothing_are_refused(repo, searched):
    search, resume = searched
    search("--time-budget", "0s")
    git(repo, "checkout", "-q", "--orphan", "other")
    git(repo, "commit", "-q", "-m", "another beginning")
    for options, said in (
        (["--again", "nowhere"], "nowhere"),
        (["--again", "other"], "--again: other is none"),
        (["--runs", "3"], "--again REV"),
    ):
        done, answer = resume(*options)
        assert (done.returncode, answer["exit_code"]) == (2, 2)
        assert said in done.stderr


def test_counts_that_are_exact_are_not_counted_again(tmp_path, repo):
    good, bad, _ = history(repo, 5, count=4)
    words = ["run", "--good", good, "--bad", bad, "--count", "instructions"]
    state = tmp_path / "state"
    rtbisect(state, *words, "--", "/bin/true", cwd=repo)
    done = rtbisect(state, "resume", "run-1", "--again", bad, cwd=repo)
    assert (done.returncode, "instructions" in done.stderr) == (2, True), done.stderr
    # Parents that no path touches are not counted.
    assert rtbisect(state, *words, "--path", "x", "--", "/bin/true", cwd=repo).returncode == 2


def test_ends_that_are_alike_are_looked_at_no_more(tmp_path, repo):
    good, bad, _ = history(repo, 5, count=4)
    words = ["run", "--good", good, "--bad", bad]
    rtbisect(tmp_path / "state", *words, "--", "echo", "5", cwd=repo)
    done = rtbisect(tmp_path / "state", "resume", "run-1", "--again", bad, cwd=repo)
    assert (done.returncode, "not_reproduced" in done.stderr) == (2, True), done.stderr


def test_an_answer_stands_where_a_further_run_is_taken_for_the_first_one(tmp_path, searched):
    """What its runs have printed may be removed."""
    search, resume = searched
    first, culprit = search()
    shutil.rmtree(tmp_path / "state" / "run" / "run-1")
    (tmp_path / "noisy.py").write_text("print('nothing')")
    done, answer = resume("--again", culprit)
    assert (done.returncode, answer["exit_code"]) == (2, 2)
    known = rtbisect(tmp_path / "state", "status", "run-1", "--json", cwd=tmp_path)
    (there,) = json.loads(known.stdout)["campaigns"]
    assert (there["state"], there["culprit"]) == ("done", culprit)
    assert there["confidence"] == first["confidence"]
