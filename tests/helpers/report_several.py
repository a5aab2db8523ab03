# SPDX-License-Identifier: GPL-2.0-or-later
"""A finished campaign with two culprits in one range, each proved by itself."""

from __future__ import annotations

from dataclasses import replace

from helpers.report_parts import LONG_ENDS, RCU, RCU_LIMIT, SHORT, history, judged, row, sha
from rtbisect.model.campaign import Cause, Outcome, Sample
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Causes
from rtbisect.model.kinds.pipeline import Parts, Proofs
from rtbisect.model.kinds.search import Checks, Endings
from rtbisect.model.result import (
    CheckName,
    CheckStatus,
    Summary,
    TestedRevision,
    Verification,
)

OLDER, BETWEEN, NEWER = sha(1), sha(10), sha(17)
FIRST, SECOND = sha(6), sha(13)
#: With the first culprit; the newer end, and that without the first.
MIDDLE = Sample((8017.0, 8004.0, 8042.0, 8009.0, 8025.0, 8011.0, 8030.0, 8015.0))
REVERTED = Sample((7021.0, 7008.0, 7034.0, 7012.0, 7019.0, 7046.0, 7010.0, 7027.0))


def _for_second(number, boots, probability):
    why = Finding.of(Parts.TESTED_FOR, culprit=SECOND)
    return TestedRevision(sha(number), f"commit {number}", boots, probability, why)


def _ended(older, newer, culprit):
    return Finding.of(
        Parts.ENDED, older=older, newer=newer, outcome=Outcome.CULPRIT, culprit=culprit, why=None
    )


def two_culprits(whole):
    """Two ticks more with one commit and one more with another: the answer tells the first. In the
    tree and on the machine of the report `whole`.
    """
    title = "rcu: Delay the first scan for quiescent states"
    other = "rcu: Let idle CPUs answer a tick later"
    made, kept = judged(RCU_LIMIT, SHORT, MIDDLE), judged(RCU_LIMIT, REVERTED, LONG_ENDS)
    part = Finding.of(Checks.EXPLAINS_PART, base=8, new=8, share=0.665, why=made.reason)
    taken = Finding.of(Checks.TAKES_BACK, base=8, new=8, share=0.67, why=kept.reason)
    result = replace(
        whole.result,
        outcome=Outcome.MULTIPLE_CULPRITS,
        cause=Cause.KERNEL,
        culprit=FIRST,
        candidates=((FIRST, 0.9991), (SECOND, 0.987)),
        confidence=0.9991,
        judgement=made,
        tested=(
            TestedRevision(OLDER, "Linux 6.12.3", 8, 0.0),
            TestedRevision(sha(5), "commit 5", 9, 0.0),
            TestedRevision(FIRST, title, 9, 1.0),
            TestedRevision(BETWEEN, "commit 10", 8, 1.0),
            _for_second(12, 9, 0.0),
            _for_second(13, 9, 1.0),
            _for_second(17, 16, 1.0),
        ),
        verifications=(
            Verification(
                check=CheckName.PARENT, status=CheckStatus.PASS, judgement=made, note=part,
                recovery=0.665, short=True, parent=sha(5)[:12],
            ),
            Verification(
                check=CheckName.REVERT, status=CheckStatus.PASS, judgement=kept, note=taken,
                recovery=0.67, short=True,
            ),
        ),
        table=(
            row("parent", "none", RCU, "us", SHORT),
            row("culprit", "none", RCU, "us", MIDDLE),
            row("tip+revert", "none", RCU, "us", REVERTED),
        ),
        reasons=(
            _ended(OLDER, BETWEEN, FIRST),
            Finding.of(Proofs.PROBABILITY, culprit=FIRST, probability=0.9991),
            Finding.of(Endings.CULPRIT, sha=FIRST, probability=0.974, boots=18),
            Finding.of(Causes.NO_WORKLOAD, metric=str(RCU)),
            _ended(BETWEEN, NEWER, SECOND),
        ),
    )  # fmt: skip
    return replace(
        whole,
        campaign="several-0018",
        graph=history(16, [(FIRST, title), (SECOND, other)]),
        culprit=replace(whole.culprit, sha=FIRST, release="v6.12.6"),
        names=((OLDER, "v6.12.3"), (NEWER, "v6.12.10")),
        repaired=(),
        result=result,
        summary=Summary(builds=9, boots=83, skipped=0, wall_s=8400, build_s=1350, boot_s=6640),
        message_id="<several-0018.1@lab.example.org>",
    )
