# SPDX-License-Identifier: GPL-2.0-or-later
"""A search of `run` goes on with another budget, and ends when its time is over."""

import json
import sys

import pytest

from helpers.run_command import history, noisy, rtbisect
from rtbisect.model.command import CommandRequest
from rtbisect.store.campaigns import CampaignStore


def budget_of(tmp_path, repo, *options):
    good, bad, culprit = history(repo, 3)
    words = ["run", "--good", good, "--bad", bad, "--metric", "p50_us", *options, "--json"]
    command = sys.executable, str(noisy(tmp_path, 5))
    done = rtbisect(tmp_path / "state", *words, "--", *command, cwd=repo)
    return done, json.loads(done.stdout), culprit


def budget_kept(tmp_path):
    """The runs of a search, and how many these may become."""
    kept = CommandRequest.of(CampaignStore(tmp_path / "state").get("run-1").request)
    return kept.max_runs, kept.grows_to


def resumed(tmp_path, repo, *options):
    done = rtbisect(tmp_path / "state", "resume", "run-1", *options, "--json", cwd=repo)
    return done.returncode, json.loads(done.stdout)


def test_a_search_whose_budget_was_too_small_goes_on_with_what_it_has(tmp_path, repo):
    done, first, culprit = budget_of(tmp_path, repo, "--max-runs", "36")
    assert (done.returncode, first["outcome"]) == (4, "inconclusive")
    assert budget_kept(tmp_path) == (36, 0)
    code, answer = resumed(tmp_path, repo, "--max-runs", "5")
    assert (code, answer["exit_code"]) == (2, 2)
    code, answer = resumed(tmp_path, repo, "--max-runs", "200")
    assert (code, answer["culprit"]) == (0, culprit)
    assert answer["runs"] > first["runs"]
    # Its answer stands, and a replay of it is the same.
    code, again = resumed(tmp_path, repo, "--max-runs", "300")
    assert (code, again["exit_code"]) == (2, 2)
    folder = tmp_path / "bundle"
    rtbisect(tmp_path / "state", "report", "bundle", "run-1", folder, cwd=repo)
    told = rtbisect(tmp_path / "state", "rejudge", folder, "--json", cwd=repo)
    assert json.loads(told.stdout)["same"] is True, told.stdout + told.stderr


def test_a_search_ends_with_what_it_knows_when_its_time_is_over(tmp_path, repo):
    done, answer, culprit = budget_of(tmp_path, repo, "--time-budget", "0s")
    assert (done.returncode, answer["outcome"], answer["runs"]) == (4, "inconclusive", 0)
    assert budget_kept(tmp_path) == (300, 600)
    # Time alone is nothing that it could go on with.
    code, answer = resumed(tmp_path, repo, "--time-budget", "30m")
    assert (code, "--max-runs" in answer["hint"]) == (2, True)
    assert resumed(tmp_path, repo, "--time-budget", "0")[0] == 4
    code, answer = resumed(tmp_path, repo, "--max-runs", "200")
    assert (code, answer["culprit"]) == (0, culprit)


def test_an_answer_stays_where_the_search_cannot_go_on(tmp_path, repo):
    _done, first, culprit = budget_of(tmp_path, repo, "--time-budget", "0s")
    repo.rename(tmp_path / "aside")
    code, answer = resumed(tmp_path, tmp_path, "--max-runs", "200")
    assert (code, answer["exit_code"]) == (2, 2)
    known = rtbisect(tmp_path / "state", "status", "run-1", "--json", cwd=tmp_path)
    (there,) = json.loads(known.stdout)["campaigns"]
    assert there["outcome"] == first["outcome"] == "inconclusive"
    (tmp_path / "aside").rename(repo)
    code, answer = resumed(tmp_path, repo, "--max-runs", "200")
    assert (code, answer["culprit"]) == (0, culprit)


@pytest.mark.parametrize("text", ["soon", "-3m", "1e9", "5d", ""])
def test_a_time_that_is_none_is_refused(tmp_path, text):
    done = rtbisect(tmp_path / "state", "resume", "--time-budget", text, cwd=tmp_path)
    assert done.returncode == 2
    assert "--time-budget" in done.stderr
