# SPDX-License-Identifier: GPL-2.0-or-later
"""A plain `pip install` by a user without rights: no extra, no kernel, no lab, nothing of root."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from helpers import bare, wheels
from helpers.repositories import ENV
from rtbisect.process import extras

ROOT = Path(__file__).resolve().parents[3]
CHANGES = 5
CULPRIT = 3


@pytest.fixture(scope="module")
def place():
    with bare.environment() as made:
        yield made


def git(repo, *words):
    subprocess.run(["git", "-C", repo, *words], env=ENV, check=True, capture_output=True)


def committed(repo):
    git(repo, "init", "-q", "-b", "main")
    git(repo, "add", "-A", "--force")
    git(repo, "commit", "-q", "-m", "all of it")


@pytest.fixture(scope="module")
def from_wheel(place, tmp_path_factory):
    """The program as CI hands it out."""
    wheel = wheels.of_checkout(tmp_path_factory.mktemp("wheel"))
    place.install(shutil.copy(wheel, place.root))
    return place


@pytest.fixture(scope="module")
def from_clone(from_wheel):
    """The program from the address of a repository, in the place of that wheel."""
    source = from_wheel.root / "clone"
    wheels.sources(source)
    committed(source)
    from_wheel.take(source)
    # Whether all is there that it needs, the wheel has shown.
    from_wheel.install(f"git+file://{source}", "--force-reinstall", "--no-deps")
    return from_wheel


@pytest.fixture(scope="module")
def repository(place):
    """Of some commits, the third of which makes a number worse."""
    repo = place.home / "repo"
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main")
    for number in range(CHANGES):
        (repo / "figure").write_text(f"{10 + 90 * (number >= CULPRIT)}.5\n")
        (repo / "count").write_text(f"{number}\n")
        git(repo, "add", "-A")
        git(repo, "commit", "-q", "-m", f"change {number}")
    place.take(repo)
    return repo


def found(installed, repository):
    """The answer of a short search."""
    words = ("run", "--good", "HEAD~4", "--bad", "HEAD", "--json", "--repo", repository)
    done = installed.run("rtbisect", *words, "--", "sh", "-c", "cat figure")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert [each["subject"] for each in answer["commits"]] == [f"change {CULPRIT}"]
    return answer


def test_run_finds_a_commit_and_its_answer_can_be_looked_at(from_wheel, repository):
    answer = found(from_wheel, repository)
    status = json.loads(from_wheel.run("rtbisect", "status", "--json").stdout)
    assert status["campaigns"][0]["culprit"] == answer["culprit"]


def test_a_mail_is_checked_and_a_bundle_judged_again(from_wheel):
    mail = from_wheel.home / "mail"
    shutil.copy(ROOT / "tests/golden/mails/public_regression.eml", mail)
    assert from_wheel.run("rtbisect", "report", "lint", mail).returncode == 0
    bundle = from_wheel.home / "bundle"
    shutil.copytree(ROOT / "tests/data/bundles/format-1", bundle, dirs_exist_ok=True)
    done = from_wheel.run("rtbisect", "rejudge", bundle, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["same"] is True
    consoles = from_wheel.home / "console"
    consoles.write_text("nothing was measured\n")
    done = from_wheel.run("rtbisect", "figures", bundle, consoles)
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 1


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        ("demo --seed 7", extras.DEMO),
        ("config check site.yaml", extras.LAB),
        ("watch --once", extras.LAB),
    ],
)
def test_what_needs_an_extra_says_in_a_line_which(from_wheel, words, extra):
    shutil.copy(ROOT / "site.example.yaml", from_wheel.home / "site.yaml")
    done = from_wheel.run("rtbisect", *words.split())
    assert done.returncode == 2
    assert f"rtbisect[{extra.name}]" in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert not done.stdout


# The last one: it puts another one in the place of the wheel.
def test_a_program_from_a_clone_finds_it_too(from_clone, repository):
    assert found(from_clone, repository)["outcome"] == "culprit"
