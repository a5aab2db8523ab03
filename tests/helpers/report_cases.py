# SPDX-License-Identifier: GPL-2.0-or-later
"""Finished campaigns to write mails about: one for each kind of answer."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from rtbisect.judge.verdict import judge
from rtbisect.model.campaign import (
    Better,
    Cause,
    Gate,
    GateStatus,
    Level,
    MetricKey,
    Origin,
    Outcome,
    Result,
    Sample,
    Scale,
    Summary,
    TableRow,
    TestedRevision,
    Threshold,
    Verification,
)
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.model.lab import DeviceType, HostProfile
from rtbisect.model.mail import Recipient, Recipients
from rtbisect.model.report import CommitText, Repaired, ReportInput
from rtbisect.report.ab_table import compared
from rtbisect.report.draft import ReportSettings
from rtbisect.report.lint.tags import REGRESSIONS
from rtbisect.report.message import Envelope
from rtbisect.report.public import Public
from rtbisect.report.template_values import Bot, commit_view, symptom_of

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "reports"
GOLDEN = ROOT / "tests" / "golden" / "mails"
OPERATOR = "Olga Operator <olga@lab.example.org>"


def settings(out_dir, **changes):
    return replace(
        ReportSettings(out_dir=out_dir, templates=TEMPLATES, operator=OPERATOR, plots=False),
        **changes,
    )


def sha(number):
    return hashlib.sha1(str(number).encode()).hexdigest()


def vs_parent(parent, *words, **more):
    """The check of a culprit against one of its parents."""
    return Verification(f"culprit vs parent {parent}", *words, parent=parent, **more)


def history(count, subjects=()):
    """A straight line good = sha(1), then sha(2) .. sha(count + 1)."""
    named = dict(subjects)
    return CommitGraph(
        good=sha(1),
        bad=sha(count + 1),
        commits=tuple(
            Commit(sha(i), (sha(i - 1),), named.get(sha(i), f"commit {i}"))
            for i in range(2, count + 2)
        ),
    )


QEMU = DeviceType(
    name="qemu-smt",
    template="qemu-smt.jinja2",
    sockets=1,
    cores=4,
    threads=2,
    memory_mib=1024,
    emulated=True,
    cpu_model="qemu64",
)
BOARD = replace(
    QEMU, name="board-smt", emulated=False, cpu_model="Example Xeon 6338", memory_mib=65536
)
PROFILE = HostProfile(
    name="tuned",
    housekeeping="0-1",
    isolated="2-7",
    watch="2-4",
    boot_line="console=ttyS0 panic=0 noirqdebug isolcpus=managed_irq,domain,2-7 nohz_full=2-7 "
    "rcu_nocbs=2-7 irqaffinity=0-1 rcu_nocb_poll",
)

RES_ON = MetricKey("ipi", "res_per_s", "clock-on")
RES_OFF = MetricKey("ipi", "res_per_s", "osnoise-off")
RCU = MetricKey("rcu", "p50_ms", "rcu-off")
RCU_ON = MetricKey("rcu", "p50_ms", "rcu-on")

RES_LIMIT = Threshold(
    key=RES_ON,
    unit="1/s",
    better=Better.LOWER,
    scale=Scale.LOG,
    statistic="median",
    min_effect=1.5,
    limit=None,
    floor=0.5,
    role="primary",
    control=RES_OFF,
    reason="reschedule IPIs wake what should sleep",
    title="rescheduling interrupts a second, mean of the watched CPUs, row RES of /proc/interrupts",
)
RES_OFF_LIMIT = replace(RES_LIMIT, key=RES_OFF, role="guard", limit=10.0, control=None)
RCU_LIMIT = replace(
    RES_LIMIT, key=RCU, unit="ms", scale=Scale.LINEAR, min_effect=0.8, control=None,
    title="median duration of synchronize_rcu() over the calls of a boot",
)  # fmt: skip

QUIET = Sample((7.8, 9.4, 3.3, 13.1, 8.2, 8.9, 6.1, 10.4))
LOUD = Sample((50.7, 69.0, 40.7, 82.6, 58.3, 61.2, 66.0, 47.9))
IDLE = Sample((1.0, 1.2, 1.5, 1.1, 1.0, 1.3, 1.2, 1.4))
IDLE_TOO = Sample((1.1, 1.0, 1.4, 1.2, 1.3, 1.1, 1.5, 1.0))
#: The good and the bad end.
QUIET_ENDS = Sample((8.5, 7.0, 10.9, 6.6, 9.3, 8.1, 7.7, 9.8))
LOUD_ENDS = Sample((52.4, 60.8, 45.5, 67.7, 57.2, 73.9, 49.6, 63.1))
#: The reverted tip and the tip: other boots than those of the parent and the commit.
QUIET_TIP = Sample((9.1, 5.2, 8.0, 11.6, 7.3, 8.4, 9.9, 6.7))
LOUD_TIP = Sample((62.3, 48.8, 71.4, 55.1, 64.9, 43.2, 59.6, 77.5))
IDLE_TIP = Sample((1.3, 1.1, 1.0, 1.6, 1.2, 1.3, 1.1, 1.4))
#: Both once more without PREEMPT_RT.
QUIET_NO_RT = Sample((6.2, 8.8, 7.1, 9.7, 8.3, 5.9, 10.2, 7.6))
QUIET_NO_RT_TOO = Sample((8.6, 6.5, 9.2, 7.4, 10.8, 7.9, 5.6, 8.1))
IDLE_NO_RT = Sample((1.1, 1.3, 1.0, 1.2, 1.7, 1.1, 1.2, 1.5))
IDLE_NO_RT_TOO = Sample((1.2, 1.6, 1.1, 1.0, 1.3, 1.8, 1.2, 1.1))
SHORT = Sample((6.001, 6.002, 6.003, 5.999, 6.002, 6.0, 6.004, 6.001))
LONG = Sample((8.998, 8.9981, 8.9979, 8.9982, 8.998, 8.9978, 8.998, 8.9983))
SHORT_LAYOUT = Sample((6.003, 5.998, 6.001, 6.004, 6.0, 6.002, 6.006, 5.997))
LONG_LAYOUT = Sample((8.9991, 8.9975, 8.9984, 8.9979, 9.0012, 8.9983, 8.9969, 8.9988))
SHORT_ON = Sample((6.11, 6.2, 6.05, 6.31, 6.09, 6.15, 6.12, 6.18))
LONG_ON = Sample((9.1, 9.14, 9.07, 9.11, 9.2, 9.12, 9.09, 9.15))


def judged(limit, base, new):
    """As the program judges these boots."""
    return judge(limit, base, new)


def row(kernel, workload, metric, unit, sample):
    return TableRow(kernel, metric.window, workload, metric, unit, sample)


EPOLL_PARENT = judged(RES_LIMIT, QUIET, LOUD)
GATES = (
    Gate(
        "G10 A/A",
        GateStatus.PASS,
        "two series of 8 boots of the parent differ by less than a ratio of 1.6 in 99 of 100 draws",
    ),
    Gate("G5 duplicates", GateStatus.PASS, "raw files of 16 boots differ"),
    Gate(
        "G11 reachability",
        GateStatus.PASS,
        "of the 14 functions that the commit changes 10 ran, ep_poll_callback 750 times a second",
    ),
    Gate("G16 loop", GateStatus.PASS, "4.1 times the events make 3 times the interrupts"),
)
ORIGINS = (
    Origin(
        "reschedule",
        "irq_work/N: rt_mutex_slowunlock < rt_spin_unlock < ep_poll_callback < __wake_up_common",
        6.1,
        131.0,
        0.93,
    ),
    Origin("reschedule", "ktimers/N: hrtimer_wakeup < __hrtimer_run_queues", 3.0, 12.4, 0.07),
)

EPOLL = Result(
    outcome=Outcome.CULPRIT,
    cause=Cause.WORKLOAD_DEPENDENT,
    culprit=sha(24),
    candidates=((sha(24), 0.9871), (sha(23), 0.0081), (sha(25), 0.0029), (sha(2), 0.0001)),
    confidence=0.9871,
    metric=RES_ON,
    judgement=judged(RES_LIMIT, QUIET_ENDS, LOUD_ENDS),
    tested=(
        TestedRevision(sha(1), "Linux 6.12", 8, 0.001),
        TestedRevision(sha(33), "the newest one", 8, 0.999),
        TestedRevision(sha(23), "commit 23", 5, 0.004),
        TestedRevision(sha(24), "epoll", 6, 0.996),
        TestedRevision(sha(17), "does not build", 0, 0.01, "build failed"),
    ),
    verifications=(
        vs_parent(sha(23)[:12], "pass", EPOLL_PARENT),
        Verification(
            "revert on tip",
            "pass",
            judged(RES_LIMIT, QUIET_TIP, LOUD_TIP),
            "8+8 boots, ratio 7.06; takes back 98% of the shift between good and bad",
        ),
    ),
    table=(
        row("parent", "none", RES_OFF, "1/s", IDLE),
        row("culprit", "none", RES_OFF, "1/s", IDLE_TOO),
        row("parent", "perf-epoll-reader", RES_ON, "1/s", QUIET),
        row("culprit", "perf-epoll-reader", RES_ON, "1/s", LOUD),
    ),
    gates=GATES,
    origins=ORIGINS,
)


#: What the cause says; the pipeline adds it to the reasons.
WHY = "the kernels differ only while the workload runs"


def epoll():
    title = "eventpoll: Replace rwlock with spinlock"
    return ReportInput(
        campaign="epoll-0001",
        tree="demo-epoll",
        repo="https://git.example.org/linux.git",
        good=sha(1),
        bad=sha(33),
        graph=history(32, [(sha(24), title)]),
        result=replace(EPOLL, reasons=(WHY,)),
        summary=Summary(builds=9, boots=41, skipped=1, wall_s=1403.0, build_s=181.0, boot_s=902.0),
        culprit=CommitText(
            sha(24),
            title,
            "A. Developer",
            "dev@kernel.example.org",
            "2025-07-15T12:00:00+00:00",
            ("fs/eventpoll.c",),
        ),
        device=QEMU,
        profile=PROFILE,
        config_name="rt-smallest",
        config_sha256="ab" * 32,
        compiler="gcc (Debian 12.2.0-14) 12.2.0",
        release="6.12.0-rt",
        facts=(
            ("uname_r", "6.12.0-rt"),
            ("smt_active", "1"),
            ("nohz_full", "2-7"),
            ("clocksource", "tsc"),
            ("hz", "1000"),
            ("tainted", "0"),
        ),
        operator=OPERATOR,
        date="2026-01-31T10:20:30+00:00",
        message_id="<epoll-0001.1@lab.example.org>",
        synthetic_workload=True,
        thresholds=(RES_LIMIT, RES_OFF_LIMIT),
        command=f"rtbisect bisect demo-epoll --good {sha(1)} --bad {sha(33)} --suite ipi "
        "--metric res_per_s@clock-on --seed 7 --site site.yaml",
    )


def rcu():
    title = "rcu: Delay the first scan for quiescent states"
    result = Result(
        outcome=Outcome.CULPRIT,
        cause=Cause.KERNEL,
        culprit=sha(9),
        candidates=((sha(9), 0.9996), (sha(8), 0.0004)),
        confidence=0.9996,
        metric=RCU,
        judgement=judged(RCU_LIMIT, SHORT, LONG),
        tested=(
            TestedRevision(sha(1), "Linux 6.12", 8, 0.0),
            TestedRevision(sha(17), "the newest one", 8, 1.0),
            TestedRevision(sha(8), "commit 8", 4, 0.0),
            TestedRevision(sha(9), title, 4, 1.0),
        ),
        verifications=(
            vs_parent(
                sha(8)[:12],
                "pass",
                judged(RCU_LIMIT, SHORT, LONG),
            ),
            Verification("revert on tip", "n/a", None, "it does not apply to the tip"),
            Verification("layout", "pass", judged(RCU_LIMIT, SHORT_LAYOUT, LONG_LAYOUT)),
        ),
        table=(
            row("parent", "none", RCU, "ms", SHORT),
            row("culprit", "none", RCU, "ms", LONG),
            row("parent", "clock-reader", RCU_ON, "ms", SHORT_ON),
            row("culprit", "clock-reader", RCU_ON, "ms", LONG_ON),
        ),
    )
    return replace(
        epoll(),
        campaign="rcu-0002",
        tree="stable-rt",
        bad=sha(17),
        graph=history(16, [(sha(9), title)]),
        result=result,
        summary=Summary(builds=6, boots=44, skipped=0, wall_s=5280.0, build_s=900.0, boot_s=3900.0),
        culprit=CommitText(
            sha(9),
            title,
            "Zo\u00eb Developer",
            "zoe@kernel.example.org",
            "2025-12-01T08:00:00+01:00",
            ("kernel/rcu/tree.c", "kernel/rcu/tree.h"),
            ('0123456789ab ("rcu: Report a quiescent state\nBcc: too early")',),
            release="v6.12.9",
        ),
        repaired=(
            Repaired(
                "bisect-0007",
                MetricKey("stall", "frozen_periods", "stall"),
                Sample((1.0, 0.0, 1.0, 0.0)),
                Sample((0.0, 0.0, 0.0, 0.0)),
            ),
        ),
        device=BOARD,
        message_id="<rcu-0002.1@lab.example.org>",
        synthetic_workload=False,
        thresholds=(RCU_LIMIT,),
        command="rtbisect bisect stable-rt --good v6.12 --bad v6.12.9 --suite rcu "
        "--metric p50_ms@rcu-off --seed 7 --site site.yaml",
    )


def nothing():
    same = judged(RES_LIMIT, QUIET, QUIET_TIP)
    result = Result(
        outcome=Outcome.NO_REGRESSION,
        cause=Cause.NONE,
        culprit=None,
        candidates=(),
        confidence=0.962,
        metric=RES_ON,
        judgement=same,
        tested=(
            TestedRevision(sha(1), "Linux 6.12", 8, 0.0),
            TestedRevision(sha(33), "the newest one", 8, 0.03),
        ),
        reasons=("the interval of the ratio stays below the smallest change that counts, 1.5",),
        judgements=(
            same,
            judged(RES_OFF_LIMIT, IDLE, IDLE_TOO),
        ),
    )
    return replace(
        epoll(),
        campaign="nothing-0003",
        result=result,
        culprit=None,
        summary=Summary(builds=2, boots=16, skipped=0, wall_s=410.0, build_s=33.0, boot_s=310.0),
        message_id="<nothing-0003.1@lab.example.org>",
    )


def improvement():
    """The newer end is the quiet one."""
    better = judged(RES_LIMIT, LOUD, QUIET)
    report = nothing()
    result = replace(report.result, judgement=better, reasons=(), judgements=(better,))
    return replace(
        report, campaign="better-0009", result=result,
        message_id="<better-0009.1@lab.example.org>",
    )  # fmt: skip


def culprit_set():
    candidates = ((sha(12), 0.34), (sha(13), 0.33), (sha(14), 0.32), (sha(15), 0.01))
    result = replace(
        EPOLL,
        outcome=Outcome.CULPRIT_SET,
        cause=Cause.NONE,
        culprit=None,
        candidates=candidates,
        confidence=0.99,
        verifications=(),
        table=(),
        tested=(
            TestedRevision(sha(1), "Linux 6.12", 8, 0.0),
            TestedRevision(sha(33), "the newest one", 8, 1.0),
            TestedRevision(sha(12), "commit 12", 0, 0.34, "build failed"),
            TestedRevision(sha(13), "commit 13", 0, 0.67, "build failed"),
        ),
        reasons=(
            "99% of the probability lies on commits that do not build",
            "commits 12 and 13 failed to build three times each",
        ),
    )
    return replace(
        epoll(),
        campaign="set-0004",
        result=result,
        culprit=None,
        device=BOARD,
        synthetic_workload=False,
        message_id="<set-0004.1@lab.example.org>",
    )


def another_meaning():
    """A commit after which the figure counts something else; its senders tell."""
    title = "x86/irq: show all interrupts that may reschedule in one line"
    graph = history(32, [(sha(24), title)])
    against = (
        Gate(
            "meaning",
            GateStatus.FAIL,
            "the commit changes arch/x86/kernel/irq.c, which makes the figures of the suite ipi: "
            "they may mean something else since",
        ),
        Gate(
            "G4 sources",
            GateStatus.FAIL,
            "3.1 -> 22, by the instrument that names the sources 19 -> 18.2: what makes the figure "
            "does not change as the figure does",
        ),
    )
    reasons = (WHY, *(f"{gate.name}: {gate.reason}" for gate in against))
    whole = epoll()
    assert whole.culprit is not None
    return replace(
        whole,
        campaign="meaning-0005",
        graph=graph,
        culprit=replace(whole.culprit, subject=title, files=("arch/x86/kernel/irq.c",)),
        result=replace(EPOLL, reasons=reasons, gates=(*GATES, *against), origins=()),
        message_id="<meaning-0005.1@lab.example.org>",
    )


STALL = MetricKey("stall", "frozen_periods", "stall")
STALL_LIMIT = replace(
    RES_LIMIT, key=STALL, unit="1", scale=Scale.LINEAR, statistic="fraction", min_effect=0.2,
    floor=0.0, control=None,
    title="boots in which nr_periods of a cgroup's cpu.stat stood still for 1.5 s",
)  # fmt: skip
MANY = Sample((1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0))
MANY_TIP = Sample((0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0))
NONE = Sample((0.0,) * 12)


def hang():
    """A commit that makes machines stand still, on a real one."""
    title = "eventpoll: Replace spinlock with rwlock"
    result = replace(
        EPOLL,
        cause=Cause.KERNEL,
        metric=STALL,
        judgement=judged(STALL_LIMIT, NONE, MANY),
        verifications=(
            vs_parent(sha(23)[:12], "pass", judged(STALL_LIMIT, NONE, MANY)),
            Verification("revert on tip", "pass", judged(STALL_LIMIT, NONE, MANY_TIP)),
        ),
        table=(
            replace(row("parent", "epoll-cfs-bandwidth", STALL, "1", NONE), mean=True),
            replace(row("culprit", "epoll-cfs-bandwidth", STALL, "1", MANY), mean=True),
        ),
        gates=(),
        origins=(),
    )
    whole = epoll()
    assert whole.culprit is not None
    return replace(
        whole,
        campaign="hang-0006",
        excerpt=(
            "rtbisect-symptom: frozen nr_periods",
            (
                "rtbisect-stack: reader: asm_sysvec_apic_timer_interrupt < ep_poll_callback "
                "< __wake_up_common < eventfd_write < vfs_write < ksys_write < do_syscall_64"
            ),
            (
                "rtbisect-stack: writer: ep_done_scan < do_epoll_wait < __x64_sys_epoll_wait "
                "< do_syscall_64 < entry_SYSCALL_64_after_hwframe"
            ),
            (
                "rtbisect-stack: soft timers: ep_poll_callback < __wake_up_common "
                "< timerfd_tmrproc < __hrtimer_run_queues < hrtimer_run_softirq "
                "< handle_softirqs.constprop.0"
            ),
        ),
        tree="stable-rt",
        graph=history(32, [(sha(24), title)]),
        culprit=replace(whole.culprit, subject=title),
        result=result,
        device=BOARD,
        synthetic_workload=False,
        thresholds=(STALL_LIMIT,),
        message_id="<hang-0006.1@lab.example.org>",
        command=whole.command.replace("--suite ipi", "--suite stall").replace(
            "res_per_s@clock-on", "frozen_periods@stall"
        ),
    )


def backport():
    """The commit that ends it, for those who do not have it."""
    whole = hang()
    assert whole.culprit is not None
    title = "eventpoll: Replace rwlock with spinlock"
    ends = replace(STALL_LIMIT, better=Better.HIGHER)
    found = judged(ends, MANY, NONE)
    return replace(
        whole,
        campaign="backport-0007",
        graph=history(32, [(sha(24), title)]),
        culprit=replace(whole.culprit, subject=title),
        result=replace(
            whole.result,
            judgement=found,
            verifications=(
                vs_parent(sha(23)[:12], "pass", found),
                Verification("revert on tip", "pass", judged(ends, MANY_TIP, NONE)),
            ),
            table=(
                replace(row("parent", "epoll-cfs-bandwidth", STALL, "1", MANY), mean=True),
                replace(row("culprit", "epoll-cfs-bandwidth", STALL, "1", NONE), mean=True),
            ),
        ),
        repair=True,
        message_id="<backport-0007.1@lab.example.org>",
    )


def no_repair():
    """Both ends stand still as often: nothing between them ends it."""
    # So few boots leave a share open; a campaign that says this had more.
    found = replace(judged(STALL_LIMIT, MANY, MANY_TIP), level=Level.PASS)
    result = replace(
        hang().result, outcome=Outcome.NO_REGRESSION, cause=Cause.NONE, culprit=None, metric=None,
        candidates=(), confidence=0.95, judgement=found, judgements=(found,), verifications=(),
        table=(), tested=(), reasons=("no judged metric differs between the ends",),
    )  # fmt: skip
    return replace(
        backport(), campaign="broken-0017", result=result, culprit=None,
        message_id="<broken-0017.1@lab.example.org>",
    )  # fmt: skip


def _quiet_machine(campaign, title, limit, *, sides, tip, files):
    """A commit that changes a figure without any workload, on a real machine: boots of the parent
    and the commit, and of the reverted tip and the tip.
    """
    found = judged(limit, *sides)
    whole = epoll()
    result = replace(
        EPOLL, cause=Cause.KERNEL, metric=limit.key, judgement=found, origins=(), gates=GATES[:2],
        verifications=(
            vs_parent(sha(23)[:12], "pass", found),
            Verification("revert on tip", "pass", judged(limit, *tip)),
        ),
        table=(
            row("parent", "none", limit.key, limit.unit, sides[0]),
            row("culprit", "none", limit.key, limit.unit, sides[1]),
        ),
    )  # fmt: skip
    return replace(
        whole, campaign=campaign, tree="stable-rt", graph=history(32, [(sha(24), title)]),
        culprit=replace(whole.culprit, subject=title, files=files), result=result, device=BOARD,
        synthetic_workload=False, thresholds=(limit,), message_id=f"<{campaign}.1@lab.example.org>",
        command=whole.command.replace("--suite ipi", f"--suite {limit.key.suite}").replace(
            "res_per_s@clock-on", f"{limit.key.name}@{limit.key.window}"
        ),
    )  # fmt: skip


def ipi_storm():
    limit = replace(RES_OFF_LIMIT, role="primary")
    return _quiet_machine(
        "storm-0010", "sched/isolation: Kick isolated CPUs at each tick of the first one", limit,
        sides=(IDLE, LOUD), tip=(IDLE_TIP, LOUD_TIP),
        files=("kernel/sched/isolation.c",),
    )  # fmt: skip


def irq_noise():
    key = MetricKey("osnoise", "irq_per_sample", "osnoise-off")
    limit = replace(
        RES_LIMIT, key=key, unit="1", min_effect=2.0, floor=1.0, control=None,
        title="interrupts in a sample of 0.5 s, mean of the watched CPUs, by the osnoise tracer",
    )  # fmt: skip
    return _quiet_machine(
        "noise-0011", "tick/sched: Keep the tick of isolated CPUs for a while", limit,
        sides=(IDLE_TOO, LOUD), tip=(IDLE_TIP, LOUD_TIP),
        files=("kernel/time/tick-sched.c",),
    )  # fmt: skip


def two_modes():
    """Half of the boots with the commit are as before: middle and range do not say that."""
    low, high = (8.1, 7.2, 9.4, 6.4, 8.7, 10.1, 7.9), LOUD.values
    half = Sample((*low[:4], *high, *low[4:], 57.7))
    low, high = (8.8, 7.4, 9.5, 6.9, 8.2, 9.1, 10.6), LOUD_TIP.values
    half_tip = Sample((*high[:5], *low, *high[5:], 61.9))
    quiet = Sample((*QUIET.values, *QUIET_ENDS.values))
    quiet_tip = Sample((*QUIET_TIP.values, *QUIET_NO_RT.values))
    limit = replace(RES_OFF_LIMIT, role="primary")
    return _quiet_machine(
        "modes-0014", "sched: Choose the housekeeping CPU by the phase of the tick", limit,
        sides=(quiet, half), tip=(quiet_tip, half_tip),
        files=("kernel/sched/isolation.c",),
    )  # fmt: skip


def epoll_factors():
    """Whom it concerns: without PREEMPT_RT the same two commits do not differ."""
    whole = epoll()
    without = (
        row("parent, no RT", "none", RES_OFF, "1/s", IDLE_NO_RT),
        row("culprit, no RT", "none", RES_OFF, "1/s", IDLE_NO_RT_TOO),
        row("parent, no RT", "perf-epoll-reader", RES_ON, "1/s", QUIET_NO_RT),
        row("culprit, no RT", "perf-epoll-reader", RES_ON, "1/s", QUIET_NO_RT_TOO),
    )
    ratio = judged(RES_LIMIT, QUIET_NO_RT, QUIET_NO_RT_TOO).effect
    said = f"without PREEMPT_RT the kernels do not differ: a ratio of {ratio:.2f} is below 1.5"
    return replace(
        whole, campaign="factors-0015",
        result=replace(EPOLL, table=(*EPOLL.table, *without), reasons=(WHY, said)),
        summary=replace(whole.summary, boots=51), message_id="<factors-0015.1@lab.example.org>",
    )  # fmt: skip


def inconclusive():
    """Boots of one side that differ from each other as much as the sides do."""
    wide = Sample((7.8, 61.2, 3.3, 58.3, 8.2, 66.0, 6.1, 47.9))
    wide_too = Sample((66.0, 9.4, 69.0, 8.9, 82.6, 7.2, 61.2, 13.1))
    found = judged(RES_LIMIT, wide, wide_too)
    result = replace(
        EPOLL, outcome=Outcome.INCONCLUSIVE, cause=Cause.NONE, culprit=None, candidates=(),
        confidence=0.0, judgement=found, judgements=(found,), verifications=(), table=(), gates=(),
        tested=EPOLL.tested[:2], origins=(),
        reasons=("after 8 boots of each end the interval of the ratio still has 1 and 1.5 in it",),
    )  # fmt: skip
    return replace(
        epoll(), campaign="open-0016", result=result, culprit=None, device=BOARD,
        message_id="<open-0016.1@lab.example.org>",
    )  # fmt: skip


def tool_only():
    """What only a sampling tool sees; no campaign writes that unasked."""
    on = MetricKey("sampled", "res_per_s", "sampled-on")
    off = MetricKey("sampled", "res_per_s", "sampled-off")
    limit = replace(RES_LIMIT, key=on, min_effect=2.0, floor=1.0, control=off)
    found = judged(limit, QUIET, LOUD)
    whole = epoll()
    result = replace(
        EPOLL, cause=Cause.TOOL_INDUCED, metric=on, judgement=found, gates=GATES[:2], origins=(),
        verifications=(vs_parent(sha(23)[:12], "pass", found),),
        table=(
            row("parent", "none", off, "1/s", IDLE),
            row("culprit", "none", off, "1/s", IDLE_TOO),
            row("parent", "the tool perf", on, "1/s", QUIET),
            row("culprit", "the tool perf", on, "1/s", LOUD),
        ),
        reasons=("the kernels differ only while the tool perf measures",),
    )  # fmt: skip
    return replace(
        whole, campaign="tool-0012", result=result, thresholds=(limit,),
        message_id="<tool-0012.1@lab.example.org>",
    )  # fmt: skip


def repair():
    """A commit that makes something better again, and no hang."""
    whole = rcu()
    limit = replace(RCU_LIMIT, better=Better.HIGHER)
    found = judged(limit, LONG, SHORT)
    result = replace(
        whole.result, judgement=found,
        verifications=(vs_parent(sha(8)[:12], "pass", found),),
        table=(
            row("parent", "none", RCU, "ms", LONG),
            row("culprit", "none", RCU, "ms", SHORT),
        ),
    )  # fmt: skip
    return replace(
        whole, campaign="repair-0013", repair=True, result=result,
        thresholds=(limit,),
        command=f"{whole.command} --find-fix", message_id="<repair-0013.1@lab.example.org>",
    )  # fmt: skip


CASES = {
    "epoll": epoll,
    "rcu": rcu,
    "nothing": nothing,
    "culprit_set": culprit_set,
    "another_meaning": another_meaning,
    "hang": hang,
    "backport": backport,
    "improvement": improvement,
    "ipi_storm": ipi_storm,
    "irq_noise": irq_noise,
    "tool_only": tool_only,
    "repair": repair,
    "no_repair": no_repair,
    "two_modes": two_modes,
    "epoll_factors": epoll_factors,
    "inconclusive": inconclusive,
}

_DATE = "2026-01-31T10:20:30+00:00"
_BOT = Bot("rtbisect", "rtbisect@lab.example.org", "https://lists.example.org/r/")
_LAB = {
    "paused": ("  bisect-8: lab ours: no device fits, because board-2 is in quarantine",),
    "devices": ("  board-2: its BMC does not answer",),
    "counts": {"ended": 2, "paused": 1, "waiting": 1, "drafts": 1, "devices": 1},
}
_CULPRIT = rcu().culprit


#: Key and unit; six boots of either kernel.
CALLS = (MetricKey("rcu", "p50_us", "rcu-off"), "us")
IRQS = (MetricKey("osnoise", "irq_per_sample", "osnoise-off"), "1")
PER_IWI = (MetricKey("ipi", "res_per_iwi", "pf-on"), "1")
SLOW, SLOW_TOO, FAST = (
    Sample(tuple(middle + step for step in (-20, -10, 0, 0, 10, 20)))
    for middle in (9030, 9020, 6020)
)
ONE, MANY_IRQS = Sample((1, 1, 1, 1, 1, 2)), Sample((48, 49, 50, 50, 51, 51))


def _compared(*figures):
    return compared(*(
        [row("", "none", key, unit, sides[side]) for (key, unit), *sides in figures]
        for side in (0, 1)
    ))  # fmt: skip


def _answer(name, **told):
    """What was measured for somebody: a patch that mends it, unless `told` says otherwise."""
    return (
        "ab_result.txt.j2",
        Envelope(
            _BOT, (OPERATOR,), "Re: rcu: Delay the first scan: test result", _DATE,
            f"{name}.1@lab.example.org", parent="<fix@kernel.example.org>",
            marks=(("Campaign", "rcu-0002"), ("Kind", "result"), ("State", "draft")),
        ),
        {
            "banner": "",
            "what": 'The patch "rcu: mend it"',
            "verdict": "takes the effect back",
            "metric": "rcu.p50_us",
            "base": "9030 us",
            "new": "6020 us",
            "base_short": sha(33)[:12],
            "new_short": sha(99)[:12],
            "base_sha": sha(33),
            "new_sha": sha(99),
            "effect": "a ratio of 0.667 (95% interval 0.660 to 0.671)",
            "boots": "6 + 6 boots",
            "test": "one-sided rank test",
            "p": "0.0011",
            "culprit": commit_view(_CULPRIT),
            "figures": _compared((CALLS, SLOW, FAST)),
            "worse": (),
            "check": "check-11",
            "cost": "2 builds, 12 boots, 0 skipped, 5 minutes",
        }
        | told,
    )  # fmt: skip


#: Mails without a campaign of their own: template, headers, and what the template prints.
NOTICES = {
    "digest": (
        "digest.txt.j2",
        Envelope(
            _BOT, (OPERATOR,), "[internal] digest: ended 2, drafts 1, paused 1, in quarantine 1",
            _DATE, "digest.1@lab.example.org", marks=(("Kind", "digest"),),
        ),
        _LAB
        | {
            "hours": 24,
            "ended": (
                "  bisect-7: culprit 0123456789ab, cause kernel, confidence 0.975",
                "  check-9: no_regression, cause none; better: ipi.res_per_s@clock-on",
            ),
            "waiting": ("  in doubt: bisect-3 report, connection lost behind the end of the text",),
            "drafts": ("  bisect-7: culprit 0123456789ab, cause kernel, confidence 0.975",),
        },
    ),
    "infrastructure": (
        "infrastructure.txt.j2",
        Envelope(
            _BOT, (OPERATOR,), "[internal] infrastructure: paused 1, in quarantine 1",
            _DATE, "lab.1@lab.example.org", marks=(("Kind", "infrastructure"),),
        ),
        _LAB,
    ),
    "withdrawal": (
        "withdrawal.txt.j2",
        Envelope(
            _BOT, ("Zo <zo@kernel.example.org>",), "Re: [REGRESSION] rcu: Delay the first scan",
            _DATE, "rcu-0002.withdrawal@lab.example.org", (REGRESSIONS,),
            "<rcu-0002.1@lab.example.org>", ("<patch@kernel.example.org>",),
            (("Campaign", "rcu-0002"), ("Kind", "withdrawal")),
        ),
        {
            "why": "the tool that measured had made the noise.",
            "short": "the tool that measured had made the noise",
            "tracked": True,
            "culprit": commit_view(_CULPRIT),
            "approver": "Ada Admin <ada@lab.example.org>",
        },
    ),
    "result": _answer("result"),
    # The head of the branch does not mend it, and is worse in another figure.
    "retest": _answer(
        "retest",
        what="Revision linux-6.12.y",
        verdict="does not change the figure",
        new="9020 us",
        effect="a ratio of 0.999 (95% interval 0.994 to 1.003)",
        p="0.42",
        figures=_compared(
            (CALLS, SLOW, SLOW_TOO), (IRQS, ONE, MANY_IRQS), (PER_IWI, QUIET, Sample((0.0717,)))
        ),
        worse=("Worse: osnoise.irq_per_sample@osnoise-off: the ratio is 25.5, p = 0.0011",),
    ),
    "result_open": _answer(
        "result-open",
        verdict="leaves it open whether the figure changes",
        new="8100 us",
        figures=_compared((CALLS, SLOW, Sample((6010, 7200, 8090, 8110, 9020, 9040)))),
        effect="a ratio of 0.897 (95% interval 0.663 to 1.004)",
        p="0.066",
    ),
}  # fmt: skip
STORY = (
    "The good end was built and booted 8 times.\n"
    "The bad end was built and booted 8 times; the ends differ.\n"
    "Search: 3 revisions tested.\n"
    "  revision      boots  probability\n"
    "  000000000017      5        0.004"
)


def _board(report):
    """The same on a real machine, beside somebody's production load."""
    return replace(report, device=BOARD, synthetic_workload=False)


def _people(*, tracked):
    lists = (Recipient(REGRESSIONS, "", "the list for regressions in mainline"),) if tracked else ()
    keeper = Recipient("keeper@kernel.example.org", "Keeper", "get_maintainer.pl: maintainer")
    author = Recipient("dev@kernel.example.org", "A. Developer", "author of the commit")
    return Recipients((author,), (*lists, keeper))


def _public(report, use_case=""):
    tracked = bool(use_case)
    return report, Public(
        recipients=_people(tracked=tracked),
        approver="Ada Admin <ada@lab.example.org>",
        date=_DATE,
        evidence=f"https://lab.example.org/evidence/{report.campaign}/",
        use_case=use_case,
        introduced=report.culprit.sha if tracked else "",
        title=f"{report.culprit.subject}: {symptom_of(report)}" if tracked else "",
        monitored=(_FIX,) if tracked else (),
        commands=True,
    )


_FIX = "https://lore.kernel.org/r/fix@kernel.example.org"
_HURTS = "Hosts that run packet processing on isolated CPUs miss their deadlines."

#: Mails as other people get them.
PUBLIC = {
    "public_regression": lambda: _public(rcu(), _HURTS),
    "public_hang": lambda: _public(hang(), _HURTS),
    "public_workload_dependent": lambda: _public(_board(epoll())),
    "public_backport": lambda: _public(backport()),
}
