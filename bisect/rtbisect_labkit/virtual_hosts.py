# SPDX-License-Identifier: GPL-2.0-or-later
"""Virtual bare-metal hosts: an SMT machine in QEMU whose BMC is OpenIPMI's ipmi_sim.

Each host has a folder, a loopback address, a password and a UUID of its own. Its BMC holds a lock
that it inherits from us, so that the lock lives as long as the BMC does.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import shutil
import socket
import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from rtbisect.errors import BusyError, ConfigError, InfrastructureError
from rtbisect.lab.bmc import Bmc, BmcSettings
from rtbisect.lab.job_definition import environment_of
from rtbisect.lab.qemu_host import accelerators
from rtbisect.process import command, locks
from rtbisect_labkit import daemons

NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")

#: Host programs of a virtual host, and the Debian packages that bring them.
PROGRAMS = {
    "ipmi_sim": "openipmi",
    "sdrcomp": "openipmi",
    "ipmitool": "ipmitool",
    "socat": "socat",
    "qemu-system-x86_64": "qemu-system-x86",
}

#: Our device types on a LAVA server: hosts behind a BMC, and guests that LAVA starts.
HOST_TYPE, GUEST_TYPE = "smt-server", "qemu-smt"

#: The BMC's users: one that may switch, one that may only read.
USER, READER = "admin", "reader"

#: Ports on the host's own address: IPMI, the wire between BMC and machine, a console without SOL.
IPMI_PORT, MACHINE_PORT, CONSOLE_PORT = 16623, 16602, 16601

#: Bytes that ipmi_sim takes as a password.
_PASSWORD_BYTES = 8

#: Folder in which ipmi_sim locks a serial line, by the number of the process.
_LOCKS = Path("/var/lock")

#: Sensor data records: the controller, the watchdog, the temperature (sdrcomp(1)).
_SDRS = "machine.sdrs"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSpec:
    """A machine to be made."""

    #: Small letters, digits and -; a letter first.
    name: str
    #: Cores of its one socket, and threads of each core, 1 or 2.
    cores: int = 4
    threads: int = 2
    memory_mib: int = 1024
    cpu_model: str = "Skylake-Server"
    #: QEMU's, in order; () is what there is here.
    accelerators: tuple[str, ...] = ()
    #: The folder that it boots from over the network, and the file there that the firmware asks
    #: for; "" for none.
    tftp: str = ""
    bootfile: str = ""
    #: The console is that of the BMC; else it is a TCP port.
    sol: bool = True


@dataclass(frozen=True, slots=True)
class VirtualHost:
    """A host that was made."""

    spec: HostSpec
    folder: Path
    #: Address of the BMC, on loopback.
    address: str
    #: 32 hexadecimal digits.
    guid: str
    mac: str

    @property
    def bmc(self) -> Bmc:
        """Its BMC. ipmi_sim answers the question for its cipher suites after ten seconds only."""
        return Bmc(
            BmcSettings(
                address=self.address,
                user=USER,
                password=self.folder / "password",
                port=IPMI_PORT,
                cipher=3,
                guid=self.guid,
            )
        )

    @property
    def sol(self) -> str:
        """The BMC's end of the serial line. ipmi_sim locks it under this name alone, in a folder
        that all BMCs of a machine share.
        """
        return f"sol-{self.guid}.tty"

    @property
    def up(self) -> bool:
        """Whether its BMC runs."""
        try:
            with locks.hold(self.folder / "lock"):
                return False
        except BusyError:
            return True


def guest() -> str:
    """A guest of our device type for QEMU, as a device of a LAVA server on this machine."""
    return _dictionary(GUEST_TYPE, {"accelerators": list(accelerators())})


def dictionary(host: VirtualHost, console: Path) -> str:
    """The host as a device of a LAVA server on this machine; `console` is our program for SOL."""
    settings = host.bmc.settings
    words: dict[str, object] = {
        "bmc": settings.address,
        "bmc_port": settings.port,
        "bmc_user": settings.user,
        "bmc_password": str(settings.password),
        "bmc_cipher": 3,
        "mac": host.mac,
        "scripts": str(console.parent),
        # Milliseconds. A serial line has room for 16 characters until the firmware reads them: on a
        # busy machine that takes a while.
        "boot_character_delay": 5,
    }
    if not host.spec.sol:
        words["console"] = f"socat -,raw,echo=0 TCP:{host.address}:{CONSOLE_PORT}"
    return _dictionary(HOST_TYPE, words)


def _dictionary(kind: str, words: Mapping[str, object]) -> str:
    """A device's dictionary over the template of its type."""
    lines = [f"{{% set {name} = {json.dumps(value)} %}}" for name, value in words.items()]
    return "\n".join([f"{{% extends '{kind}.jinja2' %}}", *lines, ""])


class VirtualHosts:
    """The virtual hosts of a state directory."""

    def __init__(self, root: Path, lava_jobs: Path) -> None:
        self.root = root
        self.templates = lava_jobs / "vmetal"

    def names(self) -> tuple[str, ...]:
        """Names of all hosts that were made."""
        return tuple(sorted(path.parent.name for path in self.root.glob("*/host.json")))

    def get(self, name: str) -> VirtualHost:
        """A host by its name; ConfigError when there is none."""
        try:
            row = json.loads((self._folder(name) / "host.json").read_text("utf-8"))
            spec = row.pop("spec")
            spec["accelerators"] = tuple(spec["accelerators"])
            return VirtualHost(HostSpec(**spec), self._folder(name), **row)
        except FileNotFoundError:
            known = ", ".join(self.names()) or "none"
            raise ConfigError(f"there is no virtual host {name!r}", f"there are: {known}") from None
        except (ValueError, TypeError, KeyError) as error:
            raise ConfigError(
                f"{self._folder(name)}/host.json cannot be read", "remove the folder of the host"
            ) from error

    def up(self, spec: HostSpec) -> VirtualHost:
        """Make a host, or start the BMC of one that is there; its machine stays off."""
        for program, package in PROGRAMS.items():
            if shutil.which(program) is None:
                raise ConfigError(f"{program} is not there", f"install the package {package}")
        folder = self._folder(spec.name)
        (folder / "run").mkdir(parents=True, exist_ok=True)
        host = self._host_of(spec, folder)
        with locks.hold(folder / "lock", what=f"the BMC of {spec.name}") as lock:
            self._write_files(host)
            self._start(host, lock)
        deadline = time.monotonic() + daemons.START_S
        while True:
            try:
                host.bmc.power()
            except InfrastructureError:
                if time.monotonic() > deadline:
                    self.down(spec.name)
                    raise
                time.sleep(0.1)
            else:
                return host

    def down(self, name: str) -> None:
        """End machine, BMC and console wire of a host; its folder stays."""
        host = self.get(name)
        (host.folder / "run/stuck").unlink(missing_ok=True)
        for daemon in ("bmc", "wire", "held"):
            daemons.end(host.folder, daemon)
        daemons.end(host.folder, "qemu", comm="qemu-system-x86")

    def remove(self, name: str) -> None:
        """End a host and forget it."""
        self.down(name)
        shutil.rmtree(self._folder(name))

    def _folder(self, name: str) -> Path:
        if not NAME.fullmatch(name):
            raise ConfigError(
                f"{command.printable(name)!r} is no name of a host",
                "take small letters, digits and -, a letter first",
            )
        return self.root / name

    def _host_of(self, spec: HostSpec, folder: Path) -> VirtualHost:
        """The host with address, UUID and password: those that it has, else new ones."""
        if (folder / "host.json").is_file():
            old = self.get(spec.name)
            host = VirtualHost(spec, folder, old.address, old.guid, old.mac)
        else:
            # A MAC address in the range that QEMU uses.
            mac = "52:54:00:" + secrets.token_bytes(3).hex(":")
            host = VirtualHost(spec, folder, self._free_address(), uuid.uuid4().hex, mac)
        if not (folder / "password").is_file():
            daemons.secret(folder / "password", secrets.token_hex(_PASSWORD_BYTES))
        row = asdict(host)
        del row["folder"]
        (folder / "host.json").write_text(json.dumps(row, indent=1) + "\n", "utf-8")
        return host

    def _free_address(self) -> str:
        """A loopback address that none of our hosts has, and no BMC that runs: 127.X.Y.Z by the
        place of the state, so that states whose hosts are off seldom share one either.
        """
        taken = {self.get(name).address for name in self.names()}
        place = hashlib.sha256(str(self.root).encode()).digest()
        free = (f"127.{64 + place[0] % 64}.{place[1]}.{last}" for last in range(1, 255))
        return next(each for each in free if each not in taken and _is_free(each))

    def _write_files(self, host: VirtualHost) -> None:
        """The files of the BMC and of the machine, as this version makes them."""
        environment = environment_of(self.templates)
        environment.trim_blocks = True
        folder = host.folder
        values: Mapping[str, object] = {
            "name": host.spec.name,
            "folder": folder,
            "address": host.address,
            "port": IPMI_PORT,
            "machine_port": MACHINE_PORT,
            "guid": host.guid,
            "user": USER,
            "reader": READER,
            "password": (folder / "password").read_text("ascii").strip(),
            "sol": host.sol if host.spec.sol else "",
        }
        daemons.secret(folder / "lan.conf", environment.get_template("lan.conf.j2").render(values))
        emulated = environment.get_template("machine.emu.j2").render(values)
        (folder / "machine.emu").write_text(emulated, "ascii")
        for script in ("chassis", "qemu"):
            shutil.copy(self.templates / script, folder / script)
        (folder / "qemu.args").write_text("\n".join(_qemu(host)) + "\n", "ascii")
        temperature = folder / "run/temperature"
        if not temperature.is_file():
            temperature.write_text("45\n", "ascii")
        # Users that ipmi_sim once wrote down outweigh those in lan.conf.
        state = folder / f"state/ipmi_sim/{host.spec.name}"
        shutil.rmtree(folder / "state", ignore_errors=True)
        state.mkdir(parents=True)
        command.run(
            ["sdrcomp", "-o", str(state / "sdr.20.main"), str(self.templates / _SDRS)],
            cwd=folder,
            timeout_s=30,
            check=True,
        )

    def _start(self, host: VirtualHost, lock: int) -> None:
        if host.spec.sol:
            self._start_wire(host)
            # A BMC that was killed leaves it, and its number may be somebody else's by now.
            (_LOCKS / f"LCK..{host.sol}").unlink(missing_ok=True)
        # It writes to a machine that may just have been killed, and does not expect a SIGPIPE.
        argv = ["sh", "-c", "trap '' PIPE; exec ipmi_sim -c lan.conf -f machine.emu -s state -n"]
        daemons.start(argv, host.folder, "bmc", pass_fds=(lock,))

    def _start_wire(self, host: VirtualHost) -> None:
        """The serial line from the machine to the BMC. One that a BMC left behind which was killed
        stays: its machine has it open, or opens it right now.
        """
        folder, wire = host.folder, ("wire", "held")
        if all(daemons.pid_of(folder, daemon) for daemon in wire):
            return
        for daemon in wire:
            daemons.end(folder, daemon)
        ends = (folder / "run" / host.sol, folder / "run/host.tty")
        daemons.start(["socat", *(f"PTY,link={end},rawer" for end in ends)], folder, "wire")
        daemons.wait_for(*ends)
        # Somebody holds both ends open: else a machine that goes off ends the wire.
        sol, machine = ends
        script = f"exec sleep infinity <>{machine} 3<>{sol}"
        daemons.start(["sh", "-c", script], folder, "held")


def _is_free(address: str) -> bool:
    """Whether no BMC listens there."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.bind((address, IPMI_PORT))
        except OSError:
            return False
    return True


def _qemu(host: VirtualHost) -> list[str]:
    """Options of the machine but its boot order."""
    spec, run = host.spec, host.folder / "run"
    # `graphics=off` is what puts firmware and iPXE on the serial line.
    words = ["-name", spec.name, "-machine", "pc,graphics=off"]
    for accelerator in spec.accelerators or accelerators():
        words += ["-accel", accelerator]
    words += ["-m", str(spec.memory_mib), "-cpu", spec.cpu_model]
    cpus = spec.cores * spec.threads
    words += ["-smp", f"{cpus},sockets=1,cores={spec.cores},threads={spec.threads}"]
    words += ["-display", "none", "-vga", "none", "-nodefaults", "-uuid", str(uuid.UUID(host.guid))]
    words += ["-chardev", f"socket,id=ipmi,host={host.address},port={MACHINE_PORT},reconnect=1"]
    words += ["-device", "ipmi-bmc-extern,id=bmc,chardev=ipmi", "-device", "isa-ipmi-kcs,bmc=bmc"]
    console = f"serial,id=con,path={run}/host.tty"
    if not spec.sol:
        console = f"socket,id=con,host={host.address},port={CONSOLE_PORT},server=on,wait=off"
    words += ["-chardev", f"{console},logfile={run}/console.log,logappend=on"]
    words += ["-serial", "chardev:con", "-qmp", f"unix:{run}/qmp.sock,server=on,wait=off"]
    # Its network reaches the TFTP folder and nothing else.
    net = "user,id=net0,restrict=on"
    net += f",tftp={spec.tftp}" if spec.tftp else ""
    net += f",bootfile={spec.bootfile}" if spec.bootfile else ""
    return [*words, "-netdev", net, "-device", f"e1000,netdev=net0,mac={host.mac}"]
