# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect run --path`: what lies between two commits of the paths is not laid to the second."""

import json
import shlex

import pytest

from helpers.repositories import Repo
from helpers.run_command import checker, rtbisect
from rtbisect.model.kinds.pipeline import Ends


def history(repo):
    """Commits by their subjects: `in` of the paths, `out` outside of them, each with its file."""
    made = Repo(repo)
    shas = {"start": made.commit("start", src__start="1\n")}
    for name in ("in1", "out1", "out2", "out3", "in2", "out4", "in3", "out5", "out6", "out7"):
        folder = "src" if name.startswith("in") else "other"
        shas[name] = made.commit(name, **{f"{folder}__{name}": "1\n"})
    return made, shas


def search(tmp_path, repo, shas, fault, **more):
    checker(tmp_path, f"test ! -e src/{fault} && test ! -e other/{fault}")
    words = ["run", "--pass-fail", "--json", "--path", "src", "--good", shas["start"]]
    words += ["--bad", more.get("bad", "main"), "--", "../check.sh"]
    done = rtbisect(tmp_path / "state", *words, cwd=repo)
    return json.loads(done.stdout), done


@pytest.mark.parametrize(
    ("fault", "older", "newer"), [("out2", "in1", "out3"), ("out6", "in3", "out7")]
)
def test_a_change_between_commits_of_the_paths_is_told_as_such(tmp_path, repo, fault, older, newer):
    _made, shas = history(repo)
    answer, done = search(tmp_path, repo, shas, fault)
    assert (done.returncode, answer["outcome"]) == (4, "inconclusive"), done.stderr
    assert (answer["culprit"], answer["candidates"]) == (None, [])
    (found,) = answer["reasons_found"]
    assert found["kind"] == Ends.OUTSIDE
    assert [found["data"][name] for name in ("older", "newer")] == [shas[older], shas[newer]]
    typed = shlex.split(found["data"]["command"])
    assert (answer["next"], "--path" in typed) == (found["data"]["command"], False)
    assert typed[typed.index("--good") + 1] == shas[older]
    assert typed[typed.index("--bad") + 1] == shas[newer]


def test_the_commit_that_is_named_was_compared_with_its_own_parent(tmp_path, repo):
    made, shas = history(repo)
    answer, done = search(tmp_path, repo, shas, "in2")
    assert answer["culprit"] == shas["in2"], done.stderr
    log = (tmp_path / "state/reports/run-1/bisect.log").read_text()
    assert f"git bisect good {shas['out3']}" in log
    assert shas["out1"] not in log
    made("bisect", "replay", str(tmp_path / "state/reports/run-1/bisect.log"))


def test_one_commit_between_is_named_although_it_touches_none(tmp_path, repo):
    _made, shas = history(repo)
    answer, done = search(tmp_path, repo, shas, "out4", bad=shas["in3"])
    assert answer["culprit"] == shas["out4"], done.stdout + done.stderr
