# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices, windows, jobs, runs and measurements."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rtbisect.model.finding import Finding  # noqa: TC001  (pydantic reads the annotations)
from rtbisect.model.formats import kept_as
from rtbisect.model.old_sentences import with_found_reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One figure of one window."""

    suite: str
    name: str
    window: str
    value: float
    unit: str
    #: None for a figure of the whole boot.
    cpu: int | None = None


@dataclass(frozen=True, slots=True)
class FigureSource:
    """What a figure came from in one window."""

    window: str
    #: reschedule, call or irq_work (IPIs, by their senders), irq, softirq or thread (noise), ran or
    #: refused (functions that are counted).
    kind: str
    name: str
    #: Times a second on all watched CPUs together.
    per_s: float
    #: Microseconds a second of typical duration; None where the instrument does not tell it.
    us_per_s: float | None = None


#: The workload of a window that runs beside what the site names; a plan adds name and digest of it.
OF_SITE = "site"
#: Before a line of the console in which a device script tells a stack from /proc, and before that
#: which says what it waited for.
STACK_MARK, SYMPTOM_MARK = "rtbisect-stack: ", "rtbisect-symptom: "


def site_program(workload: str) -> str:
    """Name and digest of the site's own workload; "" for any other."""
    kind, _, program = workload.partition(":")
    return program if kind == OF_SITE else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A stretch of a boot in which suites measure under one level of the workload."""

    name: str
    suites: tuple[str, ...]
    #: "none" or the name of a workload, with /N behind it for a dose of one Nth.
    workload: str = "none"
    #: The workload is ours, not somebody's production load.
    synthetic: bool = False
    #: The dose that a valid run reaches at least half of; 0: no dose.
    nominal_events_per_s: float = 0.0
    #: What measures where that is a tool which may disturb what it measures; "": the kernel's own
    #: counters and tracers.
    instrument: str = ""
    #: The window whose figures this one explains: only boots of a proof have it, after all windows
    #: that measure, and its own figures, if it has any, decide nothing. "" for one that measures.
    explains: str = ""
    #: A window that explains is used only where the plan names its suite.
    asked: bool = False
    #: Seconds that it takes at least, whatever the length of windows is.
    least_s: float = 0.0

    @property
    def site_workload(self) -> str:
        """Name and digest of the site's own workload; "" for any other."""
        return site_program(self.workload)

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
    """Which CPUs do what; lists are in kernel format, as "2-7"."""

    name: str
    #: CPUs that work, CPUs that are measured, and those of them that suites watch.
    housekeeping: str
    isolated: str
    watch: str
    #: The complete command line.
    boot_line: str
    #: It keeps work away from the CPUs in `isolated`; else they are only those that are measured.
    isolates: bool = True
    #: False where the second threads of cores are off.
    smt: bool = True
    #: FIFO priority of the tracer's threads; 0: that of any task.
    fifo: int = 0

    def line_on(self, device: DeviceType) -> str:
        """The boot line of a job; a machine of a lab has its own console, by its template."""
        words = self.boot_line.split()
        if device.boot == QEMU:
            return " ".join(words)
        return " ".join(word for word in words if not word.startswith("console="))


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceType:
    """What jobs are rendered for."""

    name: str
    #: A file of `lava-jobs/devices/`.
    template: str
    #: The topology that is also checked in the guest: cores of a socket, threads of a core.
    sockets: int
    cores: int
    threads: int
    memory_mib: int
    #: QEMU: its data are never mailable.
    emulated: bool
    #: QEMU's name of it; of a real machine what it is; "" where nothing is said.
    cpu_model: str = ""
    #: LAVA's boot method, with a part of the job in `lava-jobs/boot/`.
    boot: str = "qemu"
    #: Seconds from power-on to the prompt, at most.
    boot_s: int = 60

    @property
    def cpus(self) -> int:
        return self.sockets * self.cores * self.threads


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One boot of one built kernel with all windows in a drawn order."""

    run_id: str
    revision: str
    #: sha256 names in the artefact store; `modules` may be "".
    kernel: str
    modules: str
    device_type: DeviceType
    profile: HostProfile
    windows: tuple[Window, ...]
    #: Whose programs the ramdisk has, beside those of the windows: two boots that differ in their
    #: windows alone have one ramdisk.
    aboard: tuple[str, ...] = ()
    #: Parameters of single suites (suites/base.py), by the names of the device's options.
    suite_params: tuple[tuple[str, int], ...]
    #: Length of a window that measures, in milliseconds.
    window_ms: int = 2500
    #: Functions of the kernel that windows count.
    probes: tuple[str, ...] = ()
    #: False for a kernel without PREEMPT_RT.
    realtime: bool = True
    #: The revision is a patch that somebody has sent.
    foreign: bool = False
    #: GNU build id of the kernel in hex; "" is not known, and not compared.
    build_id: str = ""


#: A fact of a run of a command whose tree had gone: seconds of the build that made it again.
REBUILT_S = "rebuilt_s"
#: Of a run that is judged by its exit code: the code by which a shell says that it found no such
#: program, or could not start it.
NOT_RUN_CODE = "not_run_code"


class RunStatus(StrEnum):
    """How a boot ended, seen from the kernel (docs/architecture.md, owners of failures)."""

    COMPLETE = "complete"
    BOOT_FAILED = "boot_failed"
    HUNG = "hung"
    INVALID = "invalid"
    SKIPPED = "skipped"


def _with_window_s(run: dict[str, Any]) -> dict[str, Any]:
    """Version 2 did not know how long windows took."""
    return run | {"window_s": []}


@kept_as("Run", with_found_reason, _with_window_s)
@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One boot with everything that it measured. Only COMPLETE runs are evidence."""

    run_id: str
    revision: str
    status: RunStatus
    #: Why it is not complete; None where it is.
    reason: Finding | None = None
    measurements: tuple[Measurement, ...] = ()
    #: Read in the guest (topology, clock source, RCU settings): pairs of key and value.
    facts: tuple[tuple[str, str], ...] = ()
    #: Names of the windows in the order that was drawn for this boot.
    window_order: tuple[str, ...] = ()
    #: Seconds that each of these windows took; () where the boot did not tell.
    window_s: tuple[float, ...] = ()
    #: The console log in the artefact store, by its sha256.
    log: str = ""
    #: Seconds that the boot cost.
    seconds: float = 0.0
    #: Load average of this machine when the boot began.
    host_load: float = 0.0
    #: The way in which the kernel failed (lab/classify.py); "" where it did not.
    signature: str = ""
    #: Other than 0: a build of the revision with another code layout.
    layout: int = 0
    sources: tuple[FigureSource, ...] = ()
    #: The host, where there are several.
    device: str = ""
    #: Lines of the console that tell how the kernel stood still or died.
    excerpt: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        return self.status is RunStatus.COMPLETE

    @property
    def hung(self) -> bool:
        """The boot stood still, also where that is a figure of a suite: then it has a signature."""
        return self.status is RunStatus.HUNG or (self.complete and bool(self.signature))
