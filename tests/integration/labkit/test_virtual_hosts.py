# SPDX-License-Identifier: GPL-2.0-or-later
"""Virtual bare-metal hosts: a real ipmitool, OpenIPMI's BMC, QEMU's firmware."""

import dataclasses
import json
import os
import pty
import select
import shutil
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from helpers import program
from rtbisect.errors import BusyError, ConfigError
from rtbisect.lab.bmc import Bmc, DeadBmcError
from rtbisect_labkit import daemons
from rtbisect_labkit.virtual_hosts import PROGRAMS, HostSpec, VirtualHosts

ROOT = Path(__file__).parents[3]
FIRMWARE = b"SeaBIOS"

pytestmark = pytest.mark.skipif(
    any(shutil.which(program) is None for program in PROGRAMS), reason="needs the lab's packages"
)


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    made = VirtualHosts(tmp_path_factory.mktemp("state") / "lab/hosts", ROOT / "lava-jobs")
    yield made
    for name in made.names():
        made.remove(name)


@pytest.fixture
def vm(hosts):
    """A host that is off."""
    host = hosts.up(HostSpec(name="vm1", cores=2, memory_mib=256))
    if host.bmc.power():
        host.bmc.switch("off")
    yield host
    hosts.down("vm1")


def wait_for(true, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def changed(host, **settings):
    return Bmc(dataclasses.replace(host.bmc.settings, **settings))


def said(host):
    """All that the machine wrote on its console."""
    path = host.folder / "run/console.log"
    return path.read_bytes() if path.exists() else b""


def test_power_and_boot_device(vm):
    bmc = vm.bmc
    assert bmc.power() is False
    bmc.boot_from("pxe")
    bmc.switch("on")
    assert bmc.power() is True
    pid = daemons.pid_of(vm.folder, "qemu", comm="qemu-system-x86")
    assert b"-boot\0order=nc,once=n\0" in Path(f"/proc/{pid}/cmdline").read_bytes()
    # A boot device is for one boot.
    bmc.switch("reset")
    wait_for(lambda: daemons.pid_of(vm.folder, "qemu", comm="qemu-system-x86") not in (0, pid))
    pid = daemons.pid_of(vm.folder, "qemu", comm="qemu-system-x86")
    assert b"-boot\0order=nc\0" in Path(f"/proc/{pid}/cmdline").read_bytes()
    bmc.switch("off")
    assert bmc.power() is False
    assert daemons.pid_of(vm.folder, "qemu") == 0


def test_the_password_is_on_no_command_line(vm):
    secret = vm.bmc.settings.password.read_text("ascii").strip()
    assert secret
    vm.bmc.switch("on")
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert secret.encode() not in path.read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
    for name in ("lan.conf", "password"):
        assert (vm.folder / name).stat().st_mode & 0o077 == 0


def test_sensor_and_events_follow_the_temperature(vm):
    (vm.folder / "run/temperature").write_text("41\n")
    wait_for(lambda: [s.value for s in vm.bmc.sensors() if s.name == "CPUTemp"] == [41.0])
    (vm.folder / "run/temperature").write_text("95\n")
    wait_for(lambda: any("Upper Critical" in event.text for event in vm.bmc.events()))
    (hot,) = (sensor for sensor in vm.bmc.sensors() if sensor.name == "CPUTemp")
    assert (hot.value, hot.unit, hot.status) == (95.0, "degrees C", "cr")
    (vm.folder / "run/temperature").write_text("45\n")


def test_a_dead_bmc_and_a_wrong_password_are_told_apart(hosts, vm, tmp_path):
    wrong = tmp_path / "password"
    wrong.write_text("not-the-one")
    wrong.chmod(0o600)
    with pytest.raises(ConfigError, match="refuses user admin or the password"):
        changed(vm, password=wrong).power()
    with pytest.raises(ConfigError, match="refuses user nobody"):
        changed(vm, user="nobody").power()
    with pytest.raises(ConfigError, match="cipher suite 17"):
        changed(vm, cipher=17).power()
    pid = daemons.pid_of(vm.folder, "bmc")
    os.kill(pid, signal.SIGSTOP)
    try:
        # Beside each other: both wait for answers that do not come.
        with ThreadPoolExecutor() as pool:
            asked = [pool.submit(bmc.power) for bmc in (changed(vm, port=9), vm.bmc)]
    finally:
        os.kill(pid, signal.SIGCONT)
    for each in asked:
        with pytest.raises(DeadBmcError, match="does not answer"):
            each.result()
    assert vm.bmc.power() is False


def test_a_bmc_that_dies_comes_back_and_the_machine_runs_on(hosts, vm):
    vm.bmc.switch("on")
    pid = daemons.pid_of(vm.folder, "qemu", comm="qemu-system-x86")
    wire = daemons.pid_of(vm.folder, "wire")
    os.kill(daemons.pid_of(vm.folder, "bmc"), signal.SIGKILL)
    wait_for(lambda: not vm.up)
    # The number that it left in the lock of its console may be that of anybody.
    lock = Path(f"/var/lock/LCK..{vm.sol}")
    lock.write_text(f"{os.getpid():10}\n")
    assert hosts.up(vm.spec).bmc.power() is True
    assert daemons.pid_of(vm.folder, "qemu", comm="qemu-system-x86") == pid
    # The machine may open its end of the wire later than it is on.
    assert daemons.pid_of(vm.folder, "wire") == wire
    assert int(lock.read_text("ascii").split()[0]) == daemons.pid_of(vm.folder, "bmc")


def test_another_host_is_never_switched(vm):
    stranger = changed(vm, guid="0" * 31 + "1")
    with pytest.raises(ConfigError, match="nothing was switched"):
        stranger.switch("on")
    assert vm.bmc.power() is False


def test_a_host_that_never_powers_off_is_seen(vm):
    vm.bmc.switch("on")
    (vm.folder / "run/stuck").touch()
    vm.bmc.switch("off")
    assert vm.bmc.power() is True
    (vm.folder / "run/stuck").unlink()
    vm.bmc.switch("off")
    assert vm.bmc.power() is False


def test_who_may_only_look_cannot_switch(vm):
    reader = changed(vm, user="reader", privilege="USER")
    assert reader.power() is False
    assert reader.sensors()
    with pytest.raises(Exception, match="BMC"):
        reader.switch("on")
    assert vm.bmc.power() is False


def test_hosts_stand_side_by_side(hosts, vm):
    other = hosts.up(dataclasses.replace(vm.spec, name="vm2"))
    assert other.address != vm.address
    assert other.guid != vm.guid
    other.bmc.switch("on")
    assert (vm.bmc.power(), other.bmc.power()) == (False, True)
    assert hosts.names() == ("vm1", "vm2")
    with pytest.raises(BusyError):
        hosts.up(vm.spec)
    hosts.remove("vm2")
    assert hosts.names() == ("vm1",)
    with pytest.raises(ConfigError, match="there are: vm1"):
        hosts.get("vm2")


def test_states_stand_side_by_side(tmp_path):
    """The places differ in the order of their letters alone, which was one address once."""
    states = [VirtualHosts(tmp_path / name, ROOT / "lava-jobs") for name in ("ab", "ba")]
    try:
        made = [state.up(HostSpec(name="vm1", cores=2, memory_mib=256)) for state in states]
        assert made[0].address != made[1].address
        assert [host.bmc.power() for host in made] == [False, False]
    finally:
        for state in states:
            for name in state.names():
                state.remove(name)


class Console:
    """lava-jobs/host/sol_console.py in a terminal."""

    def __init__(self, host):
        settings = host.bmc.settings
        words = ["-H", settings.address, "-p", str(settings.port), "-U", settings.user]
        words += ["-f", str(settings.password), "-C", "3"]
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execv(
                sys.executable,
                [sys.executable, str(ROOT / "lava-jobs/host/sol_console.py"), *words],
            )
        self.seen = b""

    def until(self, wanted, seconds=30.0):
        deadline = time.monotonic() + seconds
        while wanted not in self.seen:
            assert time.monotonic() < deadline, self.seen[-500:]
            if select.select([self.terminal], [], [], 0.2)[0]:
                self.seen += os.read(self.terminal, 65536)
        place = self.seen.index(wanted) + len(wanted)
        self.seen = self.seen[place:]

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def test_the_console_survives_a_power_cycle_and_a_session_that_was_left(vm):
    first = Console(vm)
    try:
        time.sleep(2.0)
        vm.bmc.switch("on")
        first.until(FIRMWARE)
        vm.bmc.switch("cycle")
        first.until(FIRMWARE)
    finally:
        # Killed: its session stays open on the BMC.
        first.close()
    second = Console(vm)
    try:
        time.sleep(2.0)
        vm.bmc.switch("reset")
        second.until(FIRMWARE)
    finally:
        second.close()
    assert said(vm).count(FIRMWARE) >= 3


def test_a_bmc_outlives_a_machine_that_hangs_up(vm):
    """ipmi_sim writes to the machine's socket when it switches it, and leaves SIGPIPE as it is."""
    status = Path(f"/proc/{daemons.pid_of(vm.folder, 'bmc')}/status").read_text("ascii")
    ignored = int(status.partition("SigIgn:")[2].split()[0], 16)
    assert ignored & 1 << (signal.SIGPIPE - 1)


def test_each_of_two_hosts_has_its_console(hosts, vm):
    """ipmi_sim locks a serial line under the last part of its name, for the whole machine."""
    other = hosts.up(dataclasses.replace(vm.spec, name="vm2"))
    consoles = [Console(vm), Console(other)]
    try:
        time.sleep(2.0)
        for host, console in zip((vm, other), consoles, strict=True):
            host.bmc.switch("on")
            console.until(FIRMWARE)
    finally:
        for console in consoles:
            console.close()
        hosts.remove("vm2")


@pytest.fixture
def cli(vm, tmp_path):
    """The program with a site that has the host, driven by no server."""
    site = yaml.safe_load((ROOT / "site.example.yaml").read_text())
    settings = vm.bmc.settings
    shutil.copy(settings.password, tmp_path / "bmc.password")
    site["rtbisect"]["hosts"] = {
        "rt01": {
            "bmc": settings.address,
            "port": settings.port,
            "user": settings.user,
            "password": "bmc.password",
            "cipher": 3,
            "guid": vm.guid,
        }
    }
    (tmp_path / "site.yaml").write_text(yaml.safe_dump(site))
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    env["RTBISECT_STATE"] = str(tmp_path / "state")

    def run(*words):
        words = (*words, "--site", tmp_path / "site.yaml", "--json")
        done = program.run(words, cwd=tmp_path, env=env)
        return done.returncode, json.loads(done.stdout)

    return run


def test_a_host_by_the_command_line(cli, vm):
    assert cli("host", "power", "rt01") == (0, {"host": "rt01", "asked": "status", "on": False})
    assert cli("host", "power", "rt01", "on")[1]["on"] is True
    assert vm.bmc.power() is True
    code, found = cli("host", "health", "rt01")
    assert (code, found["well"]) == (0, True)
    assert {each["name"] for each in found["sensors"]} >= {"CPUTemp"}
    assert cli("host", "quarantine", "rt01", "--reason", "fan 2")[1]["quarantined"] is True
    code, found = cli("host", "list")
    (row,) = found["hosts"]
    assert (code, row["power"], row["quarantined"], row["faults"]) == (0, "on", "fan 2", [])
    assert cli("host", "quarantine", "rt01", "--release")[1]["quarantined"] is False
    code, found = cli("host", "power", "rt02")
    assert (code, found["exit_code"]) == (2, 2)
    assert "rtbisect.hosts has: rt01" in found["hint"]


def test_a_host_whose_bmc_is_dead_is_listed_with_its_fault(cli, hosts, vm):
    hosts.down("vm1")
    code, found = cli("host", "list")
    (row,) = found["hosts"]
    assert (code, row["power"]) == (3, "unknown")
    assert row["faults"] == [f"BMC {vm.address} port 16623 does not answer"]
