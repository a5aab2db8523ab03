# SPDX-License-Identifier: GPL-2.0-or-later
"""Who sends IPIs: what the device makes of a trace, and what is read of it."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import tracers
from helpers.findings import Like
from rtbisect.lab.windows import ALL_WINDOWS, explaining, of_suites
from rtbisect.model.kinds.boot import Raw
from rtbisect.model.lab import Window
from rtbisect.suites import senders
from rtbisect.suites.base import SuiteError

SCRIPT = tracers.ROOT / "lava-jobs" / "suites" / "senders" / "senders.sh"
WINDOW = Window(name="senders-pf", suites=("senders",))
TIMES = b"start_ns 1000000000\nend_ns 3000000000\n"
QUIET = b"overrun 0\ndropped 0\n"
#: A CPU that nobody watches, a mask with CPU 2 and CPU 33, and a call.
LINES = """\
6 cpu 2 0x0 wakeup_preempt __resched_curr;wakeup_preempt;ttwu_do_activate;try_to_wake_up;\
rt_mutex_slowunlock;rt_spin_unlock;rt_spin_unlock;ep_poll_callback.isra.0;__wake_up_common;\
__wake_up irq_work/3
4 cpu 3 0x0 wakeup_preempt __resched_curr;try_to_wake_up;rt_mutex_slowunlock;rt_spin_unlock;\
ep_poll_callback;__wake_up_common irq_work/12
4 cpu 0 0x0 wakeup_preempt try_to_wake_up ktimers/0
2 cpumask 00000002,00000004 do_sync_core text_poke_sync - insmod
2 cpu 4 perf_pending_irq irq_work_queue - idle
"""
EP = "rt_mutex_slowunlock < rt_spin_unlock < ep_poll_callback < __wake_up_common"


def shell(steps, trace=""):
    """What the shell of the device prints; it knows the functions of the script."""
    argv = ["/bin/busybox", "ash", "-c", f". {SCRIPT}; {steps}"]
    return subprocess.run(argv, input=trace, capture_output=True, check=True, text=True).stdout


def folded(trace, before="/dev/null", after="/dev/null"):
    """What the device makes of a trace and of the tasks at both ends of the window."""
    return shell(f"senders_fold {before} {after}", trace)


def told(text=LINES, lost=QUIET, times=TIMES, watch=(2, 3, 4)):
    files = {"senders.txt": text.encode(), "tracing.txt": lost, "window.txt": times}
    return {(s.kind, s.name): s.per_s for s in senders.sources(files, WINDOW, watch)}


def test_senders_are_named_by_task_and_functions():
    assert told() == {
        ("reschedule", f"irq_work/N: {EP}"): 5.0,
        ("call", "insmod: do_sync_core < text_poke_sync"): 1.0,
        ("irq_work", "idle: perf_pending_irq < irq_work_queue"): 1.0,
    }
    assert ("call", "insmod: do_sync_core < text_poke_sync") not in told(watch=(3, 4))
    assert told(watch=(33,)) == {("call", "insmod: do_sync_core < text_poke_sync"): 1.0}


def test_a_kernel_without_the_events_tells_nothing():
    assert told("no events\n") == {}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"lost": b"overrun 0\noverrun 12\n"}, Like(Raw.LOST, events="12")),
        ({"text": "7 cpu two 0x0 f - task\n"}, Like(Raw.FOREIGN_LINE)),
        ({"text": "7 cpu 2f 0x0 f - task\n"}, Like(Raw.SENDER_CPU, cpu="2f")),
        ({"text": "7 cpumask ,, 0x0 f - task\n"}, Like(Raw.SENDER_CPUS, cpus=",,")),
        ({"times": b"start_ns 5\nend_ns 5\n"}, Like(Raw.NO_LENGTH)),
    ],
)
def test_what_cannot_be_is_refused(changes, said):
    with pytest.raises(SuiteError) as caught:
        told(**changes)
    assert caught.value.found == said


def test_no_window_of_it_measures():
    assert senders.SUITE.parse({}, WINDOW, (2,)) == ()
    measuring = {w.name for w in of_suites([w for each in ALL_WINDOWS for w in each.suites])}
    for window in senders.SUITE.windows:
        twin = next(each for each in ALL_WINDOWS if each.name == window.explains)
        assert window in explaining(twin)
        assert window.name not in measuring
        assert (twin.workload, twin.name in measuring) == (window.workload, True)


#: Two CPUs whose stacks come late, a task with a strange name, and an event without a stack.
TRACE = """\
# tracer: osnoise
 <idle>-0     [000] d.h1.   1.000001: ipi_send_cpu: cpu=3 callsite=waker+0x3c/0x80 callback=0x0
  <...>-0     [001] d.h1.   1.000002: ipi_send_cpu: cpu=2 callsite=waker+0x3c/0x80 callback=0x0
  <...>-0     [001] d.h1.   1.000003: <stack trace>
 => trace_event_raw_event_ipi_send_cpu
 => __resched_curr
 => second
 <idle>-0     [000] d.h1.   1.000004: <stack trace>
 => trace_event_raw_event_ipi_send_cpu
 => first
 a [7] b-41 [003] d.h1. 1.000005: ipi_send_cpu: cpu=4 callsite=f+0x1/0x2 callback=g.part.0+0x0/0x2
         osnoise-99    [004] .....   1.000006:  500000  9  99.9  5  0 0 1 0 0
 => stray
"""


def test_a_stack_finds_its_event():
    assert sorted(folded(TRACE).splitlines()) == [
        "1 cpu 2 0x0 waker __resched_curr;second idle",
        "1 cpu 3 0x0 waker first idle",
        "1 cpu 4 g.part.0 f - a [7] b",
    ]


SENT = "  {task} [000] d.h1.   1.1: ipi_send_cpu: cpu=3 callsite=f+0x3c/0x80 callback=0x0\n"


def task_of(told):
    return told.split(" - ")[1].strip()


def test_a_task_without_a_name_is_one_of_the_tasks_of_the_window(tmp_path):
    """A task that ended is known from before; one that took over its pid is not it."""
    before, after = tmp_path / "before", tmp_path / "after"
    before.write_text("41 100 irq_work/3\n42 90 ended\n43 95 sh\n44 50 kworker/0:1-mm\n")
    after.write_text("41 100 irq_work/3\n43 900 stranger\n44 50 kworker/0:1\n45 950 late one\n")
    wanted = {
        "<...>-41": "irq_work/3",
        "<...>-42": "ended",
        "<...>-43": "gone",
        "<...>-44": "kworker/0:1",
        "<...>-45": "late one",
        "<...>-46": "gone",
        "a-b c-41": "a-b c",
        "<idle>-0": "idle",
    }
    told = {
        task: task_of(folded(SENT.format(task=task), before=before, after=after)) for task in wanted
    }
    assert told == wanted


def test_tasks_are_told_from_one_another_by_their_start(tmp_path):
    for pid, comm, start in ((7, "a) R (b", 70), (123456, "rcuop/3", 2)):
        place = tmp_path / str(pid) / "task" / str(pid)
        place.mkdir(parents=True)
        fields = " ".join(["S", *("0" for _ in range(18)), str(start), *("9" for _ in range(30))])
        (place / "stat").write_text(f"{pid} ({comm}) {fields}\n")
    assert sorted(shell(f"senders_tasks {tmp_path}").splitlines()) == [
        "123456 2 rcuop/3",
        "7 70 a) R (b",
    ]


@pytest.mark.parametrize("version", ["6.12", "6.16", "7.2"])
def test_recorded_traces(version):
    """All events of a real trace are counted, and the reader's lock is among the senders."""
    trace = tracers.recorded(version, "ipi-trace.txt")
    text = folded(trace)
    sent = sum(": ipi_send_cpu" in line for line in trace.splitlines())
    assert sum(int(line.split()[0]) for line in text.splitlines()) == sent > 100
    names = [name for kind, name in told(text) if kind == "reschedule"]
    assert any("ep_poll_callback" in name for name in names)
    assert any(kind == "irq_work" for kind, _name in told(text))


STRAY = ("\x00 [1] x", " => ", "-1 [001] <stack trace>")


@given(st.lists(st.sampled_from([*TRACE.splitlines(), *STRAY])))
def test_any_order_of_lines_folds_to_lines_of_its_own(lines):
    events = sum(": ipi_send_cpu" in line for line in lines)
    text = folded("\n".join(lines) + "\n")
    assert sum(int(line.split()[0]) for line in text.splitlines()) == events
    told(text)
