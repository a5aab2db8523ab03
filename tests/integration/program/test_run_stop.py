# SPDX-License-Identifier: GPL-2.0-or-later
"""A search is ended from another terminal, and goes on from there."""

import json
import os
import subprocess
import sys
import time

import pytest

from helpers.command_line import RTBISECT
from helpers.run_command import history, noisy, rtbisect

#: The search asks for a stop of itself in its run of this number, so that no test waits.
STOPPED_AT = 24
STOPS_ITSELF = """
import pathlib, subprocess, sys
runs = pathlib.Path(sys.argv[1])
count = int(runs.read_text() or 0) + 1
runs.write_text(str(count))
if count == {at}:
    pathlib.Path(sys.argv[2]).touch()
sys.argv = sys.argv[3:]
exec(pathlib.Path(sys.argv[0]).read_text())
"""


@pytest.fixture
def stopped(tmp_path, repo):
    """A search that was asked to stop during a run: what it said, and what `resume` needs."""
    good, bad, culprit = history(repo, 3)
    runs, stop = tmp_path / "runs", tmp_path / "state" / "sessions" / "run-1" / "stop"
    runs.write_text("")
    script = tmp_path / "stops.py"
    script.write_text(STOPS_ITSELF.format(at=STOPPED_AT))
    command = sys.executable, str(script), str(runs), str(stop), str(noisy(tmp_path, 5))
    words = ["run", "--good", good, "--bad", bad, "--metric", "p50_us", "--json"]
    return rtbisect(tmp_path / "state", *words, "--", *command, cwd=repo), culprit


def test_a_search_ends_after_the_run_under_way_and_goes_on(tmp_path, repo, stopped):
    done, culprit = stopped
    assert (done.returncode, json.loads(done.stdout)["exit_code"]) == (130, 130)
    told = rtbisect(tmp_path / "state", "status", "run-1", "--json", cwd=repo)
    (row,) = json.loads(told.stdout)["campaigns"]
    assert (row["state"], row["runs"]) == ("paused", STOPPED_AT)
    stands = row["standing"]
    assert stands["holding"] <= stands["candidates"]
    assert 0 < stands["probability"] <= 1
    # Who asks for a stop of what does not run hears where it stands.
    again = rtbisect(tmp_path / "state", "stop", "run-1", "--json", cwd=repo)
    assert json.loads(again.stdout) == row
    goes_on = rtbisect(tmp_path / "state", "resume", "run-1", "--json", cwd=repo)
    answer = json.loads(goes_on.stdout)
    assert (goes_on.returncode, answer["culprit"], answer["standing"]) == (0, culprit, None)


@pytest.mark.words
def test_who_stops_a_search_is_told_how_to_go_on(tmp_path, repo, stopped):
    done, _culprit = stopped
    last = "rtbisect: run-1 is paused after 24 runs; `rtbisect resume run-1` goes on"
    assert done.stderr.splitlines()[-1] == last
    told = rtbisect(tmp_path / "state", "stop", "run-1", cwd=repo).stdout
    assert told.splitlines()[-1] == "  next: rtbisect resume run-1"
    assert told.startswith("run-1: paused; 24 runs, ")
    assert "; likeliest: " in told


def test_another_terminal_waits_until_the_run_under_way_has_ended(tmp_path, repo):
    good, bad, _culprit = history(repo, 3)
    begun, goes_on = tmp_path / "begun", tmp_path / "goes-on"
    for pipe in (begun, goes_on):
        os.mkfifo(pipe)
    # The first run waits until the stop is asked for.
    script = tmp_path / "waits.sh"
    script.write_text(f"echo run > {begun}; cat {goes_on}; echo 1\n")
    words = ["run", "--good", good, "--bad", bad, "--", "sh", str(script)]
    state = tmp_path / "state"
    searching = _begun(state, *words, cwd=repo)
    begun.read_text()
    # A second search beside it says which one is in its way.
    refused = rtbisect(state, *words[:5], "--json", *words[5:], cwd=repo)
    error = json.loads(refused.stdout)
    assert (refused.returncode, error["error"].split()[0]) == (5, "run-1")
    assert "`rtbisect stop run-1`" in error["hint"]
    stopping = _begun(state, "stop", "--json", cwd=repo)
    while not (state / "sessions" / "run-1" / "stop").exists():
        assert stopping.poll() is None
        time.sleep(0.05)
    goes_on.write_text("1\n")
    searching.communicate()
    answer = json.loads(stopping.communicate()[0])
    assert (searching.returncode, stopping.returncode) == (130, 0)
    assert (answer["campaign"], answer["state"], answer["runs"]) == ("run-1", "paused", 1)


def _begun(state, *words, cwd):
    argv = [RTBISECT, "--state", str(state), *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(argv, cwd=cwd, text=True, **pipes)
