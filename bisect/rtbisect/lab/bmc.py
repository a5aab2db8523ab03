# SPDX-License-Identifier: GPL-2.0-or-later
"""A host's BMC by ipmitool over the network (IPMI 2.0, RMCP+): power, boot device, sensors, events.

The password is in a file and never on a command line. ipmitool says the same words of a BMC that
is dead and of a wrong password; its debug output tells them apart.
"""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from pathlib import Path

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.process import command
from rtbisect.process.command import Completed, printable
from rtbisect.process.secret_file import check_secret

#: Arguments of ipmitool's `chassis power`.
ON, OFF, CYCLE, RESET, SOFT = "on", "off", "cycle", "reset", "soft"

#: A question that changes nothing.
_STATUS = ("chassis", "power", "status")

#: How ipmitool ends when no session came about, for whatever reason.
_NO_SESSION = "Unable to establish IPMI v2"

#: What its debug output says when the BMC answered and refused (RAKP; IPMI 2.0, section 13.20).
_REFUSED = re.compile(r"RAKP 2 (HMAC is invalid|message indicates an error)|nauthorized name")
_CIPHER = re.compile(r"invalid (authentication|integrity|confidentiality) algorithm")

_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-?[0-9A-Fa-f]{4}){3}-?[0-9A-Fa-f]{12}")


class DeadBmcError(InfrastructureError):
    """Nothing answers at the BMC's address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BmcSettings:
    """Where a BMC is and who asks it."""

    address: str
    user: str
    #: A file with nothing else in it.
    password: Path
    port: int = 623
    #: Id of a cipher suite. None lets ipmitool ask for the best, which BMCs without that command
    #: answer after ten seconds.
    cipher: int | None = None
    privilege: str = "ADMINISTRATOR"
    #: 32 hexadecimal digits, with or without dashes: no other host is ever switched. "": any.
    guid: str = ""
    #: Seconds that one answer may take.
    timeout_s: float = 30.0
    ipmitool: str = "ipmitool"


@dataclass(frozen=True, slots=True)
class Sensor:
    """A reading of a BMC."""

    name: str
    #: In the unit; None where there is no reading.
    value: float | None
    unit: str
    #: "ok", or IPMI's word for what is wrong.
    status: str

    @property
    def out_of_limits(self) -> bool:
        return self.value is not None and self.status != "ok"


@dataclass(frozen=True, slots=True)
class Event:
    """A line of the system event log."""

    #: Record id of the line.
    number: int
    text: str


class Bmc:
    """One BMC; every question is a session of its own."""

    def __init__(self, settings: BmcSettings) -> None:
        self.settings = settings

    def power(self) -> bool:
        """Whether the host is on."""
        answer = self._ask(*_STATUS).stdout
        state = re.search(r"Chassis Power is (on|off)", answer)
        if state is None:
            raise InfrastructureError(
                f"{self._where}: {printable(answer) or 'no word'} is no state of power",
                "ask the BMC by hand: `ipmitool chassis power status`",
            )
        return state[1] == "on"

    def switch(self, how: str) -> None:
        """Power on, off, cycle, reset or soft (a wish to the operating system); given at most once.
        InfrastructureError says where nobody knows whether it was done.
        """
        if how not in (ON, OFF, CYCLE, RESET, SOFT):
            raise ConfigError(f"{printable(how)!r} is no way to switch a host", "see `--help`")
        self._check_host()
        self._ask("chassis", "power", how, acts=True)

    def boot_from(self, device: str) -> None:
        """What the next boot is from: pxe, disk, cdrom, bios or none (as the firmware likes)."""
        if device not in ("pxe", "disk", "cdrom", "bios", "none"):
            raise ConfigError(f"{printable(device)!r} is no boot device", "see `--help`")
        self._check_host()
        self._ask("chassis", "bootdev", device)

    def guid(self) -> str:
        """The system's UUID, 32 hexadecimal digits; "" when the BMC has none."""
        uuid_text = _UUID.search(self._ask("mc", "guid").stdout)
        return uuid_text[0].replace("-", "").lower() if uuid_text else ""

    def sensors(self) -> tuple[Sensor, ...]:
        """All readings (`sdr elist` as comma-separated values)."""
        rows = (line.split(",") for line in self._ask("-c", "sdr", "list").stdout.splitlines())
        return tuple(_sensor(row) for row in rows if len(row) >= 4)

    def events(self) -> tuple[Event, ...]:
        """The system event log, oldest first."""
        events = []
        for line in self._ask("sel", "elist").stdout.splitlines():
            number, _, text = line.partition("|")
            if re.fullmatch(r"\s*[0-9a-f]{1,4}\s*", number):
                events.append(Event(int(number, 16), printable(re.sub(r"\s+", " ", text))))
        return tuple(events)

    def end_console(self) -> None:
        """End the one session of the serial console, whoever has it; he is not told."""
        try:
            self._ask("sol", "deactivate")
        except InfrastructureError as error:
            if "de-activated" not in error.message:
                raise

    def console_command(self) -> list[str]:
        """What shows the serial console in a terminal."""
        return [*self._command(), "sol", "activate"]

    @property
    def _where(self) -> str:
        return f"BMC {self.settings.address} port {self.settings.port}"

    def _check_host(self) -> None:
        """ConfigError when the BMC at this address is another one than it should be."""
        wanted = self.settings.guid.replace("-", "").lower()
        if wanted and wanted not in _readings(actual := self.guid()):
            raise ConfigError(
                f"{self._where} is of host {actual or 'without a GUID'}, not of {wanted}",
                "nothing was switched; correct the address or the guid of the host",
            )

    def _ask(self, *words: str, acts: bool = False) -> Completed:
        """One command; DeadBmcError, ConfigError (password, cipher) or InfrastructureError. What
        `acts` is not given again once it may have been done.
        """
        done = self._run(words)
        if done.ok:
            return done
        output = f"{done.stdout}\n{done.stderr}"
        if _CIPHER.search(output):
            raise ConfigError(
                f"{self._where} does not know cipher suite {self.settings.cipher}",
                "3 is the oldest one; leave it out to have the BMC asked",
            )
        if _NO_SESSION not in output and not done.timed_out:
            raise InfrastructureError(f"{self._where}: {command.failure(done)}", "see to the BMC")
        # Without a session nothing was given; behind a timeout a host may be switched already.
        again = _STATUS if acts and done.timed_out else words
        debug = self._run(again, debug=True)
        if _REFUSED.search(f"{debug.stdout}\n{debug.stderr}"):
            raise ConfigError(
                f"{self._where} refuses user {printable(self.settings.user)} or the password",
                f"correct {self.settings.password}",
            )
        if debug.ok and again is words:  # it came back
            return debug
        if acts and (done.timed_out or debug.timed_out):
            raise InfrastructureError(
                f"{self._where} did not answer in time: nobody knows whether"
                f" `{' '.join(words)}` was done",
                "look at the host before you give it again",
            )
        raise DeadBmcError(f"{self._where} does not answer", "see to its power and its network")

    def _command(self) -> list[str]:
        """The words of ipmitool say which BMC is asked, and as whom."""
        settings = self.settings
        check_secret(settings.password, "password of the BMC")
        argv = [settings.ipmitool, "-I", "lanplus", "-H", settings.address]
        argv += ["-p", str(settings.port), "-U", settings.user, "-f", str(settings.password)]
        argv += ["-L", settings.privilege, "-N", "1", "-R", "2"]
        if settings.cipher is not None:
            argv += ["-C", str(settings.cipher)]
        return argv

    def _run(self, words: tuple[str, ...], *, debug: bool = False) -> Completed:
        argv = [*self._command(), *(["-vv"] if debug else []), *words]
        return command.run(argv, cwd=Path("/"), timeout_s=self.settings.timeout_s)


def _readings(guid: str) -> tuple[str, ...]:
    """The orders of bytes that a GUID is told in: RFC 4122, SMBIOS and IPMI disagree, and ipmitool
    guesses which one a BMC means from the version digit that each gives.
    """
    if not guid:
        return ()
    number = uuid.UUID(guid)
    return (number.hex, number.bytes_le.hex(), number.bytes[::-1].hex())


def _sensor(row: list[str]) -> Sensor:
    name, value, unit, status = (printable(word, 60) for word in row[:4])
    try:
        return Sensor(name, float(value), unit, status)
    except ValueError:
        return Sensor(name, None, unit, status)
