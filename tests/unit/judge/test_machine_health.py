# SPDX-License-Identifier: GPL-2.0-or-later
import pytest

from rtbisect.judge.gates.machine_health import WARNED, health_fault, steady, unseen
from rtbisect.model.campaign import GateStatus
from rtbisect.model.facts import Facts

WELL = {
    "throttled_before": "3",
    "throttled_after": "3",
    "machine_checks_before": "0",
    "machine_checks_after": "0",
    "smi_before": "12",
    "smi_after": "12",
    "tainted_before": "0",
    "tainted_after": "0",
    "clocksource": "tsc",
    "clocksource_after": "tsc",
}


def test_a_machine_whose_counters_stand_still_is_well():
    assert health_fault(Facts(WELL)) == ""
    assert health_fault(Facts({})) == ""
    assert steady([Facts(WELL)] * 2).status is GateStatus.PASS


@pytest.mark.parametrize("name", ["throttled", "machine_checks", "smi", "tainted", "clocksource"])
def test_what_nobody_counts_is_no_pass(name):
    """An empty field and one that is missing say the same."""
    for told in ({}, {f"{name}_before": "", f"{name}_after": ""}):
        others = {key: value for key, value in WELL.items() if not key.startswith(name)}
        boot = Facts(others | told)
        assert health_fault(boot) == ""
        assert unseen(boot) == (name,)
        gate = steady([Facts(WELL), boot])
        assert gate.status is GateStatus.ABSENT
        assert name in gate.reason
    assert steady([]).status is GateStatus.ABSENT


def test_a_module_of_ours_is_no_taint():
    # Out of tree, and not signed where modules are.
    assert health_fault(Facts(WELL | {"tainted_after": "4096"})) == ""
    assert health_fault(Facts(WELL | {"tainted_after": "12288"})) == ""
    assert health_fault(Facts(WELL | {"tainted_before": "512", "tainted_after": "4608"})) == ""


def test_a_warning_that_something_explains_is_none():
    assert health_fault(Facts(WELL | {"tainted_after": "512"}), WARNED) == ""
    assert "bit 2" in health_fault(Facts(WELL | {"tainted_after": "516"}), WARNED)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"throttled_after": "5"}, "the CPU throttled itself 2 times"),
        ({"throttled_after": "1"}, "the CPU throttled itself -2 times"),
        ({"machine_checks_after": "1"}, "1 machine check exceptions"),
        ({"smi_after": "62"}, "the firmware stopped the CPUs 50 times"),
        ({"smi_after": ""}, "smi was '12' before the windows and '' after them"),
        ({"tainted_before": ""}, "tainted was '' before the windows and '0' after them"),
        ({"machine_checks_after": "x"}, "machine_checks was '0' before the windows and 'x' after"),
        ({"throttled_after": ""}, "throttled was '3' before the windows and '' after them"),
        ({"tainted_after": "512"}, "got tainted in a window (bit 9): 512"),
        ({"tainted_after": "4612"}, "got tainted in a window (bit 2, 9): 4612"),
        ({"tainted_after": "?"}, "tainted was '0' before the windows and '?' after them"),
        ({"clocksource_after": "hpet"}, "the clock source changed to hpet in a window"),
    ],
)
def test_a_sick_machine_is_told(changes, said):
    assert said in health_fault(Facts(WELL | changes))
