# SPDX-License-Identifier: GPL-2.0-or-later
"""Mails to write about finished campaigns: notices without one, and what other people get."""

from __future__ import annotations

from dataclasses import replace

from helpers.findings import said, words
from helpers.report_cases import backport, hang, rcu
from helpers.report_epoll import epoll
from helpers.report_parts import (
    BOT,
    OPERATOR,
    QEMU,
    QUIET,
    RCU,
    RCU_LIMIT,
    judged,
    on_board,
    row,
    sha,
)
from rtbisect.campaign.ab_test import ALPHA
from rtbisect.judge.verdict import judge
from rtbisect.mail.digest import Digest, summary, told
from rtbisect.mail.result_mail import withdrawal
from rtbisect.model.campaign import MetricKey, Outcome, Sample, Sought
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Boots, Part
from rtbisect.model.kinds.mail import AddressSource, Delivery, Digested, Newer, Thread
from rtbisect.model.kinds.pipeline import Ends
from rtbisect.model.kinds.report import Columns
from rtbisect.model.mail import Recipient, Recipients
from rtbisect.model.result import ENDS, Summary
from rtbisect.report.ab_table import AbTest, context, subject
from rtbisect.report.letter import Public
from rtbisect.report.lint.tags import REGRESSIONS
from rtbisect.report.message import Envelope, seen_as
from rtbisect.report.policy import STABLE, asks_to_pick

_DATE = "2026-01-31T10:20:30+00:00"
#: Of the report that answers are to.
_PAGE = "https://lab.example.org/evidence/rcu-0002/"
_BETTER = Finding.of(Columns.FIGURE, suite="ipi", name="res_per_s", unit="")


def _answered(**found):
    known = {"culprit": None, "cause": "none", "confidence": None, "better": ()}
    return Finding.of(Digested.ANSWER, **known | found)


def _of(campaign, what):
    return Finding.of(Digested.CAMPAIGN, campaign=campaign, what=what)


LAB = Digest(
    hours=24,
    counts={"ended": 2, "paused": 1, "faults": 1, "waiting": 1, "drafts": 2, "devices": 1},
    replies=0,
    ended=(
        _of("bisect-7", _answered(
            outcome="culprit", culprit="0123456789ab" + "c" * 28, cause="kernel", confidence=0.975
        )),
        _of("check-9", _answered(outcome="no_regression", better=(_BETTER,))),
    ),
    paused=(_of("bisect-8", said("lab berlin: no device fits, because board-2 is in quarantine")),),
    faults=(_of("bisect-8", said("lab berlin: no device fits, because board-2 is in quarantine")),),
    waiting=(
        Finding.of(
            Digested.MAIL, state="in doubt", campaign="bisect-3", mail="report",
            answer=Finding.of(
                Delivery.NO_ANSWER, host="mail.example.org", port=587,
                error="Connection unexpectedly closed",
            ),
        ),
    ),
    drafts=(
        Finding.of(Digested.NAMED, campaign="bisect-7"),
        _of("bisect-2", _answered(
            outcome="culprit", culprit="b" * 40, cause="workload-dependent", confidence=0.99
        )),
    ),
    devices=(Finding.of(Digested.DEVICE, host="board-2", why="its BMC does not answer"),),
)  # fmt: skip


def _digest(kind, *, lab_only):
    opening, counted = summary(LAB, lab_only=lab_only)
    headers = Envelope(
        bot=BOT, to=(OPERATOR,), subject=f"[internal] {kind}: {words(counted)}",
        date=_DATE, message_id=f"{kind}.1@lab.example.org", marks=(("Kind", kind),),
    )  # fmt: skip
    return f"{kind}.txt.j2", headers, told(LAB) | {"opening": words(opening)}


#: Unit, and six boots of either kernel.
IRQS = (MetricKey("osnoise", "irq_per_sample", "osnoise-off"), "1")
PER_IWI = (MetricKey("ipi", "res_per_iwi", "pf-on"), "1")
SLOW, SLOW_TOO, FAST, HALF, SLOWER = (
    Sample(tuple(middle + step for step in (-20, -10, 0, 0, 10, 20)))
    for middle in (9030, 9020, 6020, 7530, 15040)
)
OPEN = Sample((6010, 7200, 8090, 8110, 9020, 9040))
ONE, MANY_IRQS = Sample((1, 1, 1, 1, 1, 2)), Sample((48, 49, 50, 50, 51, 51))
PATCH = Finding.of(Newer.PATCH, title="rcu: mend it")


def tried(report, after, figures=(), what=PATCH, reasons=()):
    """What was measured for somebody who had a report, of more figures too: key and unit, then the
    boots of either kernel.
    """
    rows, judgements = [], []
    for (key, unit), *sides in ((RCU, "us"), SLOW, after), *figures:
        for kernel, side in zip(ENDS, sides, strict=True):
            rows.append(row(kernel, "none", key, unit, side))
        least = RCU_LIMIT.min_effect if key == RCU else 0.8
        limit = replace(RCU_LIMIT, key=key, unit=unit, min_effect=least)
        judgements.append(judged(limit, *sides))
    return AbTest(
        what=what,
        base=sha(33),
        new=sha(99),
        names=((sha(33), "v6.12.10"),),
        judgement=judge(RCU_LIMIT.toward(Sought.REPAIR), SLOW, after, alpha=ALPHA),
        limit=RCU_LIMIT,
        check="check-11",
        result=replace(
            report.result,
            outcome=Outcome.NO_REGRESSION,
            culprit=None,
            table=tuple(rows),
            judgements=tuple(judgements),
            gates=(),
            reasons=reasons,
        ),
        summary=Summary(builds=2, boots=12, skipped=0, wall_s=300, build_s=100, boot_s=200),
    )


def _answer(name, *test, report=None, page="", **more):
    report = report or rcu()
    headers = Envelope(
        bot=BOT, to=(OPERATOR,), subject=subject(report), date=_DATE,
        message_id=f"{name}.1@lab.example.org", parent="<fix@kernel.example.org>",
        marks=(("Campaign", "rcu-0002"), ("Kind", "result"), ("State", "draft")),
    )  # fmt: skip
    test = replace(tried(report, *test, **more), page=page)
    return "ab_result.txt.j2", headers, context(report, test)


_PANIC = Finding.of(
    Ends.NO_EVIDENCE, revision=sha(99), boots=4,
    why=Finding.of(Boots.PANIC, part=Part.BOOT, symptom="VFS: Unable to mount root fs"),
)  # fmt: skip
#: Of the patched kernel some boots stand still.
DIES = Finding.of(
    Ends.DIES_MORE, revision=sha(99), dead=4, boots=10, base=sha(33), base_dead=0, base_boots=6,
    how=Finding.of(Boots.PANIC, part=Part.SUITE, symptom="soft lockup"),
)  # fmt: skip
_SENT = """\
  Reported-by: rtbisect <rtbisect@lab.example.org>

#regzbot introduced: 0ade7c2cf97f
"""


def _withdrawn():
    headers = Envelope(
        bot=BOT, to=("Zo <zo@kernel.example.org>",),
        subject="Re: [REGRESSION] rcu: Delay the first scan",
        date=_DATE, message_id="rcu-0002.withdrawal@lab.example.org", cc=(REGRESSIONS,),
        parent="<rcu-0002.1@lab.example.org>", thread=("<patch@kernel.example.org>",),
        marks=(("Campaign", "rcu-0002"), ("Kind", "withdrawal")),
    )  # fmt: skip
    why = "the tool that measured had made the noise."
    approver = "Ada Admin <ada@lab.example.org>"
    return "withdrawal.txt.j2", headers, withdrawal(rcu().culprit, _SENT, why, BOT, approver)


#: Mails without a campaign of their own: template, headers, and what the template prints.
NOTICES = {
    "digest": lambda: _digest("digest", lab_only=False),
    "infrastructure": lambda: _digest("infrastructure", lab_only=True),
    "withdrawal": _withdrawn,
    "result": lambda: _answer(
        "result", FAST, ((IRQS, ONE, ONE), (PER_IWI, QUIET, QUIET)), page=_PAGE
    ),
    # Half of it is left.
    "result_part": lambda: _answer("result-part", HALF, page=_PAGE),
    # The head of the branch does not mend it, and is worse in another figure.
    "retest": lambda: _answer(
        "retest", SLOW_TOO, ((IRQS, ONE, MANY_IRQS), (PER_IWI, QUIET, Sample((0.0717,)))),
        what=Finding.of(Newer.REVISION, name="linux-6.12.y"), page=_PAGE,
    ),
    # On data that are for nobody else.
    "result_open": lambda: _answer("result-open", OPEN, report=replace(rcu(), device=QEMU)),
    # It does, where it does not stand still.
    "result_dies": lambda: _answer(
        "result-dies", FAST, ((IRQS, ONE, ONE),), reasons=(DIES,), page=_PAGE
    ),
    # The newer kernel did not come so far.
    "result_none": lambda: _answer(
        "result-none", Sample(()), reasons=(_PANIC,)
    ),
}  # fmt: skip


def _people(*, tracked, asked):
    listed = Finding.of(AddressSource.REGRESSIONS, tree="mainline")
    lists = (Recipient(REGRESSIONS, "", listed),) if tracked else ()
    if asked:
        lists = (Recipient(STABLE, "", Finding.of(AddressSource.BACKPORT)),)
    keeps = Finding.of(AddressSource.MAINTAINER, role="maintainer")
    keeper = Recipient("keeper@kernel.example.org", "Keeper", keeps)
    wrote = Finding.of(AddressSource.AUTHOR)
    author = Recipient("dev@kernel.example.org", "A. Developer", wrote)
    thread = Finding.of(Thread.NO_PATCH)
    return Recipients(to=(author,), cc=(*lists, keeper), dropped=(), parent="", thread=thread)


def _public(report, use_case=""):
    tracked = bool(use_case)
    return report, Public(
        recipients=_people(tracked=tracked, asked=asks_to_pick(report)),
        approver="Ada Admin <ada@lab.example.org>",
        date=_DATE,
        evidence=f"https://lab.example.org/evidence/{report.campaign}/",
        program="https://lab.example.org/rtbisect-0.1.0-py3-none-any.whl",
        use_case=use_case,
        introduced=report.culprit.sha if tracked else "",
        title=f"{report.culprit.subject}: {seen_as(report)}" if tracked else "",
        monitored=(_FIX,) if tracked else (),
        linked=(_OLDER,) if report.campaign == hang().campaign else (),
        commands=True,
    )


_OLDER = "https://lore.kernel.org/r/older@kernel.example.org"
_FIX = "https://lore.kernel.org/r/fix@kernel.example.org"
_HURTS = "Hosts that run packet processing on isolated CPUs miss their deadlines."
#: Mails as other people get them.
PUBLIC = {
    "public_regression": lambda: _public(rcu(), _HURTS),
    "public_hang": lambda: _public(hang(), _HURTS),
    "public_workload_dependent": lambda: _public(on_board(epoll())),
    "public_backport": lambda: _public(backport()),
}
