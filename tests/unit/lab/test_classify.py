# SPDX-License-Identifier: GPL-2.0-or-later
"""One row for each way in which a job was seen to end."""

import re
from pathlib import Path

import pytest

from helpers.lab_logs import STARTED, event, failed_job, good_job
from rtbisect import lab
from rtbisect.cli.app import main
from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.lab import console_block, job_log
from rtbisect.lab.classify import classify, panic_of, stall_of
from rtbisect.model.kinds.boot import Boots, Symptom
from rtbisect.model.lab import RunStatus
from rtbisect.words.speak import speak

BOOT = ["login-action", "auto-login-action", "boot-image-retry"]
SUITE = ["0_rtbisect", "lava-test-shell", "lava-test-retry"]
PANIC = [
    "[    1.234567] Kernel panic - not syncing: VFS: Unable to mount root fs on block(0,0)",
    "[    1.234999] ---[ end Kernel panic - not syncing: VFS: Unable to mount root fs ]---",
]
BUG = "BUG: sleeping function called from invalid context at kernel/x.c:12"
FETCH = ["file-download", "download-retry", "deployimages"]
TIMED_OUT = "lava-test-shell timed out after 15 seconds"


def verdict(text, ended="lava-run ended with 1", *, emulated=False):
    return classify(job_log.parse(text), ended=ended, emulated=emulated)


STALE = [
    "[    7.439685] Oops: int3: 0000 [#1] PREEMPT_RT SMP PTI",
    "[    7.460466] Kernel panic - not syncing: Fatal exception in interrupt",
]


@pytest.mark.parametrize("after", [[], PANIC])
def test_a_file_that_ipxe_could_not_fetch_is_the_labs(after):
    """Also where a kernel panics because its ramdisk did not come."""
    console = [
        "iPXE>kernel tftp://10.0.2.2/17/kernel quiet console=ttyS0,115200n8",
        "tftp://10.0.2.2/17/kernel... ok",
        # iPXE's screen is 80 characters wide.
        "tftp://10.0.2.2/17/tftp-deploy-lxnk0t/ramdisk/ramdisk.cpio.gz... No such file or ",
        "directory (http://ipxe.org/2d03e13b)",
        *after,
    ]
    text = failed_job(BOOT, "Job", "login-action timed out after 60 seconds", console)
    with pytest.raises(InfrastructureError, match=r"iPXE could not fetch: .*ramdisk.*No such file"):
        verdict(text)


def test_what_ipxe_fetched_is_no_fault_of_the_lab():
    console = ["tftp://10.0.2.2/17/kernel... ok", *PANIC]
    text = failed_job(BOOT, "Job", "login-action timed out after 60 seconds", console)
    assert verdict(text).status is RunStatus.BOOT_FAILED


CHECKED = "mce: [Hardware Error]: CPU 2: Machine Check Exception: 5 Bank 4: be00000000800400"


@pytest.mark.parametrize(
    "line",
    [
        CHECKED,
        "mce: [Hardware Error]: CPU 147: Machine Check Exception: f Bank 1: bd80000000100134",
        "[Hardware Error]: CPU 0: Machine Check Exception:                4 Bank 5: b2000000",
        "Kernel panic - not syncing: Fatal machine check",
        "Kernel panic - not syncing: Fatal machine check on current CPU",
        "Kernel panic - not syncing: Fatal local machine check",
        "Kernel panic - not syncing: Timeout: Not all CPUs entered broadcast exception handler",
        "Kernel panic - not syncing: Timeout: Monarch CPU did not finish machine check processing",
        "Kernel panic - not syncing: Fatal hardware error!",
        "Kernel panic - not syncing: GHES: Fatal hardware error",
    ],
)
@pytest.mark.parametrize("stamp", ["", "[   12.000001] ", "<0>[   12.000001][    C2] "])
def test_a_fatal_error_of_the_hardware_is_the_hosts(line, stamp):
    for cases, ended in ((BOOT, "timed out after 60 seconds"), (SUITE, TIMED_OUT)):
        text = failed_job(cases, "Job", f"login-action {ended}", [STARTED, stamp + line, *PANIC])
        with pytest.raises(InfrastructureError, match="fatal error of its hardware") as caught:
            verdict(text)
        assert caught.value.retryable
    # Also where it is the last that came.
    with pytest.raises(InfrastructureError, match="fatal error of its hardware"):
        verdict(failed_job(SUITE, "Infrastructure", "Connection closed", [STARTED, stamp + line]))


@pytest.mark.parametrize(
    "line",
    [
        # What a boot before left in the registers, as older kernels told it.
        "mce: [Hardware Error]: CPU 0: Machine Check Exception: 0 Bank 5: b200000000000000",
        "mce: [Hardware Error]: CPU 0: Machine Check: 0 Bank 5: 8c00004000010090",
        "BERT: [Hardware Error]: Error records from previous boot:",
        "{1}[Hardware Error]: event severity: corrected",
        f"said by a program: {CHECKED}",
        "test: Kernel panic - not syncing: Fatal machine check was not seen",
    ],
)
def test_other_words_of_hardware_leave_a_panic_to_the_kernel(line):
    text = failed_job(SUITE, "Test", TIMED_OUT, [STARTED, "Oops: 0002 [#1]", line, *PANIC])
    assert verdict(text).status is RunStatus.HUNG
    text = failed_job(SUITE, "Test", TIMED_OUT, [STARTED, line, *PANIC])
    assert verdict(text).status is RunStatus.HUNG


def test_a_kernel_that_told_of_its_own_end_first_is_to_blame():
    text = failed_job(SUITE, "Test", TIMED_OUT, [STARTED, *PANIC, CHECKED])
    assert verdict(text).status is RunStatus.HUNG


def test_a_machine_check_that_a_kernel_recovers_from_ends_no_boot():
    assert verdict(good_job({}, [CHECKED, "x"]), 0).status is RunStatus.COMPLETE
    with pytest.raises(InfrastructureError, match="fatal error of its hardware"):
        verdict(good_job({}, [CHECKED, BUG]), 0)


def test_a_stale_breakpoint_is_the_emulators():
    text = failed_job(SUITE, "Job", TIMED_OUT, [STARTED, *STALE])
    assert verdict(text).status is RunStatus.HUNG
    found = verdict(text, emulated=True)
    assert (found.status, found.signature) == (RunStatus.INVALID, "")
    assert found.reason.kind == Boots.STALE_BREAKPOINT
    other = failed_job(SUITE, "Job", TIMED_OUT, [STARTED, *PANIC])
    assert verdict(other, emulated=True).status is RunStatus.HUNG
    told = good_job({}, [console_block.DONE, *STALE])
    assert verdict(told, emulated=True).status is RunStatus.COMPLETE


VALUES = {
    "panic at boot": (
        failed_job(["kernel-messages", *BOOT], "Job", "Kernel panic", PANIC),
        RunStatus.BOOT_FAILED,
        "boot: VFS: Unable to mount root fs on block(N,N)",
    ),
    "panic at boot, then a reset": (
        failed_job(BOOT, "Infrastructure", "Connection closed", PANIC),
        RunStatus.BOOT_FAILED,
        "boot: VFS: Unable to mount root fs on block(N,N)",
    ),
    "stall at boot": (
        failed_job(
            BOOT,
            "Job",
            "login-action timed out",
            ["rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:"],
        ),
        RunStatus.BOOT_FAILED,
        "boot hang: rcu_preempt detected stalls on CPU",
    ),
    "oops at boot": (
        failed_job(
            BOOT, "Job", "login-action timed out", ["[ 0.5] Oops: 0002 [#1] PREEMPT_RT SMP"]
        ),
        RunStatus.BOOT_FAILED,
        "boot: N [#N] PREEMPT_RT SMP",
    ),
    "task in D state": (
        failed_job(
            SUITE, "Test", TIMED_OUT, ["INFO: task epoll:312 blocked for more than 120 seconds."]
        ),
        RunStatus.HUNG,
        "suite hang: task epoll:N blocked for more than",
    ),
    "panic in a suite": (
        failed_job(SUITE, "Test", TIMED_OUT, [STARTED, *PANIC]),
        RunStatus.HUNG,
        "suite: VFS: Unable to mount root fs on block(N,N)",
    ),
    "panic in a suite, then a reset": (
        failed_job(SUITE, "Infrastructure", "Connection closed", [STARTED, *PANIC]),
        RunStatus.HUNG,
        "suite: VFS: Unable to mount root fs on block(N,N)",
    ),
    "lava-test-raise": (failed_job(SUITE, "Test", "no reader"), RunStatus.INVALID, ""),
    "a step ends with an error": (good_job({}, [], steps="fail"), RunStatus.INVALID, ""),
    "an oops at boot that the kernel survives": (
        good_job({}, [], boot=[BUG]),
        RunStatus.BOOT_FAILED,
        "boot: sleeping function called from invalid context at kernel/x.c:N",
    ),
    "an oops at boot that ends a suite": (
        failed_job(SUITE, "Test", TIMED_OUT, [BUG, STARTED]),
        RunStatus.BOOT_FAILED,
        "boot: sleeping function called from invalid context at kernel/x.c:N",
    ),
    "an oops in a suite that the kernel survives": (
        good_job({}, [BUG]),
        RunStatus.HUNG,
        "suite: sleeping function called from invalid context at kernel/x.c:N",
    ),
    "an oops in a suite that ends a step": (
        good_job({}, [BUG], steps="fail"),
        RunStatus.HUNG,
        "suite: sleeping function called from invalid context at kernel/x.c:N",
    ),
    "a panic after all figures, where the guest ends itself": (
        good_job({}, ["x", console_block.DONE, *PANIC]),
        RunStatus.COMPLETE,
        "",
    ),
    "a panic after all figures in a job that did not end": (
        failed_job(SUITE, "Test", TIMED_OUT, [STARTED, console_block.DONE, BUG]),
        RunStatus.HUNG,
        "suite: sleeping function called from invalid context at kernel/x.c:N",
    ),
    "an oops before all figures": (
        good_job({}, [console_block.DONE, BUG, console_block.DONE]),
        RunStatus.HUNG,
        "suite: sleeping function called from invalid context at kernel/x.c:N",
    ),
    "all went well": (good_job({}, ["x"]), RunStatus.COMPLETE, ""),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_failing_kernel_is_a_value(name):
    text, status, signature = VALUES[name]
    found = verdict(text, 0 if status is RunStatus.COMPLETE else 1)
    assert (found.status, found.signature, found.ambiguous) == (status, signature, False)
    assert bool(found.reason) == (status is not RunStatus.COMPLETE)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (failed_job(BOOT, "Infrastructure", "Connection closed"), RunStatus.BOOT_FAILED),
        # A truncated image: nothing was ever seen of a kernel.
        (
            failed_job(
                ["auto-login-action", "boot-image-retry"],
                "Infrastructure",
                "Connection closed",
                ["qemu-system-x86_64: -accel kvm: failed to initialize kvm: No such file"],
            ),
            RunStatus.BOOT_FAILED,
        ),
        (failed_job(SUITE, "Infrastructure", "Connection closed"), RunStatus.HUNG),
        # A board that reboots for ever.
        (
            failed_job(BOOT, "Job", "login-action timed out after 42 seconds", ["booting"] * 3),
            RunStatus.BOOT_FAILED,
        ),
        (
            failed_job(BOOT, "Job", "wait for prompt timed out", ["ACPI: Core revision"]),
            RunStatus.BOOT_FAILED,
        ),
        (failed_job(SUITE, "Test", TIMED_OUT, ["+ run-windows.sh"]), RunStatus.HUNG),
    ],
)
def test_an_end_without_a_word_asks_for_another_try(text, status):
    found = verdict(text)
    assert (found.status, found.ambiguous) == (status, True)
    assert found.signature


LAB = {
    "disk full on the dispatcher": failed_job(FETCH, "Bug", "[Errno 28] No space left on device"),
    "sha256 does not match": failed_job(FETCH, "Job", "sha256 for 'kernel' does not match."),
    "power control fails": failed_job(
        ["pdu-reboot", "reset-device", "bootloader-retry", "power-off"],
        "Infrastructure",
        "Unable to reboot: 'pdu' failed",
    ),
    "console refused": failed_job(
        ["bootloader-interrupt", "bootloader-retry"], "Infrastructure", "Connection closed"
    ),
    "bootloader never seen": failed_job(
        ["bootloader-commands", "bootloader-retry"], "Infrastructure", "timed out"
    ),
    "cancelled": failed_job([], "Canceled", "The job was canceled"),
    "cancelled while the kernel booted": failed_job(BOOT, "Canceled", "The job was canceled"),
    "a bug of LAVA": failed_job(["validate"], "Bug", "'NoneType' object is not iterable"),
    "a bug of LAVA in the suite": failed_job(SUITE, "Bug", "KeyError"),
    "QEMU does not start": failed_job(
        BOOT,
        "Infrastructure",
        "Connection closed",
        ["qemu-system-x86_64: cannot set up guest memory 'pc.ram': Cannot allocate memory"],
    ),
    "QEMU gives up in a suite": failed_job(
        SUITE,
        "Infrastructure",
        "Connection closed",
        ["qemu-system-x86_64: terminating on signal 15 from pid 1 (/sbin/init)"],
    ),
    "something new": failed_job(["finalize"], "Infrastructure", "what is this"),
    "killed before its last word": event("target", "booting"),
    "nothing at all": "",
    "a traceback": "Traceback (most recent call last):\nImportError: No module named pexpect\n",
}


def test_a_full_disk_is_no_bug():
    with pytest.raises(InfrastructureError, match="the dispatcher's disk is full"):
        verdict(LAB["disk full on the dispatcher"])


@pytest.mark.parametrize("name", LAB)
def test_a_fault_of_the_lab_is_raised(name):
    with pytest.raises(InfrastructureError) as caught:
        verdict(LAB[name])
    assert caught.value.retryable
    assert caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        failed_job(["validate"], "Job", 'Invalid job data: ["Resource unavailable (404)"]'),
        failed_job(["validate"], "Configuration", "missing parameters"),
        failed_job(["validate"], "Job", "Missing 'arch' in job context"),
    ],
)
def test_a_wrong_job_or_device_is_a_matter_of_configuration(text):
    with pytest.raises(ConfigError) as caught:
        verdict(text)
    assert caught.value.hint


def test_lava_run_that_never_ends_is_a_fault_of_the_lab():
    with pytest.raises(InfrastructureError, match="own timeouts, without a verdict"):
        verdict(event("target", "booting"), "lava-run did not end within its own timeouts")


def test_a_last_word_counts_although_lava_run_then_hung():
    found = verdict(good_job({}, []), "lava-run did not end within its own timeouts")
    assert found.status is RunStatus.COMPLETE


def test_signatures_of_the_same_failure_are_equal():
    one, two = (
        verdict(failed_job(BOOT, "Job", "x", [f"Kernel panic - not syncing: at {a} cpu {n}"]))
        for a, n in (("0xffff81001234", 1), ("0xffff8100abcd1", 7))
    )
    assert one.signature == two.signature


@pytest.mark.parametrize(
    ("line", "symptom"),
    [
        ("rtbisect-symptom: frozen nr_periods", Symptom.FROZEN_PERIODS),
        ("rcu: INFO: rcu_preempt self-detected stall on CPU", Symptom.GRACE_PERIOD),
        ("rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:", Symptom.GRACE_PERIOD),
        ("rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks:", Symptom.GRACE_PERIOD),
        ("rcu: rcu_preempt kthread starved for 21003 jiffies!", Symptom.GRACE_PERIOD),
        (
            "rcu: rcu_preempt kthread timer wakeup didn't happen for 1 jiffies!",
            Symptom.GRACE_PERIOD,
        ),
        ("INFO: task kworker/3:1:77 blocked for more than 122 seconds.", Symptom.BLOCKED_TASK),
        ("watchdog: BUG: soft lockup - CPU#3 stuck for 26s!", Symptom.SOFT_LOCKUP),
        ("BUG: workqueue lockup - pool cpus=3", None),
        ("Kernel panic - not syncing: Attempted to kill init!", None),
    ],
)
def test_a_symptom_is_found_beside_the_signature(line, symptom):
    console = [f"[    9.100000] {line}"]
    found = panic_of(console) or stall_of(console)
    assert found.symptom is symptom
    in_suite = failed_job(SUITE, "Test", TIMED_OUT, [STARTED, *console])
    assert verdict(in_suite).symptom is symptom


def test_foreign_text_in_reasons_has_no_control_characters():
    text = failed_job(BOOT, "Job", "x", ["Kernel panic - not syncing: \x1b[31mred\x07\x00"])
    assert str(speak(verdict(text).reason)).isprintable()


def test_hints_name_commands_that_exist():
    folder = Path(lab.__file__).parent
    named = [
        words
        for path in folder.glob("*.py")
        for words in re.findall(r"`rtbisect ([a-z ]+)`", path.read_text())
    ]
    assert named
    for words in named:
        group, _, command = words.partition(" ")
        assert group in main.commands, words
        assert not command or command in main.commands[group].commands, words
