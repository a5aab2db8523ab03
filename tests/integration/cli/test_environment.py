# SPDX-License-Identifier: GPL-2.0-or-later
"""A hostile environment, signals, and streams that are full, closed or gone."""

import os
import signal
import subprocess
import sys

import pytest

from helpers.command_line import RTBISECT, bisect
from helpers.filled_store import filled
from helpers.signals import hears_signals


def test_a_full_standard_output_is_told(cli):
    done = subprocess.run(
        f"exec {RTBISECT} status >/dev/full", shell=True, env=cli.env({}), capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr.startswith("rtbisect: standard output: No space left")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("how", [">&-", "2>&-", "<&-"])
def test_closed_streams_do_no_harm(cli, how):
    done = subprocess.run(
        f"exec {RTBISECT} status {how}", shell=True, env=cli.env({}), capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


HOSTILE = {
    "MAKEFLAGS": "-n --warn",
    "GIT_DIR": "/nonexistent",
    "GIT_WORK_TREE": "/nonexistent",
    "GIT_INDEX_FILE": "/nonexistent",
    "GIT_OBJECT_DIRECTORY": "/nonexistent",
    "GIT_CONFIG_PARAMETERS": "'core.bare=x'",
    "GIT_TRACE": "1",
    "ARCH": "arm64",
    "PYTHONSTARTUP": "/nonexistent",
    "PYTHONOPTIMIZE": "2",
    "PYTHONWARNINGS": "error",
    "PYTHONIOENCODING": "ascii",
    "LC_ALL": "tr_TR.UTF-8",
    "LANG": "C",
    "COLUMNS": "7",
    "XDG_STATE_HOME": "/nonexistent",
    "XDG_CONFIG_HOME": "/nonexistent",
    "XDG_CACHE_HOME": "/nonexistent",
    "CDPATH": "/",
    "TERM": "nosuch",
}


def test_a_hostile_environment_changes_nothing(cli):
    shadow = cli.home / "shadow"
    shadow.mkdir()
    for name in ("bisect", "click", "yaml", "random", "sqlalchemy", "statistics", "kernelci"):
        (shadow / f"{name}.py").write_text(f"raise SystemExit('{name} is shadowed')\n")
    env = HOSTILE | {"PYTHONPATH": str(shadow)}
    filled(cli)
    for words in (("config", "check"), ("status", "--json"), ("resume", "check-2", "--json")):
        assert cli.run(*words, env=env) == cli.run(*words), words
    for words in (bisect("side", "main"), bisect("v1", "main")):
        assert cli.refused(2, *words, env=env) == cli.refused(2, *words)


def test_modules_in_the_current_directory_are_not_taken(cli):
    (cli.home / "yaml.py").write_text("raise SystemExit('shadowed')\n")
    assert cli.run("config", "check").code == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_with_130_and_one_line(cli, repo, number):
    cli.store.mark_checked("rt", repo[1]["d"], "pass", "now")
    child = subprocess.Popen(
        [RTBISECT, "watch"], env=cli.env({}), cwd=cli.home, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=hears_signals,  # noqa: PLW1509
    )  # fmt: skip
    assert "unchanged" in child.stdout.readline()
    child.send_signal(number)
    out, err = child.communicate(timeout=30)
    assert (child.returncode, out) == (130, "")
    assert err.startswith("rtbisect: interrupted; ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(("module", "said"), [("click", 0), ("sqlalchemy", 1)])
def test_a_signal_while_modules_are_loaded_leaves_no_traceback(cli, module, said):
    """Nothing is said before the program itself is imported, and its one line from then on."""
    script = (
        "import os, signal, sys\n"
        "class Kill:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == '{module}': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Kill())\n"
        "from rtbisect.cli.main import entry\n"
        "sys.argv = ['rtbisect', 'status']\n"
        "entry()\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", script], env=cli.env({}), capture_output=True, text=True,
        timeout=60, check=False, preexec_fn=hears_signals,
    )  # fmt: skip
    assert done.returncode == 130
    assert [line[:21] for line in done.stderr.splitlines()] == ["rtbisect: interrupted"] * said


@pytest.mark.parametrize("words", [("--help",), ("status", "--json"), ("nosuch", "--json")])
def test_a_reader_that_went_away_gets_no_traceback(cli, words):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run(
            [RTBISECT, *words], env=cli.env({}), stdout=pipe, stderr=subprocess.PIPE, text=True,
            timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == (2 if "nosuch" in words else 130)
    assert done.stderr.count("\n") == (1 if "nosuch" in words else 0)
