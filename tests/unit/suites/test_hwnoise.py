# SPDX-License-Identifier: GPL-2.0-or-later
import pytest

from helpers import tracers
from helpers.findings import Like
from helpers.lab_logs import osnoise_txt, sample, trace
from rtbisect.model.kinds.boot import Raw
from rtbisect.suites import hwnoise
from rtbisect.suites.base import SuiteError

(OFF,) = hwnoise.SUITE.windows
WATCH = (2, 3, 4)
OPTIONS = "DEFAULTS OSNOISE_WORKLOAD NO_OSNOISE_PREEMPT_DISABLE OSNOISE_IRQ_DISABLE"


def parsed(content, options=OPTIONS):
    files = {"trace.txt": content, "osnoise.txt": osnoise_txt(options=options)}
    return {(m.name, m.cpu): m.value for m in hwnoise.parse(files, OFF, WATCH)}


@pytest.mark.parametrize("version", tracers.VERSIONS)
def test_with_interrupts_off_only_the_hardware_is_left(version):
    got = parsed(tracers.recorded(version, "hwnoise-trace.txt").encode())
    assert got["hw_per_sample", None] > 0
    assert got["nmi_per_sample", None] == 0
    assert ("irq_per_sample", None) not in got
    assert got["max_single_us", None] == max(got["max_single_us", cpu] for cpu in WATCH)


def test_interrupts_that_came_in_or_were_on_are_refused():
    quiet = trace([sample(cpu, irq=0) for cpu in WATCH])
    assert parsed(quiet)
    with pytest.raises(SuiteError) as caught:
        parsed(trace([sample(cpu, irq=1) for cpu in WATCH]))
    assert caught.value.found == Like(Raw.WITH_INTERRUPTS_OFF, figure="irq_per_sample", value=1.0)
    with pytest.raises(SuiteError) as caught:
        parsed(quiet, "DEFAULTS OSNOISE_WORKLOAD NO_OSNOISE_IRQ_DISABLE")
    assert caught.value.found.kind == Raw.INTERRUPTS_ON
