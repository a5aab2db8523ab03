# SPDX-License-Identifier: GPL-2.0-or-later
"""The program as a wheel, far from its checkout: what it needs travels with it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: What a build of the wheel reads.
SOURCES = ("bisect", "lava-jobs", "thresholds", "reports", "playbooks", "pyproject.toml",
           "README.md", "LICENSE")  # fmt: skip

#: The door of the program, where the wheel stands before the checkout that set-up has installed.
DOOR = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import rtbisect
assert rtbisect.__file__.startswith(sys.path[0]), rtbisect.__file__
from rtbisect.cli.app import run
sys.exit(run(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with all that the wheel brings, and nothing else of the project."""
    place = tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            left_out = shutil.ignore_patterns("*.egg-info", "__pycache__")
            shutil.copytree(ROOT / name, place / "source" / name, symlinks=True, ignore=left_out)
        else:
            shutil.copy(ROOT / name, place / "source" / name)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = ["wheel", "--no-index", "--no-deps", "--no-build-isolation", "-w", place, "./source"]
    subprocess.run([*pip, *build], cwd=place, check=True)
    (wheel,) = place.glob("*.whl")
    put = ["install", "--no-index", "--no-deps", "--target", place / "here", wheel]
    subprocess.run([*pip, *put], check=True)
    shutil.rmtree(place / "source")
    return place / "here"


def rtbisect(installed, folder, *words):
    """Run a command of the wheel in a folder that is no checkout."""
    return subprocess.run(
        [sys.executable, "-I", "-c", DOOR, installed, "--state", folder / "state", *words],
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
