# SPDX-License-Identifier: GPL-2.0-or-later
"""rtla: recorded texts of four kernels, and what a split at white space would misread."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import tracers
from helpers.findings import Like
from rtbisect.model.kinds.boot import Raw
from rtbisect.suites import rtla
from rtbisect.suites.base import SuiteError

(OFF,) = rtla.SUITE.windows
WATCH = (2, 3, 4)
HEAD = (
    "\x1b[2;37;40m      Operating System Noise      \x1b[0;0;0m\n"
    "duration:   0 00:00:03 | time is in us\n"
    "\x1b[2;30;47mCPU Period       Runtime        Noise  % CPU Aval   Max Noise   Max Single"
    "          HW          NMI          IRQ      Softirq       Thread\x1b[0;0;0m\n"
)
HIST = tracers.recorded("6.12", "rtla-hist.txt")


def row(cpu, *, periods=2, runtime=1_000_000, noise=500_000, worst=300_000, single=20_000, irq=4):
    percent = (runtime - noise) * 10**7 // runtime
    return (
        f"{cpu:3d} #{periods:<6d} {runtime:12d} {noise:12d}   {percent // 10**5:3d}."
        f"{percent % 10**5:05d}{worst:12d} {single:12d}{7:12d} {0:12d} {irq:12d} {0:12d} {2:12d}\n"
    )


def top(*rows):
    return HEAD + "".join(rows or [row(cpu) for cpu in WATCH])


def parsed(text, hist=HIST):
    files = {"top.txt": text.encode(), "hist.txt": hist.encode()}
    return {(m.name, m.cpu): m.value for m in rtla.parse(files, OFF, WATCH)}


@pytest.mark.parametrize("version", tracers.VERSIONS)
def test_recorded_tables_of_four_kernels(version):
    got = parsed(
        tracers.recorded(version, "rtla-top.txt"), tracers.recorded(version, "rtla-hist.txt")
    )
    assert {cpu for _name, cpu in got} == {None, *WATCH}
    assert 500_000 <= got["runtime_us", None] < 520_000
    assert got["max_single_us", None] == max(got["max_single_us", cpu] for cpu in WATCH)
    assert set(rtla.read_hist(tracers.recorded(version, "rtla-hist.txt"))) <= set(WATCH)


def test_sums_become_figures_of_one_sample():
    got = parsed(top(row(2, periods=4, noise=400_000), row(3), row(4)))
    assert got["runtime_us", 2] == 250_000
    assert got["noise_us", 2] == 100_000
    assert got["irq_per_sample", 2] == 1
    assert got["irq_per_sample", None] == pytest.approx((1 + 2 + 2) / 3)
    assert got["max_noise_us", None] == 300_000


def test_numbers_of_twelve_digits_are_read_although_they_touch():
    big = row(2, runtime=999_999_999_999, noise=999_999_999_998, worst=999_999_999_997, single=9)
    (first, *_rest) = rtla.read_top(HEAD + big)
    assert (first.max_noise_us, first.max_single_us, first.counts[0]) == (999_999_999_997, 9, 7)


@given(
    st.tuples(*[st.integers(0, 999)] * 2),
    st.lists(st.integers(0, 10**12 - 1), min_size=2, max_size=2),
)
def test_a_row_is_read_back_as_it_was_printed(small, large):
    noise, runtime = sorted(large)
    periods, irq = small[0] + 1, small[1]
    runtime = max(1, runtime)
    text = row(5, periods=periods, runtime=runtime, noise=noise, worst=noise, single=0, irq=irq)
    (found,) = rtla.read_top(HEAD + text)
    assert (found.cpu, found.periods, found.runtime_us, found.noise_us) == (
        5,
        periods,
        runtime,
        noise,
    )
    assert found.counts == (7, 0, irq, 0, 2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (top(row(2), row(3)), Like(Raw.NO_ROW, cpu=4)),
        (top(row(2), row(3), row(4), row(5)), Like(Raw.STRAY_MEASURED, cpu=5)),
        (top(row(2), row(2), row(3), row(4)), Like(Raw.CPU_TWICE)),
        (
            top() + "  12 (1.50%) events missed, results might not be accurate\n",
            Like(Raw.TOOL_LOST),
        ),
        (top().replace("time is in us", "time is in ns"), Like(Raw.NO_UNIT)),
        (top().replace("Max Noise", "Most Noise"), Like(Raw.NO_TABLE)),
        ("", Like(Raw.NO_TABLE)),
        (top(row(2), row(3), row(4, noise=1_000_001)), Like(Raw.ROW_NUMBERS)),
        (top(row(2), row(3), row(4, worst=600_000)), Like(Raw.ROW, cpu=4)),
        (top(row(2), row(3), row(4, single=400_000)), Like(Raw.ROW, cpu=4)),
        (top(row(2), row(3), row(4, worst=1000, single=1000)), Like(Raw.ROW, cpu=4)),
        (top(row(2), row(3), row(4).replace("50.00000", "51.00000")), Like(Raw.ROW, cpu=4)),
        (top(row(2), row(3), row(4).replace("   ", " ", 1)), Like(Raw.ROW_WIDTH)),
        (top(row(2), row(3), row(4).replace("20000", "2000x")), Like(Raw.ROW_NUMBERS)),
        (top(row(2), row(3), "[    9.9] a kernel message\n", row(4)), Like(Raw.ROW_WIDTH)),
    ],
)
def test_tables_that_cannot_be_believed_are_refused(text, reason):
    with pytest.raises(SuiteError) as caught:
        parsed(text)
    assert caught.value.found == reason


def test_a_cpu_without_noise_has_no_column():
    two = "\n".join(
        line if line.startswith("#") else line.rsplit(None, 1)[0] for line in HIST.splitlines()
    )
    assert rtla.read_hist(two) == (2, 3)
    start = "# RTLA osnoise histogram\n# Time unit is microseconds (us)\n# Duration:   0 00:00:03\n"
    assert rtla.read_hist(start + "over: 0\ncount: 0\nmin: 0\navg: 0\nmax: 0\n") == ()
    with pytest.raises(SuiteError) as caught:
        rtla.read_hist(start + "over: 0\ncount: 5\n")
    assert caught.value.found.kind == Raw.HISTOGRAM_HEAD


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text.replace("(us)", "(ns)"), Like(Raw.NO_HISTOGRAM)),
        (lambda text: text.replace("CPU-003", "CPU3"), Like(Raw.HISTOGRAM_COLUMN, column="CPU3")),
        (lambda text: text.replace("CPU-003", "CPU-005"), Like(Raw.STRAY_HISTOGRAM, cpu=5)),
        (lambda text: text[: text.index("over:")], Like(Raw.HISTOGRAM_END)),
        (lambda text: text.replace("count:   142796", "count:   142797"), Like(Raw.HISTOGRAM_SUM)),
        (lambda text: text.replace("\n28000 ", "\n29000 "), Like(Raw.HISTOGRAM_ROW)),
        (lambda text: text.replace("\n28000 ", "\nlater "), Like(Raw.HISTOGRAM_ROW)),
        (lambda text: text + "3 events missed\n", Like(Raw.TOOL_LOST)),
        (
            lambda text: text.replace("        0         1         0 \n", "  0 1\n", 1),
            Like(Raw.HISTOGRAM_COUNTS),
        ),
    ],
)
def test_histograms_that_do_not_agree_with_themselves_are_refused(change, reason):
    text = change(HIST)
    assert text != HIST
    with pytest.raises(SuiteError) as caught:
        parsed(top(), text)
    assert caught.value.found == reason


@given(st.text(alphabet="# CPU-0123456789:overcountIndex\n", max_size=200))
def test_foreign_histograms_are_read_or_refused(text):
    head = "# RTLA osnoise histogram\n# Time unit is microseconds (us)\n"
    with suppress(SuiteError):
        assert all(cpu >= 0 for cpu in rtla.read_hist(head + text))
