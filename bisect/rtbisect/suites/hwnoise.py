# SPDX-License-Identifier: GPL-2.0-or-later
"""Noise of the hardware: the osnoise tracer with interrupts off on the watched CPUs.

What is left is what no kernel can keep away: SMIs, a hypervisor. A control of the same boot.
Source: the files of the suite osnoise, with the option OSNOISE_IRQ_DISABLE.
"""

from __future__ import annotations

from dataclasses import replace

from rtbisect.model.kinds.boot import Raw
from rtbisect.model.lab import Measurement, Window
from rtbisect.suites import osnoise
from rtbisect.suites.base import Files, Suite, SuiteError, Watch, pairs, text

NAME = "hwnoise"

#: What interrupts that are off cannot do. An NMI still comes through.
_NEVER = ("irq_per_sample", "softirq_per_sample", "thread_per_sample")
_FROM_HARDWARE = ("noise_us", "max_single_us", "avail_percent", "hw_per_sample", "nmi_per_sample")


def parse(files: Files, window: Window, watch: Watch) -> tuple[Measurement, ...]:
    """Figures of the suite osnoise that the hardware alone makes, of each CPU and over CPUs."""
    options = pairs(text(files, "osnoise.txt"), " ").get("options", "")
    if "OSNOISE_IRQ_DISABLE" not in options.split():
        raise SuiteError(Raw.INTERRUPTS_ON, tool=osnoise.NAME)
    measurements = osnoise.parse(files, window, watch)
    for m in measurements:
        if m.name in _NEVER and m.value > 0:
            raise SuiteError(Raw.WITH_INTERRUPTS_OFF, figure=m.name, value=m.value)
    return tuple(replace(m, suite=NAME) for m in measurements if m.name in _FROM_HARDWARE)


SUITE = Suite(
    name=NAME,
    parse=parse,
    windows=(Window(name="hwnoise-off", suites=(NAME,)),),
    counted_by=osnoise.COUNTED_BY,
)
