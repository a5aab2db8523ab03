# SPDX-License-Identifier: GPL-2.0-or-later
"""Durations of synchronize_rcu(), measured by a kernel module of our own.

Source: durations.txt, one duration in ns a line, in call order. The median moves in
steps of one tick, because grace periods begin and end on ticks; `p50_ticks` says how
many where the machine told its tick rate, `mode_ticks` and `mode_share` which number of ticks
most calls took and how many of them did.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING

from rtbisect.model.kinds.boot import Raw
from rtbisect.suites.base import (
    FACTS_FILE,
    Calls,
    Files,
    Suite,
    SuiteError,
    Watch,
    of_boot,
    pairs,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.lab import Measurement, Window

NAME = "rcu"

#: Fewer calls do not carry a 90 % quantile.
FEWEST = 10

#: Calls beyond this are the tail: several grace periods, or a kthread that did not get to run.
LATE_US = 20_000.0

#: A call that took longer was no measurement: RCU itself reports a stall after 21 s.
LONGEST_NS = 60 * 10**9


def parse(files: Files, window: Window, watch: Watch) -> tuple[Measurement, ...]:
    """Calls, mean, min, max and quantiles in us, all of the whole boot (cpu=None)."""
    del watch  # a grace period belongs to the machine, not to a CPU
    durations_us = _durations_us(text(files, "durations.txt"))
    calls = len(durations_us)
    figures = {
        "mean_us": math.fsum(durations_us) / calls,
        "min_us": durations_us[0],
        "max_us": durations_us[-1],
        "p50_us": quantile(durations_us, 0.50),
        "p90_us": quantile(durations_us, 0.90),
        "p99_us": quantile(durations_us, 0.99),
    }
    shares = {"over_20ms_per_call": sum(us > LATE_US for us in durations_us) / calls}
    if hz := _hz(files):
        tick_us = 1e6 / hz
        ticks = Counter(round(us / tick_us) for us in durations_us)
        # Of counts that come equally often, take the shorter one.
        mode = min(ticks, key=lambda count: (-ticks[count], count))
        shares |= {
            "p50_ticks": figures["p50_us"] / tick_us,
            "mode_ticks": float(mode),
            "mode_share": ticks[mode] / calls,
        }
    return (
        *of_boot(NAME, window, "1", {"calls": float(calls)}),
        *of_boot(NAME, window, "us", figures),
        *of_boot(NAME, window, "1", shares),
    )


def _hz(files: Files) -> int:
    """Ticks a second of the kernel; 0 where the device could not tell, which it says. SuiteError
    where it says nothing: then the line was damaged, and figures would be missing in silence.
    """
    if FACTS_FILE not in files:
        return 0
    hz = pairs(text(files, FACTS_FILE), "=").get("hz")
    if hz is None or not re.fullmatch(r"([1-9][0-9]{1,3})?", hz):
        raise SuiteError(Raw.NO_HZ, file="facts.txt", value=hz[:40] if hz else None)
    return int(hz or 0)


def quantile(ordered: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of all values do not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _durations_us(content: str) -> list[float]:
    durations_us = []
    for line in content.splitlines():
        if not re.fullmatch(r"[0-9]{1,12}", line):
            raise SuiteError(Raw.NO_DURATION, file="durations.txt", line=line[:40])
        if not 0 < int(line) <= LONGEST_NS:
            raise SuiteError(Raw.DURATION, call="synchronize_rcu()", took_ns=int(line))
        durations_us.append(int(line) / 1000)
    if len(durations_us) < FEWEST:
        raise SuiteError(Raw.FEW_CALLS, file="durations.txt", calls=len(durations_us), least=FEWEST)
    return sorted(durations_us)


SUITE = Suite(
    name=NAME,
    parse=parse,
    # synchronize_rcu() takes some ticks.
    calls=Calls("rcu_calls", figure="calls", longest_s=0.5),
    # Settings that decide how long a grace period takes (kernel/rcu/tree.c).
    facts=(
        "rcu_jiffies_till_first_fqs",
        "rcu_jiffies_till_next_fqs",
        "rcu_jiffies_till_sched_qs",
        "rcu_normal_wake_from_gp",
        "rcu_expedited",
        "rcu_normal",
    ),
)
