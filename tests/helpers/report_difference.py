# SPDX-License-Identifier: GPL-2.0-or-later
"""Finished campaigns that say what makes the difference: one for each answer there is."""

from __future__ import annotations

from dataclasses import replace

from helpers.report_parts import RCU_LIMIT, judged, sha
from rtbisect.judge.differs import judged_change
from rtbisect.model.campaign import Cause, Outcome, Sample
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.difference import Differs
from rtbisect.model.kinds.judge import Told
from rtbisect.model.kinds.search import Checks, Costs, Endings
from rtbisect.model.result import CheckName, CheckStatus, Difference, DiffersBy, Verification

#: Boots of both ends that differ a little, in one build each.
OLDER = Sample((6004.0, 6011.0, 5998.0, 6016.0, 6007.0, 6002.0, 6013.0, 5995.0))
NEWER = Sample((6239.0, 6231.0, 6247.0, 6223.0, 6256.0, 6238.0, 6230.0, 6244.0))
#: Some of them in a stretch that was slow for all.
SLOW = Sample((6009.0, 7811.0, 7798.0, 6014.0, 5997.0, 7806.0, 6003.0, 6018.0))
SLOWER = Sample((7830.0, 6021.0, 7844.0, 6040.0, 7829.0, 6027.0, 7851.0, 7838.0))
#: Builds of the parent and of the commit with a layout each.
BEFORE = Sample((6032.0, 5949.0, 6014.0, 6078.0))
WITH_IT = Sample((9045.0, 8961.0, 9102.0, 9010.0))
#: The smallest change that counts is a small one.
LIMIT = replace(RCU_LIMIT, min_effect=100.0)
METRIC = str(LIMIT.key)


def by_difference(rcu):
    """Reports by their names, each made when it is asked for, of the campaign that `rcu` makes."""
    return {
        "by_code": lambda: by_code(rcu()),
        "by_layout": lambda: by_layout(rcu()),
        "by_machine": lambda: by_machine(rcu()),
        "by_neither": lambda: by_neither(rcu()),
    }


def by_code(whole):
    """Other layouts of parent and commit show the same."""
    found = judged(LIMIT, BEFORE, WITH_IT)
    change = judged_change(LIMIT, found, by_t=True)
    why = Finding.of(
        Differs.CODE, metric=METRIC, change=change.share, error=change.error, base=4, new=4,
        instructions=None, same=False,
    )  # fmt: skip
    spread = Finding.of(Told.SHIFT, difference=58.0, unit=LIMIT.unit)
    note = Finding.of(Checks.BUILDS, base=4, new=4, why=found.reason, spread=spread)
    builds = Verification(
        check=CheckName.BUILDS, status=CheckStatus.PASS, judgement=found, note=note
    )
    checks = tuple(
        builds if check.check is CheckName.LAYOUT else check for check in whole.result.verifications
    )
    result = replace(whole.result, verifications=checks, difference=Difference(DiffersBy.CODE, why))
    return _called(whole, "code-0021", result)


def by_layout(whole):
    """Builds of the same code differ as much as the ends, and no commit does."""
    nothing = Finding.of(Endings.NO_CHANGE, probability=0.97, boots=58)
    reasons = (Finding.of(Endings.BUILDS_DIFFER, why=nothing),)
    why = Finding.of(
        Differs.LAYOUT, metric=METRIC, change=0.039, error=0.002, spread=0.031, noise=0.004,
        builds=14,
    )  # fmt: skip
    result = _open(whole, Outcome.LAYOUT_SENSITIVE, DiffersBy.LAYOUT, why, reasons)
    return _called(whole, "layout-0022", result)


def by_machine(whole):
    """A stretch of boots of the same kernels was slower than all others."""
    why = Finding.of(
        Differs.MACHINE, metric=METRIC, first=41, last=58, shift=0.3, runs=12, revisions=4,
        p=0.002, change=0.004, error=0.003,
    )  # fmt: skip
    result = _open(whole, Outcome.INCONCLUSIVE, DiffersBy.MACHINE, why, (_over(200),), SLOW, SLOWER)
    return _called(whole, "machine-0023", result)


def by_neither(whole):
    """The ends differ by what builds of the same code may differ by."""
    why = Finding.of(
        Differs.UNCLEAR, metric=METRIC, change=0.039, error=0.002, base=0, new=0,
        instructions=None, same=False, helps=(),
    )  # fmt: skip
    result = _open(whole, Outcome.INCONCLUSIVE, DiffersBy.UNCLEAR, why, (_over(120),))
    return _called(whole, "open-0024", result)


def _over(boots):
    spent = Finding.of(Costs.WORK, builds=12, boots=boots)
    return Finding.of(Endings.SEARCH_BUDGET, spent=spent)


def _open(whole, outcome, by, why, reasons, older=OLDER, newer=NEWER):
    found = judged(LIMIT, older, newer)
    return replace(
        whole.result, outcome=outcome, cause=Cause.NONE, culprit=None, candidates=(),
        confidence=0.0, judgement=found, judgements=(found,), verifications=(), table=(),
        tested=whole.result.tested[:2], reasons=reasons, difference=Difference(by, why),
    )  # fmt: skip


def _called(whole, campaign, result):
    return replace(
        whole, campaign=campaign, result=result, message_id=f"<{campaign}.1@lab.example.org>",
        thresholds=(LIMIT,), culprit=whole.culprit if result.culprit else None,
        repaired=() if result.culprit else whole.repaired,
        names=((sha(1), "v6.12.3"), (sha(17), "v6.12.10")) if not result.culprit else whole.names,
    )  # fmt: skip
