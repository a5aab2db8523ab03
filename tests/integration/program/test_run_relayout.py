# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect run --relayout`: a link before each run, so that the luck of no build is named."""

import json
from collections import Counter

import pytest

from helpers.findings import words
from helpers.run_command import history, rtbisect
from rtbisect.model.campaign import Outcome
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.answer import Answered
from rtbisect.model.kinds.boot import Commands
from rtbisect.pipeline.difference import LAYOUTS, REPEATS

#: The product is as fast as its layout, which is of the seed; what a change costs comes on top.
BUILD = """#!/bin/sh
echo "$RTBISECT_REVISION $RTBISECT_LAYOUT_SEED" >>HERE/links
awk -v seed="${RTBISECT_LAYOUT_SEED:-1}" -v slow="$(test -e slow; echo $?)" 'BEGIN {
    srand(seed); for (i = 0; i < 12; i++) luck += rand(); printf "us=%.4f\\n", 50 + luck - 6 * slow
}' >product
"""


@pytest.fixture
def build(tmp_path):
    script = tmp_path / "build.sh"
    script.write_text(BUILD.replace("HERE", str(tmp_path)))
    script.chmod(0o755)
    return script


def run(tmp_path, repo, good, bad, build, *more):
    words = ["run", "--good", good, "--bad", bad, "--metric", "us", "--build", str(build), *more]
    return rtbisect(tmp_path / "state", *words, "--", "/bin/cat", "product", cwd=repo)


def test_each_run_is_linked_anew_and_the_change_is_found(tmp_path, repo, build):
    good, bad, culprit = history(repo, 5, count=8)
    done = run(tmp_path, repo, good, bad, build, "--relayout", "--json")
    answer = json.loads(done.stdout)
    assert (answer["outcome"], answer["culprit"]) == ("culprit", culprit), done.stderr
    seeds = Counter(line.split()[1] for line in (tmp_path / "links").read_text().splitlines())
    # First builds have one seed, and five links have shown that another one is used.
    assert seeds.pop("1") == answer["builds"]
    assert [seeds.pop(seed) for seed in "2345"] == [2, 1, 1, 1]
    assert (len(seeds), set(seeds.values())) == (answer["runs"], {1})
    status = rtbisect(tmp_path / "state", "status", answer["campaign"], cwd=repo).stdout
    assert words(Finding.of(Answered.LAYOUTS)) in status


def test_a_build_that_ignores_the_seed_is_refused_at_the_first_run(tmp_path, repo, build):
    good, bad, _ = history(repo, 5, count=4)
    build.write_text(build.read_text().replace("${RTBISECT_LAYOUT_SEED:-1}", "1"))
    done = run(tmp_path, repo, good, bad, build, "--relayout")
    assert done.returncode == 2
    assert words(Finding.of(Commands.SEED_IGNORED)) in done.stderr


def test_a_link_that_fails_is_no_figure(tmp_path, repo, build):
    good, bad, _ = history(repo, 5, count=4)
    build.write_text(build.read_text() + "test ! -e linked || exit 9\n>linked\n")
    done = run(tmp_path, repo, good, bad, build, "--relayout", "--json")
    answer = json.loads(done.stdout)
    assert answer["outcome"] == Outcome.INCONCLUSIVE.value
    assert words(Finding.of(Commands.NOT_LINKED, error="ended with 9")) in done.stderr


def test_where_the_ends_are_alike_some_runs_repeat_a_layout(tmp_path, repo, build):
    good, bad, _ = history(repo, 5, count=4)
    build.write_text(build.read_text().replace("6 * slow", "0 * slow"))
    done = run(tmp_path, repo, good, bad, build, "--relayout", "--json", "--max-runs", "60")
    answer = json.loads(done.stdout)
    assert (answer["outcome"], answer["difference"]["by"]) == ("not_reproduced", "layout")
    seeds = Counter(line.split()[1] for line in (tmp_path / "links").read_text().splitlines())
    repeated = [count for seed, count in seeds.items() if seed not in "12345" and count > 1]
    assert repeated == [REPEATS] * LAYOUTS
    assert f"[{answer['runs']}/{answer['runs']}]" in done.stderr
    # They are counted, and say nothing of the end that they are of.
    assert answer["runs"] == answer["figure"]["before"]["runs"] * 2 + LAYOUTS * REPEATS
