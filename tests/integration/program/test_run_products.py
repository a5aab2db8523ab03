# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect run --product`: revisions whose builds leave the same are measured as one."""

import json

import pytest

from helpers.findings import words
from helpers.run_command import git, rtbisect, run_words
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Commands
from rtbisect.model.kinds.pipeline import Searches

#: Prints a cost and some noise, and holds when it was built.
SOURCE = """#include <stdio.h>
int main(void)
{{
	unsigned char noise = 0;
	FILE *random = fopen("/dev/urandom", "r");
	fread(&noise, 1, 1, random);
	printf("cost=%f\\n", {cost} + noise / 256.0);
	return __TIME__[0] == 0;
}}
/* {comment} */
"""
COUNT, CULPRIT = 22, 13


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """Folder, repository, commit and answer of a search: two commits change the program, all others
    a comment.
    """
    folder = tmp_path_factory.mktemp("searched")
    repo = folder / "repo"
    git(folder, "init", "-q", "-b", "main", str(repo))
    for number in range(COUNT):
        cost = 10 + 3 * (number >= CULPRIT) + 0.001 * (number >= 18)
        (repo / "bench.c").write_text(SOURCE.format(cost=cost, comment=number))
        git(repo, "add", "-A")
        git(repo, "commit", "-q", "-m", f"change {number}")
    answer = json.loads(search(folder, repo, "--product", "./bench").stdout)
    return folder, repo, git(repo, "rev-parse", f"main~{COUNT - 1 - CULPRIT}"), answer


def search(folder, repo, *more):
    words = ["run", "--good", f"main~{COUNT - 1}", "--bad", "main", "--metric", "cost", "--json"]
    build = ["--build", "gcc -g -w -o bench bench.c", *more]
    return rtbisect(folder / "state", *words, *build, "--", "./bench", cwd=repo)


def test_the_commit_is_found_and_runs_of_equal_products_are_shared(searched):
    _folder, _repo, culprit, answer = searched
    assert (answer["outcome"], answer["culprit"]) == ("culprit", culprit)
    # Some were built between the ends and took no run: the first looks and the proof have 12 each.
    assert answer["boots"] - 24 < answer["builds"] - 2
    told = (
        run_words(Searches.PRODUCTS, revisions=revisions, products=3)
        for revisions in range(5, answer["builds"] + 1)
    )
    assert not {*told}.isdisjoint(answer["reasons"])


def test_a_product_that_the_first_build_does_not_leave_ends_the_search(searched, tmp_path):
    _folder, repo, *_ = searched
    done = search(tmp_path, repo, "--product", "bnech")
    assert done.returncode == 2
    assert words(Finding.of(Commands.NO_PRODUCT, path="bnech")) in done.stderr


def test_products_need_a_build(searched, tmp_path):
    words = ["run", "--good", "main~1", "--bad", "main", "--product", "bench", "--", "true"]
    done = rtbisect(tmp_path / "state", *words, cwd=searched[1])
    assert (done.returncode, "--build" in done.stderr) == (2, True)
