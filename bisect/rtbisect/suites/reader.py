# SPDX-License-Identifier: GPL-2.0-or-later
"""The workload that is ours: perf events on CPUs, taken by one thread with epoll.

The program and what its options do: lava-jobs/workloads/perf-epoll-reader.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

READER = "perf-epoll-reader"


@dataclass(frozen=True, slots=True)
class Reader:
    """One dose of it, on each CPU."""

    #: What makes the events: "clock", timers that are evenly spread; "pf", page faults of a child.
    mode: str
    #: Between two events of a timer, or of the child.
    period_us: int
    #: 0 in the mode "pf".
    timers: int = 0

    @property
    def options(self) -> str:
        """Options of the reader program for this dose."""
        timers = f" -x {self.timers}" if self.timers else ""
        return f"-m {self.mode} -p {self.period_us}{timers}"

    @property
    def asked_per_s(self) -> float:
        """Events a second that are asked for on each CPU."""
        return max(1, self.timers) * 1e6 / self.period_us

    def part(self, divisor: int) -> Reader:
        """One `divisor`th of the dose."""
        if self.timers:
            return replace(self, timers=self.timers // divisor)
        return replace(self, period_us=self.period_us * divisor)
