# SPDX-License-Identifier: GPL-2.0-or-later
"""Finished campaigns to write mails about: one for each kind of answer."""

from __future__ import annotations

from dataclasses import replace

from helpers.findings import lines, said
from helpers.report_difference import by_difference
from helpers.report_epoll import (
    EPOLL,
    GATES,
    another_meaning,
    epoll,
    epoll_factors,
    improvement,
    inconclusive,
    nothing,
    unmeasured,
)
from helpers.report_parts import (
    BOARD,
    IDLE,
    IDLE_TIP,
    IDLE_TOO,
    LONG,
    LONG_ENDS,
    LONG_LAYOUT,
    LONG_ON,
    LOUD,
    LOUD_TIP,
    QUIET,
    QUIET_ENDS,
    QUIET_NO_RT,
    QUIET_TIP,
    RCU,
    RCU_LIMIT,
    RCU_ON,
    RES_LIMIT,
    RES_OFF_LIMIT,
    SHORT,
    SHORT_ENDS,
    SHORT_LAYOUT,
    SHORT_ON,
    history,
    judged,
    row,
    sha,
    vs_parent,
)
from helpers.report_several import two_culprits
from rtbisect.model.campaign import (
    Cause,
    Level,
    MetricKey,
    Outcome,
    Role,
    Sample,
    Scale,
    Sought,
    Statistic,
)
from rtbisect.model.report import CommitText, Repaired, SeriesState, Standing
from rtbisect.model.result import (
    CheckName,
    CheckStatus,
    Result,
    Summary,
    TestedRevision,
    Verification,
)


def _with_release(facts, release):
    return [(name, release if name == "uname_r" else value) for name, value in facts]


def rcu():
    title = "rcu: Delay the first scan for quiescent states"
    result = Result(
        outcome=Outcome.CULPRIT,
        cause=Cause.KERNEL,
        culprit=sha(9),
        candidates=((sha(9), 0.9996), (sha(8), 0.0004)),
        confidence=0.9996,
        metric=RCU,
        judgement=judged(RCU_LIMIT, SHORT_ENDS, LONG_ENDS),
        tested=(
            TestedRevision(sha(1), "Linux 6.12.3", 8, 0.0),
            TestedRevision(sha(17), "Linux 6.12.10", 8, 1.0),
            # One boot each in the search, and those of the proof.
            TestedRevision(sha(5), "commit 5", 1, 0.0),
            TestedRevision(sha(8), "commit 8", 9, 0.0),
            TestedRevision(sha(9), title, 9, 1.0),
        ),
        verifications=(
            vs_parent(
                sha(8)[:12],
                "pass",
                judged(RCU_LIMIT, SHORT, LONG),
            ),
            Verification(
                check=CheckName.REVERT,
                status=CheckStatus.ABSENT,
                judgement=None,
                note=said("it does not apply to the tip"),
            ),
            Verification(
                check=CheckName.LAYOUT,
                status=CheckStatus.PASS,
                judgement=judged(RCU_LIMIT, SHORT_LAYOUT, LONG_LAYOUT),
            ),
        ),
        table=(
            row("parent", "none", RCU, "us", SHORT),
            row("culprit", "none", RCU, "us", LONG),
            row("parent", "clock-reader", RCU_ON, "us", SHORT_ON),
            row("culprit", "clock-reader", RCU_ON, "us", LONG_ON),
        ),
    )
    return replace(
        epoll(),
        campaign="rcu-0002",
        tree="stable-rt",
        newer=sha(17),
        graph=history(16, [(sha(9), title)]),
        result=result,
        summary=Summary(
            builds=7, boots=51, skipped=0, wall_s=5280.0, build_s=1050.0, boot_s=4080.0
        ),
        culprit=CommitText(
            sha=sha(9),
            subject=title,
            author="Zo\u00eb Developer",
            author_email="zoe@kernel.example.org",
            date="2025-12-01T08:00:00+01:00",
            files=("kernel/rcu/tree.c", "kernel/rcu/tree.h"),
            fixes=('0123456789ab ("rcu: Report a quiescent state\nBcc: too early")',),
            release="v6.12.9",
        ),
        repaired=(
            Repaired(
                campaign="bisect-0007",
                metric=MetricKey("stall", "frozen_periods", "stall"),
                without=Sample((1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0)),
                with_it=Sample((0.0,) * 12),
            ),
        ),
        names=((sha(1), "v6.12.3"), (sha(8), "v6.12.9~2"), (sha(17), "v6.12.10")),
        device=BOARD,
        release="6.12.8-rt8",
        facts=tuple(_with_release(epoll().facts, "6.12.8-rt8")),
        message_id="<rcu-0002.1@lab.example.org>",
        synthetic_workload=False,
        thresholds=(RCU_LIMIT,),
        command="rtbisect bisect stable-rt --good v6.12.3 --bad v6.12.10 --suite rcu "
        "--metric p50_us@rcu-off --seed 7 --site site.yaml",
    )


STALL = MetricKey("stall", "frozen_periods", "stall")
STALL_LIMIT = replace(
    RES_LIMIT, key=STALL, unit="1", scale=Scale.LINEAR, statistic=Statistic.FRACTION,
    min_effect=0.2, floor=0.0, control=None,
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
            Verification(
                check=CheckName.REVERT,
                status=CheckStatus.PASS,
                judgement=judged(STALL_LIMIT, NONE, MANY_TIP),
            ),
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
    ends = STALL_LIMIT.toward(Sought.REPAIR)
    found = judged(ends, MANY, NONE)
    return replace(
        whole,
        campaign="backport-0007",
        graph=history(32, [(sha(24), title)]),
        culprit=replace(whole.culprit, subject=title, release="v6.17-rc1"),
        result=replace(
            whole.result,
            judgement=found,
            verifications=(
                vs_parent(sha(23)[:12], "pass", found),
                Verification(
                    check=CheckName.REVERT,
                    status=CheckStatus.PASS,
                    judgement=judged(ends, MANY_TIP, NONE),
                ),
            ),
            table=(
                replace(row("parent", "epoll-cfs-bandwidth", STALL, "1", MANY), mean=True),
                replace(row("culprit", "epoll-cfs-bandwidth", STALL, "1", NONE), mean=True),
            ),
        ),
        sought=Sought.REPAIR,
        message_id="<backport-0007.1@lab.example.org>",
        series=(
            _series("linux-6.17.y", Standing.HAS, commit=sha(40)),
            _series("linux-6.12.y", Standing.APPLIES, tested=True),
            _series("linux-6.6.y", Standing.CONFLICTS, files=("fs/eventpoll.c",)),
            _series("linux-5.10.y", Standing.UNAFFECTED),
        ),
    )


def _series(name, standing, **other):
    date = "2026-01-30T08:00:00+00:00"
    return SeriesState(name=name, tip=sha(41), date=date, release="", standing=standing, **other)


def no_repair():
    """Both ends stand still as often: nothing between them ends it."""
    # So few boots leave a share open; a campaign that says this had more.
    found = replace(judged(STALL_LIMIT, MANY, MANY_TIP), level=Level.PASS)
    result = replace(
        hang().result, outcome=Outcome.NO_REGRESSION, cause=Cause.NONE, culprit=None, metric=None,
        candidates=(), confidence=0.95, judgement=found, judgements=(found,), verifications=(),
        table=(), tested=(), reasons=(said("no judged metric differs between the ends"),),
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
            Verification(
                check=CheckName.REVERT, status=CheckStatus.PASS, judgement=judged(limit, *tip)
            ),
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
    limit = replace(RES_OFF_LIMIT, role=Role.PRIMARY)
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
    limit = replace(RES_OFF_LIMIT, role=Role.PRIMARY)
    return _quiet_machine(
        "modes-0014", "sched: Choose the housekeeping CPU by the phase of the tick", limit,
        sides=(quiet, half), tip=(quiet_tip, half_tip),
        files=("kernel/sched/isolation.c",),
    )  # fmt: skip


def repair():
    """A commit that makes something better again, and no hang."""
    whole = rcu()
    limit = RCU_LIMIT.toward(Sought.REPAIR)
    found = judged(limit, LONG, SHORT)
    result = replace(
        whole.result, judgement=found,
        verifications=(vs_parent(sha(8)[:12], "pass", found),),
        table=(
            row("parent", "none", RCU, "us", LONG),
            row("culprit", "none", RCU, "us", SHORT),
        ),
    )  # fmt: skip
    return replace(
        whole, campaign="repair-0013", sought=Sought.REPAIR, result=result,
        command=f"{whole.command} --find-fix", message_id="<repair-0013.1@lab.example.org>",
    )  # fmt: skip


CASES = {
    "epoll": epoll,
    "rcu": rcu,
    "nothing": nothing,
    "another_meaning": another_meaning,
    "hang": hang,
    "backport": backport,
    "improvement": improvement,
    "ipi_storm": ipi_storm,
    "irq_noise": irq_noise,
    "repair": repair,
    "no_repair": no_repair,
    "two_modes": two_modes,
    "epoll_factors": epoll_factors,
    "inconclusive": inconclusive,
    "unmeasured": unmeasured,
    "several": lambda: two_culprits(rcu()),
    **by_difference(rcu),
}


STORY = lines(
    "The good end was built and booted 8 times.\n"
    "The bad end was built and booted 8 times; the ends differ.\n"
    "Search: 3 revisions tested."
)
