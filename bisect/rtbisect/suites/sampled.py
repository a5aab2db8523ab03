# SPDX-License-Identifier: GPL-2.0-or-later
"""Interrupts on watched CPUs while a tool samples them: perf buffers on every isolated CPU, emptied
by one reader with epoll, as profilers and BPF tools do it.

Source and figures are those of suites/ipi.py. What differs between the kernels beside the tool and
not in the kernel's own counters without it is the tool's: nobody has it who does not run the tool.
"""

from __future__ import annotations

from rtbisect.model.lab import Window
from rtbisect.suites import ipi
from rtbisect.suites.base import Suite, renamed
from rtbisect.suites.reader import READER, Reader

NAME = "sampled"

TOOL = Reader("clock", period_us=20_000, timers=16)

#: Half of what is asked for on 6 isolated CPUs: an emulator on two cores surely gives that.
SAMPLES_PER_S = 6 * TOOL.asked_per_s / 2

SUITE = Suite(
    name=NAME,
    parse=renamed(ipi.parse, NAME),
    windows=(
        Window(name="sampled-off", suites=(NAME,)),
        Window(
            name="sampled-on",
            suites=(NAME,),
            synthetic=True,
            instrument=READER,
            nominal_events_per_s=SAMPLES_PER_S,
        ),
    ),
    on_device={"SAMPLED_TOOL": TOOL.options},
    made_of={"res_": ("reschedule",)},
    per_event=ipi.PER_EVENT,
    counted_by=ipi.COUNTED_BY,
)
