# SPDX-License-Identifier: GPL-2.0-or-later
"""Interrupts on watched CPUs while a tool samples them: perf buffers on every isolated CPU, emptied
by one reader with epoll, as profilers and BPF tools do it.

Source and figures are those of suites/ipi.py. What differs between the kernels beside the tool and
not in the kernel's own counters without it is the tool's: nobody has it who does not run the tool.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.model.lab import Window
from rtbisect.suites import ipi

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.lab import Measurement

NAME = "sampled"

COUNTED_BY = ipi.COUNTED_BY

#: 6 isolated CPUs with 16 timers each would take 4800 samples a second; half of that is what an
#: emulator on two cores surely gives.
SAMPLES_PER_S = 2400.0

WINDOWS = (
    Window("sampled-off", (NAME,)),
    Window(
        "sampled-on",
        (NAME,),
        synthetic=True,
        instrument="perf-epoll-reader",
        nominal_events_per_s=SAMPLES_PER_S,
    ),
)


def parse(
    files: Mapping[str, bytes], window: Window, watch: tuple[int, ...]
) -> tuple[Measurement, ...]:
    """The figures of suites/ipi.py under this suite's name."""
    return tuple(replace(found, suite=NAME) for found in ipi.parse(files, window, watch))
