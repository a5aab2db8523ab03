# SPDX-License-Identifier: GPL-2.0-or-later
"""The program as a wheel, far from its checkout: what it needs travels with it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import wheels
from helpers.findings import said
from rtbisect.cli.app import main
from rtbisect.model.campaign import CampaignRequest
from rtbisect.pipeline.answer import unanswered
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignStore

ROOT = Path(__file__).resolve().parents[3]

#: The door of the program, with the wheel in the place of the checkout that set-up has installed.
DOOR = """
import sys
from pathlib import Path
sys.path = [p for p in sys.path if not (Path(p) / "rtbisect").is_dir()]
sys.path.insert(0, sys.argv.pop(1))
import rtbisect
assert rtbisect.__file__.startswith(sys.path[0]), rtbisect.__file__
from rtbisect.cli.app import run
"""
RUN = "sys.exit(run(sys.argv[1:]))\n"
#: Each command is a process of its own that has not imported all again; ends with the codes of
#: those that failed.
HELP_OF_EACH = """
import os
failed = []
for name in sys.argv[3:]:
    if not (child := os.fork()):
        code = run([*sys.argv[1:3], name, "--help"])
        sys.stdout.flush()
        os._exit(code)
    if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        failed.append(f"{name}: {code}")
sys.exit(", ".join(failed) or 0)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with all that the wheel brings, and nothing else of the project."""
    place = tmp_path_factory.mktemp("wheel")
    wheel = wheels.of_checkout(place)
    put = ["install", "--no-index", "--no-deps", "--target", place / "here", wheel]
    subprocess.run([*wheels.PIP, *put], check=True)
    return place / "here"


def rtbisect(installed, folder, *words, end=RUN):
    """Run a command of the wheel in a folder that is no checkout."""
    return subprocess.run(
        [sys.executable, "-I", "-c", DOOR + end, installed, "--state", folder / "state", *words],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_a_site_is_checked_against_suites_and_templates_of_the_wheel(installed, tmp_path):
    shutil.copy(ROOT / "site.example.yaml", tmp_path / "site.yaml")
    done = rtbisect(installed, tmp_path, "config", "check", "site.yaml")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "site.yaml").read_text().replace("template: qemu-smt", "template: mine")
    (tmp_path / "site.yaml").write_text(text)
    done = rtbisect(installed, tmp_path, "config", "check", "site.yaml")
    assert done.returncode == 2
    assert "'mine.jinja2'" in done.stderr


def test_programs_of_a_job_can_be_run_and_nothing_is_a_link(installed):
    data = installed / "rtbisect/data"
    shipped = {path.relative_to(data) for path in data.rglob("*") if path.is_file()}
    for name in ("lava-jobs", "thresholds", "reports", "playbooks"):
        top = {path.relative_to(ROOT) for path in (ROOT / name).rglob("*") if path.is_file()}
        assert top <= shipped
    assert not [path for path in data.rglob("*") if path.is_symlink()]
    # What is Python is run by an interpreter that is named: a wheel keeps no mode of such a file.
    for path in (each for each in shipped if each.suffix != ".py"):
        assert os.access(data / path, os.X_OK) == os.access(ROOT / path, os.X_OK), path


@pytest.fixture(scope="module")
def without_kit(installed, tmp_path_factory):
    """The same, from which somebody has taken what only demos and labs on one machine need."""
    place = tmp_path_factory.mktemp("small") / "here"
    shutil.copytree(installed, place)
    shutil.rmtree(place / "rtbisect_labkit")
    return place


@pytest.mark.parametrize(
    "words", ["demo --seed 7", "case ipi-storm", "lab host status", "lab server status"]
)
def test_without_the_kit_its_commands_say_in_a_line_what_is_missing(without_kit, tmp_path, words):
    done = rtbisect(without_kit, tmp_path, *words.split())
    assert done.returncode == 2
    assert "No module named 'rtbisect_labkit'" in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert not done.stdout


def test_without_the_kit_all_other_commands_work(without_kit, tmp_path):
    names = sorted(set(main.commands) - {"demo", "case"})
    done = rtbisect(without_kit, tmp_path, *names, end=HELP_OF_EACH)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Usage: ") == len(names)
    shutil.copy(ROOT / "site.example.yaml", tmp_path / "site.yaml")
    assert rtbisect(without_kit, tmp_path, "config", "check", "site.yaml").returncode == 0
    listed = rtbisect(without_kit, tmp_path, "status", "--json").stdout
    assert listed == '{"campaigns": [], "older": 0}\n'


def test_a_campaign_of_the_kit_is_not_resumed_without_it(without_kit, tmp_path):
    store = CampaignStore(tmp_path / "state")
    request = CampaignRequest(kind="demo", site="s", tree="demo", older="a" * 40, newer="b" * 40)
    name = store.create("demo", codec.to_json(CampaignRequest, request), "now")
    store.finish(name, unanswered(None, said("it was not carried out")).result(), None)
    done = rtbisect(without_kit, tmp_path, "resume", name)
    assert done.returncode == 2
    assert "rtbisect_labkit" in done.stderr
