# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect lab host` and `lab server`: machines and servers of a lab on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rtbisect.cli.options import WholeNumber, answers
from rtbisect_labkit import labs
from rtbisect_labkit.virtual_hosts import GUEST_TYPE, HOST_TYPE, IPMI_PORT, HostSpec, VirtualHost

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.cli.output import Output
    from rtbisect_labkit.private_lava import ServerState


@click.group(no_args_is_help=False, epilog="Example: rtbisect lab host status --json")
def host() -> None:
    """Virtual hosts: QEMU with SMT, each behind a BMC that ipmi_sim simulates."""


@host.command(epilog="Example: rtbisect lab host up vm1 --cores 2 --tftp /srv/tftp")
@click.argument("name")
@click.option("--cores", type=WholeNumber(1, 64), default=4, show_default=True)
@click.option("--threads", type=WholeNumber(1, 2), default=2, show_default=True)
@click.option("--memory-mib", type=WholeNumber(256), default=1024, show_default=True)
@click.option("--tftp", type=click.Path(exists=True, file_okay=False, resolve_path=True),
              help="Folder that the machine boots from over the network.")  # fmt: skip
@click.option("--bootfile", default="", help="File in it that the firmware asks for.")
@click.option("--console", type=click.Choice(["sol", "tcp"]), default="sol", show_default=True,
              help="SOL of the BMC, or a TCP port.")  # fmt: skip
@answers
def up(
    output: Output,
    name: str,
    cores: int,
    threads: int,
    memory_mib: int,
    tftp: str | None,
    bootfile: str,
    console: str,
) -> int:
    """Create the host NAME if needed, and start its BMC; the machine itself stays off."""
    spec = HostSpec(
        name=name,
        cores=cores,
        threads=threads,
        memory_mib=memory_mib,
        tftp=tftp or "",
        bootfile=bootfile,
        sol=console == "sol",
    )
    host = labs.virtual_hosts(output.state).up(spec)
    row = _host_row(host)
    text = f"{name} is up: ipmitool -I lanplus -C 3 -H {host.address} -p {IPMI_PORT}"
    output.answer(row, f"{text} -U {row['user']} -f {row['password']}")
    return 0


@host.command(epilog="Example: rtbisect lab host down vm1")
@click.argument("name")
@click.option("--forget", is_flag=True, help="Remove its folder, too.")
@answers
def down(output: Output, name: str, forget: bool) -> int:
    """Stop machine and BMC of the host NAME."""
    hosts = labs.virtual_hosts(output.state)
    if forget:
        hosts.remove(name)
    else:
        hosts.down(name)
    output.answer({"host": name, "up": False}, f"{name} is down")
    return 0


@host.command(epilog="Example: rtbisect lab host status --json")
@answers
def status(output: Output) -> int:
    """List the virtual hosts of this state directory."""
    hosts = labs.virtual_hosts(output.state)
    rows = [_host_row(hosts.get(name)) for name in hosts.names()]
    lines = [
        f"{row['host']}: BMC {'up' if row['up'] else 'down'} at {row['address']}, machine"
        f" {'on' if row['on'] else 'off'}, {row['cores']} cores x {row['threads']} threads"
        for row in rows
    ]
    output.answer({"hosts": rows}, "\n".join(lines) or "no virtual host")
    return 0


@click.group(no_args_is_help=False, epilog="Example: rtbisect lab server status --json")
def server() -> None:
    """Run a LAVA server on this machine, on loopback only; needs root."""


@server.command("up", epilog="Example: rtbisect lab server up")
@answers
def server_up(output: Output) -> int:
    """Install the server if it is missing, and start what is not running."""
    return _answer_state(output, labs.private_server().up())


@server.command("down", epilog="Example: rtbisect lab server down")
@click.option("--forget", is_flag=True, help="Remove its data and settings, too.")
@answers
def server_down(output: Output, forget: bool) -> int:
    """Stop the server; running jobs are lost."""
    private = labs.private_server()
    if forget:
        private.forget()
    else:
        private.down()
    return _answer_state(output, private.state())


@server.command("status", epilog="Example: rtbisect lab server status --json")
@answers
def server_status(output: Output) -> int:
    """Show which parts of the server are running."""
    return _answer_state(output, labs.private_server().state())


@server.command("add", epilog="Example: rtbisect lab server add vm1")
@click.argument("name")
@click.option(
    "--guest", is_flag=True, help="Add a guest that LAVA itself starts, of the type qemu-smt."
)
@answers
def server_add(output: Output, name: str, guest: bool) -> int:
    """Add the virtual host NAME to the server, as a device of the type smt-server."""
    if guest:
        labs.add_guest(name)
    else:
        labs.add_host(output.state, name)
    kind = GUEST_TYPE if guest else HOST_TYPE
    data = {"device": name, "device_type": kind}
    output.answer(data, f"{name} is a device of type {kind}")
    return 0


def _answer_state(output: Output, state: ServerState) -> int:
    data = {
        "url": state.url,
        "up": state.up,
        "running": list(state.running),
        "token": str(state.token),
    }
    running = ", ".join(state.running) or "nothing"
    output.answer(data, f"{state.url}: {running} runs; token in {state.token}")
    return 0


def _host_row(host: VirtualHost) -> dict[str, Any]:
    running = host.up
    settings = host.bmc.settings
    password: Path = settings.password
    return {
        "host": host.spec.name,
        "up": running,
        "on": running and host.bmc.power(),
        "address": host.address,
        "port": settings.port,
        "user": settings.user,
        "password": str(password),
        "guid": host.guid,
        "mac": host.mac,
        "cores": host.spec.cores,
        "threads": host.spec.threads,
        "memory_mib": host.spec.memory_mib,
        "console": "sol" if host.spec.sol else "tcp",
    }
