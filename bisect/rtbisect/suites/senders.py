# SPDX-License-Identifier: GPL-2.0-or-later
"""Who sends IPIs to the watched CPUs: the kernel's tracepoints ipi_send_cpu and ipi_send_cpumask,
with a stack for each IPI (include/trace/events/ipi.h; x86 has them since 6.4).

Source: senders.txt, lines of `count event target callback callsite frames task`
(lava-jobs/suites/senders), tracing.txt with what the trace buffers lost, window.txt with the times.
A reschedule IPI has no callback. Nothing is measured here: the windows of this suite explain
figures of others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from rtbisect.model.kinds.boot import Raw
from rtbisect.model.lab import FigureSource, Window
from rtbisect.suites.base import (
    Files,
    Suite,
    SuiteError,
    Watch,
    matches,
    no_figures,
    number,
    pairs,
    source_name,
    text,
)
from rtbisect.suites.reader import READER

NAME = "senders"

#: What the tracepoint says where no function is called on the other CPU.
NO_CALLBACK = "0x0"

#: Frames that every wake-up and every function call has on top: they name no sender.
_PLUMBING = frozenset((
    "__resched_curr",
    "resched_curr",
    "resched_curr_lazy",
    "check_preempt_curr",
    "wakeup_preempt",
    "ttwu_do_activate",
    "ttwu_do_wakeup",
    "ttwu_queue_wakelist",
    "ttwu_queue",
    "__smp_call_single_queue",
    "send_call_function_single_ipi",
    "try_to_wake_up",
    "wake_up_process",
    "wake_up_state",
    "smp_call_function_many_cond",
    "smp_call_function_single",
    "generic_exec_single",
    "on_each_cpu_cond_mask",
    "irq_work_queue_on",
    "irq_work_queue",
    "__irq_work_queue_local",
))  # fmt: skip
#: Frames below the plumbing that name the sender.
_FRAMES = 4

_ROW = re.compile(
    r"(?P<count>[0-9]{1,9}) (?P<event>cpu|cpumask) (?P<target>[0-9a-f,]{1,300}) "
    r"(?P<callback>[\w.]{1,128}) (?P<callsite>[\w.]{1,128}) "
    r"(?P<stack>[\w.;$]{1,4000}|-) (?P<task>[ -~]{1,64})"
)
#: What a compiler adds to the name of a function that it has changed.
_SUFFIX = re.compile(r"\.(constprop|isra|part|cold|llvm)[.0-9]*")


def sources(files: Files, window: Window, watch: Watch) -> tuple[FigureSource, ...]:
    """Senders of reschedule and function call IPIs to the watched CPUs, the most frequent first;
    none on a kernel without the tracepoints. SuiteError when IPIs were lost.
    """
    content = text(files, "senders.txt")
    if content.strip() == "no events":
        return ()
    for line in text(files, "tracing.txt").splitlines():
        counter, _, count = line.partition(" ")
        if counter in ("overrun", "dropped") and count != "0":
            raise SuiteError(Raw.LOST, events=count[:20])
    times = pairs(text(files, "window.txt"), " ")
    first, last = (number(times, key, "window.txt") for key in ("start_ns", "end_ns"))
    if last <= first:
        raise SuiteError(Raw.NO_LENGTH)
    rates: dict[tuple[str, str], float] = {}
    for match in matches("senders.txt", content.splitlines(), _ROW):
        reached = _targets(match["event"], match["target"]) & set(watch)
        if reached:
            key = (_ipi_kind(match), _sender_name(match))
            sent = int(match["count"]) * len(reached) / ((last - first) / 1e9)
            rates[key] = rates.get(key, 0.0) + sent
    senders = (FigureSource(window.name, kind, name, rate) for (kind, name), rate in rates.items())
    return tuple(sorted(senders, key=lambda source: (-source.per_s, source.name)))


def _ipi_kind(row: re.Match[str]) -> str:
    if row["callback"] == NO_CALLBACK:
        return "reschedule"
    # An interrupt of its own, which a CPU mostly sends to itself.
    return "irq_work" if "irq_work_queue" in row["callsite"] else "call"


def _targets(event: str, target: str) -> set[int]:
    """CPUs of "3", or of a mask as the kernel prints it: words of 32 bits, the highest first."""
    if event == "cpu":
        if not target.isdigit():
            raise SuiteError(Raw.SENDER_CPU, file="senders.txt", cpu=target[:20])
        return {int(target)}
    words = target.split(",")
    if not all(re.fullmatch(r"[0-9a-f]{1,8}", word) for word in words):
        raise SuiteError(Raw.SENDER_CPUS, file="senders.txt", cpus=target[:20])
    mask = int("".join(word.zfill(8) for word in words), 16)
    return {cpu for cpu in range(mask.bit_length()) if mask >> cpu & 1}


def _sender_name(row: re.Match[str]) -> str:
    """A task without the number of its CPU, and the functions that asked for the IPI; of a call the
    function that is called.
    """
    task = re.sub(r"/[0-9]+(:\S*)?", "/N", row["task"])
    if row["stack"] != "-":
        frames = _without_plumbing(row["stack"].split(";"))
    else:
        callback = [] if row["callback"] == NO_CALLBACK else [row["callback"]]
        frames = [*callback, row["callsite"]]
    return source_name(task, [_SUFFIX.sub("", frame) for frame in frames])


def _without_plumbing(frames: Sequence[str]) -> list[str]:
    # The unwinder may tell one frame twice.
    frames_once = [frame for above, frame in pairwise(["", *frames]) if frame != above]
    for place, frame in enumerate(frames_once):
        if _SUFFIX.sub("", frame) not in _PLUMBING:
            return frames_once[place : place + _FRAMES]
    return frames_once[-1:]


SUITE = Suite(
    name=NAME,
    # Tracing each IPI changes how many there are.
    parse=no_figures,
    windows=(
        Window(name="senders-off", suites=(NAME,), explains="osnoise-off"),
        Window(
            name="senders-clock",
            suites=(NAME,),
            workload=f"{READER}:clock",
            synthetic=True,
            explains="clock-on",
        ),
        Window(
            name="senders-pf",
            suites=(NAME,),
            workload=f"{READER}:pf",
            synthetic=True,
            explains="pf-on",
        ),
        Window(name="senders-sampled", suites=(NAME,), instrument=READER, explains="sampled-on"),
    ),
    sources=sources,
    kinds=frozenset({"reschedule", "call", "irq_work"}),
)
