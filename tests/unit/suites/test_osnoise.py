# SPDX-License-Identifier: GPL-2.0-or-later
import pytest

from helpers.findings import Like, innermost
from helpers.lab_logs import noise_txt, osnoise_txt, sample, trace
from helpers.windows import select
from rtbisect.model.kinds.boot import Noise, Raw
from rtbisect.suites import osnoise
from rtbisect.suites.base import SuiteError

(OFF,) = select(["osnoise-off"])
WATCH = (2, 3, 4)

#: As kernel 6.12 printed it, with the last columns moved together.
REAL = b"""\
# tracer: osnoise
#
#                                _-----=> irqs-off
#           TASK-PID      CPU# |||||||   TIMESTAMP    IN US       IN US  AVAILABLE  IN US     HW
         <...>-302     [003] ....1     5.689296: 500000     249538  50.09240   12027    543 0 0 0 0
     osnoise/2-301     [002] ....1     6.680850: 511038     383275  25.00068   36029    510 0 2 0 1
         <...>-303     [004] d..h2     6.705238: 500000     412629  17.47420   44026    356 0 0 0 0
         <...>-302     [003] ....1     6.733013: 500000     279808  44.03840   20024   1267 0 3 0 1
"""


def parsed(content, **files):
    """`files` without their ending."""
    given = {"trace.txt": content, "osnoise.txt": osnoise_txt()}
    given |= {f"{name}.txt": data for name, data in files.items()}
    return {(m.name, m.cpu): m.value for m in osnoise.parse(given, OFF, WATCH)}


def test_real_samples_are_read():
    got = parsed(REAL)
    assert got["runtime_us", 2] == 511038
    assert got["noise_us", 3] == pytest.approx((249538 + 279808) / 2)
    assert got["irq_per_sample", 3] == 1.5
    assert got["thread_per_sample", 3] == 0.5
    assert got["hw_per_sample", 4] == 356
    assert got["max_single_us", 3] == 20024
    assert got["max_single_us", None] == 44026
    assert got["irq_per_sample", None] == pytest.approx((2 + 1.5 + 0) / 3)


def test_availability_follows_from_runtime_and_noise():
    got = parsed(trace([sample(cpu, noise=125_000) for cpu in WATCH]))
    assert got["avail_percent", None] == pytest.approx(75.0)


def test_a_cpu_without_noise_is_fully_available():
    got = parsed(trace([sample(cpu, noise=0, single=0) for cpu in WATCH]))
    assert got["avail_percent", None] == 100.0


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (trace([sample(2), sample(3)]), Like(Raw.NO_SAMPLE, cpu=4)),
        (trace([sample(2), sample(3), sample(4), sample(5)]), Like(Raw.STRAY_SAMPLED, cpu=5)),
        (trace([sample(2), "CPU:3 [LOST 12 EVENTS]\n", sample(3), sample(4)]), Like(Raw.LOST_LINE)),
        (trace().replace(b"#\n", b"# osnoise is tainted!\n", 1), Like(Raw.TAINTED)),
        (trace([sample(2), sample(3), " " * 1000 + sample(4)]), Like(Raw.NO_SAMPLE_LINE)),
        (trace([sample(2), sample(3), sample(4, available="80.00001")]), None),
        (
            trace([sample(2), sample(3), sample(4, available="81.00000")]),
            Like(Noise.AVAILABLE, avail_percent=81.0),
        ),
        (
            trace([sample(2), sample(3), sample(4, noise=600_000, available="0.00000")]),
            Like(Noise.RANGE, noise_us=600_000),
        ),
        (
            trace([sample(2), sample(3), sample(4, single=200_000)]),
            Like(Noise.SINGLE, max_single_us=200_000),
        ),
        (trace([sample(2), "[   12.0] hello\n"]), Like(Raw.NO_SAMPLE_LINE)),
        (
            trace([sample(2), "\x1b[31mLOST 1 EVENTS\n"]),
            Like(Raw.LOST_LINE, line="\x1b[31mLOST 1 EVENTS"),
        ),
        # int() refuses more than 4300 digits with a ValueError.
        (trace([sample(2).replace(" 510 ", f" {'9' * 5000} ")]), Like(Raw.NO_SAMPLE_LINE)),
        (trace([sample(2).replace("[002]", f"[{'0' * 5000}2]")]), Like(Raw.NO_SAMPLE_LINE)),
        (trace([sample(2, available="9" * 5000 + ".00000")]), Like(Raw.NO_SAMPLE_LINE)),
        (b"# tracer: nop\n", Like(Raw.WRONG_TRACER)),
    ],
)
def test_samples_that_do_not_agree_are_refused(content, reason):
    if reason is None:
        assert parsed(content)
        return
    with pytest.raises(SuiteError) as caught:
        parsed(content)
    assert innermost(caught.value.found) == reason


def test_the_kernels_own_noise_is_the_median_times_the_count_in_a_second_of_runtime():
    rows = noise_txt(
        (2, "irq", "timer:236", [1000, 2000, 9_000_000]),
        (2, "thread", "kworker/2:1", [500]),
        (3, "softirq", "TIMER:1", [700]),
        (2, "nmi", "-", [5000]),
    )
    got = parsed(trace([sample(cpu) for cpu in WATCH] * 2), noise=rows)
    # Two samples of half a second each.
    assert got["irq_noise_us_per_s", 2] == pytest.approx(6.0)
    assert got["own_noise_us_per_s", 2] == pytest.approx(6.5)
    assert got["own_noise_us_per_s", 3] == pytest.approx(0.7)
    assert got["own_noise_us_per_s", 4] == 0.0
    assert got["own_noise_us_per_s", None] == pytest.approx(7.2 / 3)


def test_sources_are_rates_on_all_watched_cpus_together():
    rows = noise_txt(
        (2, "irq", "timer:236", [1000, 2000, 9_000_000]),
        (3, "irq", "timer:236", [1000]),
        (3, "thread", "irq_work/3", [700, 700]),
        (4, "thread", "irq_work/4", [700]),
        (2, "nmi", "-", [5000]),
    )
    files = {"trace.txt": trace([sample(cpu) for cpu in WATCH] * 2), "noise.txt": rows}
    found = osnoise.sources(files, OFF, WATCH)
    # A second of runtime on each.
    assert [(s.kind, s.name, s.per_s, s.us_per_s) for s in found] == [
        ("irq", "timer:236", pytest.approx(4.0), pytest.approx(7.0)),
        ("thread", "irq_work/N", pytest.approx(3.0), pytest.approx(2.1)),
    ]
    del files["noise.txt"]
    assert osnoise.sources(files, OFF, WATCH) == ()


def test_boots_that_were_recorded_without_events_have_no_figure_of_them():
    assert ("own_noise_us_per_s", None) not in parsed(trace())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"tracing_thresh": 5}, Like(Raw.SETTING, key="tracing_thresh", value=5, wanted=1)),
        ({"stop_tracing_us": 20}, Like(Raw.SETTING, key="stop_tracing_us", value=20)),
        ({"runtime_us": 2_000_000}, Like(Raw.SETTING, key="runtime_us", wanted=500_000)),
        ({"runtime_us": 0}, Like(Raw.SETTING, key="runtime_us", value=0)),
        ({"options": "NO_OSNOISE_WORKLOAD"}, Like(Raw.NO_WORKLOAD)),
        ({"overrun_cpu3": 12}, Like(Raw.LOST_OF_CPU, events=12, cpu=3)),
        ({"dropped_cpu4": 1}, Like(Raw.LOST_OF_CPU, events=1, cpu=4)),
        ({"period_us": "soon"}, Like(Raw.NO_COUNT, key="period_us", value="soon")),
    ],
)
def test_a_tracer_that_ran_otherwise_is_refused(changes, reason):
    with pytest.raises(SuiteError) as caught:
        parsed(trace(), osnoise=osnoise_txt(**changes))
    assert caught.value.found == reason


def test_kernels_before_6_2_have_no_options():
    without = b"".join(
        line for line in osnoise_txt().splitlines(keepends=True) if not line.startswith(b"options")
    )
    assert parsed(trace(), osnoise=without)
