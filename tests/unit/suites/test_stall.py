# SPDX-License-Identifier: GPL-2.0-or-later
import subprocess

import pytest

from helpers import tracers
from helpers.findings import Like
from helpers.windows import select
from rtbisect.model.kinds.boot import Raw, Symptom
from rtbisect.suites import stall
from rtbisect.suites.base import SuiteError

(WINDOW,) = select(["stall"])
GOOD = b"nr_periods 290\nnr_throttled 288\nwrites 51234\nwaits 9876\nlockdep 0\n"
SEES = b"".join(b"sees_%s 1\n" % name.encode() for name in stall.GUARDS)


def parsed(content):
    return {m.name: m.value for m in stall.parse({"stall.txt": content}, WINDOW, (2,))}


def test_a_boot_that_gets_to_its_end_has_no_symptom():
    found = parsed(GOOD + SEES)
    assert {name: found[name] for name in stall.SYMPTOMS.values()} == {
        "frozen_periods": 0.0,
        "rcu_stall": 0.0,
        "blocked_task": 0.0,
        "soft_lockup": 0.0,
    }
    assert (found["nr_throttled"], found["waits"]) == (288.0, 9876.0)
    assert found["lockdep"] == 0.0
    assert parsed(GOOD.replace(b"lockdep 0", b"lockdep 3") + SEES)["lockdep"] == 1.0


@pytest.mark.parametrize("guard", stall.GUARDS)
def test_a_guard_that_cannot_fire_has_no_figure(guard):
    line = f"sees_{guard} 1\n".encode()
    assert parsed(GOOD).keys() & set(stall.GUARDS) == set()
    for blind in (b"", line.replace(b"1", b"0")):
        told = parsed(GOOD + SEES.replace(line, blind)).keys() & set(stall.GUARDS)
        assert told == set(stall.GUARDS) - {guard}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (GOOD.replace(b"288", b"12"), Like(Raw.FEW_PERIODS, throttled=12, periods=290)),
        (GOOD.replace(b"288", b"291"), Like(Raw.FEW_PERIODS, throttled=291)),
        (GOOD.replace(b"nr_throttled 288\n", b""), Like(Raw.NO_KEY, key="nr_throttled")),
        (b"", Like(Raw.NO_KEY, key="nr_periods")),
    ],
)
def test_a_boot_that_tried_too_little_is_refused(content, said):
    with pytest.raises(SuiteError) as caught:
        parsed(content)
    assert caught.value.found == said


def test_a_hang_is_one_figure():
    (found,) = stall.symptom(Symptom.FROZEN_PERIODS, WINDOW)
    assert (found.suite, found.name, found.window, found.value) == (
        "stall",
        "frozen_periods",
        "stall",
        1.0,
    )
    assert stall.SYMPTOMS.keys() == set(Symptom)


def test_the_program_refuses_what_it_cannot_do(tmp_path):
    program = tracers.compiled(tmp_path, "stall/epollstall.c")
    done = subprocess.run([str(program), "-g", "x"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr[:18]) == (2, "epollstall: usage:")
    argv = [str(program), "-g", "x", "-q", "5"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.stderr == "epollstall: -q must be a number from 1000 to 1000000, not '5'\n"
