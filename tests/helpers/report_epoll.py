# SPDX-License-Identifier: GPL-2.0-or-later
"""Finished campaigns about one commit of eventpoll, and what else they could have ended with."""

from __future__ import annotations

from dataclasses import replace

from helpers.findings import said
from helpers.report_parts import (
    BOARD,
    IDLE,
    IDLE_NO_RT,
    IDLE_NO_RT_TOO,
    IDLE_TOO,
    LOUD,
    LOUD_ENDS,
    LOUD_TIP,
    OPERATOR,
    PROFILE,
    QEMU,
    QUIET,
    QUIET_ENDS,
    QUIET_NO_RT,
    QUIET_NO_RT_TOO,
    QUIET_TIP,
    RES_LIMIT,
    RES_OFF,
    RES_OFF_LIMIT,
    RES_ON,
    history,
    judged,
    row,
    sha,
    vs_parent,
)
from rtbisect.model.campaign import Cause, Outcome, Sample
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Reasons
from rtbisect.model.report import CommitText, ReportInput
from rtbisect.model.result import (
    CheckName,
    CheckStatus,
    Gate,
    GateStatus,
    Origin,
    Result,
    Summary,
    TestedRevision,
    Verification,
)

EPOLL_PARENT = judged(RES_LIMIT, QUIET, LOUD)
GATES = (
    Gate(
        "G10 A/A",
        GateStatus.PASS,
        said(
            "two series of 8 boots of the parent differ by less than a ratio of 1.6 in"
            " 99 of 100 draws"
        ),
    ),
    Gate("G5 duplicates", GateStatus.PASS, said("raw files of 16 boots differ")),
    Gate(
        "G11 reachability",
        GateStatus.PASS,
        said(
            "10 of the 14 functions that the commit changes ran in the window;"
            " ep_poll_callback ran 750 times a second"
        ),
    ),
    Gate("G16 loop", GateStatus.PASS, said("4.1 times the events make 3 times the interrupts")),
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
        TestedRevision(sha(17), "does not build", 0, 0.01, said("build failed")),
    ),
    verifications=(
        vs_parent(sha(23)[:12], "pass", EPOLL_PARENT),
        Verification(
            check=CheckName.REVERT,
            status=CheckStatus.PASS,
            judgement=judged(RES_LIMIT, QUIET_TIP, LOUD_TIP),
            note=said("8+8 boots, ratio 7.06; takes back 98% of the shift between good and bad"),
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
        older=sha(1),
        newer=sha(33),
        graph=history(32, [(sha(24), title)]),
        result=replace(EPOLL, reasons=(said(WHY),)),
        summary=Summary(builds=9, boots=41, skipped=1, wall_s=1403.0, build_s=181.0, boot_s=902.0),
        culprit=CommitText(
            sha=sha(24),
            subject=title,
            author="A. Developer",
            author_email="dev@kernel.example.org",
            date="2025-07-15T12:00:00+00:00",
            files=("fs/eventpoll.c",),
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
        reasons=(
            said("the interval of the ratio stays below the smallest change that counts, 1.5"),
        ),
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
            TestedRevision(sha(12), "commit 12", 0, 0.34, said("build failed")),
            TestedRevision(sha(13), "commit 13", 0, 0.67, said("build failed")),
        ),
        reasons=(
            said("99% of the probability lies on commits that do not build"),
            said("commits 12 and 13 failed to build three times each"),
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
            said(
                "the commit changes arch/x86/kernel/irq.c, which makes the figures of the"
                " suite ipi: they may mean something else since"
            ),
        ),
        Gate(
            "G4 sources",
            GateStatus.FAIL,
            said(
                "3.1 -> 22, by the instrument that names the sources 19 -> 18.2: what makes"
                " the figure does not change as the figure does"
            ),
        ),
    )
    told = (Finding.of(Reasons.OBJECTION, gate=each.name, why=each.reason) for each in against)
    reasons = (said(WHY), *told)
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
    text = f"without PREEMPT_RT the kernels do not differ: a ratio of {ratio:.2f} is below 1.5"
    return replace(
        whole, campaign="factors-0015",
        result=replace(EPOLL, table=(*EPOLL.table, *without), reasons=(said(WHY), said(text))),
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
        reasons=(
            said("after 8 boots of each end the interval of the ratio still has 1 and 1.5 in it"),
        ),
    )  # fmt: skip
    return replace(
        epoll(), campaign="open-0016", result=result, culprit=None, device=BOARD,
        message_id="<open-0016.1@lab.example.org>",
    )  # fmt: skip


def unmeasured():
    """A search whose figure no boot told."""
    said_why = said("no boot of the older end got as far as the suite")
    result = replace(
        inconclusive().result, judgement=None, judgements=(), tested=(), reasons=(said_why,)
    )
    return replace(
        inconclusive(), campaign="open-0017", result=result, synthetic_workload=False,
        message_id="<open-0017.1@lab.example.org>",
    )  # fmt: skip
