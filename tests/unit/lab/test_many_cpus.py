# SPDX-License-Identifier: GPL-2.0-or-later
"""A boot of a host with 128 CPUs, 126 of them watched: one hashed block, and few test cases."""

from dataclasses import replace

import pytest

from helpers.lab_logs import (
    block,
    good_job,
    interrupts,
    noise_txt,
    osnoise_txt,
    request,
    window_txt,
)
from helpers.windows import select
from rtbisect.lab import console_block, job_log
from rtbisect.lab.job_definition import expected_cases
from rtbisect.lab.measurements import MOST_CASES, InvalidBoot, evidence
from rtbisect.lab.profile import host_profile
from rtbisect.model.kinds.boot import Blocks
from rtbisect.model.lab import DeviceType

CPUS = 128
WATCH = range(2, CPUS)
DEVICE = DeviceType(
    name="two-sockets",
    template="qemu-smt.jinja2",
    sockets=2,
    cores=32,
    threads=2,
    memory_mib=262144,
    emulated=False,
)
PROFILE = replace(host_profile(DEVICE), watch="2-127")
#: A minute of samples.
SAMPLES = 60

FACTS = {
    "uname_v": "#1 SMP PREEMPT_RT",
    "online": "0-127",
    "isolated": "2-127",
    "nohz_full": "2-127",
    "smt_active": "1",
    "clocksource": "tsc",
    "hz": "1000",
    "cmdline": PROFILE.boot_line,
}

#: Lines of a server: named vectors, and interrupts of many devices.
LABELS = ("NMI", "LOC", "SPU", "PMI", "IWI", "RTR", "RES", "CAL", "TLB", "TRM", "THR", "DFR", "MCE")


def counts(step):
    """Labels to a count a CPU; every CPU has its own."""
    rows = {
        label: [step * ((n + cpu) % 3) for cpu in range(CPUS)] for n, label in enumerate(LABELS)
    }
    rows["RES"] = [1000 + step * cpu for cpu in range(CPUS)]
    devices = {str(n): [step * (cpu == n % 2) for cpu in range(CPUS)] for n in range(16, 120)}
    return rows | devices


def sample(cpu, at):
    noise = 400 + (cpu * 31 + at * 17) % 300
    cut = (500_000 - noise) * 10**7 // 500_000
    where = f"           <...>-{3000 + cpu}   [{cpu:03d}] ....1 {at + cpu / 1000:12.6f}: "
    times = f"500000 {noise:10} {cut // 10**5}.{cut % 10**5:05d} {noise // 3:7} "
    return f"{where}{times}{0:6} {0:6} {at % 4:6} {0:6} {cpu % 2:6}\n"


def files(asked):
    trace = "# tracer: osnoise\n" + "".join(
        sample(cpu, at) for at in range(SAMPLES) for cpu in WATCH
    )
    events = [(c, "irq", "local_timer:236", range(900, 960)) for c in WATCH]
    events += [(c, "thread", f"kworker/{c}:1", range(4000, 4030)) for c in WATCH]
    return {
        "order.txt": b"osnoise-off\n",
        "preflight/facts.txt": "".join(f"{k}={v}\n" for k, v in FACTS.items()).encode(),
        "osnoise-off/before.txt": interrupts(counts(0), CPUS),
        "osnoise-off/after.txt": interrupts(counts(1), CPUS),
        "osnoise-off/window.txt": window_txt(seconds=60.0),
        "osnoise-off/trace.txt": trace.encode(),
        "osnoise-off/osnoise.txt": osnoise_txt(runtime_us=500_000, cpus="2-127"),
        "osnoise-off/noise.txt": noise_txt(*events),
    }


@pytest.fixture(scope="module")
def asked():
    return request(select(["osnoise-off"]), device_type=DEVICE, profile=PROFILE, window_ms=60_000)


@pytest.fixture(scope="module")
def log(asked):
    results = dict.fromkeys(expected_cases(asked), "pass")
    text = good_job(results, ["x", *block(files(asked)), "RTBISECT-DONE"])
    return job_log.parse(text)


def test_everything_of_every_cpu_comes_back(asked, log):
    found = evidence(asked, log)
    for name in ("res_per_s", "noise_us", "own_noise_us_per_s"):
        assert {m.cpu for m in found.measurements if m.name == name} == {None, *WATCH}
    rate = {m.cpu: m.value for m in found.measurements if m.name == "res_per_s"}
    assert rate[100] == pytest.approx(100 / 60)


def test_the_block_and_the_cases_stay_small(log):
    assert len(log.of_device()) <= MOST_CASES
    size = sum(len(line) for line in log.console)
    assert size < console_block.LARGEST_BLOCK


def test_a_torn_line_in_it_is_refused(asked, log):
    torn = list(log.console)
    place = len(torn) // 2
    torn[place] = torn[place][:30] + "[  61.2] a message of the kernel"
    damaged = replace(log, console=tuple(torn))
    with pytest.raises(InvalidBoot) as caught:
        evidence(asked, damaged)
    assert caught.value.found.kind == Blocks.FOREIGN_TEXT
