# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect run` on what commands print: repetitions, units, tools, and requests that cannot be."""

import json

import pytest

from helpers.run_command import checker, git, history, rtbisect, run_words
from rtbisect.model.kinds.boot import Commands
from rtbisect.model.kinds.pipeline import Ends, Work

#: A number that differs from run to run, and is ten times as large with the file `slow`.
NOISY = "n=$(( $(od -An -N1 -tu1 /dev/urandom) % 9 + 10 )); test -e slow && n=${n}0\n"


def run_figure(tmp_path, repo, good, bad, *words, script):
    checker(tmp_path, f"echo x >>{tmp_path}/runs\n{NOISY}{script}")
    asked = ["run", "--good", good, "--bad", bad, "--json", *words]
    return rtbisect(tmp_path / "state", *asked, "--", "../check.sh", cwd=repo)


@pytest.mark.words
@pytest.mark.parametrize(
    ("words", "script", "unit"),
    [
        (["--metric", "p99_us"], 'echo "p99_us: $n"; echo "p99_us: 1$n.5us"', " us"),
        ([], 'echo "warm-up"; echo "${n}us"', " us"),
        (
            ["--format", "go", "--metric", "BenchmarkX"],
            r'printf "BenchmarkX-8   \t 1\t %s ns/op\t 8 B/op\nPASS\n" $n',
            " ns/op",
        ),
        (["--extract", "took ([0-9]+) ms"], 'echo "it took $n ms"', ""),
        (["--json-path", "r[*].t"], """echo "{\\"r\\": [{\\"t\\": $n}, {\\"t\\": 1$n}]}" """, ""),
    ],
)
def test_a_figure_is_searched_as_a_tool_prints_it(tmp_path, repo, words, script, unit):
    good, bad, culprit = history(repo, 4, count=12)
    done = run_figure(tmp_path, repo, good, bad, *words, script=script)
    answer = json.loads(done.stdout)
    assert answer.get("culprit") == culprit, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("calibration, good end")]
    assert lines
    assert all(line.endswith(unit) for line in lines)
    again = rtbisect(tmp_path / "state", "resume", answer["campaign"], "--json", cwd=repo)
    assert json.loads(again.stdout)["culprit"] == culprit


def test_repetitions_are_told_at_the_first_run(tmp_path, repo):
    good, bad, _ = history(repo, 4, count=4)
    done = run_figure(tmp_path, repo, good, bad, script="echo p=1; echo p=1; echo p=1")
    data = {"metric": "value", "times": 3, "value": 1.0, "unit": ""}
    assert done.stderr.count(run_words(Commands.REPEATED, **data)) == 1
    told = run_words(Ends.CONSTANT, boots=6, value=1.0, unit="")
    before, _, after = done.stderr.partition(told)
    begun = run_words(Work.BOOTING, number=12, revision="", purpose="").partition("12")[0]
    assert f"{begun}12" in before
    assert f"{begun}13" in after


def test_a_figure_in_another_unit_than_the_first_one_is_no_evidence(tmp_path, repo):
    good, bad, _ = history(repo, 4, count=4)
    script = 'test -e slow && echo "${n}" || echo "${n}ms"'
    done = run_figure(tmp_path, repo, good, bad, script=script)
    assert (done.returncode, "culprit" in json.loads(done.stdout)["outcome"]) == (4, False)
    assert run_words(Commands.UNITS_DIFFER, units=("ns", "none")) in done.stderr


@pytest.mark.parametrize(
    ("words", "swap"),
    [(["--better", "higher"], False), ([], True), (["--find-fix"], False)],
)
def test_a_change_the_other_way_round_is_told_as_soon_as_the_ends_differ(
    tmp_path, repo, words, swap
):
    """`slow` is larger; --find-fix takes the good end for the newer one."""
    good, bad, _ = history(repo, 4, count=8)
    if swap:
        git(repo, "rm", "-q", "slow")
        git(repo, "commit", "-q", "-m", "repair")
        good, bad = bad, git(repo, "rev-parse", "HEAD")
    elif "--find-fix" in words:
        good, bad = bad, good
    done = run_figure(tmp_path, repo, good, bad, *words, script="echo $n")
    assert done.returncode == 2, done.stderr
    assert "the other way round" in json.loads(done.stdout)["error"]
    assert (tmp_path / "runs").read_text().count("x") == 12


@pytest.mark.parametrize(
    ("words", "script", "said"),
    [
        (
            ["--format", "go", "--metric", "BenchmarkNo"],
            r'printf "BenchmarkX\t 1\t 2 ns/op\n"',
            "BenchmarkX",
        ),
        (["--json-path", "a.b"], 'echo \'{"a": {"c": 1}}\'', "c"),
        (["--extract", "took (.*)"], "echo nothing", "took"),
        (["--metric", "p99"], "echo p50: 3us", "p50"),
    ],
)
def test_a_wrong_name_is_told_at_the_first_run(tmp_path, repo, words, script, said):
    good, bad, _ = history(repo, 4, count=4)
    done = run_figure(tmp_path, repo, good, bad, *words, script=script)
    assert (done.returncode, said in json.loads(done.stdout)["error"]) == (2, True), done.stderr
    assert (tmp_path / "runs").read_text() == "x\n"


@pytest.mark.parametrize(
    "words",
    [["--extract", "("], ["--json-path", "a["], ["--extract", "a", "--json-path", "a"],
     ["--pass-fail", "--format", "go"]],
)  # fmt: skip
def test_options_that_make_no_sense_are_one_line(tmp_path, repo, words):
    good, bad, _ = history(repo, 4, count=4)
    asked = ["run", "--good", good, "--bad", bad, *words, "--", "true"]
    done = rtbisect(tmp_path / "state", *asked, cwd=repo)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
