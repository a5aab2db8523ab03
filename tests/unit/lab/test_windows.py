# SPDX-License-Identifier: GPL-2.0-or-later
import subprocess

from helpers import device
from rtbisect.lab.windows import ALL_WINDOWS, WINDOWS

#: Options that the script takes, and a window that no suite has at their end.
ASKED = (
    *("--housekeeping", "0-1", "--isolated", "2-7", "--watch", "2-4", "--window-ms", "1"),
    *("--rcu-calls", "1", "--order"),
)


def test_the_device_knows_every_window(tmp_path):
    """Its shell refuses the first window that has no function, before anything runs."""
    order = " ".join(window.name for window in ALL_WINDOWS)
    argv = ["/bin/busybox", "sh", str(device.scripts(tmp_path) / "run-windows.sh"), *ASKED]
    done = subprocess.run([*argv, f"{order} no-such"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("run-windows.sh: unknown window no-such\n")


def test_a_workload_has_its_control():
    names = {window.name: window for window in WINDOWS}
    for on, off in (("clock-on", "osnoise-off"), ("pf-on", "pf-off"), ("rcu-on", "rcu-off")):
        assert names[on].workload != "none"
        assert names[off].workload == "none"
        assert names[on].suites == names[off].suites


def test_our_own_load_is_marked_synthetic():
    assert {w.name for w in WINDOWS if not w.synthetic} == {"osnoise-off", "rcu-off"}
