# SPDX-License-Identifier: GPL-2.0-or-later
"""Virtual hosts and the private LAVA server of a state directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.config.paths import data
from rtbisect_labkit import virtual_hosts as vmetal
from rtbisect_labkit.private_lava import PrivateServer
from rtbisect_labkit.virtual_hosts import VirtualHosts

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.lab.bmc import Bmc


def bmc_of(state: Path, device: str) -> Bmc | None:
    """The BMC of a virtual host; None for any other device."""
    hosts = virtual_hosts(state)
    return hosts.get(device).bmc if device in hosts.names() else None


def virtual_hosts(state: Path) -> VirtualHosts:
    """The virtual bare-metal hosts of a state directory."""
    return VirtualHosts(state / "lab/hosts", data("lava-jobs"))


def add_host(state: Path, name: str) -> None:
    """Make a virtual host a device of the LAVA server of this machine."""
    host = virtual_hosts(state).get(name)
    console = data("lava-jobs") / "host/sol_console.py"
    private_server().add_device(name, vmetal.HOST_TYPE, vmetal.dictionary(host, console))


def add_guest(name: str) -> None:
    """Make a guest of QEMU a device of the LAVA server of this machine."""
    private_server().add_device(name, vmetal.GUEST_TYPE, vmetal.guest())


def private_server() -> PrivateServer:
    """The LAVA server of this machine."""
    return PrivateServer(data("lava-jobs") / "devices")
