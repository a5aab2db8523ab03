# SPDX-License-Identifier: GPL-2.0-or-later
"""Real histories: what is kept of them, and how an answer is judged."""

import subprocess
import sys

import pytest

import bench_real
from helpers.campaigns import ROOT

A, B, C = "a" * 40, "b" * 40, "c" * 40


def history(**truth: list[str]) -> bench_real.History:
    return bench_real.History(
        name="x", repository="https://example.org/y/z", published="", good=A, bad=C, commits=2,
        merges=0, figure="validate", needs=[], truth=truth,
    )  # fmt: skip


def test_the_page_has_the_tables_of_the_rows():
    page = (ROOT / "docs/benchmarks.md").read_text("utf-8")
    found, rows = bench_real.histories(), bench_real.kept()
    assert bench_real.truths(found, rows) in page
    assert bench_real.answers(found, rows) in page
    assert bench_real.dropped() in page


@pytest.mark.parametrize(
    ("truth", "outcome", "named", "expected"),
    [
        ({B: [A]}, "culprit", [B], "right"),
        ({B: [A]}, "culprit", [C], "wrong"),
        ({B: [A]}, "culprit_set", [C, B], "right"),
        ({B: [A]}, "inconclusive", [], "open"),
        ({B: [A]}, "not_reproduced", [], "wrong"),
        ({}, "not_reproduced", [], "right"),
        ({}, "culprit", [B], "wrong"),
        ({}, "inconclusive", [], "open"),
    ],
)
def test_verdict(truth, outcome, named, expected):
    assert bench_real.verdict(history(**truth), outcome, named) == expected


def test_git_names_one_commit_or_those_that_it_could_not_test():
    assert bench_real.named_by_git(f"{B} is the first bad commit\ncommit {B}\n") == [B]
    skipped = f"There are only 'skip'ped commits left.\nThe first bad commit could be any of:\n{B}"
    assert bench_real.named_by_git(f"{skipped}\n{C}\nWe cannot bisect more!\n") == [B, C]
    assert bench_real.named_by_git("bisect run failed\n") == []


def test_a_change_is_told_beside_the_state_of_the_machine():
    machine = [1.0, 1.9, 1.0, 1.8, 1.7, 1.0] * 5
    middle, low, high = bench_real.change([10 * at for at in machine], [20 * at for at in machine])
    assert low <= middle <= high
    assert middle == pytest.approx(1.0)


def test_a_figure_of_a_checkout_without_the_project_is_skipped(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    program = [sys.executable, str(bench_real.FIGURES)]
    done = subprocess.run([*program, "validate"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == bench_real.SKIP
    done = subprocess.run([*program, "nonsense"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 2
