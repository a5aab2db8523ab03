# SPDX-License-Identifier: GPL-2.0-or-later
"""The first day of a host, told from boots."""

from dataclasses import replace

import pytest

from helpers.campaigns import RES
from helpers.findings import words
from rtbisect.acceptance import criteria
from rtbisect.judge import boots as judged
from rtbisect.judge.gates import aa
from rtbisect.model.campaign import MetricKey, Role, Scale
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Boots
from rtbisect.model.kinds.judge import Gates
from rtbisect.model.lab import DeviceType, Measurement, Run, RunStatus

KIND = DeviceType(
    name="smt-server",
    template="smt-server.jinja2",
    sockets=1,
    cores=4,
    threads=2,
    memory_mib=1024,
    emulated=False,
)
KEY = MetricKey("ipi", "res_per_s", "pf-off")
RATE = replace(RES, key=KEY, floor=1.0)
FACTS = {
    "smt_active": "1", "clocksource": "tsc", "isolated": "2-7", "nohz_full": "2-7",
    "isolated_asked": "2-7", "governor": "performance", "cpuidle_driver": "intel_idle",
    "max_cstate": "1", "throttled_before": "3", "throttled_after": "3",
    "machine_checks_before": "0", "machine_checks_after": "0", "cpu_model": "A CPU",
    "microcode": "0x1",
}  # fmt: skip
STEADY = (10.0, 10.4, 9.8, 10.1, 10.2, 9.9)


def boots(values=STEADY, seconds=60.0, last=(), **facts):
    """Boots that tell the same, the last one what `last` has."""
    told = FACTS | facts
    return [
        Run(
            run_id=f"r{n}", revision="a" * 40, status=RunStatus.COMPLETE, seconds=seconds,
            facts=tuple((told | (dict(last) if n + 1 == len(values) else {})).items()),
            measurements=(Measurement(suite="ipi", name="res_per_s", window="pf-off", value=value,
            unit="1/s"),),
        )
        for n, value in enumerate(values)
    ]  # fmt: skip


def told(runs, *thresholds):
    return {claim.name: claim for claim in criteria.claims(runs, KIND, thresholds or (RATE,))}


def test_a_good_host_is_accepted():
    found = told(boots())
    assert {name: claim.holds for name, claim in found.items()} == {
        "boots": True,
        "boot time": True,
        "SMT": True,
        "clock source": True,
        "isolation": True,
        "frequency": True,
        "idle states": None,
        "throttling": True,
        "machine checks": True,
        "SMI": None,
        "one machine": True,
        f"spread of {KEY}": True,
    }
    assert found[f"spread of {KEY}"].said.endswith("a regression is one by a ratio of 1.5")
    assert found["idle states"].said == "cpuidle_driver intel_idle, max_cstate 1"


@pytest.mark.parametrize(
    ("claim", "change", "said"),
    [
        ("SMT", {"smt_active": "0"}, "smt_active is 0, wanted 1"),
        ("clock source", {"last": {"clocksource": "hpet"}}, "clocksource is hpet and tsc"),
        ("isolation", {"nohz_full": ""}, "isolated and nohz_full are unknown and 2-7"),
        ("frequency", {"governor": "powersave"}, "governor powersave, wanted performance"),
        ("throttling", {"last": {"throttled_after": "5"}}, "2 in 6 boots"),
        ("machine checks", {"machine_checks_after": "1"}, "6 in 6 boots"),
        ("SMI", {"smi_before": "10", "smi_after": "12"}, "12 in 6 boots"),
        ("one machine", {"last": {"microcode": "0x2"}}, "microcode is 0x1 and 0x2"),
        (f"spread of {KEY}", {"values": (10, 30, 4, 22, 9, 17)}, "a ratio of"),
    ],
)
def test_what_is_wrong_is_told(claim, change, said):
    found = told(boots(**change))
    assert found[claim].holds is False
    assert said in found[claim].said
    assert all(each.holds is not False for name, each in found.items() if name != claim)


def test_a_host_that_drifts_is_told():
    runs = boots((10.0, 10.4, 9.8, 10.1, 10.2, 9.9, 25.0, 26.0, 24.8, 25.1, 25.2, 24.9))
    found = told(runs)[f"spread of {KEY}"]
    drift = aa.drift(RATE, judged.Boots(tuple(runs)).sample(RATE.key))
    assert (drift.kind, drift.data["better"]) == (Gates.DRIFT, False)
    assert (found.holds, found.said) == (False, words(drift))


def test_a_figure_that_decides_nothing_refuses_no_host():
    shown = replace(RATE, role=Role.SHOWN)
    for values in ((10, 30, 4, 22, 9, 17), (10.0,) * 6 + (25.0,) * 6):
        assert told(boots(values))[f"spread of {KEY}"].holds is False
        assert told(boots(values), shown)[f"spread of {KEY}"].holds is None


def test_a_share_has_no_unit():
    share = replace(RATE, unit="1", scale=Scale.LINEAR, min_effect=0.1)
    assert told(boots(), share)[f"spread of {KEY}"].said.endswith("a regression is one by 0.1")


def test_boots_that_fail_are_told():
    bad = Run(
        run_id="r9",
        revision="a" * 40,
        status=RunStatus.INVALID,
        reason=Finding.of(Boots.CASE_MISSING, case="pf-on"),
    )
    found = told([*boots(), bad])
    assert (found["boots"].holds, found["boots"].said) == (
        False,
        f"6 of 7 boots measured; invalid: {words(bad.reason)}",
    )
    assert list(told([bad])) == ["boots"]
    assert told([])["boots"].holds is False


def test_few_boots_tell_no_spread():
    assert told(boots(STEADY[:5]))[f"spread of {KEY}"].holds is None


def test_one_slow_boot_is_told():
    runs = boots()
    runs[2] = Run(
        run_id="r2",
        revision="a" * 40,
        status=RunStatus.COMPLETE,
        seconds=100.0,
        facts=runs[0].facts,
    )
    assert told(runs)["boot time"].holds is False
