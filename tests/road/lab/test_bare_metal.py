# SPDX-License-Identifier: GPL-2.0-or-later
"""A host behind a BMC: real ipmitool, SOL, iPXE and TFTP, driven by a real LAVA server."""

import os
import pty
import signal
import threading
import time
from dataclasses import replace

import pytest

from helpers.findings import spoken
from rtbisect.config.paths import data
from rtbisect.errors import InfrastructureError
from rtbisect.lab.job_definition import Timeouts
from rtbisect.model.kinds.boot import Boots
from rtbisect.model.lab import RunStatus
from rtbisect.model.ports import NoNote
from rtbisect_labkit import labs
from rtbisect_labkit.virtual_hosts import HOST_TYPE, HostSpec, dictionary

#: A boot needs 25 s here; the firmware shows itself within two.
SHORT = Timeouts(boot_s=60)


class Held:
    """A SOL session of somebody else."""

    def __init__(self, host):
        argv = host.bmc.console_command()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvp(argv[0], argv)
        time.sleep(2.0)

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


@pytest.fixture
def request_on(request_of, metal):
    def make(run_id, *names, **changes):
        return request_of(run_id, *(names or ("rcu-off",)), device_type=metal, **changes)

    return make


def test_a_boot_over_the_network(served, host, request_on):
    run = served.run(request_on("metal"), NoNote())
    assert run.status is RunStatus.COMPLETE, run.reason
    facts = dict(run.facts)
    assert (run.device, facts["smt_active"], facts["isolated"]) == (host.spec.name, "1", "2-7")
    # The console came over SOL, and LAVA has switched the host off.
    assert host.bmc.power() is False


def test_a_panic_is_the_kernels_here_too(served, host, request_on, fault):
    request = request_on("metal-panic")
    line = request.profile.boot_line + " rdinit=/nowhere init=/nowhere"
    broken = request_on("metal-panic", profile=replace(request.profile, boot_line=line))
    with fault("kernel panics at boot, bare metal") as told:
        run = served.run(broken, NoNote())
        told(f"{run.status.value}: {spoken(run.reason)}")
    assert run.status is RunStatus.BOOT_FAILED
    assert run.reason.kind == Boots.PANIC


def test_a_dead_bmc_is_the_labs(once, hosts, host, request_on, fault):
    hosts.down(host.spec.name)
    dead = pytest.raises(InfrastructureError, match=r"BMC .* does not answer")
    with dead, fault("BMC dead"):
        once(timeouts=SHORT).run(request_on("dead-bmc"), NoNote())


def test_a_wrong_password_is_the_labs(once, host, request_on, fault):
    right = host.bmc.settings.password.read_text()
    host.bmc.settings.password.write_text("wrong")
    try:
        refused = pytest.raises(InfrastructureError, match=r"BMC .* refuses user")
        with refused, fault("wrong password of the BMC"):
            once(timeouts=SHORT).run(request_on("password"), NoNote())
    finally:
        host.bmc.settings.password.write_text(right)


def test_a_host_that_never_powers_off_is_the_labs(once, host, request_on, fault):
    (host.folder / "run/stuck").touch()
    host.bmc.switch("on")
    time.sleep(8)
    try:
        with pytest.raises(InfrastructureError), fault("host never powers off"):
            once(timeouts=SHORT).run(request_on("stuck"), NoNote())
    finally:
        (host.folder / "run/stuck").unlink()


def test_a_file_that_tftp_does_not_have_is_the_labs(once, hosts, host, request_on, fault, tmp_path):
    hosts.down(host.spec.name)
    hosts.up(HostSpec(name=host.spec.name, tftp=str(tmp_path)))
    try:
        with (
            pytest.raises(InfrastructureError, match="iPXE could not fetch"),
            fault("TFTP has no kernel"),
        ):
            once(timeouts=SHORT).run(request_on("tftp"), NoNote())
    finally:
        hosts.down(host.spec.name)


def test_a_wrong_mac_address_in_the_dictionary_does_no_harm(
    served, server, road, host, request_on, fault
):
    """Jobs boot by iPXE's first interface, whatever address LAVA has noted."""
    console = data("lava-jobs") / "host/sol_console.py"
    wrong = replace(host, mac="52:54:00:00:00:00")
    server.add_device(host.spec.name, HOST_TYPE, dictionary(wrong, console))
    try:
        with fault("wrong MAC address in the dictionary") as told:
            run = served.run(request_on("mac"), NoNote())
            told(f"{run.status.value} {spoken(run.reason)}")
    finally:
        labs.add_host(road, host.spec.name)
    assert run.complete, run.reason


def test_a_console_that_somebody_has_is_taken(served, host, request_on, fault):
    """SOL has one session: LAVA's ends the other one before it begins its own."""
    held = Held(host)
    try:
        with fault("SOL held by another session") as told:
            run = served.run(request_on("sol"), NoNote())
            told(f"{run.status.value} {spoken(run.reason)}")
    finally:
        held.close()
    assert run.complete, run.reason


def test_a_boot_that_lost_power_is_made_again(once, host, request_on, fault):
    def off():
        path = host.folder / "run/console.log"
        begin = path.stat().st_size if path.exists() else 0
        while b"LAVA_SIGNAL_STARTRUN" not in path.read_bytes()[begin:]:
            time.sleep(0.2)
        host.bmc.switch("off")

    threading.Thread(target=off, daemon=True).start()
    request = request_on("off", "osnoise-off", window_ms=30_000)
    with fault("host loses power in a suite") as told:
        run = once().run(request, NoNote())
        told(f"{run.status.value} {spoken(run.reason)}")
    assert run.complete, run.reason
