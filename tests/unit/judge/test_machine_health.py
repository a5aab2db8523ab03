# SPDX-License-Identifier: GPL-2.0-or-later
import pytest

from rtbisect.judge.gates.machine_health import WARNED, health_fault, steady, unseen
from rtbisect.model.facts import Facts
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Gates, Health
from rtbisect.model.result import GateStatus

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
    assert health_fault(Facts(WELL)) is None
    assert health_fault(Facts({})) is None
    gate = steady([Facts(WELL)] * 2)
    assert gate.status is GateStatus.PASS
    assert gate.reason == Finding.of(Gates.MACHINE_STEADY, boots=2)


@pytest.mark.parametrize("name", ["throttled", "machine_checks", "smi", "tainted", "clocksource"])
def test_what_nobody_counts_is_no_pass(name):
    """An empty field and one that is missing say the same."""
    for told in ({}, {f"{name}_before": "", f"{name}_after": ""}):
        others = {key: value for key, value in WELL.items() if not key.startswith(name)}
        boot = Facts(others | told)
        assert health_fault(boot) is None
        assert unseen(boot) == (name,)
        gate = steady([Facts(WELL), boot])
        assert gate.status is GateStatus.ABSENT
        assert gate.reason == Finding.of(Gates.MACHINE_BLIND, counters=(name,))
    assert steady([]).status is GateStatus.ABSENT
    assert steady([]).reason.kind == Gates.NO_VALID_BOOT


def test_a_module_of_ours_is_no_taint():
    # Out of tree, and not signed where modules are.
    assert health_fault(Facts(WELL | {"tainted_after": "4096"})) is None
    assert health_fault(Facts(WELL | {"tainted_after": "12288"})) is None
    assert health_fault(Facts(WELL | {"tainted_before": "512", "tainted_after": "4608"})) is None


def test_a_warning_that_something_explains_is_none():
    assert health_fault(Facts(WELL | {"tainted_after": "512"}), WARNED) is None
    found = health_fault(Facts(WELL | {"tainted_after": "516"}), WARNED)
    assert found == Finding.of(Health.TAINTED, bits=(2,), after=516)


def no_counts(counter, before, after):
    return Finding.of(Health.NO_COUNTS, counter=counter, before=before, after=after)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"throttled_after": "5"}, Finding.of(Health.THROTTLED, times=2)),
        ({"throttled_after": "1"}, Finding.of(Health.THROTTLED, times=-2)),
        ({"machine_checks_after": "1"}, Finding.of(Health.MACHINE_CHECKS, times=1)),
        ({"smi_after": "62"}, Finding.of(Health.SMI, times=50)),
        ({"smi_after": ""}, no_counts("smi", "12", "")),
        ({"tainted_before": ""}, no_counts("tainted", "", "0")),
        ({"machine_checks_after": "x"}, no_counts("machine_checks", "0", "x")),
        ({"throttled_after": ""}, no_counts("throttled", "3", "")),
        ({"tainted_after": "512"}, Finding.of(Health.TAINTED, bits=(9,), after=512)),
        ({"tainted_after": "4612"}, Finding.of(Health.TAINTED, bits=(2, 9), after=4612)),
        ({"tainted_after": "?"}, no_counts("tainted", "0", "?")),
        ({"clocksource_after": "hpet"}, Finding.of(Health.CLOCK_CHANGED, clock="hpet")),
    ],
)
def test_a_sick_machine_is_told(changes, found):
    assert health_fault(Facts(WELL | changes)) == found
