# SPDX-License-Identifier: GPL-2.0-or-later
"""Events through one epoll instance: what the program prints and what is read of it."""

import os
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import tracers
from helpers.findings import Like
from rtbisect.config.thresholds import load_thresholds
from rtbisect.model.kinds.boot import Raw
from rtbisect.suites import epoll
from rtbisect.suites.base import SuiteError

SOURCE = tracers.ROOT / "lava-jobs" / "suites" / "epoll" / "epolltput.c"
(WINDOW,) = epoll.SUITE.windows
TEXT = "threads 1 events 8000 ns 4000000\nthreads 8 events 8000 ns 16000000\n"


def told(text=TEXT):
    found = epoll.parse({"epoll.txt": text.encode()}, WINDOW, (2,))
    return {m.name: m.value for m in found}


def test_rates_by_the_number_of_producers():
    assert told() == {"events_per_ms_1": 2000.0, "events_per_ms_8": 500.0}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", Like(Raw.EMPTY)),
        (TEXT + TEXT, Like(Raw.THREADS_TWICE, threads=1)),
        ("threads 1 events 10 ns 5\n", Like(Raw.NO_RATE, events=10)),
        ("threads 1 events 8000 ns 0\n", Like(Raw.NO_RATE, took_ns=0)),
        (TEXT + "killed\n", Like(Raw.FOREIGN_LINE, line="killed")),
    ],
)
def test_what_cannot_be_is_refused(text, said):
    with pytest.raises(SuiteError) as caught:
        told(text)
    assert caught.value.found == said


@given(st.text(alphabet=st.sampled_from([*"threadsvn 0189\n"]), max_size=120))
def test_any_text_is_read_or_refused(text):
    try:
        found = told(text)
    except SuiteError:
        return
    assert all(rate > 0 for rate in found.values())


def test_each_threshold_is_of_a_number_of_producers_that_the_device_tries():
    script = f". {SOURCE.with_name('epoll.sh')}; echo $EPOLL_THREADS"
    tried = subprocess.check_output(["/bin/busybox", "ash", "-c", script], text=True).split()
    limits = load_thresholds(tracers.ROOT / "thresholds", (epoll.NAME,))
    assert {limit.key.name for limit in limits} == {f"events_per_ms_{each}" for each in tried}


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc, as the lab does")
def test_the_program_counts_every_event(tmp_path):
    program = tmp_path / "epolltput"
    subprocess.run(["gcc", "-O1", "-pthread", "-w", "-o", program, SOURCE], check=True)
    home = str(min(os.sched_getaffinity(0)))
    options = ["-k", home, "-c", home, "-n", "3", "-e", "500"]
    said = subprocess.check_output([program, *options], text=True, timeout=60)
    assert said.startswith("threads 3 events 1500 ns ")
    assert len(told(said)) == 1
    wrong = subprocess.run([program, "-n", "3"], capture_output=True, check=False, timeout=60)
    assert wrong.returncode == 2
