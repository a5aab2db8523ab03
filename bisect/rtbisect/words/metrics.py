# SPDX-License-Identifier: GPL-2.0-or-later
"""What the figures of our suites are in plain words; a site's own are called by their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.model.command import SUITE

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Phrases:
    """A figure in words. Data: `base`, `new`, `unit`; `{cpu}` is a CPU that is watched, and
    `{working}` is one that is not.
    """

    #: A sentence without its end: what happens now instead of what happened before.
    change: str
    #: In a subject.
    symptom: str
    #: Over a column and in a log.
    name: str
    #: Over a column, behind the name.
    behind: str = "{unit:comma}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BootPhrases:
    """What a boot has or has not, in words."""

    #: What happens, as in "... in 8 of 12 boots".
    happens: str
    #: In a subject, and there of what a repair ends.
    symptom: str
    ended: str
    name: str
    #: Of one boot that has it, and of one that has it not.
    seen: str
    unseen: str


_IN_UNIT = "{new:figure}{unit:unit} instead of {base:figure}{unit:unit}"
_COUNTED = "{new:figure} instead of {base:figure}"
_MOVES = "{base:figure} -> {new:figure}"


def _takes(what: str, name: str, verb: str = "takes") -> Phrases:
    return Phrases(f"{what} {verb} {_IN_UNIT}", f"{name} {_MOVES}{{unit:unit}}", name)


def _interrupts(kind: str, short: str) -> Phrases:
    return Phrases(
        f"{{cpu}} gets {{new:figure}} {kind} interrupts a second instead of {{base:figure}}",
        f"{short} {_MOVES}/s",
        short,
        "/s",
    )


def _workload(does: str, short: str) -> Phrases:
    """What a workload does so many times a second."""
    return Phrases(
        f"{does} {{new:figure}} a second instead of {{base:figure}}",
        f"{short} {_MOVES}/s",
        short,
        "/s",
    )


def _so_many(change: str, short: str) -> Phrases:
    """A plain number, which stands in `change` at `#`."""
    return Phrases(change.replace("#", _COUNTED), f"{short} {_MOVES}", short, "")


#: Rows of /proc/interrupts, as the kernel calls them.
_ROWS = {
    "res": ("rescheduling", "rescheduling IPIs"),
    "iwi": ("irq_work", "irq_work IPIs"),
    "loc": ("local timer", "timer interrupts"),
    "cal": ("function call", "function call IPIs"),
    "tlb": ("TLB shootdown", "TLB shootdowns"),
    "nmi": ("non-maskable", "NMIs"),
    "pmi": ("performance monitoring", "PMIs"),
    "trm": ("thermal event", "thermal interrupts"),
    "thr": ("threshold APIC", "threshold IRQs"),
    "dev": ("device", "device interrupts"),
}
_COUNTERS = {f"{row}_per_s": _interrupts(*names) for row, names in _ROWS.items()} | {
    "res_per_iwi": Phrases(
        "{cpu} gets {new:figure} rescheduling interrupts for each irq_work interrupt instead of"
        " {base:figure}",
        f"rescheduling IPIs per irq_work {_MOVES}",
        "IPIs per irq_work",
    ),
    "events_per_s": _workload("the number of events that the workload takes is", "workload events"),
    "wakeups_per_s": _workload("the number of times that the reader wakes up is", "reader wakeups"),
    "faults_per_s": _workload("the number of page faults of the workload is", "page faults"),
    "lost": _so_many("the number of events that the workload misses is #", "events missed"),
    "window_us": _takes("the window", "window"),
}


def _own_noise(what: str, short: str) -> Phrases:
    return Phrases(
        f"{what} take {{new:figure}} us of a second on {{cpu}} instead of {{base:figure}} us",
        f"{short} {_MOVES} us/s",
        short,
        ", us/s",
    )


def _noise(tracer: str, sample: str) -> Mapping[str, Phrases]:
    """What the osnoise tracer tells of a CPU, in a `sample`."""

    def counts(what: str) -> Phrases:
        return Phrases(
            f"{tracer} counts {{new:figure}} {what} {sample} on {{cpu}} instead of {{base:figure}}",
            f"{what} a sample {_MOVES}",
            f"{what}/sample",
            "",
        )

    return {
        "irq_per_sample": counts("interrupts"),
        "thread_per_sample": counts("thread switches"),
        "softirq_per_sample": counts("softirqs"),
        "hw_per_sample": counts("hardware noises"),
        "nmi_per_sample": counts("NMIs"),
        "noise_us": Phrases(
            f"the noise {sample} on {{cpu}} is {_IN_UNIT}, by {tracer}",
            f"noise a sample {_MOVES}{{unit:unit}}",
            "noise/sample",
        ),
        "runtime_us": Phrases(
            f"the runtime {sample} on {{cpu}} is {_IN_UNIT}, by {tracer}",
            f"runtime a sample {_MOVES}{{unit:unit}}",
            "runtime/sample",
        ),
        "avail_percent": Phrases(
            f"{{cpu}} is available {{new:figure}}% of the time instead of {{base:figure}}%, by"
            f" {tracer}",
            "CPU available {base:figure} -> {new:figure}%",
            "CPU available",
            ", %",
        ),
        "max_single_us": Phrases(
            f"the longest single noise on {{cpu}} takes {_IN_UNIT}, by {tracer}",
            f"longest noise {_MOVES}{{unit:unit}}",
            "longest noise",
        ),
        "max_noise_us": Phrases(
            f"the noisiest sample on {{cpu}} has {_IN_UNIT}, by {tracer}",
            f"noisiest sample {_MOVES}{{unit:unit}}",
            "noisiest sample",
        ),
        "own_noise_us_per_s": _own_noise("interrupts, softirqs and threads", "kernel noise"),
        "irq_noise_us_per_s": _own_noise("interrupts", "interrupts"),
        "softirq_noise_us_per_s": _own_noise("softirqs", "softirqs"),
        "thread_noise_us_per_s": _own_noise("threads", "threads"),
    }


def _calls(call: str, calls: str, short: str, where: str = "") -> Mapping[str, Phrases]:
    """How long each of `calls` takes; `short` are they over a column, `where` they are made."""
    what = f"{call}, called {where}," if where else call
    plural = f"{calls} {where}" if where else calls
    slow = f"{{new:percent}} of the {plural} take over 20 ms instead of {{base:percent}}"
    alike = (
        f"{{new:percent}} of the {plural} take the same number of ticks instead of {{base:percent}}"
    )
    shares = "{base:percent} -> {new:percent}"
    return {
        "p50_us": _takes(what, call),
        "mean_us": _takes(f"the mean of the {plural}", f"{short}, mean", "is"),
        "min_us": _takes(f"the fastest of the {plural}", f"{short}, min"),
        "max_us": _takes(f"the slowest of the {plural}", f"{short}, max"),
        "p90_us": _takes(f"the 90th percentile of the {plural}", f"{short}, p90", "is"),
        "p99_us": _takes(f"the 99th percentile of the {plural}", f"{short}, p99", "is"),
        "over_20ms_per_call": Phrases(
            slow, f"{short} over 20 ms {shares}", f"{short} over 20 ms", ""
        ),
        "mode_share": Phrases(alike, f"{short} alike {shares}", f"{short} alike", ""),
        "p50_ticks": _so_many(f"the number of ticks that {what} takes is #", "median ticks"),
        "mode_ticks": _so_many(f"most of the {plural} take # ticks", "most frequent ticks"),
        "calls": _so_many(f"the number of {plural} is #", f"{short}, number"),
    }


_SYNCHRONIZE = _calls("synchronize_rcu()", "synchronize_rcu() calls", "RCU calls", "on {working}")
_GRACE_PERIODS = _calls("a grace period", "grace periods", "grace periods")


def _latency(name: str, who: str, short: str) -> Mapping[str, Phrases]:
    """How late `who` comes on a CPU."""
    end = f"{_IN_UNIT} on {{cpu}}"
    return {
        f"{name}_{part}_us": Phrases(
            f"{what} is {end}",
            f"{short}{more} {_MOVES}{{unit:unit}}",
            f"{short}{more}",
        )
        for part, what, more in (
            ("p50", f"the latency of {who}", ""),
            ("p90", f"the 90th percentile of the latency of {who}", " p90"),
            ("max", f"the largest latency of {who}", " max"),
        )
    }


def _late(who: str, short: str) -> Phrases:
    return Phrases(
        f"{who} comes over 100 us late {{new:figure}} times a second on {{cpu}} instead of"
        " {base:figure}",
        f"{short} {_MOVES}/s",
        short,
        "/s",
    )


_TIMERLAT = {
    **_latency("irq", "the timer interrupt", "irq latency"),
    **_latency("thread", "the timerlat thread", "wakeup latency"),
    "thread_p50_us": Phrases(
        "the timerlat thread wakes up {new:figure}{unit:unit} late on {cpu} instead of"
        " {base:figure}{unit:unit}",
        f"timer wakeup latency {_MOVES}{{unit:unit}}",
        "wakeup latency",
    ),
    "irq_over_100us_per_s": _late("the timer interrupt", "irqs over 100 us"),
    "thread_over_100us_per_s": _late("the timerlat thread", "wakeups over 100 us"),
    "cpu_seconds": Phrases(
        f"the time that CPUs are watched together is {_IN_UNIT}",
        f"CPU time watched {_MOVES}{{unit:unit}}",
        "CPU time",
    ),
}


def _epoll(number: int, who: str) -> Phrases:
    thread = "thread" if number == 1 else "threads"
    return Phrases(
        f"{who} {{new:figure}} events a millisecond through one epoll instance instead of"
        " {base:figure}",
        f"epoll events of {number} {thread} {_MOVES}/ms",
        f"events of {number} {thread}",
        "/ms",
    )


#: By the number of producers.
_EPOLL = {
    1: "one thread gets", 2: "two threads get", 4: "four threads get", 8: "eight threads get",
    16: "sixteen threads get",
}  # fmt: skip

_STALL = {
    "nr_periods": _so_many("the number of CFS bandwidth periods of the cgroup is #", "CFS periods"),
    "nr_throttled": _so_many(
        "the number of times that the cgroup is throttled is #", "times throttled"
    ),
    "writes": _so_many("the number of writes that wake the epoll waiter is #", "writes"),
    "waits": _so_many("the number of times that epoll_wait() returns is #", "epoll waits"),
}

_OF_SUITES: Mapping[str, Mapping[str, Phrases]] = {
    "epoll": {f"events_per_ms_{number}": _epoll(number, who) for number, who in _EPOLL.items()},
    "ipi": _COUNTERS,
    "sampled": _COUNTERS,
    "siteload": _COUNTERS,
    "osnoise": _noise("the osnoise tracer", "in 0.5 s"),
    "hwnoise": _noise("the osnoise tracer with interrupts off", "in 0.5 s"),
    "rtla": _noise("the osnoise tracer (by rtla)", "in a sample"),
    # Campaigns of old had milliseconds.
    "rcu": {**_SYNCHRONIZE, "p50_ms": _SYNCHRONIZE["p50_us"]},
    "rcuscale": _GRACE_PERIODS,
    "rcutorture": {"test_s": _takes("a run of rcutorture", "rcutorture run")},
    "stall": _STALL,
    "timerlat": _TIMERLAT,
}

PHRASES: Mapping[tuple[str, str], Phrases] = {
    (suite, name): phrases for suite, names in _OF_SUITES.items() for name, phrases in names.items()
}

BOOT_PHRASES: Mapping[tuple[str, str], BootPhrases] = {
    ("stall", "frozen_periods"): BootPhrases(
        happens="the CFS bandwidth timer of a cgroup stops",
        symptom="CFS bandwidth timer stops",
        ended="CFS bandwidth timer no longer stops",
        name="timer stops",
        seen="the timer stopped",
        unseen="the timer did not stop",
    ),
    ("stall", "rcu_stall"): BootPhrases(
        happens="the kernel reports an RCU stall",
        symptom="RCU stalls",
        ended="no RCU stalls any more",
        name="RCU stalls",
        seen="an RCU stall",
        unseen="no RCU stall",
    ),
    ("stall", "blocked_task"): BootPhrases(
        happens="the kernel reports a task that is blocked for too long",
        symptom="blocked tasks",
        ended="no blocked tasks any more",
        name="blocked tasks",
        seen="a blocked task",
        unseen="no blocked task",
    ),
    ("stall", "soft_lockup"): BootPhrases(
        happens="the kernel reports a soft lockup",
        symptom="soft lockups",
        ended="no soft lockups any more",
        name="soft lockups",
        seen="a soft lockup",
        unseen="no soft lockup",
    ),
    ("rcutorture", "failures"): BootPhrases(
        happens="rcutorture finds RCU wrong",
        symptom="rcutorture failures",
        ended="no rcutorture failures any more",
        name="rcutorture failures",
        seen="rcutorture found RCU wrong",
        unseen="rcutorture found nothing",
    ),
    ("stall", "lockdep"): BootPhrases(
        happens="lockdep reports locks that are taken in a wrong order",
        symptom="lockdep reports",
        ended="no lockdep reports any more",
        name="lockdep reports",
        seen="a report of lockdep",
        unseen="no report of lockdep",
    ),
}

_ALL: Mapping[tuple[str, str], Phrases | BootPhrases] = {**PHRASES, **BOOT_PHRASES}


def phrases_of(key: str) -> Phrases | BootPhrases | None:
    """The words of a figure, by `suite.name@window`, `suite.name` or, of a suite that is known
    from what was said before, its name alone.
    """
    suite, dot, name = _figure(key).partition(".")
    if dot:
        return _ALL.get((suite, name))
    return next((words for known, words in _ALL.items() if known[1] == suite), None)


def name_of(key: str) -> str:
    """The short name of a figure, without its unit: `rescheduling IPIs`. Of one that has no words
    it is that of its suite; what a command measures has no suite.
    """
    phrases = phrases_of(key)
    return phrases.name if phrases else _figure(key).removeprefix(f"{SUITE}.")


def heading(suite: str, name: str) -> str | None:
    """What a figure is over a column; None of one of a site's own."""
    phrases = _ALL.get((suite, name))
    behind = phrases.behind if isinstance(phrases, Phrases) else ""
    return f"{phrases.name}{behind}" if phrases else None


def seen_in(key: str, value: float) -> str:
    """Whether one boot has a figure of boots: `the timer stopped`; "" of any other figure."""
    phrases = phrases_of(key)
    if not isinstance(phrases, BootPhrases) or value not in (0, 1):
        return ""
    return phrases.seen if value else phrases.unseen


def _figure(key: str) -> str:
    """Without its window."""
    figure, at, _ = key.rpartition("@")
    return figure if at else key
