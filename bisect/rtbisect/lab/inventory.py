# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts of a site with their BMCs, and who may switch them.

A host that a LAVA server drives is the server's: whoever else switches it makes its jobs fail. So
we do so only while it is in maintenance there, idle, and on our own list with a reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.lab.bmc import Bmc, BmcSettings
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Labs
from rtbisect.process.command import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbisect.config.site_file import Site
    from rtbisect.lab.lava.rest import LavaRest
    from rtbisect.lab.lava.rest_types import DeviceState


@dataclass(frozen=True, slots=True)
class Host:
    """A host of a site."""

    name: str
    bmc: Bmc
    #: Its name on the LAVA server that drives it; "" for none.
    device: str = ""
    #: A tag that no other device has on that server; "" for none.
    tag: str = ""

    @property
    def listed_as(self) -> str:
        """Its name on the quarantine list: that under which its boots are known."""
        return self.device or self.name


def all_of(site: Site) -> tuple[Host, ...]:
    """The hosts of a site, in its order."""
    return tuple(_host(site, name) for name in site.ours.hosts)


def named(site: Site, name: str) -> Host:
    """A host by its name; ConfigError when there is none."""
    if name not in site.ours.hosts:
        known = ", ".join(site.ours.hosts) or "none"
        raise ConfigError(
            f"{site.path} has no host {printable(name)!r}", f"rtbisect.hosts has: {known}"
        )
    return _host(site, name)


def device_state(host: Host, rest: LavaRest | None) -> DeviceState | None:
    """The host as its LAVA server shows it; None where no server drives it."""
    return rest.device(host.device) if rest is not None and host.device else None


def bmc_fault(bmc: Bmc) -> Finding | None:
    """What is wrong with a host as its BMC tells; ConfigError when it refuses us."""
    try:
        bmc.power()
        bad = [sensor.name for sensor in bmc.sensors() if sensor.out_of_limits]
    except InfrastructureError as error:
        return Finding.of(Labs.NO_BMC, error=error.message)
    return Finding.of(Labs.OUT_OF_LIMITS, sensors=tuple(bad)) if bad else None


def check_may_switch(host: Host, rest: LavaRest | None, listed: Mapping[str, object]) -> None:
    """ConfigError unless nothing but us drives the host now."""
    device = device_state(host, rest)
    if device is None:
        return
    reason = f"{device.name} is driven by the LAVA server: health {device.health}, {device.state}"
    if device.health != "Maintenance":
        raise ConfigError(reason, "put it into maintenance there first; nothing was done")
    if device.state != "Idle":
        raise ConfigError(reason, "wait for the end of its job; nothing was done")
    if host.listed_as not in listed:
        raise ConfigError(
            f"{device.name} is in maintenance for somebody else's reason",
            f"if it is yours: `rtbisect host quarantine {host.name} --reason ...`",
        )


def check_only_there(host: Host, kind: str, devices: Sequence[DeviceState]) -> None:
    """ConfigError unless jobs for devices of a type land on this host alone, by its tag or because
    no other one takes jobs.
    """
    if not host.device:
        raise ConfigError(f"no LAVA server drives {host.name}", "give it a `device` in the site")
    if host.device not in {device.name for device in devices}:
        known = ", ".join(device.name for device in devices) or "none"
        raise ConfigError(
            f"the server has no device {host.device} of the type {kind}", f"it has: {known}"
        )
    others = [
        device.name for device in devices if device.name != host.device and not device.why_not
    ]
    if others and not host.tag:
        raise ConfigError(
            f"jobs for {kind} may land on {', '.join(others)}, too",
            f"give {host.device} a tag of its own on the server, and as `tag` in the site file",
        )


def _host(site: Site, name: str) -> Host:
    entry = site.ours.hosts[name]
    settings = BmcSettings(
        address=entry.bmc,
        user=entry.user,
        password=site.beside(entry.password),
        port=entry.port,
        cipher=entry.cipher,
        privilege=entry.privilege,
        guid=entry.guid,
    )
    return Host(name, Bmc(settings), entry.device, entry.tag)
