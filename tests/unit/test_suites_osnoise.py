# SPDX-License-Identifier: GPL-2.0-or-later
import pytest
from lab_logs import sample, trace

from rtbisect.lab.windows import select
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


def parsed(content):
    return {(m.name, m.cpu): m.value for m in osnoise.parse({"trace.txt": content}, OFF, WATCH)}


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
        (trace([sample(2), sample(3)]), "no sample of watched CPU 4"),
        (trace([sample(2), sample(3), sample(4), sample(5)]), "not watched"),
        (trace([sample(2), "CPU:3 [LOST 12 EVENTS]\n", sample(3), sample(4)]), "lost events"),
        (trace().replace(b"#\n", b"# osnoise is tainted!\n", 1), "tainted"),
        (trace([sample(2), sample(3), sample(4, available="80.00001")]), None),
        (trace([sample(2), sample(3), sample(4, available="81.00000")]), "does not follow"),
        (trace([sample(2), sample(3), sample(4, noise=600_000, available="0.00000")]), "cannot be"),
        (trace([sample(2), sample(3), sample(4, single=200_000)]), "cannot be"),
        (trace([sample(2), "[   12.0] hello\n"]), "no sample"),
        (trace([sample(2), "\x1b[31mLOST 1 EVENTS\n"]), r"lost events: '\\x1b\[31mLOST"),
        # int() refuses more than 4300 digits with a ValueError.
        (trace([sample(2).replace(" 510 ", f" {'9' * 5000} ")]), "no sample"),
        (trace([sample(2).replace("[002]", f"[{'0' * 5000}2]")]), "no sample"),
        (trace([sample(2, available="9" * 5000 + ".00000")]), "no sample"),
        (b"# tracer: nop\n", "not of the osnoise tracer"),
    ],
)
def test_samples_that_do_not_agree_are_refused(content, reason):
    if reason is None:
        assert parsed(content)
        return
    with pytest.raises(SuiteError, match=reason):
        parsed(content)
