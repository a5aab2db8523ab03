# SPDX-License-Identifier: GPL-2.0-or-later
import pytest

from rtbisect.trust.machine import WARNED, unwell

WELL = {
    "throttled_before": "3",
    "throttled_after": "3",
    "machine_checks_before": "0",
    "machine_checks_after": "0",
    "tainted_before": "0",
    "tainted_after": "0",
    "clocksource": "tsc",
    "clocksource_after": "tsc",
}


def test_a_machine_whose_counters_stand_still_is_well():
    assert unwell(WELL) == ""
    assert unwell({}) == ""


def test_a_module_of_ours_is_no_taint():
    # Out of tree, and not signed where modules are.
    assert unwell(WELL | {"tainted_after": "4096"}) == ""
    assert unwell(WELL | {"tainted_after": "12288"}) == ""
    assert unwell(WELL | {"tainted_before": "512", "tainted_after": "4608"}) == ""


def test_a_warning_that_something_explains_is_none():
    assert unwell(WELL | {"tainted_after": "512"}, WARNED) == ""
    assert "bit 2" in unwell(WELL | {"tainted_after": "516"}, WARNED)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"throttled_after": "5"}, "the CPU throttled itself 2 times"),
        ({"throttled_after": "1"}, "the CPU throttled itself -2 times"),
        ({"machine_checks_after": "1"}, "1 machine check exceptions"),
        ({"machine_checks_after": "x"}, "machine_checks was '0' before the windows and 'x' after"),
        ({"throttled_after": ""}, "throttled was '3' before the windows and '' after them"),
        ({"tainted_after": "512"}, "got tainted in a window (bit 9): 512"),
        ({"tainted_after": "4612"}, "got tainted in a window (bit 2, 9): 4612"),
        ({"tainted_after": "?"}, "tainted was '0' before the windows and '?' after them"),
        ({"clocksource_after": "hpet"}, "the clock source changed to hpet in a window"),
    ],
)
def test_a_sick_machine_is_told(changes, said):
    assert said in unwell(WELL | changes)
