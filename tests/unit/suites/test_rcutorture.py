# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's own RCU modules: what is read of their words."""

import subprocess

import pytest

from helpers import tracers
from helpers.lab_logs import durations
from rtbisect.judge.gates import boot_gates
from rtbisect.lab import initramfs
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Gates
from rtbisect.suites import rcuscale, rcutorture
from rtbisect.suites.base import SuiteError

SUITES = tracers.ROOT / "lava-jobs" / "suites"
RCU, SRCU = rcutorture.SUITE.windows


def told(text):
    found = rcutorture.parse({"torture.txt": text.encode()}, RCU, (2,))
    return {m.name: m.value for m in found}


def test_how_a_test_ended():
    assert told("seconds 60\nend SUCCESS\n") == {"failures": 0, "test_s": 60}
    assert told("seconds 60\nend FAILURE\n") == {"failures": 1, "test_s": 60}
    assert told("seconds 60\nend RCU_HOTPLUG\n")["failures"] == 0


@pytest.mark.parametrize("text", ["seconds 60\n", "end SUCCESS\n", "seconds 0\nend SUCCESS\n",
                                  "seconds 60\nend WELL\n", ""])  # fmt: skip
def test_what_cannot_be_is_refused(text):
    with pytest.raises(SuiteError):
        told(text)


#: Lines of dmesg of 6.12, with those of an earlier run before the mark.
LOG = """\
[    9.0] rcu-torture:--- End of test: FAILURE: nreaders=2 nfakewriters=1
[   12.0] rtbisect: rcutorture-rcu begins
[   13.0] rcu-torture:--- Start of test: nreaders=2 nfakewriters=1 stat_interval=15
[   73.0] rcu-torture:--- End of test: SUCCESS: nreaders=2 nfakewriters=1 stat_interval=15
"""
#: The other flavour comes later in the same boot.
LATER = """\
[   80.0] rtbisect: rcutorture-srcu begins
[  141.0] srcu-torture:--- End of test: FAILURE: nreaders=2 nfakewriters=1 stat_interval=15
"""


def run(tmp_path, suite, log, steps):
    (tmp_path / "log").write_text(log)
    script = SUITES / suite / f"{suite}.sh"
    idle = "; ".join(f"{each}() {{ :; }}" for each in ("insmod", "rmmod", "sleep", "taskset"))
    stand_ins = f"dmesg() {{ [ $# -gt 0 ] || cat {tmp_path}/log; }}; {idle}"
    places = f"RESULTS={tmp_path}; RTBISECT=/x; KMSG={tmp_path}/kmsg"
    lines = (
        f"{initramfs.device_values()}. {SUITES}/lib.sh; . {script}; {places}; {stand_ins}; {steps}"
    )
    subprocess.run(["/bin/busybox", "ash", "-euc", lines], check=True)


def test_the_device_takes_the_end_of_its_own_test(tmp_path):
    (tmp_path / RCU.name).mkdir()
    run(tmp_path, "rcutorture", LOG, "window_rcutorture_rcu")
    assert told((tmp_path / RCU.name / "torture.txt").read_text()) == {"failures": 0, "test_s": 60}


def test_each_flavour_has_its_own_end(tmp_path):
    (tmp_path / SRCU.name).mkdir()
    run(tmp_path, "rcutorture", LOG + LATER, "window_rcutorture_srcu")
    assert told((tmp_path / SRCU.name / "torture.txt").read_text())["failures"] == 1


SCALE = """\
[    1.0] rcu-scale:    0 writer-duration:     0 99
[    2.0] rtbisect: rcuscale begins
[    3.0] rcu-scale: rcu_scale_writer 0 has 100 measurements
[    3.1] rcu-scale:start: 1 end: 2 duration: 1 gps: 2 batches: 3
[    3.2] rcu-scale:    0 writer-duration:     0 6001234
[    3.2] rcu-scale:    0 writer-duration:     1 5998765
"""


def test_the_device_takes_the_durations_of_its_own_run(tmp_path):
    (tmp_path / "rcuscale").mkdir()
    run(tmp_path, "rcuscale", SCALE, "HOUSEKEEPING_CPU=0; window_rcuscale")
    assert (tmp_path / "rcuscale/durations.txt").read_text().split() == ["6001234", "5998765"]


def test_the_figures_of_rcuscale_are_those_of_rcu():
    files = {"durations.txt": durations(), "facts.txt": b"hz=1000\n"}
    found = {m.name: m for m in rcuscale.SUITE.parse(files, rcuscale.SUITE.windows[0], (2,))}
    assert {m.suite for m in found.values()} == {"rcuscale"}
    assert found["p50_us"].value == pytest.approx(6000, rel=0.01)


def test_a_culprit_that_breaks_rcu_is_for_the_operator():
    assert boot_gates.still_right("rcutorture", "rcu", [0.0, 0.0], [0.0, 0.0]).ok
    gate = boot_gates.still_right("rcutorture", "rcu", [0.0, 0.0], [0.0, 1.0])
    told = {"window": "rcu", "parent": 0, "parent_runs": 2, "culprit": 1, "culprit_runs": 2}
    assert (gate.ok, gate.reason) == (False, Finding.of(Gates.FAILURES, **told))
    assert boot_gates.still_right("rcutorture", "rcu", [], [0.0]).status.value == "n/a"
    # On the parent it got to its end, on the culprit it never did: that is no pass.
    assert not boot_gates.still_right("rcutorture", "rcu", [0.0], []).ok
