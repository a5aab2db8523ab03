# SPDX-License-Identifier: GPL-2.0-or-later
"""No mail claims what its boots do not bear out."""

from dataclasses import replace

import pytest

from helpers.findings import Like, said
from helpers.report_cases import CASES, rcu
from helpers.report_epoll import epoll
from helpers.report_parts import BOT, on_board
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Overclaims
from rtbisect.model.kinds.pipeline import Joined
from rtbisect.model.kinds.report import Concerns, Footers, Levels, Shows, Sure, Untested
from rtbisect.model.result import CheckStatus
from rtbisect.report.letter import letter
from rtbisect.report.own import overclaims

KERNEL = Finding.of(Concerns.KERNEL)
TAGS = Finding.of(Footers.TAGS, reported_by="", closes="", fixes="")
LEVEL = Finding.of(Levels.FIGURE, value=1.0, unit="ms")
REVERTED = Finding.of(Joined.SENTENCE, findings=(Finding.of(Sure.REVERT_HELPS, level=LEVEL),))
CODE = CASES["by_code"]().result.difference.why
MACHINE = CASES["by_machine"]().result.difference.why
NO_REVERT = Finding.of(Untested.REVERT, why=None)


@pytest.mark.parametrize("name", sorted(CASES))
def test_what_is_written_claims_nothing_more(name):
    report = CASES[name]()
    assert list(overclaims(report, letter(report, BOT).said)) == []


@pytest.mark.parametrize(
    ("report", "claims", "refused"),
    [
        (rcu(), (KERNEL,), (Overclaims.KERNEL,)),
        (on_board(epoll()), (TAGS,), (Overclaims.TAGS,)),
        (rcu(), (REVERTED, NO_REVERT), (Overclaims.BOTH,)),
        (rcu(), (Finding.of(Shows.LAYOUT), Finding.of(Untested.LAYOUT)), (Overclaims.BOTH,)),
        (
            rcu(),
            (
                Finding.of(Concerns.ONLY_BESIDE, workload="clock-reader"),
                Finding.of(Untested.LIST, parts=(Finding.of(Untested.WORKLOAD),)),
            ),
            (Overclaims.BOTH,),
        ),
        (
            rcu(),
            (Finding.of(Shows.SAME_KERNEL, why=said("1.1")), Finding.of(Untested.SAME_KERNEL)),
            (Overclaims.BOTH,),
        ),
        (
            rcu(),
            (Finding.of(Concerns.REPAIRS, tag="x"), Finding.of(Untested.WHAT_IT_REPAIRS)),
            (Overclaims.BOTH,),
        ),
        (rcu(), (TAGS, REVERTED), ()),
        # No commit is named for what the machine does.
        (rcu(), (MACHINE,), (Overclaims.MACHINE,)),
        (CASES["by_machine"](), (MACHINE,), ()),
        (CASES["by_code"](), (CODE, Finding.of(Untested.LAYOUT)), (Overclaims.BOTH,)),
    ],
)
def test_what_claims_more_is_found(report, claims, refused):
    assert [each.kind for each in overclaims(report, claims)] == list(refused)


def test_the_kernel_itself_may_be_said_where_all_of_it_was_tested():
    report = rcu()
    checks = tuple(replace(check, status=CheckStatus.PASS) for check in report.result.verifications)
    whole = replace(report, result=replace(report.result, verifications=checks))
    assert list(overclaims(whole, (KERNEL,))) == []
    assert list(overclaims(report, (KERNEL,))) == [Like(Overclaims.KERNEL)]
