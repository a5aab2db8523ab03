# SPDX-License-Identifier: GPL-2.0-or-later
"""What the figures of our suites are in plain words; a site's own are called by their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Phrases:
    """A figure in words. Data: `base`, `new`, `unit`; `{cpu}` is a CPU that is watched."""

    #: A sentence without its end: what happens now instead of what happened before.
    change: str
    #: In a subject.
    symptom: str
    #: Over a column.
    column: str


@dataclass(frozen=True, slots=True)
class BootPhrases:
    """What a boot has or has not, in words."""

    #: What happens, as in "... in 8 of 12 boots".
    happens: str
    symptom: str
    column: str


def _interrupts(kind: str, short: str) -> Phrases:
    return Phrases(
        f"{{cpu}} gets {{new:figure}} {kind} interrupts a second instead of {{base:figure}}",
        f"{short} {{base:figure}} -> {{new:figure}}/s",
        f"{short}/s",
    )


def _sampled(what: str, tracer: str, sample: str) -> Phrases:
    return Phrases(
        f"{tracer} counts {{new:figure}} {what} {sample} on {{cpu}} instead of {{base:figure}}",
        f"{what} a sample {{base:figure}} -> {{new:figure}}",
        f"{what}/sample",
    )


def _takes(what: str) -> Phrases:
    return Phrases(
        f"{what} takes {{new:figure}}{{unit:unit}} instead of {{base:figure}}{{unit:unit}}",
        f"{what} {{base:figure}} -> {{new:figure}}{{unit:unit}}",
        f"{what}{{unit:comma}}",
    )


_RESCHEDULING = _interrupts("rescheduling", "rescheduling IPIs")
_CALLS = _interrupts("function call", "function call IPIs")
_OSNOISE = "the osnoise tracer", "in 0.5 s"
_RTLA = "the osnoise tracer (by rtla)", "a sample"
_SYNCHRONIZE = _takes("synchronize_rcu()")
_GRACE_PERIOD = _takes("a grace period")
_WAKEUP = Phrases(
    "the timerlat thread wakes up {new:figure}{unit:unit} late on {cpu} instead of"
    " {base:figure}{unit:unit}",
    "timer wakeup latency {base:figure} -> {new:figure}{unit:unit}",
    "wakeup latency{unit:comma}",
)

PHRASES: Mapping[tuple[str, str], Phrases] = {
    ("epoll", "events_per_ms_8"): Phrases(
        "eight threads get {new:figure} events a millisecond through one epoll instance instead of"
        " {base:figure}",
        "epoll events {base:figure} -> {new:figure}/ms",
        "epoll events/ms",
    ),
    ("ipi", "res_per_iwi"): Phrases(
        "{cpu} gets {new:figure} rescheduling interrupts for each irq_work interrupt instead of"
        " {base:figure}",
        "rescheduling IPIs per irq_work {base:figure} -> {new:figure}",
        "IPIs per irq_work",
    ),
    ("ipi", "res_per_s"): _RESCHEDULING,
    ("sampled", "res_per_s"): _RESCHEDULING,
    ("siteload", "res_per_s"): _RESCHEDULING,
    ("ipi", "cal_per_s"): _CALLS,
    ("siteload", "cal_per_s"): _CALLS,
    ("ipi", "loc_per_s"): _interrupts("local timer", "timer interrupts"),
    ("osnoise", "irq_per_sample"): _sampled("interrupts", *_OSNOISE),
    ("osnoise", "thread_per_sample"): _sampled("thread switches", *_OSNOISE),
    ("osnoise", "softirq_per_sample"): _sampled("softirqs", *_OSNOISE),
    ("rtla", "irq_per_sample"): _sampled("interrupts", *_RTLA),
    ("rtla", "thread_per_sample"): _sampled("thread switches", *_RTLA),
    ("rcu", "p50_us"): _SYNCHRONIZE,
    ("rcu", "p50_ms"): _SYNCHRONIZE,
    ("rcuscale", "p50_us"): _GRACE_PERIOD,
    ("timerlat", "thread_p50_us"): _WAKEUP,
}

BOOT_PHRASES: Mapping[tuple[str, str], BootPhrases] = {
    ("stall", "frozen_periods"): BootPhrases(
        "the CFS bandwidth timer of a cgroup stops", "CFS bandwidth timer stops", "timer stops"
    ),
    ("stall", "rcu_stall"): BootPhrases(
        "the kernel reports an RCU stall", "RCU stalls", "RCU stalls"
    ),
    ("stall", "blocked_task"): BootPhrases(
        "the kernel reports a task that is blocked for too long", "blocked tasks", "blocked tasks"
    ),
    ("stall", "soft_lockup"): BootPhrases(
        "the kernel reports a soft lockup", "soft lockups", "soft lockups"
    ),
    ("stall", "lockdep"): BootPhrases(
        "lockdep reports locks that are taken in a wrong order",
        "lockdep reports",
        "lockdep reports",
    ),
}
