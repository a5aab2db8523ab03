# SPDX-License-Identifier: GPL-2.0-or-later
"""Mails to write about finished campaigns: notices without one, and what other people get."""

from __future__ import annotations

from helpers.findings import words
from helpers.report_cases import backport, hang, rcu
from helpers.report_parts import BOT, OPERATOR, QUIET, row, sha
from rtbisect.model.campaign import MetricKey, Sample
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import AddressSource, Obstacle, Thread
from rtbisect.model.mail import Recipient, Recipients
from rtbisect.report.ab_table import compared
from rtbisect.report.commit_view import commit_view
from rtbisect.report.letter import Public
from rtbisect.report.lint.tags import REGRESSIONS
from rtbisect.report.message import Envelope, seen_as

_DATE = "2026-01-31T10:20:30+00:00"
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
        [row("base", "none", key, unit, sides[side]) for (key, unit), *sides in figures]
        for side in (0, 1)
    ))  # fmt: skip


def _answer(name, **told):
    """What was measured for somebody: a patch that mends it, unless `told` says otherwise."""
    return (
        "ab_result.txt.j2",
        Envelope(
            bot=BOT, to=(OPERATOR,), subject="Re: rcu: Delay the first scan: test result",
            date=_DATE,
            message_id=f"{name}.1@lab.example.org", parent="<fix@kernel.example.org>",
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
            bot=BOT, to=(OPERATOR,),
            subject="[internal] digest: ended 2, drafts 1, paused 1, in quarantine 1",
            date=_DATE, message_id="digest.1@lab.example.org", marks=(("Kind", "digest"),),
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
            bot=BOT, to=(OPERATOR,),
            subject="[internal] infrastructure: paused 1, in quarantine 1",
            date=_DATE, message_id="lab.1@lab.example.org", marks=(("Kind", "infrastructure"),),
        ),
        _LAB,
    ),
    "withdrawal": (
        "withdrawal.txt.j2",
        Envelope(
            bot=BOT, to=("Zo <zo@kernel.example.org>",),
            subject="Re: [REGRESSION] rcu: Delay the first scan",
            date=_DATE, message_id="rcu-0002.withdrawal@lab.example.org", cc=(REGRESSIONS,),
            parent="<rcu-0002.1@lab.example.org>", thread=("<patch@kernel.example.org>",),
            marks=(("Campaign", "rcu-0002"), ("Kind", "withdrawal")),
        ),
        {
            "why": "the tool that measured had made the noise.",
            "short": "the tool that measured had made the noise",
            "tracked": True,
            "culprit": commit_view(_CULPRIT),
            "tags": True,
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
    # On data that are for nobody else.
    "result_open": _answer(
        "result-open",
        banner=f"{words(Finding.of(Obstacle.EMULATED))}.",
        verdict="leaves it open whether the figure changes",
        new="8100 us",
        figures=_compared((CALLS, SLOW, Sample((6010, 7200, 8090, 8110, 9020, 9040)))),
        effect="a ratio of 0.897 (95% interval 0.663 to 1.004)",
        p="0.066",
    ),
}  # fmt: skip


def _people(*, tracked):
    listed = Finding.of(AddressSource.REGRESSIONS, tree="mainline")
    lists = (Recipient(REGRESSIONS, "", listed),) if tracked else ()
    keeps = Finding.of(AddressSource.MAINTAINER, role="maintainer")
    keeper = Recipient("keeper@kernel.example.org", "Keeper", keeps)
    wrote = Finding.of(AddressSource.AUTHOR)
    author = Recipient("dev@kernel.example.org", "A. Developer", wrote)
    thread = Finding.of(Thread.NO_PATCH)
    return Recipients(to=(author,), cc=(*lists, keeper), dropped=(), parent="", thread=thread)


def _public(report, use_case=""):
    tracked = bool(use_case)
    return report, Public(
        recipients=_people(tracked=tracked),
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
    "public_backport": lambda: _public(backport()),
}
