# SPDX-License-Identifier: GPL-2.0-or-later
"""What windows may leave behind on a device, what its health is read from, and what the suite stall
puts back; with plain folders in place of /proc, /sys and tracefs.
"""

import re
import struct
import subprocess
from pathlib import Path

import pytest

from helpers.lab_logs import request
from helpers.windows import select
from rtbisect.lab.classify import panic_of
from rtbisect.lab.measurements import symptom
from rtbisect.suites.stall import FROZEN, GUARDS

SUITES = Path(__file__).resolve().parents[3] / "lava-jobs/suites"


def shell(*steps, scripts=("lib", "preflight", "health", "state", "stall/stall")):
    """What the device's shell prints in these steps, with the functions of the scripts."""
    lines = [*(f". {SUITES}/{name}.sh" for name in scripts), *steps]
    argv = ["/bin/busybox", "ash", "-euc", "\n".join(lines)]
    done = subprocess.run(argv, timeout=300, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def put(root, **files):
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def fields(output):
    return dict(line.split("=", 1) for line in output.splitlines())


# --- health ---


def counters(tmp_path, interrupts="  RES:  1  2  words\n"):
    (tmp_path / "interrupts").write_text(interrupts)
    steps = (
        f"_CPU_DIR={tmp_path}/cpu _MSR_DIR={tmp_path}/msr _INTERRUPTS={tmp_path}/interrupts",
        "health_counters before",
    )
    return fields(shell(*steps))


def test_what_nobody_counts_is_no_zero(tmp_path):
    found = counters(tmp_path)
    for name in ("throttled", "machine_checks", "smi"):
        assert found[f"{name}_before"] == ""


def test_what_is_counted_is_summed_over_cpus(tmp_path):
    for cpu, count in ((0, 5), (1, 7), (10, 0)):
        put(tmp_path / f"cpu/cpu{cpu}/thermal_throttle", core_throttle_count=f"{count}\n")
        register = tmp_path / f"msr/{cpu}/msr"
        register.parent.mkdir(parents=True)
        register.write_bytes(bytes(0x34) + struct.pack("<Q", 10 * count + 1))
    found = counters(
        tmp_path, " MCE:    1   0   2   Machine check exceptions\n MCP:  7 7 7 polls\n"
    )
    assert found["throttled_before"] == "12"
    assert found["machine_checks_before"] == "3"
    assert found["smi_before"] == "123"


def test_a_cpu_that_cannot_be_read_leaves_no_sum(tmp_path):
    put(tmp_path, cpu__cpu0__thermal_throttle__core_throttle_count="5\n")
    put(tmp_path, cpu__cpu1__thermal_throttle__core_throttle_count="")
    put(tmp_path, msr__0__msr="\0" * 60, msr__1__msr="short")
    found = counters(tmp_path)
    assert (found["throttled_before"], found["smi_before"]) == ("", "")


@pytest.mark.parametrize(
    ("governors", "told"),
    [
        (("performance", "performance"), "performance"),
        (("powersave", "performance"), "powersave,performance"),
        (("", "performance"), "performance"),
        ((), ""),
    ],
)
def test_the_governors_of_all_cpus_are_one_fact(tmp_path, governors, told):
    for cpu, name in enumerate(governors):
        put(tmp_path, **{f"cpu{cpu}__cpufreq__scaling_governor": f"{name}\n"})
    assert shell(f"_CPU_DIR={tmp_path}", "_governors", "echo $LINE").strip() == told


def test_no_fact_is_written_twice_and_taint_is_whole(tmp_path):
    put(tmp_path, tainted="12288\n")
    told = shell(
        f"_TAINTED={tmp_path}/tainted VERSION=v SIBLINGS= UNKNOWN_PARAMETERS=",
        "HOUSEKEEPING=0 ISOLATED=1 WATCH=1",
        # The builtin reads this one by single bytes.
        f'read_line() {{ if [ "$1" = {tmp_path}/tainted ]; then LINE=1; else LINE=; fi; }}',
        "_measure_hz() { :; }",
        "_facts",
    )
    keys = [line.split("=", 1)[0] for line in told.splitlines()]
    assert sorted(set(keys)) == sorted(keys)
    assert fields(told)["tainted"] == "12288"


# --- what a window leaves behind ---


def stat(pid, name, policy, priority):
    zeros = " ".join(["0"] * 36)
    return f"{pid} ({name}) S {zeros} {priority} {policy} 0 0\n"


def machine(tmp_path):
    proc, tracing = tmp_path / "proc", tmp_path / "tracing"
    put(
        proc,
        **{"12__stat": stat(12, "ksoftirqd/0", 0, 0), "13__stat": stat(13, "irq_work/0", 1, 1)},
        modules="", mounts="proc /proc proc rw 0 0\n", sys__kernel__panic="0\n",
        sys__kernel__printk="1\t4\t1\t7\n",
    )  # fmt: skip
    put(tracing, current_tracer="nop\n", set_event="")
    (tracing / "instances").mkdir()
    (tmp_path / "results/preflight").mkdir(parents=True)
    return proc, tracing


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, None),
        ({"proc__12__stat": stat(12, "ksoftirqd/0", 1, 1)}, "priority ksoftirqd/0 1 1"),
        ({"proc__mounts": "c /sys/fs/cgroup cgroup2 rw 0 0\n"}, "mount /sys/fs/cgroup"),
        ({"proc__modules": "torture 8 0 - Live 0x0\n"}, "module torture"),
        ({"proc__sys__kernel__panic": "1\n"}, "setting panic 1; no setting panic 0"),
        ({"tracing__current_tracer": "osnoise\n"}, "setting current_tracer osnoise"),
        ({"tracing__set_event": "ipi:ipi_send_cpu\n"}, "setting set_event ipi:ipi_send_cpu"),
        ({"tracing__instances__osnoise_top__x": ""}, "instance osnoise_top"),
        ({"tracing__instances__rtbisect__x": ""}, None),
    ],
)
def test_a_window_is_not_begun_where_another_left_something(tmp_path, change, said):
    proc, tracing = machine(tmp_path)
    put(tmp_path / "new", **change)
    told = shell(
        f"STATE_PROC={proc} TRACING={tracing} RESULTS={tmp_path}/results",
        "state_begin",
        f"[ ! -d {tmp_path}/new ] || cp -r {tmp_path}/new/. {tmp_path}",
        "state_same clock-on && echo begun || cat $RESULTS/preflight/facts.txt",
    )
    if said is None:
        assert told == "begun\n"
    else:
        assert said in fields(told)["left_behind_clock-on"]


# --- stall ---


def stall(tmp_path, program="exit 0", **more):
    """Run the window; its end, and what its files say then. The control groups are a folder, in
    which the kernel would make the files of a group.
    """
    put(
        tmp_path / "proc", sys__kernel__panic="30\n", sys__kernel__printk="1\t4\t1\t7\n", **more,
    )  # fmt: skip
    put(tmp_path, cgroup__cgroup__subtree_control="")
    (tmp_path / "results/stall").mkdir(parents=True)
    put(tmp_path, bin__epollstall=f"#!/bin/sh\necho nr_periods 1\n{program}\n", kmsg="")
    (tmp_path / "bin/epollstall").chmod(0o755)
    return shell(
        f"RESULTS={tmp_path}/results RTBISECT={tmp_path} KMSG={tmp_path}/kmsg HOUSEKEEPING=0-1",
        f"HOUSEKEEPING_CPU=0 STALL_PROC={tmp_path}/proc STALL_SUPPRESS={tmp_path}/suppress",
        f"STALL_CGROUPS={tmp_path}/cgroup STALL_GROUP={tmp_path}/cgroup/rtbisect",
        f"mount() {{ echo mounted; mv {tmp_path}/cgroup/cgroup/subtree_control "
        "$STALL_CGROUPS/cgroup.subtree_control; }",
        "umount() { echo unmounted; }",
        "dmesg() { :; }; log_since() { :; }",
        "rmdir() { cat $1/cpu.max; rm -r $1; }",
        "window_stall && echo passed || echo failed",
        "cat $STALL_CGROUPS/cgroup.subtree_control $STALL_PROC/sys/kernel/*",
        "cat $RESULTS/stall/stall.txt",
    )


@pytest.mark.parametrize("code", [0, 1])
def test_stall_puts_back_what_it_changed(tmp_path, code):
    told = stall(tmp_path, f"exit {code}", sys__kernel__hung_task_timeout_secs="120\n")
    assert not (tmp_path / "cgroup/rtbisect").exists()
    assert told.splitlines()[:7] == [
        "mounted", "max", "unmounted", "failed" if code else "passed", "-cpu", "120", "30",
    ]  # fmt: skip
    assert "1\t4\t1\t7" in told


SEES = {
    "suppress": "0\n", "proc__sys__kernel__watchdog": "1\n", "proc__lockdep_chains": "",
    "proc__sys__kernel__soft_watchdog": "1\n", "proc__lockdep_stats": " debug_locks:      1\n",
    "proc__sys__kernel__hung_task_warnings": "10\n",
    "proc__sys__kernel__hung_task_timeout_secs": "120\n",
}  # fmt: skip


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({}, "0000"),
        (SEES, "1111"),
        (SEES | {"suppress": "1\n"}, "0111"),
        (SEES | {"proc__sys__kernel__hung_task_warnings": "0\n"}, "1011"),
        (SEES | {"proc__sys__kernel__watchdog": "0\n"}, "1101"),
        (SEES | {"proc__lockdep_stats": " debug_locks:      0\n"}, "1110"),
    ],
)
def test_stall_says_which_symptoms_the_kernel_would_tell(tmp_path, files, wanted):
    put(tmp_path, **files)
    told = stall(tmp_path)
    assert all(f"sees_{kind} {is_it}\n" in told for kind, is_it in zip(GUARDS, wanted, strict=True))


def test_what_the_device_says_of_a_hang_is_what_is_read(tmp_path):
    """The window that it is in, and the symptom with which the program ends the boot."""
    stall(tmp_path, f"cp {tmp_path}/kmsg {tmp_path}/begun")
    begins, ends = ((tmp_path / name).read_text().strip() for name in ("begun", "kmsg"))
    source = (SUITES / "stall/epollstall.c").read_text()
    says = re.search(r'"<0>(rtbisect-symptom: .*)\\n"', source)[1]
    asked = request(select(["stall"]))
    seen = panic_of([says]).symptom
    (found,) = symptom(asked, seen, [begins, says])
    assert found.name == FROZEN
    assert symptom(asked, seen, [begins, ends, says]) == ()
