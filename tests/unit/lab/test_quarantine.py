# SPDX-License-Identifier: GPL-2.0-or-later
"""The list of devices whose boots are no evidence, and who comes to stand in it."""

import dataclasses
from datetime import UTC, datetime

import pytest

from helpers.findings import words
from helpers.lab_logs import event, failed_job
from helpers.lava_bench import POWER
from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.lab import job_log
from rtbisect.lab.lava import remote
from rtbisect.lab.lava.base import Patience
from rtbisect.lab.lava.quarantine import Quarantine, QuarantineEntry
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Labs
from rtbisect.model.lab import RunStatus
from rtbisect.model.ports import KeptNote

NOW = datetime(2026, 3, 4, 5, 6, 7, 890, tzinfo=UTC)


def test_a_device_is_put_there_and_released(tmp_path):
    here = Quarantine(tmp_path / "lab/quarantine.json")
    assert here.all() == {}
    here.put("rt01", "fan 2 is \x1b[31mslow", NOW)
    here.put("rt01", "another reason", NOW)
    here.put("rt02", "no power", NOW)
    first = QuarantineEntry("fan 2 is ?[31mslow", "2026-03-04T05:06:07+00:00")
    # Another campaign sees it, too.
    assert Quarantine(tmp_path / "lab/quarantine.json").all()["rt01"] == first
    assert here.release("rt01") is True
    assert here.release("rt01") is False
    assert list(here.all()) == ["rt02"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"a": 1}',
        '{"a": {"reason": "x"}}',
        *(
            f'{{"a": {{"reason": {reason}, "since": "x"}}}}'
            for reason in ("1", "{}", '{"kind": "a.b"}', "null", "[" * 5000 + "]" * 5000)
        ),
    ],
)
def test_a_list_that_is_none_is_refused(tmp_path, text):
    place = tmp_path / "quarantine.json"
    place.write_text(text)
    with pytest.raises(ConfigError, match="cannot be read"):
        Quarantine(place).all()
    assert place.read_text() == text


@pytest.fixture
def listed(bench):
    found = Quarantine(bench.root / "quarantine.json")
    bench.settings = dataclasses.replace(bench.settings, quarantine=found)
    return found


def test_a_boot_on_a_quarantined_device_is_no_evidence(bench, listed):
    bench.server.devices.append(bench.server.device("host-2"))
    listed.put("host-1", "fan 2 is slow", datetime.now(UTC))
    bench.server.logs = [bench.good, bench.good]
    with pytest.raises(InfrastructureError, match="was given host-1, which is quarantined: fan 2"):
        bench.run()
    # Both tries landed there; neither goes on, and none was asked for its log.
    assert len(bench.server.cancelled) == 2
    listed.release("host-1")
    bench.server.logs = [bench.good]
    assert bench.run().complete


def test_a_boot_that_ended_before_its_device_was_quarantined_is_no_evidence(
    bench, listed, monkeypatch
):
    bench.server.logs = [bench.good, bench.good]
    lab = bench.lab()
    look, jobs = lab.rest.job, []

    def too_late(job):
        while not (state := look(job)).finished:
            pass
        # The device dies while the session is away, and a person says so.
        listed.put("host-1", "it died", datetime.now(UTC))
        jobs.append(job)
        return state

    monkeypatch.setattr(lab.rest, "job", too_late)
    with pytest.raises(InfrastructureError, match="it died"):
        lab.run(bench.request(), KeptNote())
    # It was asked for again, and there was nothing left to end.
    assert len(set(jobs)) == 2
    assert bench.server.cancelled == []


def test_only_quarantined_devices_are_no_device(bench, listed):
    listed.put("host-1", "fan 2 is slow", datetime.now(UTC))
    bench.server.devices[0]["health"] = "Maintenance"
    bench.server.devices.append(bench.server.device("host-2", health="Bad"))
    assert [each.why_not for each in bench.lab()._devices("qemu-smt")] == [
        Finding.of(Labs.NOT_GOOD, device="host-1", health="maintenance"),
        Finding.of(Labs.NOT_GOOD, device="host-2", health="bad"),
    ]
    bench.server.devices[0]["health"] = "Good"
    (first, _) = bench.lab()._devices("qemu-smt")
    assert first.why_not == Finding.of(Labs.QUARANTINED, device="host-1", why="fan 2 is slow")


def test_a_device_that_fails_again_and_again_is_quarantined(bench, listed):
    lab = bench.lab()
    bench.server.logs = [POWER, bench.good, POWER, POWER, POWER]
    # A boot that ends well in between takes the fault back.
    assert lab.run(bench.request(), KeptNote()).complete
    with pytest.raises(InfrastructureError):
        lab.run(bench.request(), KeptNote())
    assert listed.all() == {}
    with pytest.raises(InfrastructureError):
        lab.run(bench.request(), KeptNote())
    entry = listed.all()["host-1"]
    assert (entry.reason.kind, entry.reason.data["faults"]) == (Labs.FAULTS, 3)
    assert "pdu-reboot failed" in entry.reason.data["error"]
    assert any(f"host-1 is quarantined: {entry.told}" in line for line in bench.told)


@pytest.fixture
def overdue(bench, monkeypatch):
    """Jobs are given no time, and the first three of them do not end by themselves."""
    monkeypatch.setattr(remote, "_OVERTIME_S", -1e9)
    bench.server.looks = 3
    return bench


CANCELLED = failed_job(["0_rtbisect"], "Canceled", "The job was canceled")


@pytest.mark.parametrize("log", ["", CANCELLED])
def test_a_job_that_we_end_for_its_time_is_a_fault_of_its_device(overdue, listed, log):
    overdue.settings = dataclasses.replace(
        overdue.settings, patience=Patience(retries=2, pause_s=0.0)
    )
    overdue.server.logs = [log] * 3
    with pytest.raises(InfrastructureError, match="did not end within its timeouts") as caught:
        overdue.run()
    assert caught.value.retryable
    assert overdue.server.cancelled == [100, 101, 102]
    assert listed.all()["host-1"].reason.kind == Labs.FAULTS


def test_a_boot_after_a_job_that_we_ended_for_its_time_counts(overdue):
    overdue.server.logs = [CANCELLED, overdue.good]
    lab = overdue.lab()
    end = lab._end_overdue

    def once(job, *, again):
        overdue.server.looks = 1
        end(job, again=again)

    lab._end_overdue = once
    assert lab.run(overdue.request(), KeptNote()).complete
    assert overdue.server.cancelled == [100]


def test_a_kernel_that_floods_until_we_end_its_job_is_to_blame(overdue, listed, monkeypatch):
    for name in ("_HEAD", "_TAIL"):
        monkeypatch.setattr(job_log, name, 2000)
    banner, *flood = "[    0.0] Linux version 6.12.0", *["[    1.0] the same line again"] * 200
    console = [event("target", line) for line in (banner, *flood)]
    overdue.server.logs = ["\n".join((*console, CANCELLED))]
    assert overdue.run().status is RunStatus.BOOT_FAILED
    assert listed.all() == {}


def test_a_device_whose_bmc_tells_of_a_fault_is_quarantined_before_a_campaign(bench, listed):
    bench.server.devices.append(bench.server.device("host-2"))
    faults = {"host-1": Finding.of(Labs.OUT_OF_LIMITS, sensors=("outlet",))}
    bench.settings = dataclasses.replace(bench.settings, examine=faults.get)
    lab = bench.lab()
    lab.preflight(bench.request())
    assert list(listed.all()) == ["host-1"]
    reason = Finding.of(Labs.FOUND_BEFORE, why=faults["host-1"])
    assert listed.all()["host-1"].reason == reason
    assert listed.all()["host-1"].told == words(reason)
    (first, _) = bench.lab()._devices("qemu-smt")
    assert first.why_not == Finding.of(Labs.QUARANTINED, device="host-1", why=reason)
    assert any("host-1 is quarantined" in line for line in bench.told)
    # Who is out of service is not asked.
    faults["host-2"] = Finding.of(Labs.OUT_OF_LIMITS, sensors=("inlet",))
    bench.server.devices[1]["health"] = "Maintenance"
    lab.preflight(bench.request())
    assert list(listed.all()) == ["host-1"]


def test_a_fault_is_told_with_what_the_bmc_says(bench):
    def refused(_name):
        raise ConfigError("the BMC refuses the password", "correct it")

    bench.server.logs = [POWER] * 2
    bench.server.ends = ["Incomplete"] * 2
    bench.settings = dataclasses.replace(bench.settings, examine=refused)
    with pytest.raises(InfrastructureError, match=r"pdu-reboot failed.*refuses the password"):
        bench.run()
