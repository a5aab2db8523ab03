# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices, windows, jobs, runs and measurements."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Measurement:
    """One figure of one window. `cpu` is None for a figure of the whole boot."""

    suite: str
    name: str
    window: str
    value: float
    unit: str
    cpu: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """What a figure came from in one window: `per_s` times a second on all watched CPUs together,
    `us_per_s` of typical duration where the instrument tells it.

    `kind` is reschedule, call or irq_work (IPIs, by their senders), irq, softirq or thread (noise).
    """

    window: str
    kind: str
    name: str
    per_s: float
    us_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of a boot in which suites measure under one level of the workload.

    `workload` is "none" or the name of a workload; `synthetic` says that the workload
    is ours, not somebody's production load. `nominal_events_per_s` is the dose that a
    valid run reaches at least half of (0: no dose). `instrument` names what measures where
    that is a tool which may disturb what it measures; "": the kernel's own counters and tracers.
    `explains` names the window whose figures this one explains under the same workload: nothing
    is measured in it, and only boots of a proof have it.
    """

    name: str
    suites: tuple[str, ...]
    workload: str = "none"
    synthetic: bool = False
    nominal_events_per_s: float = 0.0
    instrument: str = ""
    explains: str = ""


@dataclass(frozen=True, slots=True)
class HostProfile:
    """CPU lists in kernel list format ("2-7"); `boot_line` is the complete command line."""

    name: str
    housekeeping: str
    isolated: str
    watch: str
    boot_line: str


@dataclass(frozen=True, slots=True)
class DeviceType:
    """What jobs are rendered for. `emulated` is true for QEMU: its data are never mailable.

    `template` names a file of `lava-jobs/devices/`; `sockets`, `cores` (a socket) and
    `threads` (a core) describe the topology that is also checked in the guest.
    """

    name: str
    template: str
    sockets: int
    cores: int
    threads: int
    memory_mib: int
    emulated: bool
    cpu_model: str = ""

    @property
    def cpus(self) -> int:
        return self.sockets * self.cores * self.threads


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One boot of one built kernel with all windows in a drawn order."""

    run_id: str
    revision: str
    kernel: str
    modules: str
    device_type: DeviceType
    profile: HostProfile
    windows: tuple[Window, ...]
    window_ms: int = 2500
    rcu_calls: int = 100


class RunStatus(StrEnum):
    """How a boot ended, seen from the kernel (docs/architecture.md, owners of failures)."""

    COMPLETE = "complete"
    BOOT_FAILED = "boot_failed"
    HUNG = "hung"
    INVALID = "invalid"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Run:
    """One boot with everything that it measured. Only COMPLETE runs are evidence.

    `facts` are key/value pairs read in the guest (topology, clock source, RCU settings);
    `window_order` is the drawn order; `log` names the console log in the artefact store;
    `layout` other than 0 is a build of the revision with another code layout.
    """

    run_id: str
    revision: str
    status: RunStatus
    reason: str = ""
    measurements: tuple[Measurement, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    window_order: tuple[str, ...] = ()
    log: str = ""
    seconds: float = 0.0
    host_load: float = 0.0
    signature: str = ""
    layout: int = 0
    sources: tuple[Source, ...] = ()

    @property
    def complete(self) -> bool:
        return self.status is RunStatus.COMPLETE
