# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes logs, blocks and files of windows in the formats of LAVA and of the device."""

import base64
import gzip
import hashlib
import io
import shutil
import tarfile
from pathlib import Path

import yaml

from helpers.windows import select
from rtbisect.lab.profile import host_profile
from rtbisect.lab.windows import WINDOWS
from rtbisect.model.lab import DeviceType, RunRequest

DEVICE = DeviceType(
    name="qemu-smt",
    template="qemu-smt.jinja2",
    sockets=1,
    cores=4,
    threads=2,
    memory_mib=1024,
    emulated=True,
)

CPUS = 8


def small_lava_jobs(root, *more):
    """A folder lava-jobs with the least that makes a job (`more`: further files of ours), and a
    busybox: `lava_jobs` and `busybox` of the settings of a lab.
    """
    jobs, ours = root / "lava-jobs", Path(__file__).parents[2] / "lava-jobs"
    for name in ("skeleton.yaml.j2", "boot/qemu.yaml.j2", "suites/job.yaml.j2", *more):
        (jobs / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ours / name, jobs / name)
    (jobs / "initramfs").mkdir()
    (jobs / "initramfs/init").write_text("#!/bin/sh\n")
    busybox = root / "busybox"
    busybox.write_text("#!/bin/sh\necho sh\n")
    busybox.chmod(0o755)
    return {"lava_jobs": jobs, "busybox": busybox}


def request(windows=WINDOWS, **changes):
    values = {
        "run_id": "c1-run-1",
        "revision": "0123456789abcdef0123456789abcdef01234567",
        "kernel": "a" * 64,
        "modules": "b" * 64,
        "device_type": DEVICE,
        "profile": host_profile(DEVICE),
        "windows": tuple(windows),
        "suite_params": (("rcu_calls", 100),),
    }
    return RunRequest(**(values | changes))


#: The order that was drawn for the recorded boots.
RECORDED = ("clock-on", "pf-on", "pf-off", "osnoise-off", "rcu-on", "rcu-off")


def recorded(order=RECORDED):
    """What was asked of them."""
    return request([window for name in order for window in select([name])])


# --- /proc/interrupts, window.txt, trace.txt, durations.txt ---


def interrupts(counts, cpus=CPUS):
    """`counts` maps a label to one count a CPU, or to one number for all."""
    lines = ["           " + " ".join(f"CPU{n:<8}" for n in range(cpus))]
    rows = {"4": 0, "NMI": 0, "LOC": 0, "IWI": 0, "RES": 0, "CAL": 0, "TLB": 0} | counts
    for label, value in rows.items():
        values = [value] * cpus if isinstance(value, int) else value
        lines.append(f"{label:>3}: " + " ".join(f"{n:10}" for n in values) + "   some words")
    return ("\n".join([*lines, "ERR:          0", "MIS:          0"]) + "\n").encode()


def window_txt(seconds=2.5, dose=None, start=5_000_000_000):
    lines = [f"start_ns {start}", f"end_ns {start + int(seconds * 1e9)}"]
    for key, value in (dose or {}).items():
        lines += [f"{key}_before 100", f"{key}_after {100 + value}"]
    return ("\n".join(lines) + "\n").encode()


def dose(events, lost=0, faults=0):
    return {"events": events, "wakeups": 700, "lost": lost, "faults": faults}


def sample(cpu, noise=100_000, irq=1, thread=0, runtime=500_000, single=20_000, available=None):
    if available is None:
        cut = (runtime - noise) * 10_000_000 // runtime
        available = f"{cut // 100_000}.{cut % 100_000:05d}"
    return (
        f"           <...>-30{cpu}     [00{cpu}] ....1     6.680850: {runtime} {noise:10} "
        f"{available:>9} {single:7} {510:6} {0:6} {irq:6} {0:6} {thread:6}\n"
    )


def trace(samples=None):
    samples = samples if samples is not None else [sample(cpu) for cpu in (2, 3, 4)] * 2
    # No CPU has two samples at one time.
    at = [line.replace(" 6.680850:", f" {6 + n}.680850:") for n, line in enumerate(samples)]
    return ("# tracer: osnoise\n#\n#   TASK-PID   CPU#\n" + "".join(at)).encode()


def osnoise_txt(**changes):
    """What the kernel gave back of the tracer's settings."""
    found = {
        "cpus": "2-4",
        "period_us": 1_000_000,
        "runtime_us": 500_000,
        "stop_tracing_us": 0,
        "stop_tracing_total_us": 0,
        "options": "DEFAULTS OSNOISE_WORKLOAD NO_PANIC_ON_STOP",
        "tracing_thresh": 1,
    }
    found |= {f"{what}_cpu{cpu}": 0 for cpu in (2, 3, 4) for what in ("overrun", "dropped")}
    return "".join(f"{key} {value}\n" for key, value in (found | changes).items()).encode()


def noise_txt(*rows):
    """`rows` are of one CPU, kind and source each: cpu, kind, source, durations in ns."""
    whole, parts = {}, []
    for cpu, kind, source, values in rows:
        whole.setdefault((cpu, kind, "*"), []).extend(values)
        parts.append(((cpu, kind, source), values))
    lines = ["# cpu kind count sum_ns median_ns max_ns source"]
    for (cpu, kind, source), values in [*whole.items(), *parts]:
        middle = sorted(values)[(len(values) - 1) // 2]
        numbers = f"{len(values)} {sum(values)} {middle} {max(values)}"
        lines.append(f"{cpu} {kind} {numbers} {source}")
    return ("\n".join(lines) + "\n").encode()


def durations(values=None):
    return "".join(f"{ns}\n" for ns in values or [6_000_000 + n for n in range(100)]).encode()


FACTS = {
    "uname_v": "#1 SMP PREEMPT_RT",
    "online": "0-7",
    "isolated": "2-7",
    "nohz_full": "2-7",
    "smt_active": "1",
    "clocksource": "tsc",
    "hz": "1000",
    "tainted": "0",
}


def files(asked, facts=None, **changes):
    """All files of a good boot for the windows of `asked`; `changes` replace by name."""
    facts = FACTS | {"cmdline": asked.profile.boot_line} | (facts or {})
    found = {
        "order.txt": (" ".join(w.name for w in asked.windows) + "\n").encode(),
        "preflight/facts.txt": "".join(f"{k}={v}\n" for k, v in facts.items()).encode(),
    }
    for window in asked.windows:
        if "ipi" in window.suites:
            on = window.nominal_events_per_s > 0
            added = {"RES": 125 if on else 3, "IWI": 500 if on else 1, "LOC": 2, "CAL": 1}
            found[f"{window.name}/before.txt"] = interrupts({})
            found[f"{window.name}/after.txt"] = interrupts(added)
            given = dose(int(2.5 * window.nominal_events_per_s)) if on else None
            found[f"{window.name}/window.txt"] = window_txt(dose=given)
        if "osnoise" in window.suites:
            # As many interrupts as the snapshots count, about.
            irq = 100 if window.nominal_events_per_s else 1
            samples = [sample(cpu, irq=irq) for cpu in (2, 3, 4)] * 2
            found[f"{window.name}/trace.txt"] = trace(samples)
            found[f"{window.name}/osnoise.txt"] = osnoise_txt()
            found[f"{window.name}/noise.txt"] = noise_txt((2, "irq", "timer:236", [900, 1100]))
        if "rcu" in window.suites:
            found[f"{window.name}/durations.txt"] = durations()
    return found | changes.get("replace", {})


# --- the block ---


def tar_of(content, members=()):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in content.items():
            info = tarfile.TarInfo(f"./{name}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in members:
            archive.addfile(info)
    return out.getvalue()


def block(content, members=()):
    return block_of(gzip.compress(tar_of(content, members), mtime=0))


def block_of(data):
    text = base64.b64encode(data).decode()
    sha256 = hashlib.sha256(data).hexdigest()
    return [
        f"RTBISECT-BLOCK-BEGIN v1 sha256={sha256} bytes={len(data)}",
        *(text[at : at + 76] for at in range(0, len(text), 76)),
        "RTBISECT-BLOCK-END v1",
    ]


# --- the log of lava-run ---


def event(level, message):
    data = {"dt": "2026-01-02T03:04:05.678901", "lvl": level, "msg": message}
    return yaml.safe_dump(data, default_flow_style=True, default_style='"', width=10**6)[:-1]


def result(case, outcome="pass", definition="lava", **more):
    return event("results", {"case": case, "definition": definition, "result": outcome, **more})


def job(outcome="pass", error_type="", error_msg=""):
    if outcome == "pass":
        return result("job")
    return result("job", "fail", error_type=error_type, error_msg=error_msg)


#: What LAVA's script on the device prints before its first step.
STARTED = "<LAVA_SIGNAL_STARTRUN 0_rtbisect rtbisect-36bb21cb46e4_1.1.3.1>"


def failed_job(cases, error_type, error_msg, console=()):
    """A log that ends with failing cases of LAVA's suite, in this order."""
    lines = [result("validate")] if "validate" not in cases else []
    lines += [event("target", line) for line in console]
    lines += [result(case, "fail") for case in cases]
    return "\n".join([*lines, job("fail", error_type, error_msg)]) + "\n"


def good_job(cases, console, steps="pass", boot=()):
    """A log of a job that LAVA ran to its end; `cases` maps cases of the device to results.
    The device printed `boot` before the suites began and `console` after.
    """
    lines = [result("validate"), result("login-action")]
    lines += [event("target", line) for line in (*boot, STARTED)]
    lines += [result(case, outcome, "0_rtbisect") for case, outcome in cases.items()]
    lines += [event("target", line) for line in console]
    lines += [result("0_rtbisect", steps), job()]
    return "\n".join(lines) + "\n"
