# SPDX-License-Identifier: GPL-2.0-or-later
"""Real histories: what is kept of them, and how an answer is judged."""

import subprocess
import sys
from dataclasses import replace

import pytest

import bench_real
import real_figures
from helpers.campaigns import ROOT

A, B, C = "a" * 40, "b" * 40, "c" * 40


def history(*, pass_fail: bool = False, **truth: list[str]) -> bench_real.History:
    return bench_real.History(
        name="x", repository="https://example.org/y/z", published="", good=A, bad=C, commits=2,
        merges=0, figure="validate", needs=[], truth=truth, pass_fail=pass_fail,
    )  # fmt: skip


def test_the_page_has_the_tables_of_the_rows():
    page = (ROOT / "docs/benchmarks.md").read_text("utf-8")
    found, rows = bench_real.histories(), bench_real.kept()
    assert bench_real.truths(found, rows) in page
    assert bench_real.answers(found, rows) in page
    assert bench_real.dropped() in page
    assert bench_real.svg(found, rows) == bench_real.PICTURE.read_text("utf-8")


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


def test_a_test_that_fails_now_and_then_has_shares():
    old, new = {"failed": [0.0] * 30}, {"failed": [1.0] * 12 + [0.0] * 18}
    columns = bench_real.moved(history(pass_fail=True), old, new)
    assert columns == "0 of 30 fail | 12 of 30 fail | +40 points (p = 6.2e-05)"


def test_a_program_that_is_built_has_its_instructions_too():
    old, new = {"ms": [10.0] * 30}, {"ms": [10.5] * 30}
    columns = bench_real.moved(history(), old, new)
    assert columns == "10 ms | 10.5 ms | +5% (+5 to +5)"
    counted = ({**old, "million_instructions": 200.0}, {**new, "million_instructions": 202.0})
    assert bench_real.moved(history(), *counted) == f"{columns}; instructions +1.00%"


def test_only_a_program_that_is_built_is_counted(tmp_path):
    lab = bench_real.Lab(tmp_path, sys.executable)
    with pytest.raises(SystemExit, match="x runs Python"):
        lab.counted(history())
    words = lab.counted(replace(history(), built=True, figure="unclosed-links"))
    assert words[-1] == f"exec ./build/src/cmark <{tmp_path}/unclosed-links.txt >/dev/null"
    assert (tmp_path / "unclosed-links.txt").read_text().startswith("[a](b[a](b")


@pytest.mark.parametrize(
    ("build", "script", "limit", "judged", "middle", "expected"),
    [
        ("true", "echo ms=3", 2.0, (0,), "median", 1),
        ("true", "echo ms=3", 4.0, (0,), "median", 0),
        ("false", "echo ms=3", 2.0, (0,), "median", bench_real.SKIP),
        ("touch built", "test -e built && echo ms=3", 2.0, (0,), "median", 1),
        ("true", "exit 1", 2.0, (0,), "median", 1),
        # A test that fails in one of five runs.
        ("true", 'echo >>n; test "$(wc -l <n)" -ne 2', 0.1, (0, 1), "mean", 1),
        ("true", "true", 0.1, (0, 1), "mean", 0),
        ("true", "exit 125", 0.1, (0, 1), "mean", bench_real.SKIP),
    ],
)
def test_a_vote_builds_once_and_counts_runs(
    tmp_path, build, script, limit, judged, middle, expected
):
    tree = tmp_path / "tree"
    subprocess.run(["git", "init", "-q", str(tree)], check=True)
    (tree / "stale").touch()
    text = bench_real.VOTE.format(
        build=build.split(), words=["sh", "-c", script], runs=5, limit=limit, judged=judged,
        middle=middle, counted=str(tmp_path / "runs"),
    )  # fmt: skip
    done = subprocess.run([sys.executable, "-c", text], cwd=tree, capture_output=True, check=False)
    assert done.returncode == expected, done.stderr
    assert not (tree / "stale").exists()


@pytest.fixture
def repo(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    words = ["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "x"]
    bench_real.git(tmp_path, *words, "--allow-empty")
    return tmp_path


def test_a_build_may_change_what_git_knows(repo):
    (repo / "config.h").write_text("as it is checked out", encoding="utf-8")
    bench_real.git(repo, "add", "config.h")
    words = ["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "y"]
    bench_real.git(repo, *words)
    text = bench_real.VOTE.format(
        build=["sh", "-c", "echo >config.h"], words=["echo", "ms=3"], runs=1, limit=2.0,
        judged=(0,), middle="median", counted=str(repo / "runs"),
    )  # fmt: skip
    assert subprocess.run([sys.executable, "-c", text], cwd=repo, check=False).returncode == 1
    assert bench_real.git(repo, "status", "--porcelain", "config.h") == ""


def test_an_arm_that_breaks_is_told_from_one_that_refuses(tmp_path, monkeypatch, capsys):
    lab = bench_real.Lab(tmp_path, sys.executable)
    for code, outcome in ((70, "internal_error"), (2, "refused")):
        said = subprocess.CompletedProcess([], code, stdout='{"error": "no such revision"}')
        monkeypatch.setattr(bench_real.subprocess, "run", lambda *_a, said=said, **_k: said)
        assert bench_real.by_run(lab, history(), "run", tmp_path) == (outcome, [], 0)
    assert "no such revision" in capsys.readouterr().err


def test_what_does_not_build_is_named(repo):
    lab = bench_real.Lab(repo, sys.executable, "sh -c 'echo no compiler >&2; exit 1'")
    with pytest.raises(SystemExit, match="HEAD does not build: no compiler"):
        lab.prepare(repo, "HEAD")


def test_a_program_that_is_not_built_is_skipped(repo):
    program = [sys.executable, str(bench_real.FIGURES), "unclosed-links"]
    done = subprocess.run(program, cwd=repo, capture_output=True, text=True, check=False)
    assert done.returncode == bench_real.SKIP
    assert "build/src/cmark is not built" in done.stderr


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("def test_it(): pass", True),
        ("def test_it(): assert False", False),
        # Each load draws anew.
        ("import random\ndef test_it(): assert random.random() > 0.5", False),
        (
            "import pytest\n@pytest.mark.parametrize('n', [1, 2])\ndef test_it(n): assert n < 2",
            False,
        ),
    ],
)
def test_a_test_of_a_checkout_passes_or_fails(tmp_path, monkeypatch, body, expected):
    (tmp_path / "checkout_of_a_test").mkdir()
    (tmp_path / "checkout_of_a_test/__init__.py").touch()
    (tmp_path / "checkout_of_a_test/test_x.py").write_text(body, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "checkout_of_a_test", raising=False)
    assert real_figures.passes("checkout_of_a_test/test_x.py", "test_it") is expected
