# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices, windows, jobs, runs and measurements."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rtbisect.model.formats import kept_as


@dataclass(frozen=True, slots=True, kw_only=True)
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


#: The workload of a window that runs beside what the site names; a plan adds name and digest of it.
OF_SITE = "site"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A stretch of a boot in which suites measure under one level of the workload.

    `workload` is "none" or the name of a workload, with /N behind it for a dose of one Nth;
    `synthetic` says that the workload is ours, not somebody's production load.
    `nominal_events_per_s` is the dose that a valid run reaches at least half of (0: no dose).
    `instrument` names what measures where
    that is a tool which may disturb what it measures; "": the kernel's own counters and tracers.
    `explains` names the window whose figures this one explains: only boots of a proof have it,
    after all windows that measure, and its own figures, if it has any, decide nothing; with `asked`
    only where the plan names its suite. A window takes at least `least_s`, whatever the length of
    windows is.
    """

    name: str
    suites: tuple[str, ...]
    workload: str = "none"
    synthetic: bool = False
    nominal_events_per_s: float = 0.0
    instrument: str = ""
    explains: str = ""
    asked: bool = False
    least_s: float = 0.0

    @property
    def site_workload(self) -> str:
        """Name and digest of the site's own workload; "" for any other."""
        kind, _, program = self.workload.partition(":")
        return program if kind == OF_SITE else ""

    @property
    def level(self) -> str:
        """What runs beside the measurement, for tables: `workload`, else the tool that measures, or
        what a workload leaves where its reader is off.
        """
        if self.workload != "none":
            return self.workload
        if self.instrument:
            return f"the tool {self.instrument}"
        return "page faults alone" if self.synthetic else "none"


#: LAVA's boot method of a guest, whose console is ours.
QEMU = "qemu"

#: Names of profiles: isolation by boot line or as the kernel comes, the priority of the tracer's
#: threads, SMT off.
PROFILE = r"(tuned|as-is)(?:\+fifo:([1-9][0-9]?))?(\+nosmt)?"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostProfile:
    """CPU lists in kernel list format ("2-7"); `boot_line` is the complete command line.

    `isolates` says that it keeps work away from the CPUs in `isolated`; else they are only those
    that are measured. `smt` is false where the second threads of cores are off; the tracer's
    threads have the priority FIFO `fifo` (0: that of any task).
    """

    name: str
    housekeeping: str
    isolated: str
    watch: str
    boot_line: str
    isolates: bool = True
    smt: bool = True
    fifo: int = 0

    def line_on(self, device: DeviceType) -> str:
        """The boot line of a job; a machine of a lab has its own console, by its template."""
        words = self.boot_line.split()
        if device.boot == QEMU:
            return " ".join(words)
        return " ".join(word for word in words if not word.startswith("console="))


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceType:
    """What jobs are rendered for. `emulated` is true for QEMU: its data are never mailable.

    `template` names a file of `lava-jobs/devices/`; `sockets`, `cores` (a socket) and
    `threads` (a core) describe the topology that is also checked in the guest. `boot` is LAVA's
    boot method, with a part of the job in `lava-jobs/boot/`; power-on to prompt takes at most
    `boot_s`.
    """

    name: str
    template: str
    sockets: int
    cores: int
    threads: int
    memory_mib: int
    emulated: bool
    cpu_model: str = ""
    boot: str = "qemu"
    boot_s: int = 60

    @property
    def cpus(self) -> int:
        return self.sockets * self.cores * self.threads


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One boot of one built kernel with all windows in a drawn order. `suite_params` are those that
    suites have for themselves (suites/base.py), options of the device by their names; `probes` are
    functions of the kernel that windows count; `realtime` is false for one without PREEMPT_RT;
    `foreign` is true for one of a patch that somebody has sent. `build_id` is the GNU build id of
    the kernel in hex; "" is not known, and not compared.
    """

    run_id: str
    revision: str
    kernel: str
    modules: str
    device_type: DeviceType
    profile: HostProfile
    windows: tuple[Window, ...]
    suite_params: tuple[tuple[str, int], ...]
    window_ms: int = 2500
    probes: tuple[str, ...] = ()
    realtime: bool = True
    foreign: bool = False
    build_id: str = ""


class RunStatus(StrEnum):
    """How a boot ended, seen from the kernel (docs/architecture.md, owners of failures)."""

    COMPLETE = "complete"
    BOOT_FAILED = "boot_failed"
    HUNG = "hung"
    INVALID = "invalid"
    SKIPPED = "skipped"


@kept_as("Run")
@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One boot with everything that it measured. Only COMPLETE runs are evidence.

    `facts` are key/value pairs read in the guest (topology, clock source, RCU settings);
    `window_order` is the drawn order; `log` names the console log in the artefact store;
    `excerpt` are the lines of the console that tell how the kernel stood still or died;
    `layout` other than 0 is a build of the revision with another code layout; `device` names the
    host where there are several.
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
    device: str = ""
    excerpt: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        return self.status is RunStatus.COMPLETE

    @property
    def hung(self) -> bool:
        """The boot stood still, also where that is a figure of a suite: then it has a signature."""
        return self.status is RunStatus.HUNG or (self.complete and bool(self.signature))
