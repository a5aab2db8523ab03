# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect host` and `rtbisect lab`: hosts of a site by their BMCs, and its lab, tried before it
is used.
"""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rtbisect.acceptance import inspection
from rtbisect.campaign import labs
from rtbisect.cli.host_layouts import layouts
from rtbisect.cli.options import WholeNumber, answers, site_option, site_path
from rtbisect.cli.output import Output, PlainProgress
from rtbisect.errors import ConfigError, Exit, RtbisectError
from rtbisect.lab import bmc, inventory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbisect.config.site_file import Site
    from rtbisect.lab.inventory import Host
    from rtbisect.lab.lava.claims import LabClaim
    from rtbisect.lab.lava.rest import LavaRest


@click.group(no_args_is_help=False, epilog="Example: rtbisect host list --site site.yaml")
def host() -> None:
    """Show hosts, and switch the power of those that no LAVA server is using."""


@host.command("list", epilog="Example: rtbisect host list --json")
@site_option
@answers
def list_hosts(output: Output, site: Path | None) -> int:
    """List all hosts: power, state on the LAVA server, and whether we quarantined them."""
    loaded = output.site(site)
    rest, listed = labs.server_at(loaded), labs.quarantine(output.state).all()
    rows = []
    for machine in inventory.all_of(loaded):
        entry = listed.get(machine.listed_as)
        row = {"host": machine.name, "device": machine.device, **_state_row(machine, rest)}
        rows.append(row | {"quarantined": entry.told if entry else ""})
    lines = [
        f"{row['host']}: power {row['power']}"
        + (f", LAVA {row['health']} {row['state']}" if row["device"] else "")
        + (f", quarantined: {row['quarantined']}" if row["quarantined"] else "")
        + "".join(f"; {fault}" for fault in row["faults"])
        for row in rows
    ]
    output.answer({"hosts": rows}, "\n".join(lines) or "no host")
    return Exit.LAB if any(row["faults"] for row in rows) else Exit.ANSWERED


@host.command(epilog="Example: rtbisect host power rt01 cycle")
@click.argument("name")
@click.argument(
    "how",
    type=click.Choice(["status", bmc.ON, bmc.OFF, bmc.CYCLE, bmc.RESET, bmc.SOFT]),
    default="status",
)
@site_option
@answers
def power(output: Output, name: str, how: str, site: Path | None) -> int:
    """Show or switch the power of the host NAME."""
    loaded = output.site(site)
    machine = inventory.named(loaded, name)
    if how != "status":
        _check_may_switch(output, loaded, machine)
        machine.bmc.switch(how)
    on = machine.bmc.power()
    text = f"{name}: {f'{how}; ' if how != 'status' else ''}power is {'on' if on else 'off'}"
    output.answer({"host": name, "asked": how, "on": on}, text)
    return 0


@host.command(epilog="Example: rtbisect host console rt01")
@click.argument("name")
@site_option
@click.option("--take", is_flag=True, help="End the session of somebody else.")
@click.pass_obj
def console(output: Output, name: str, site: Path | None, take: bool) -> int:
    """Open the serial console of the host NAME over IPMI; ~. at the start of a line ends it."""
    loaded = output.site(site)
    machine = inventory.named(loaded, name)
    _check_may_switch(output, loaded, machine)
    if not sys.stdin.isatty():
        raise ConfigError("a console needs a terminal", "call it from a terminal")
    if take:
        machine.bmc.end_console()
    argv = machine.bmc.console_command()
    try:
        os.execvp(argv[0], argv)  # noqa: S606  (argv list; the terminal becomes ipmitool's)
    except OSError as error:
        raise ConfigError(
            f"{argv[0]} cannot be run: {error.strerror}", "install ipmitool"
        ) from error


@host.command(epilog="Example: rtbisect host health rt01 --json")
@click.argument("name")
@site_option
@answers
def health(output: Output, name: str, site: Path | None) -> int:
    """Show sensors and event log of the host NAME. Exit code 3: a sensor is out of its limits."""
    controller = inventory.named(output.site(site), name).bmc
    sensors, events = controller.sensors(), controller.events()
    bad = any(each.out_of_limits for each in sensors)
    data = {
        "host": name,
        "sensors": list(map(asdict, sensors)),
        "events": list(map(asdict, events)),
        "well": not bad,
    }
    lines = [f"{s.name}: {s.value:g} {s.unit}, {s.status}" for s in sensors if s.value is not None]
    lines += [f"event {each.number}: {each.text}" for each in events]
    output.answer(data, "\n".join(lines) or f"{name}: no sensor, no event")
    return Exit.LAB if bad else Exit.ANSWERED


@host.command(epilog="Example: rtbisect host accept rt01 --boots 12")
@click.argument("name")
@site_option
@click.option("--tree", help="Tree or build_config whose kernel is booted (default: the first).")
@click.option("--boots", type=WholeNumber(2, 100), default=10, show_default=True)
@answers
def accept(output: Output, name: str, site: Path | None, tree: str | None, boots: int) -> int:
    """Test a new host NAME: boot one kernel several times, and print for each thing that a
    measurement needs whether the host has it.
    """
    progress = PlainProgress()
    first_day = inspection.FirstDay(name, tree, boots)
    claims = inspection.host_claims(output.state, site_path(site), first_day, progress)
    return _tell_claims(output, claims, "accepted")


host.add_command(layouts)


@host.command(epilog='Example: rtbisect host quarantine rt01 --reason "fan 2 is slow"')
@click.argument("name")
@click.option("--reason", help="Why its boots must not count.")
@click.option("--release", is_flag=True, help="Take it off the list.")
@site_option
@answers
def quarantine(
    output: Output, name: str, reason: str | None, release: bool, site: Path | None
) -> int:
    """Quarantine the host NAME: its boots do not count until it is released."""
    if bool(reason) == release:
        raise ConfigError("give either --reason or --release", "see `--help`")
    device = inventory.named(output.site(site), name).listed_as
    listed = labs.quarantine(output.state)
    if release:
        was_listed = listed.release(device)
        text = f"{name} is released" if was_listed else f"{name} was not on the list"
    else:
        assert reason is not None
        listed.put(device, reason, datetime.now(UTC))
        text = f"{name} is quarantined: {listed.all()[device].told}"
    on = device in listed.all()
    output.answer({"host": name, "device": device, "quarantined": on}, text)
    return 0


def _check_may_switch(output: Output, site: Site, host: Host) -> None:
    inventory.check_may_switch(host, labs.server_at(site), labs.quarantine(output.state).all())


def _state_row(host: Host, rest: LavaRest | None) -> dict[str, Any]:
    """What BMC and server say of a host; what they cannot say stands in `faults`."""
    row: dict[str, Any] = {"power": "unknown", "health": "", "state": "", "faults": []}
    try:
        row["power"] = "on" if host.bmc.power() else "off"
    except RtbisectError as error:
        row["faults"].append(error.message)
    try:
        device = inventory.device_state(host, rest)
    except RtbisectError as error:
        row["faults"].append(error.message)
    else:
        if device is not None:
            row |= {"health": device.health, "state": device.state}
    return row


@click.group(no_args_is_help=False, epilog="Example: rtbisect lab check")
def lab() -> None:
    """Try a lab, and run one on this machine."""


@lab.command(epilog="Example: rtbisect lab check --site site.yaml --kernel bzImage")
@click.argument("url", required=False)
@click.option("--token", type=click.Path(path_type=Path),
              help="File with your token, for URL.")  # fmt: skip
@site_option
@click.option("--tree", help="Tree or build_config whose plan is tried (default: the first).")
@click.option("--kernel", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="A bzImage with PREEMPT_RT to boot there once.")  # fmt: skip
@answers
def check(
    output: Output,
    url: str | None,
    token: Path | None,
    site: Path | None,
    tree: str | None,
    kernel: Path | None,
) -> int:
    """Test whether the lab of a site, ours or somebody else's, has what a campaign needs. With the
    URL of a LAVA server: only what it shows a user who has no site file yet.
    """
    progress = PlainProgress()
    if url is not None:
        return _tell_claims(output, inspection.server_claims(url, token), "usable")
    claims = inspection.lab_claims(output.state, site_path(site), tree, kernel, progress)
    return _tell_claims(output, claims, "usable")


def _tell_claims(output: Output, claims: Iterable[LabClaim], verdict: str) -> int:
    """Tell all claims, and under the name `verdict` whether none fails; the exit code."""
    progress = PlainProgress()
    rows, lines = [], []
    for claim in claims:
        rows.append({"claim": claim.name, "holds": claim.holds, "said": claim.said})
        word = {True: "pass", False: "FAIL", None: "-"}[claim.holds]
        lines.append(f"{word:<5} {claim.name:<12} {claim.said}")
        progress.say(lines[-1])
    good = all(row["holds"] is not False for row in rows)
    output.answer({"claims": rows, verdict: good}, "\n".join(lines))
    return Exit.ANSWERED if good else Exit.LAB
