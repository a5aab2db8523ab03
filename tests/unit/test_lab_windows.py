# SPDX-License-Identifier: GPL-2.0-or-later
import re
from pathlib import Path

import pytest

from rtbisect.errors import ConfigError
from rtbisect.lab.windows import WINDOWS, select

SCRIPT = Path(__file__).parents[2] / "lava-jobs/suites/run-windows.sh"


def test_the_device_knows_every_window():
    known = re.search(r"case \$_window in\n\s*([a-z| -]+)\)", SCRIPT.read_text())
    assert {window.name for window in WINDOWS} == set(known[1].split(" | "))


def test_a_workload_has_its_control():
    names = {window.name: window for window in WINDOWS}
    for on, off in (("clock-on", "osnoise-off"), ("pf-on", "pf-off"), ("rcu-on", "rcu-off")):
        assert names[on].workload != "none"
        assert names[off].workload == "none"
        assert names[on].suites == names[off].suites


def test_our_own_load_is_marked_synthetic():
    assert {w.name for w in WINDOWS if not w.synthetic} == {"osnoise-off", "rcu-off"}


def test_windows_are_selected_by_name():
    assert [w.name for w in select(["pf-on", "osnoise-off"])] == ["osnoise-off", "pf-on"]
    with pytest.raises(ConfigError, match="no window 'pf'"):
        select(["pf"])
