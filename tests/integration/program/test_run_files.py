# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that an answer of `run` is also written to, and the exit codes that a job goes by."""

import json
import sys
import xml.etree.ElementTree as ET

import pytest

from helpers.run_command import checker, git, history, noisy, rtbisect

SUBJECT = "``` @everyone <img src=x> [go](https://example.org)"


@pytest.fixture
def files(tmp_path):
    return "--summary", str(tmp_path / "summary.md"), "--plot", str(tmp_path / "plot.svg")


def searched(tmp_path, repo, files, *command):
    good, bad, culprit = history(repo, 3, count=12)
    words = ["run", "--good", good, "--bad", bad, "--json", *files]
    return rtbisect(tmp_path / "state", *words, "--", *command, cwd=repo), culprit


def test_an_answer_is_written_for_the_page_of_a_job(tmp_path, repo, files):
    history(repo, 3, count=4)
    git(repo, "rm", "-q", "--ignore-unmatch", "slow")
    git(repo, "commit", "-q", "--allow-empty", "-m", "quick again")
    good = git(repo, "rev-parse", "HEAD")
    (repo / "slow").write_text("1\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", SUBJECT)
    culprit = git(repo, "rev-parse", "HEAD")
    git(repo, "commit", "-q", "--allow-empty", "-m", "behind it")
    (tmp_path / "summary.md").write_text("of another step\n\n")
    words = ["run", "--good", good, "--bad", "HEAD", "--metric", "p50_us", "--json", *files]
    command = sys.executable, str(noisy(tmp_path, 5, effect=6))
    done = rtbisect(tmp_path / "state", *words, "--", *command, cwd=repo)
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["culprit"]) == (0, culprit), done.stderr
    text = (tmp_path / "summary.md").read_text()
    kept, *told = text.split("### ")
    assert kept == "of another step\n\n"
    (told,) = told
    assert told.startswith("rtbisect: culprit, confidence ")
    assert f"- commit: `{culprit}`\n- subject: ```` {SUBJECT} ````\n- author: `" in told
    assert answer["figure"]["unit"] in told
    # Twice is two summaries: each step of a job appends its own.
    again = rtbisect(tmp_path / "state", "status", "run-1", *files, cwd=repo)
    assert again.returncode == 0
    assert (tmp_path / "summary.md").read_text() == text + text.removeprefix(kept)
    picture = ET.parse(tmp_path / "plot.svg").getroot()
    names = [each.tag.partition("}")[2] for each in picture.iter()]
    assert "script" not in names
    assert names.count("circle") >= 12
    assert culprit[:12] in [each.text for each in picture.iter() if each.tag.endswith("}text")]


def test_where_nothing_works_the_environment_is_to_blame(tmp_path, repo, files):
    checker(tmp_path, "echo no such device >&2; exit 1")
    done, _ = searched(tmp_path, repo, files, "../check.sh")
    assert (done.returncode, json.loads(done.stdout)["outcome"]) == (3, "inconclusive")
    told = (tmp_path / "summary.md").read_text()
    assert told.startswith("### rtbisect: inconclusive: nothing could be measured\n")
    assert "no such device" in told
    # There is nothing to draw: no empty file stands for a picture.
    assert not (tmp_path / "plot.svg").exists()


def test_where_neither_end_can_be_built_the_environment_is_to_blame(tmp_path, repo, files):
    checker(tmp_path, "echo 1")
    done, _ = searched(tmp_path, repo, [*files, "--build", "false"], "../check.sh")
    assert (done.returncode, json.loads(done.stdout)["outcome"]) == (3, "inconclusive")


def test_a_search_without_an_answer_is_no_broken_environment(tmp_path, repo, files):
    checker(tmp_path, "echo $$")
    done, _ = searched(tmp_path, repo, [*files, "--time-budget", "0"], "../check.sh")
    assert done.returncode == 4
    assert (tmp_path / "summary.md").read_text().startswith("### rtbisect: inconclusive\n")


def test_an_error_has_a_summary_too(tmp_path, repo, files):
    checker(tmp_path, "exit 130")
    done, _ = searched(tmp_path, repo, files, "../check.sh")
    assert done.returncode == 3
    error = json.loads(done.stdout)
    told = (tmp_path / "summary.md").read_text()
    assert told.startswith("### rtbisect: no answer (exit code 3)\n")
    assert error["error"] in told
    assert error["hint"] in told


@pytest.mark.parametrize("option", ["--summary", "--plot"])
def test_a_link_to_a_file_that_is_not_there_stays(tmp_path, repo, option):
    good, bad, _culprit = history(repo, 3, count=3)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    words = ["run", "--good", good, "--bad", bad, option, str(link), "--", "/nowhere"]
    rtbisect(tmp_path / "state", *words, cwd=repo)
    assert link.is_symlink()


@pytest.mark.parametrize("option", ["--summary", "--plot"])
def test_a_file_that_cannot_be_written_is_told_before_the_search(tmp_path, repo, option):
    place = tmp_path / "missing" / "file"
    done, _ = searched(tmp_path, repo, (option, str(place)), "true")
    error = json.loads(done.stdout)
    assert (done.returncode, error["error"].startswith(f"{option} {place}: ")) == (2, True)
    assert not (tmp_path / "state" / "rtbisect.sqlite3").exists()
