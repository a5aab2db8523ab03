# SPDX-License-Identifier: GPL-2.0-or-later
"""Each figure that a suite of ours may tell has plain words; one of a site's own keeps its name."""

import re

import pytest

from helpers import tracers
from helpers.lab_logs import (
    FACTS,
    dose,
    durations,
    interrupts,
    noise_txt,
    osnoise_txt,
    sample,
    window_txt,
)
from helpers.lab_logs import trace as trace_txt
from rtbisect.config.paths import data
from rtbisect.config.thresholds import load_thresholds
from rtbisect.lab.windows import ALL_WINDOWS
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.report import Changes, Columns, Symptoms
from rtbisect.suites import ipi, stall
from rtbisect.suites.base import every, no_figures
from rtbisect.words.speak import speak

pytestmark = pytest.mark.words

WATCH = (2, 3, 4)
ROWS = {name.upper(): 900 for name in ipi.VECTORS if name != ipi.DEVICES}
COUNTERS = {
    "before.txt": interrupts(dict.fromkeys(ROWS, 0)),
    "after.txt": interrupts(ROWS),
    "window.txt": window_txt(dose=dose(100_000)),
}
HW_OPTIONS = "DEFAULTS OSNOISE_WORKLOAD OSNOISE_IRQ_DISABLE"
CALLS = {"durations.txt": durations(), "facts.txt": f"hz={FACTS['hz']}\n".encode()}
LATENCIES = "".join(
    f"{cpu} {context} 30 30000 1000 1000 0 1000:30\n"
    for cpu in WATCH
    for context in ("irq", "thread")
)
#: Of each suite the files of a window in which it tells all that it can.
FILES = {
    "epoll": {
        "epoll.txt": "".join(
            f"threads {n} events 4000 ns 2000000\n" for n in (1, 2, 4, 8, 16)
        ).encode()
    },
    "hwnoise": {
        "trace.txt": trace_txt([sample(cpu, irq=0) for cpu in WATCH]),
        "osnoise.txt": osnoise_txt(options=HW_OPTIONS),
    },
    "ipi": COUNTERS,
    "osnoise": {
        "trace.txt": trace_txt(),
        "osnoise.txt": osnoise_txt(),
        "noise.txt": noise_txt((2, "irq", "timer:236", [900, 1100])),
    },
    "rcu": CALLS,
    "rcuscale": CALLS,
    "rcutorture": {"torture.txt": b"seconds 60\nend SUCCESS\n"},
    "rtla": {
        "top.txt": tracers.recorded("6.12", "rtla-top.txt").encode(),
        "hist.txt": tracers.recorded("6.12", "rtla-hist.txt").encode(),
    },
    "sampled": COUNTERS,
    "siteload": COUNTERS,
    "stall": {
        "stall.txt": b"nr_periods 290\nnr_throttled 288\nwrites 5\nwaits 9\nlockdep 0\n"
        + b"".join(b"sees_%s 1\n" % guard.encode() for guard in stall.GUARDS)
    },
    "timerlat": {
        "timerlat.txt": b"start_s 5.00\nend_s 7.00\ntimerlat_period_us 5000\n",
        "latency.txt": (
            "# cpu context count sum_ns min_ns max_ns over_100us lower_ns:count ...\n"
            f"{LATENCIES}other 0\n"
        ).encode(),
    },
}


def told(suite):
    """The figures that it tells, with their units."""
    windows = [each for each in ALL_WINDOWS if suite.name in each.suites]
    window = next((each for each in windows if each.workload != "none"), windows[0])
    return {(m.suite, m.name): m.unit for m in suite.parse(FILES[suite.name], window, WATCH)}


def judged():
    suites = tuple(path.stem for path in sorted(data("thresholds").glob("*.yaml")))
    limits = load_thresholds(data("thresholds"), suites)
    return {(limit.key.suite, limit.key.name): limit.unit for limit in limits}


#: Suites of ours; some only explain figures of others.
TELLING = [suite for suite in every() if suite.parse is not no_figures]
PARSED = {key: unit for suite in TELLING for key, unit in told(suite).items()}
ALL = PARSED | judged()


def test_every_suite_tells_what_it_can():
    assert {suite.name for suite in TELLING} == set(FILES) == {suite for suite, _ in PARSED}
    assert {name for suite, name in PARSED if suite == "ipi"} >= {"dev_per_s", "res_per_iwi"}


@pytest.mark.parametrize("key", sorted(ALL), ids=".".join)
def test_a_figure_has_plain_words(key):
    suite, name = key
    unit = ALL[key]
    common = {"suite": suite, "name": name, "unit": unit}
    sides = common | {"base": 6.0, "new": 9.0}
    found = (
        Finding.of(Changes.FIGURE, **sides, title="", isolated=True),
        Finding.of(Symptoms.FIGURE, **sides),
        Finding.of(Columns.FIGURE, **common),
    )
    for each in found[:2]:
        # Both sides, as numbers or as shares.
        assert {number[0] for number in re.findall(r"[0-9]+(?:[.]00|00%)", str(speak(each)))} == {
            "6",
            "9",
        }
    for each in found:
        text = str(speak(each))
        assert not text.startswith(each.kind)
        assert f"{suite}.{name}" not in text
        assert "{" not in text
        assert "#" not in text


@pytest.mark.parametrize("name", sorted(name for suite, name in ALL if suite == "rcu"))
def test_calls_of_ours_are_told_with_the_cpu_that_they_are_made_on(name):
    sides = {"suite": "rcu", "name": name, "base": 6.0, "new": 9.0, "unit": "us", "title": ""}
    for isolated, cpu in ((True, "a housekeeping CPU"), (False, "a CPU that is not watched")):
        found = Finding.of(Changes.FIGURE, **sides, isolated=isolated)
        assert f" on {cpu}" in str(speak(found))


@pytest.mark.parametrize("key", sorted(ALL), ids=".".join)
def test_a_column_is_no_wider_than_a_table_has_room(key):
    suite, name = key
    column = Finding.of(Columns.FIGURE, suite=suite, name=name, unit=ALL[key])
    assert len(str(speak(column))) <= 24


@pytest.mark.parametrize("kind", [Changes.FIGURE, Symptoms.FIGURE, Columns.FIGURE])
def test_a_figure_of_a_site_keeps_its_name(kind):
    sides = {"base": 6.0, "new": 9.0, "title": "", "isolated": True}
    wanted = {name: value for name, value in sides.items() if name in kind.parameters}
    found = Finding.of(kind, suite="ours", name="res_per_s", unit="1/s", **wanted)
    assert "ours.res_per_s" in str(speak(found))
