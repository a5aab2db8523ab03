# SPDX-License-Identifier: GPL-2.0-or-later
"""Interrupts on watched CPUs while a tool samples them: perf buffers on every isolated CPU, emptied
by one reader with epoll, as profilers and BPF tools do it.

Source and figures are those of suites/ipi.py. What differs between the kernels beside the tool and
not in the kernel's own counters without it is the tool's: nobody has it who does not run the tool.
"""

from __future__ import annotations

from functools import partial

from rtbisect.model.lab import Window
from rtbisect.suites import ipi
from rtbisect.suites.base import Suite

NAME = "sampled"

#: 6 isolated CPUs with 16 timers each would take 4800 samples a second; half of that is what an
#: emulator on two cores surely gives.
SAMPLES_PER_S = 2400.0

SUITE = Suite(
    NAME,
    partial(ipi.parse_as, NAME),
    windows=(
        Window("sampled-off", (NAME,)),
        Window(
            "sampled-on",
            (NAME,),
            synthetic=True,
            instrument="perf-epoll-reader",
            nominal_events_per_s=SAMPLES_PER_S,
        ),
    ),
    made_of={"res_": ("reschedule",)},
    per_event=ipi.PER_EVENT,
    counted_by=ipi.COUNTED_BY,
)
