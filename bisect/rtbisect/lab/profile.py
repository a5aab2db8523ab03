# SPDX-License-Identifier: GPL-2.0-or-later
"""Host profiles: which CPUs work, which are isolated, and the boot line that says so.

A physical core is either all housekeeping or all isolated: a busy SMT sibling is noise
that no kernel can take away. Threads of a core have adjacent numbers on QEMU (0-1 is
core 0); the guest checks that before it measures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rtbisect.errors import ConfigError
from rtbisect.model.lab import PROFILE, DeviceType, HostProfile

#: Isolated CPUs that suites watch. With fewer than three, waiters for a lock spin instead
#: of sleeping and the IPIs that we look for never happen.
WATCHED = 3

#: Highest CPU number that a list may name; the kernel's own limit is 8192.
HIGHEST_CPU = 8191


def parse_cpus(text: str) -> tuple[int, ...]:
    """CPUs of a list in kernel format ("0-1,4"), ascending, each once; ConfigError."""
    cpus: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,4})(?:-([0-9]{1,4}))?", part)
        if match is None:
            raise ConfigError(f"{text[:80]!r} is no CPU list", 'write it like "0-1,4"')
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last > HIGHEST_CPU:
            raise ConfigError(f"{part!r} in the CPU list is no range", 'write it like "2-7"')
        cpus.update(range(first, last + 1))
    return tuple(sorted(cpus))


def format_cpus(cpus: Iterable[int]) -> str:
    """The shortest list in kernel format: (0, 1, 4) is "0-1,4"."""
    parts: list[str] = []
    ordered = sorted(set(cpus))
    begin = 0
    for place, cpu in enumerate(ordered):
        if place + 1 == len(ordered) or ordered[place + 1] != cpu + 1:
            first = ordered[begin]
            parts.append(str(cpu) if first == cpu else f"{first}-{cpu}")
            begin = place + 1
    return ",".join(parts)


#: Parameters that every boot line begins with.
_ALWAYS = (
    "console=ttyS0,115200",
    "panic=0",  # LAVA knows a panic by its last line, which a rebooting kernel never prints
    "noirqdebug",  # else a burst on the serial port disables its interrupt for good
    "quiet",
    "tsc=reliable",  # nohz_full needs a clock that the watchdog does not doubt
    "nowatchdog",
)


def host_profile(device: DeviceType, name: str = "tuned") -> HostProfile:
    """The profile for a device: core 0 works, all other cores are isolated whole (`tuned`) or only
    measured (`as-is`), with the additions `+fifo:N` and `+nosmt`.
    """
    match = re.fullmatch(PROFILE, name)
    if match is None:
        raise ConfigError(
            f"there is no profile {name!r}",
            "write `tuned` or `as-is`, with `+fifo:1` and `+nosmt` behind it as you need them",
        )
    smt = match[3] is None
    step = 1 if smt else device.threads
    threads = range(0, device.threads, step)
    isolated = range(device.threads, device.cpus, step)
    if len(isolated) < WATCHED:
        raise ConfigError(
            f"device type {device.name} has {len(isolated)} CPUs to isolate",
            f"give it at least {WATCHED} CPUs beside core 0",
        )
    work, quiet = format_cpus(threads), format_cpus(isolated)
    isolates = match[1] == "tuned"
    words = [*_ALWAYS]
    if isolates:
        words += [f"nohz_full={quiet}", f"isolcpus=nohz,domain,managed_irq,{quiet}"]
        words += [f"rcu_nocbs={quiet}", f"irqaffinity={work}"]
    return HostProfile(
        name=name,
        housekeeping=work,
        isolated=quiet,
        watch=format_cpus(isolated[:WATCHED]),
        boot_line=" ".join(words if smt else [*words, "nosmt"]),
        isolates=isolates,
        smt=smt,
        fifo=int(match[2] or 0),
    )
