# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may switch a host."""

import dataclasses
from pathlib import Path

import pytest

from rtbisect.errors import ConfigError
from rtbisect.lab import inventory
from rtbisect.lab.bmc import Bmc, BmcSettings, DeadBmcError, Sensor
from rtbisect.lab.inventory import Host
from rtbisect.lab.lava.rest_types import DeviceState
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Labs


class Server:
    """LavaRest, as far as a host is concerned."""

    def __init__(self, health, state):
        self._told = health, state

    def device(self, name):
        health, state = self._told
        return DeviceState(
            name=name,
            device_type="x86-rt",
            health=health,
            state=state,
            worker="lab1",
            offline=False,
        )


def host(device="rt01-lava"):
    return Host(
        "rt01",
        Bmc(BmcSettings(address="192.0.2.7", user="rtbisect", password=Path("password"))),
        device,
    )


def test_nobody_else_drives_a_host_without_a_server():
    inventory.check_may_switch(host(), None, {})
    inventory.check_may_switch(host(device=""), Server("Good", "Running"), {})


@pytest.mark.parametrize(
    ("health", "state", "listed", "said"),
    [
        ("Good", "Idle", {"rt01-lava": 1}, "driven by the LAVA server: health Good"),
        ("Good", "Running", {"rt01-lava": 1}, "driven by the LAVA server"),
        ("Maintenance", "Running", {"rt01-lava": 1}, "health Maintenance, Running"),
        ("Maintenance", "Idle", {}, "somebody else's reason"),
        ("Maintenance", "Idle", {"rt01": 1}, "somebody else's reason"),
    ],
)
def test_a_host_of_a_server_is_left_alone(health, state, listed, said):
    with pytest.raises(ConfigError, match=said):
        inventory.check_may_switch(host(), Server(health, state), listed)


class Sick:
    """Bmc, as far as its health is concerned."""

    def __init__(self, *sensors, error=None):
        self._sensors, self._error = sensors, error

    def power(self):
        if self._error:
            raise self._error
        return True

    def sensors(self):
        return self._sensors


def test_a_host_ails_when_its_bmc_says_so():
    fan, hot = Sensor("fan 1", 900.0, "RPM", "ok"), Sensor("inlet", 61.0, "degrees C", "cr")
    assert inventory.bmc_fault(Sick(fan, Sensor("fan 2", None, "RPM", "ns"))) is None
    assert inventory.bmc_fault(Sick(fan, hot)) == Finding.of(Labs.OUT_OF_LIMITS, sensors=("inlet",))
    dead = DeadBmcError("BMC 192.0.2.7 port 623 does not answer", "see to it")
    assert inventory.bmc_fault(Sick(error=dead)) == Finding.of(Labs.NO_BMC, error=dead.message)
    # That it refuses us is no fault of the host.
    with pytest.raises(ConfigError):
        inventory.bmc_fault(Sick(error=ConfigError("refuses", "correct it")))


def test_a_host_in_maintenance_with_our_reason_is_ours():
    inventory.check_may_switch(host(), Server("Maintenance", "Idle"), {"rt01-lava": 1})


def device(name, health="Good"):
    return DeviceState(
        name=name,
        device_type="smt-server",
        health=health,
        state="Idle",
        worker="lab1",
        offline=False,
    )


def test_jobs_that_could_land_elsewhere_are_not_sent():
    rt01, rt02 = device("rt01-lava"), device("rt02")
    with pytest.raises(ConfigError, match="may land on rt02, too"):
        inventory.check_only_there(host(), "smt-server", [rt01, rt02])
    inventory.check_only_there(dataclasses.replace(host(), tag="rt01"), "smt-server", [rt01, rt02])
    inventory.check_only_there(host(), "smt-server", [rt01, device("rt02", "Maintenance")])
    with pytest.raises(ConfigError, match="has no device rt01-lava"):
        inventory.check_only_there(host(), "smt-server", [rt02])
    with pytest.raises(ConfigError, match="no LAVA server drives rt01"):
        inventory.check_only_there(host(device=""), "smt-server", [rt01])
