# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged and impossible traces for what folds them on the device: the program ends, breaks no rule
of C, and what comes of it is read or refused. The seeds are fixed, so a failure comes again.
"""

import random
import re

import pytest

from helpers import tracers
from rtbisect.suites import noise, timerlat
from rtbisect.suites.base import SuiteError

LINES = 300

#: What a kernel prints where a difference is negative, and what no type holds.
NUMBERS = (
    0, 1, 7, 8, 2**31, 2**32 - 1, 2**32, 10**17, 10**18 - 1, 10**18, 2**60, 2**63 - 1, 2**63,
    2**63 + 1, 2**64 - 1, 2**64, 10**30, -1,
)  # fmt: skip


def number(draw, line):
    """One number of the line is another one."""
    found = list(re.finditer(rb"[0-9]+", line))
    if not found:
        return line
    at = draw.choice(found)
    return line[: at.start()] + str(draw.choice(NUMBERS)).encode() + line[at.end() :]


def byte(draw, line):
    at = draw.randrange(len(line))
    return line[:at] + bytes([draw.randrange(256)]) + line[at + draw.randrange(2) :]


def cut(draw, line):
    return line[: draw.randrange(len(line))]


def long(draw, line):
    at = draw.randrange(len(line))
    return line[:at] + line[at : at + 1] * draw.choice((40, 600, 5000)) + line[at:]


def damaged(draw, lines):
    """A trace made of these lines, of which every third is not as it was."""
    found = []
    for good in draw.choices(lines, k=LINES):
        line = good
        for change in draw.choices((number, byte, cut, long), weights=(6, 2, 1, 1), k=3):
            if draw.random() < 0.12 and line:
                line = change(draw, line)
        found.append(line)
    return b"".join(found)


def recorded(name):
    text = "".join(tracers.recorded(version, name) for version in ("6.1", "7.2"))
    return text.encode().splitlines(keepends=True)


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    return lambda source: tracers.compiled(tmp_path_factory.mktemp("built"), source)


def fuzz(program, tmp_path, lines, read):
    """How many of the traces were folded and read; the others the program refused in a line."""
    whole = 0
    for seed in range(60):
        done = tracers.fold(program, tmp_path, damaged(random.Random(seed), lines))
        said = done.stderr.decode(errors="replace")
        assert done.returncode in (0, 1), f"seed {seed}: {said}"
        assert said.count("\n") == done.returncode, f"seed {seed}: {said}"
        if done.returncode == 0:
            try:
                read({path.name: path.read_bytes() for path in tmp_path.iterdir()})
                whole += 1
            except SuiteError:
                pass
    return whole


def test_latencies(build, tmp_path):
    def read(files):
        content = files["latency.txt"].decode()
        # What the trace had beside latencies is counted in the last line, and not of interest here.
        timerlat.read(re.sub(r"other \d+\n\Z", "other 0\n", content))

    lines = recorded("timerlat-trace.txt")
    assert fuzz(build("timerlat/latfold.c"), tmp_path, lines, read) > 5


def test_noises(build, tmp_path):
    def read(files):
        noise.read(files["noise.txt"].decode("ascii"))

    lines = recorded("osnoise-trace.txt")
    assert fuzz(build("osnoise/noisefold.c"), tmp_path, lines, read) > 5


@pytest.mark.parametrize("ns", [2**63 - 1, 2**63, 2**64 - 1])
def test_a_latency_that_cannot_be_has_a_bucket_of_its_own(build, tmp_path, ns):
    line = f"  task-9  [002] d.h1.  15.1: #7     context    irq timer_latency {ns} ns\n"
    (row,) = timerlat.read(
        tracers.folded(build("timerlat/latfold.c"), tmp_path, line)["latency.txt"]
    )
    assert (row.max_ns, row.buckets[0][1]) == (ns, 1)
    assert row.buckets[0][0] * 9 // 8 >= ns


def test_sums_that_no_number_holds_are_refused(build, tmp_path):
    latency = "  t-9  [002] d.h1.  15.1: #7     context    irq timer_latency {} ns\n"
    done = tracers.fold(build("timerlat/latfold.c"), tmp_path, (latency.format(2**63) * 2).encode())
    assert (done.returncode, done.stderr) == (
        1,
        b"latfold: the latencies of CPU 2 add up to more than 2^64 ns\n",
    )
    event = "  t-9  [002] d.h1.  15.1: irq_noise: timer:236 start 1.2 duration {} ns\n"
    trace = event.format(10**18 - 1) * 19 + "  osnoise-9 [002] .....  16.1: 500000 9 99.9 5\n"
    done = tracers.fold(build("osnoise/noisefold.c"), tmp_path, trace.encode())
    assert (done.returncode, done.stderr) == (
        1,
        b"noisefold: the durations of CPU 2 add up to more than 2^64 ns\n",
    )


def test_a_line_with_a_nul_does_not_swallow_the_next_one(build, tmp_path):
    trace = b"# tracer: osnoise\nfirst\0rest\nsecond\n"
    assert tracers.fold(build("osnoise/noisefold.c"), tmp_path, trace).returncode == 0
    assert (tmp_path / "trace.txt").read_bytes() == trace
