# SPDX-License-Identifier: GPL-2.0-or-later
"""timerlat: what the device folds of recorded traces, and what is read of it."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from helpers import tracers
from helpers.findings import Like
from rtbisect.model.kinds.boot import Raw
from rtbisect.suites import timerlat
from rtbisect.suites.base import SuiteError

(OFF,) = timerlat.SUITE.windows
WATCH = (2, 3, 4)
LINE = "  task-9  [00{cpu}] d.h1.  15.1: #7     context {context:>6} timer_latency {ns:>9} ns\n"


@pytest.fixture(scope="module")
def fold(tmp_path_factory):
    program = tracers.compiled(tmp_path_factory.mktemp("fold"), "timerlat/latfold.c")

    def run(trace):
        return tracers.folded(program, tmp_path_factory.mktemp("out"), trace)["latency.txt"]

    return run


def settings(**changes):
    found = {"start_s": "5.00", "end_s": "7.00", "timerlat_period_us": 5000, "cpus": "2-4"}
    found |= {"overrun_cpu2": 0, "dropped_cpu2": 0} | changes
    return "".join(f"{key} {value}\n" for key, value in found.items()).encode()


def parsed(latency, **changes):
    files = {"latency.txt": latency.encode(), "timerlat.txt": settings(**changes)}
    return {(m.name, m.cpu): m.value for m in timerlat.parse(files, OFF, WATCH)}


def lines(irq, thread):
    return "# tracer: timerlat\n" + "".join(
        LINE.format(cpu=cpu, context=context, ns=ns)
        for cpu in WATCH
        for context, values in (("irq", irq), ("thread", thread))
        for ns in values
    )


@pytest.mark.parametrize("version", tracers.VERSIONS)
def test_recorded_traces_of_four_kernels(fold, version):
    trace = tracers.recorded(version, "timerlat-trace.txt")
    rows = timerlat.read(fold(trace))
    told = re.findall(r"\[00(\d)\].*context +(irq|thread) timer_latency +(\d+) ns", trace)
    assert {(row.cpu, row.context) for row in rows} == {(int(c), k) for c, k, _ns in told}
    for row in rows:
        mine = sorted(int(ns) for c, k, ns in told if (int(c), k) == (row.cpu, row.context))
        assert (row.count, row.sum_ns) == (len(mine), sum(mine))
        assert (row.min_ns, row.max_ns) == (mine[0], mine[-1])
        assert row.over_100us == sum(ns > 100_000 for ns in mine)
        middle = mine[(len(mine) - 1) // 2]
        assert middle * 7 // 8 <= row.quantile_ns(0.5) <= middle


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=40))
def test_a_quantile_is_known_to_an_eighth(fold, values):
    assume(sum(values) < 2**64)
    (row,) = timerlat.read(fold("".join(LINE.format(cpu=2, context="irq", ns=v) for v in values)))
    ordered = sorted(values)
    for share in (0.1, 0.5, 0.9, 1.0):
        wanted = ordered[max(0, -int(-share * len(values) // 1) - 1)]
        assert wanted * 7 // 8 <= row.quantile_ns(share) <= wanted


def test_figures_of_cpus_and_of_all(fold):
    irq, thread = [1000] * 30, [2000] * 29 + [150_000]
    got = parsed(fold(lines(irq, thread)))
    assert got["irq_p50_us", 3] == 1.0
    assert got["thread_max_us", None] == 150.0
    assert got["thread_over_100us_per_s", 2] == 0.5
    assert got["thread_over_100us_per_s", None] == 0.5
    # Their product is the number of events on all CPUs.
    assert got["cpu_seconds", None] == 6.0


def test_windows_that_say_nothing_are_refused(fold):
    good = fold(lines([1000] * 30, [2000] * 30))
    assert parsed(good)
    few = fold(lines([1000] * 30, [2000] * 19))
    lost = fold(lines([1000] * 30, [2000] * 30) + "CPU:3 [LOST 5 EVENTS]\n")
    for latency, changes, reason in (
        (few, {}, Like(Raw.FEW_LATENCIES, latencies=19, context="thread", cpu=2)),
        (lost, {}, Like(Raw.FOREIGN_TRACE)),
        (good.replace("4 irq", "5 irq"), {}, Like(Raw.STRAY_MEASURED, tool="timerlat", cpu=5)),
        (good, {"overrun_cpu2": 7}, Like(Raw.LOST_OF_CPU, events=7, cpu=2)),
        (good, {"timerlat_period_us": 0}, Like(Raw.NO_PERIOD)),
        (good, {"end_s": "soon"}, Like(Raw.NO_TIME, key="end_s", value="soon")),
        (good, {"end_s": "4.00"}, Like(Raw.WINDOW_TIMES, first_s=5.0, last_s=4.0)),
        (good.split("\n", 1)[1], {}, Like(Raw.NO_HEAD)),
        (good.replace("2 irq 30 30000", "2 irq 30 40000"), {}, Like(Raw.CANNOT_BE)),
        (good.replace("2 irq 30", "2 irq 31"), {}, Like(Raw.CANNOT_BE)),
        (good.replace("3 irq 30", "2 irq 30"), {}, Like(Raw.LATENCIES_TWICE, context="irq", cpu=2)),
        (good.replace("2 irq 30", "2 IRQ 30"), {}, Like(Raw.FOREIGN_LINE)),
    ):
        with pytest.raises(SuiteError) as caught:
            parsed(latency, **changes)
        assert caught.value.found == reason


@given(st.text(alphabet=" [](){}#:.0123456789 context irq timer_latency ns\n", max_size=300))
def test_no_text_makes_the_program_fail(fold, text):
    told = fold(text + "\n" + LINE.format(cpu=2, context="irq", ns=5))
    assert told.splitlines()[0] == timerlat.HEAD
    assert re.fullmatch(r"other \d+", told.splitlines()[-1])
