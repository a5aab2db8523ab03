# SPDX-License-Identifier: GPL-2.0-or-later
"""Who owns a failed job: the kernel (a status), the lab or the configuration (an error).

LAVA's `error_type` alone misleads: a kernel that resets itself ends as "Infrastructure",
one that never logs in as "Job". The first failing case of LAVA's own suite says how far
the job came, the console says what the kernel did there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import dropwhile
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.lab import console_block
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Boots, Part, Symptom
from rtbisect.model.lab import RunStatus
from rtbisect.process.command import cut, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.lab.job_log import CaseResult, LavaLog


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a job ended. COMPLETE means only that it ran to its end: its numbers are still to be
    checked.
    """

    status: RunStatus
    #: Why the job failed; None where it is COMPLETE.
    reason: Finding | None = None
    #: Names the way in which a kernel failed, so that two failures can be told apart: no addresses,
    #: times or numbers. "" where the kernel did not fail.
    signature: str = ""
    #: Symptom of that failure; None also where no suite counts it.
    symptom: Symptom | None = None
    #: An end without a word of the kernel, which may be the lab's as well: it asks for another try,
    #: and for a kernel that is known to boot there.
    ambiguous: bool = False


@dataclass(frozen=True, slots=True)
class Broken:
    """What a console says first of how a kernel stood still or died."""

    #: The line that tells it, without addresses, times or numbers.
    signature: str
    #: Symptom that a suite may count; None where it is none of those.
    symptom: Symptom | None


#: LAVA's cases in the order of a job. The first failing one that begins so tells the part.
_FETCH = ("file-download", "http-download", "download-retry", "deployimages", "scp-download")
_POWER = ("pdu-reboot", "reset-device", "power-on", "bootloader-", "tftp-deploy", "connect-device")
_LOGIN = ("kernel-messages", "login-action", "auto-login-action", "boot-image-retry", "boot-qemu")
_SHELL = ("lava-test-shell", "lava-test-retry")

#: Characters of a line of a console that are looked at: a kernel may print one of any length, and
#: some patterns begin anywhere and go on for as long as there are words.
_LONGEST_LINE = 1000

#: Ends of a kernel. The words after the mark make the signature.
_PANICS = (
    # A suite that waits for a symptom says so before it ends the boot by a panic of its own.
    re.compile(r"rtbisect-symptom: (?P<what>.*)"),
    re.compile(r"Kernel panic - not syncing: (?P<what>.*)"),
    re.compile(r"(?P<what>Unable to handle kernel .*|general protection fault)"),
    re.compile(r"BUG: (?P<what>(?:kernel NULL|unable to handle|sleeping|scheduling).*)"),
    re.compile(r"\bOops: (?P<what>.*)"),
)

#: A machine check that no handler recovers from, and a fatal error that the firmware reports, as
#: the kernel prints them (arch/x86/kernel/cpu/mce/core.c, drivers/acpi/apei/ghes.c). The digit is
#: MCG_STATUS, whose bit 2 says that the exception goes on; one without it is left of a boot before.
_HOST_BROKE = re.compile(
    r"(?P<what>(?:mce: )?\[Hardware Error\]: CPU \d+: Machine Check Exception:"
    r" *[0-9a-f]*[4-7c-f] Bank \d+: )"
    r"|Kernel panic - not syncing: (?P<panic>Fatal (?:local )?machine check"
    r"|Machine check from unknown source"
    r"|Timeout: (?:Not all CPUs entered broadcast exception handler"
    r"|(?:Subject CPUs|Monarch CPU) (?:unable to|did not) finish machine check processing)"
    r"|(?:GHES: )?Fatal hardware error)"
)

#: LAVA's script on the device prints this before the first step of the suites.
_SUITES_BEGIN = "<LAVA_SIGNAL_STARTRUN "

#: Begin of the first line that a kernel prints.
_BANNER = "Linux version "

#: A kernel that lives but does not get on. No pattern may try each character of a long line anew.
_STALLS = (
    re.compile(r"INFO: (?P<what>task \S+ blocked for more than)"),
    re.compile(r"(?P<what>\b\w+ (?:self-)?detected (?:expedited )?stalls? on CPU)"),
    re.compile(r"BUG: (?P<what>(?:soft lockup|workqueue lockup))"),
    re.compile(r"(?P<what>\brcu_\w+ kthread (?:starved|timer wakeup didn't happen))"),
    re.compile(r"(?P<what>watchdog: .{0,80} hard LOCKUP)"),
)

#: Symptoms that these words of a console stand for.
_SYMPTOMS = {
    "frozen nr_periods": Symptom.FROZEN_PERIODS,
    "self-detected stall on CPU": Symptom.GRACE_PERIOD,
    "detected stalls on CPU": Symptom.GRACE_PERIOD,
    "detected expedited stalls on CPU": Symptom.GRACE_PERIOD,
    "kthread timer wakeup didn't happen": Symptom.GRACE_PERIOD,
    "kthread starved": Symptom.GRACE_PERIOD,
    "blocked for more than": Symptom.BLOCKED_TASK,
    "soft lockup": Symptom.SOFT_LOCKUP,
}

#: Lines that QEMU prints when it goes on with the second accelerator.
_HARMLESS = re.compile(r"-accel kvm|falling back|warning:|warn:", re.IGNORECASE)


#: A breakpoint that nobody set. The kernel changes its code by putting one at its first byte for a
#: moment (arch/x86/kernel/alternative.c); an emulator that goes on with its translation of that
#: moment trips over it long after it was taken away.
_STALE_BREAKPOINT = re.compile(r"\bOops: int3: ")


#: What iPXE says of a file that did not come; its lines end at the edge of its screen.
_IPXE = re.compile(r"^(?P<what>(?:tftp|https?)://\S+\.\.\. (?!ok\b)\S.*)")


#: What a reader of a mail looks at of a console: lines, and characters of one.
MOST_LINES = 16
MOST_CHARS = 300

#: Time, and CPU or task where the kernel prints them (CONFIG_PRINTK_CALLER).
_STAMP = re.compile(r"^(?:<\d>)?\[\s*\d+\.\d+\]\s?(?:\[\s*[CT]\d+\]\s?)?")

#: What says nothing without the kernel's image (registers, bytes of code), what stands elsewhere in
#: a mail (modules, taint), and advice to who sits at the machine.
_BARE = re.compile(
    r"(?:R[A-D]X|RIP: 0033|R[SDB][IP]|R\d\d|[CDFGE]S|CR\d|DR\d|PKRU|Code)\b"
    r"|(?:Modules linked in|Hardware name|Call Trace):|</?(?:TASK|IRQ|NMI)>"
    r"|(?:Not t|T)ainted\b|\"echo 0 > /proc/sys/"
)

#: Here a suite ends a boot that stands still: what follows is its own doing (lava-jobs/suites).
_OURS = "sysrq: Trigger a crash"


def classify(log: LavaLog, *, ended: str, emulated: bool = False) -> Verdict:
    """The verdict on a job; InfrastructureError or ConfigError when the kernel is not to blame.

    `ended` says how the job ended, for a log without LAVA's verdict: "lava-run ended with -9".
    """
    if log.job is None and not log.flooded:
        words = log.errors or log.stray
        last = f": {printable(words[-1])}" if words else ""
        raise InfrastructureError(
            f"{ended}, without a verdict of LAVA{last}",
            "a server may not answer, or LAVA is damaged: see the log of the job",
        )
    lines = _until_done(log)
    if emulated and any(_STALE_BREAKPOINT.search(line[:_LONGEST_LINE]) for line in lines):
        return Verdict(RunStatus.INVALID, Finding.of(Boots.STALE_BREAKPOINT))
    broken = _broken_kernel(lines)
    _not_the_host(log, lines, broken)
    if log.job is None or (log.flooded and log.job.passed):
        return broken or _flood(log)
    if log.job.passed:
        return broken or _finished(log)
    first = log.failing[0].case if log.failing else ""
    _not_the_kernel(log.job, first)
    if log.flooded:
        return broken or _flood(log)
    if first.startswith(_LOGIN):
        # A kernel or ramdisk that never arrived is the lab's, also where the kernel then panics.
        for line in log.console:
            if match := _IPXE.search(line[:_LONGEST_LINE]):
                raise InfrastructureError(
                    f"iPXE could not fetch: {printable(match['what'])}",
                    "see to TFTP and network of the host",
                )
        return broken or _silent_end(log, log.job, at_boot=True) or _at_boot(log, log.job)
    if first.startswith(_SHELL) or re.match(r"[0-9]+_", first):
        return broken or _silent_end(log, log.job, at_boot=False) or _in_suite(log.job)
    raise InfrastructureError(
        f"LAVA failed in {first or 'no case at all'}: {_lava_reason(log.job)}",
        "see the log of the job",
    )


#: How Python, in which LAVA is written, says it.
_DISK_FULL = "[Errno 28]"

_VALIDATE_HINT = "an artefact is missing or the job is wrong; try `rtbisect config check`"
_FETCH_HINT = "check the disk, and the server that serves the artefacts"
_POWER_HINT = "check power control and serial console of the device"


def panic_of(console: Sequence[str]) -> Broken | None:
    """First panic or oops on a console."""
    return _first(console, _PANICS)


def stall_of(console: Sequence[str]) -> Broken | None:
    """First stall on a console."""
    return _first(console, _STALLS)


def excerpt(console: Sequence[str]) -> tuple[str, ...]:
    """The lines of a console that tell how a kernel stood still or died: MOST_LINES at most from
    what it said first of a panic, an oops or a stall, printable and without time stamps; none where
    it says nothing of these.
    """
    patterns = (*_PANICS, *_STALLS)
    lines: list[str] = []
    for line in dropwhile(
        lambda line: not any(pattern.search(line[:_LONGEST_LINE]) for pattern in patterns), console
    ):
        text = printable(_STAMP.sub("", line.strip()), MOST_CHARS)
        if _OURS in text or len(lines) == MOST_LINES:
            break
        if text and not _BARE.match(text):
            lines.append(text)
    return tuple(lines)


def _first(console: Sequence[str], patterns: Sequence[re.Pattern[str]]) -> Broken | None:
    for line in console:
        for pattern in patterns:
            match = pattern.search(line[:_LONGEST_LINE])
            if match:
                # Numbers and addresses differ from boot to boot; a signature must not.
                said = printable(match["what"], 120)
                signature = re.sub(r"\b(?:0x)?[0-9a-f]*[0-9][0-9a-f]*\b", "N", said)
                symptoms = (symptom for words, symptom in _SYMPTOMS.items() if words in said)
                return Broken(signature, next(symptoms, None)) if signature else None
    return None


def _not_the_kernel(job: CaseResult, first: str) -> None:
    """The error of a job that LAVA, its device or its files ended; `first` is the failing case."""
    if job.error_type == "Canceled":
        raise InfrastructureError("the job was cancelled", "run `rtbisect resume`")
    if _DISK_FULL in job.error_msg:
        raise InfrastructureError(
            f"the dispatcher's disk is full: {_lava_reason(job)}", "free some there"
        )
    if job.error_type == "Bug":
        raise InfrastructureError(f"LAVA has a bug: {_lava_reason(job)}", "see the log of the job")
    if job.error_type == "Configuration":
        raise ConfigError(f"LAVA's device is wrong: {_lava_reason(job)}", _VALIDATE_HINT)
    if first.startswith("validate"):
        raise ConfigError(f"LAVA refuses the job: {_lava_reason(job)}", _VALIDATE_HINT)
    if first.startswith(_FETCH):
        raise InfrastructureError(f"LAVA could not fetch a file: {_lava_reason(job)}", _FETCH_HINT)
    if first.startswith(_POWER):
        raise InfrastructureError(f"{first} failed: {_lava_reason(job)}", _POWER_HINT)


def _not_the_host(log: LavaLog, lines: Sequence[str], broken: Verdict | None) -> None:
    """The error of a boot that ended by a fault of its host, before the kernel told of one of its
    own.

    A kernel can print these lines as well, or bring a machine check about by what it does to the
    hardware. Then no boot of it counts: the campaign pauses, with its device in quarantine, until a
    person has looked. That is the lesser harm: the other way a host that breaks makes culprits.
    """
    if broken is None and log.job is not None and log.job.passed:
        return
    for line in lines:
        if match := _HOST_BROKE.match(_STAMP.sub("", line[:_LONGEST_LINE])):
            said = printable((match["panic"] or match["what"]).strip(" :"))
            raise InfrastructureError(
                f"the host reports a fatal error of its hardware: {said}",
                "see to its processors and memory, and to the event log of its BMC",
            )
        if any(pattern.search(line[:_LONGEST_LINE]) for pattern in _PANICS):
            return


#: Status of a job whose kernel failed in this part.
_FAILED_IN = {Part.BOOT: RunStatus.BOOT_FAILED, Part.SUITE: RunStatus.HUNG}


def _broken_kernel(lines: Sequence[str]) -> Verdict | None:
    """The verdict on a kernel that says itself that it is broken, by when it said so first.

    Whether it went on after an oops is luck: it depends on the task that was hit. So an oops
    in a suite is the kernel's failure like a panic there (HUNG), also when the suites came
    to their end: INVALID would blame the measurement, and end a search that should skip.
    """
    begin = next((n for n, line in enumerate(lines) if _SUITES_BEGIN in line), len(lines))
    for part, console in ((Part.BOOT, lines[:begin]), (Part.SUITE, lines[begin:])):
        if panic := panic_of(console):
            reason = Finding.of(Boots.PANIC, part=part, symptom=panic.signature)
            signature = f"{part.value}: {panic.signature}"
            return Verdict(_FAILED_IN[part], reason, signature, panic.symptom)
    return None


def _until_done(log: LavaLog) -> Sequence[str]:
    """The console of a job that passed up to the last word of its suites: behind it the guest ends
    itself (lava-jobs/initramfs/init), and a kernel that trips there has told all its figures.
    """
    if log.job is None or not log.job.passed or console_block.DONE not in log.console:
        return log.console
    return log.console[: len(log.console) - log.console[::-1].index(console_block.DONE)]


def _flood(log: LavaLog) -> Verdict:
    """A console that never falls silent. Before the kernel's first line it may be noise of the
    console itself.
    """
    begun = any(_SUITES_BEGIN in line for line in log.console)
    banner = begun or any(_BANNER in line for line in log.console)
    part = Part.SUITE if begun else Part.BOOT
    reason = Finding.of(Boots.FLOOD, part=part, lost_bytes=log.lost)
    signature = f"{part.value}: console flood"
    return Verdict(_FAILED_IN[part], reason, signature, ambiguous=not banner)


def _finished(log: LavaLog) -> Verdict:
    steps = [r for r in log.failing if re.match(r"[0-9]+_", r.case)]
    if steps:
        return Verdict(RunStatus.INVALID, Finding.of(Boots.STEP_FAILED))
    return Verdict(RunStatus.COMPLETE)


def _at_boot(log: LavaLog, job: CaseResult) -> Verdict:
    if any(r.case.startswith("kernel-messages") for r in log.failing):
        reason = Finding.of(Boots.KERNEL_MESSAGES, said=_said(job))
        return Verdict(RunStatus.BOOT_FAILED, reason, "boot: kernel messages")
    raise InfrastructureError(
        f"LAVA could not log in: {_lava_reason(job)}", "see the log of the job"
    )


def _qemu_gave_up(log: LavaLog) -> None:
    """QEMU that says why it ends is the lab's: bad option, no memory, no file, a signal."""
    for line in log.console:
        if re.match(r"qemu-system-\w+: ", line) and not _HARMLESS.search(line[:_LONGEST_LINE]):
            raise InfrastructureError(f"QEMU gave up: {printable(line)}", "see the device type")


def _in_suite(job: CaseResult) -> Verdict:
    if job.error_type == "Infrastructure":
        raise InfrastructureError(
            f"LAVA lost the device: {_lava_reason(job)}", "see the log of the job"
        )
    return Verdict(RunStatus.INVALID, Finding.of(Boots.SUITES_STOPPED, said=_said(job)))


def _silent_end(log: LavaLog, job: CaseResult, *, at_boot: bool) -> Verdict | None:
    """The verdict on a machine that says no more. A kernel that tells of its stall hangs; a host
    without power or console is as silent as one that hangs.
    """
    part = Part.BOOT if at_boot else Part.SUITE
    if "timed out" in job.error_msg:
        stall = stall_of(log.console)
        if stall:
            reason = Finding.of(Boots.HANG, part=part, symptom=stall.signature)
            signature = f"{part.value} hang: {stall.signature}"
            return Verdict(_FAILED_IN[part], reason, signature, stall.symptom)
        reason = Finding.of(Boots.HANG, part=part, symptom=None)
        silence = "no login prompt" if at_boot else "no output"
        signature = f"{part.value} hang: {silence}"
        return Verdict(_FAILED_IN[part], reason, signature, ambiguous=True)
    if "closed" in job.error_msg:
        _qemu_gave_up(log)
        # A reset, or an image that is no kernel: QEMU shows neither.
        reason = Finding.of(Boots.RESET, part=part)
        return Verdict(_FAILED_IN[part], reason, f"{part.value}: reset", ambiguous=True)
    return None


def _said(job: CaseResult) -> str | None:
    """LAVA's own words as they are."""
    return cut(job.error_msg) or None


def _lava_reason(job: CaseResult) -> str:
    return printable(job.error_msg) or "LAVA gave no reason"
