# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect run --count instructions` on a program that is compiled, under what counts here."""

import json

import pytest

from helpers.run_command import git, rtbisect

SOURCE = """int main(void)
{{
	volatile int sum = 0;
	for (int i = 0; i < {times}; i++)
		sum += i;
	return 0;
}}
/* {number} */
"""
COUNT, CULPRIT = 12, 7


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """Repository, commit and answer of a search: one commit loops 3% more often."""
    folder = tmp_path_factory.mktemp("counted")
    repo = folder / "repo"
    git(folder, "init", "-q", "-b", "main", str(repo))
    for number in range(COUNT):
        times = 200_000 if number < CULPRIT else 206_000
        (repo / "bench.c").write_text(SOURCE.format(times=times, number=number))
        git(repo, "add", "-A")
        git(repo, "commit", "-q", "-m", f"change {number}")
    build = ["--build", "gcc -O1 -o bench bench.c", "--product", "bench"]
    done = search(folder, repo, *build, command=["./bench"])
    return repo, git(repo, "rev-parse", f"main~{COUNT - 1 - CULPRIT}"), json.loads(done.stdout)


def search(folder, repo, *more, command):
    ends = ["--good", f"main~{COUNT - 1}", "--bad", "main"]
    count = ["--count", "instructions", "--json"]
    return rtbisect(folder / "state", "run", *ends, *count, *more, "--", *command, cwd=repo)


def test_the_commit_is_found_with_two_runs_of_each_product_and_one_more(searched):
    _repo, culprit, answer = searched
    assert (answer["outcome"], answer["culprit"]) == ("culprit", culprit)
    # The ends twice; the commit or its parent has a run of its own at most.
    assert answer["boots"] <= 6
    figure = answer["figure"]
    assert (figure["name"], figure["unit"]) == ("instructions", "instructions")
    assert 1.015 < figure["after"]["value"] / figure["before"]["value"] < 1.03


def test_counts_are_of_no_exit_code(searched, tmp_path):
    done = search(tmp_path, searched[0], "--pass-fail", command=["/bin/true"])
    assert (done.returncode, "--pass-fail" in done.stderr) == (2, True)
