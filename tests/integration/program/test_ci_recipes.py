# SPDX-License-Identifier: GPL-2.0-or-later
"""The recipes of docs/ci.md, as they stand there, on a repository whose last night is red."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from helpers.command_line import RTBISECT
from helpers.repositories import ENV
from helpers.run_command import git, history, noisy

PAGE = Path(__file__).parents[3] / "docs" / "ci.md"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
(SCRIPT,) = (text for kind, text in BLOCKS if kind == "sh")
GITHUB, GITLAB = (yaml.safe_load(text) for kind, text in BLOCKS if kind == "yaml")
#: What a recipe asks of the world is written down: the comment as it would be posted.
STUB = """#!/bin/sh
echo "$(basename "$0") $*" >>{folder}/posted
case "$*" in *summary.md*) cat summary.md >>{folder}/comments;; esac
"""


@pytest.fixture
def night(tmp_path, repo):
    """Runs commands as a job does; the history is red at its end, and was green at its begin."""
    good, _bad, culprit = history(repo, 3, count=12)
    script = noisy(tmp_path, 5, effect=8)
    files = {
        "ci/nightly.sh": SCRIPT,
        "bench.sh": f'#!/bin/sh\n{sys.executable} {script} | sed "s/p50_us/p99_us/"\n',
        "check.sh": "#!/bin/sh\ntest ! -e slow\n",
    }
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("gh", "curl", "pipx"):
        (folder / name).write_text(STUB.format(folder=tmp_path))
        (folder / name).chmod(0o755)
    (folder / "rtbisect").symlink_to(RTBISECT)

    def run(commands, more, *, at="main"):
        git(repo, "checkout", "-q", "--detach", at)
        for name, text in files.items():
            place = repo / name
            place.parent.mkdir(exist_ok=True)
            place.write_text(text)
            place.chmod(0o755)
        env = ENV | {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(tmp_path)} | more
        codes = [
            subprocess.run(
                ["bash", "-e", "-c", command], cwd=repo, env=env, capture_output=True, check=False
            ).returncode
            for command in commands
        ]
        posted = tmp_path / "posted"
        return codes, posted.read_text() if posted.exists() else ""

    return run, good, culprit


def of_github(repo, tmp_path):
    (job,) = GITHUB["jobs"].values()
    env = job["env"] | {
        "GITHUB_STEP_SUMMARY": str(tmp_path / "page.md"), "GITHUB_REPOSITORY": "example/project",
    }  # fmt: skip
    known = {"github.workspace": str(repo), "github.token": "secret"}
    fill = re.compile(r"\$\{\{ ([\w.]+) \}\}")
    filled = {name: fill.sub(lambda m: known[m[1]], value) for name, value in env.items()}
    checkout = next(step for step in job["steps"] if step.get("uses", "").startswith("actions/ch"))
    assert checkout["with"]["fetch-depth"] == 0
    return [step["run"] for step in job["steps"] if "run" in step], filled


def of_gitlab(repo, _tmp_path):
    (job,) = GITLAB.values()
    assert job["variables"].pop("GIT_DEPTH") == 0
    predefined = {
        "CI_PROJECT_DIR": str(repo), "CI_API_V4_URL": "https://git.example.org/api/v4",
        "CI_PROJECT_ID": "7", "RTBISECT_TOKEN": "secret",
    }  # fmt: skip
    state = job["variables"]["RTBISECT_STATE"].replace("$CI_PROJECT_DIR", str(repo))
    job["variables"]["GIT_DEPTH"] = 0
    return [*job["script"], *job["after_script"]], predefined | {"RTBISECT_STATE": state}


@pytest.mark.parametrize("recipe", [of_github, of_gitlab])
def test_a_red_night_ends_in_a_comment_on_the_commit(tmp_path, repo, night, recipe):
    run, good, culprit = night
    commands, env = recipe(repo, tmp_path)
    codes, posted = run(commands, env, at=good)
    assert (set(codes), "comments" in posted) == ({0}, False)
    codes, posted = run(commands, env)
    assert set(codes) == {0}
    assert f"/commits/{culprit}/comments" in posted
    assert "secret" not in (tmp_path / "comments").read_text()
    assert (tmp_path / "comments").read_text() == (repo / "summary.md").read_text()
    assert f"`{culprit}`" in (repo / "summary.md").read_text()
    # The next red night has nothing new to say.
    codes, again = run(commands, env)
    assert 1 in codes
    assert again.count(f"/commits/{culprit}/comments") == 1


def answering(tmp_path, answer, code):
    """A search with this answer, in the place of one that takes minutes."""
    place = tmp_path / "found.json"
    place.write_text(json.dumps(answer, sort_keys=True) + "\n")
    stub = tmp_path / "bin" / "rtbisect"
    stub.unlink()
    stub.write_text(f"#!/bin/sh\necho several >summary.md\ncat {place}\nexit {code}\n")
    stub.chmod(0o755)


@pytest.mark.parametrize(
    ("more", "goes_on"), [("--max-runs 600", True), ("--again ab --runs 12", False)]
)
def test_only_a_larger_budget_is_tried_the_next_night(tmp_path, repo, night, more, goes_on):
    """What a proof left undecided is no matter of the budget: a person decides."""
    run, good, _culprit = night
    commands, env = of_gitlab(repo, tmp_path)
    run(commands, env, at=good)
    asked = {
        "campaign": "run-1",
        "next": f"rtbisect resume run-1 {more}",
        "outcome": "inconclusive",
    }
    answering(tmp_path, asked, code=4)
    codes, _ = run(commands, env)
    assert codes[1] == 4
    assert (repo / ".rtbisect/goes-on").exists() == goes_on


@pytest.mark.parametrize("recipe", [of_github, of_gitlab])
def test_each_of_several_commits_has_a_comment_and_ends_the_search(tmp_path, repo, night, recipe):
    run, good, culprit = night
    commands, env = recipe(repo, tmp_path)
    found = {"campaign": "run-1", "culprit": good, "culprits": [good, culprit], "outcome": "x"}
    answering(tmp_path, found, code=0)
    run(commands, env, at=good)
    codes, posted = run(commands, env)
    assert set(codes) == {0}
    assert [posted.count(f"/commits/{sha}/comments") for sha in (good, culprit)] == [1, 1]
    assert (tmp_path / "comments").read_text() == "several\n" * 2
    assert (repo / ".rtbisect" / "named").read_text() == f"{good} {culprit}\n"


def test_a_search_goes_on_the_next_night_in_a_new_clone(tmp_path, repo, night):
    run, good, culprit = night
    commands, env = of_gitlab(repo, tmp_path)
    run(commands, env, at=good)
    short = [command.replace("ci/nightly.sh", "ci/short.sh") for command in commands]
    (repo / "ci/short.sh").write_text(SCRIPT.replace("45m", "0s"))
    codes, posted = run(short, env)
    assert (codes[1], "comments" in posted) == (4, False)
    # Only what is cached is there the next night.
    state = repo / ".rtbisect"
    assert (state / "goes-on").read_text() == "run-1\n"
    shutil.move(state, tmp_path / "cached")
    repo.rename(tmp_path / "yesterday")
    git(tmp_path, "clone", "-q", "-b", "main", str(tmp_path / "yesterday"), str(repo))
    shutil.move(tmp_path / "cached", state)
    codes, posted = run(commands, env)
    assert set(codes) == {0}
    assert f"/commits/{culprit}/comments" in posted
    answer = json.loads((repo / "answer.json").read_text())
    assert (answer["campaign"], answer["culprit"]) == ("run-1", culprit)
    assert not (state / "goes-on").exists()
