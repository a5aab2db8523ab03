# SPDX-License-Identifier: GPL-2.0-or-later
"""What is left of a change beside a named commit, and where it is searched."""

import pytest

from helpers.results import culprit_result
from rtbisect.model.campaign import CampaignRequest, Judgement, Level, MetricKey, Outcome, Sample
from rtbisect.model.command import SUITE, WINDOW, CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Told
from rtbisect.model.kinds.search import Checks
from rtbisect.model.lab import Measurement, Run, RunStatus
from rtbisect.model.result import CheckName, CheckStatus, Verification
from rtbisect.report.rest_of_change import rest_of

TOLD = Finding.of(Told.RATIO, ratio=2.0)


def rest(levels, *, note=Checks.EXPLAINS, **more):
    """Of the older end, the parent, the commit `mid` and the newer end, at these levels."""
    older, base, new, newer = levels
    command = CommandRequest(argv=("./bench",), metric="us", **more)
    asked = CampaignRequest(
        kind="run", site="", tree="", older="old", newer="new", repo="/r", extra=command.extra()
    )
    judged = Judgement(
        key=MetricKey(SUITE, "us", WINDOW), level=Level.REGRESSED, base=Sample((base,) * 3),
        new=Sample((new,) * 3), effect=1.0, interval=(0.5, 1.5), p=0.01, reason=TOLD,
    )  # fmt: skip
    told = Finding.of(note, base=3, new=3, why=TOLD, share=0.5)
    check = Verification(
        check=CheckName.PARENT, status=CheckStatus.PASS, judgement=judged, note=told
    )
    result = culprit_result("mid", judgement=judged, verifications=(check,))
    runs = [
        Run(
            run_id="r", revision=sha, status=RunStatus.COMPLETE,
            measurements=(Measurement(suite=SUITE, name="us", window=WINDOW, value=v, unit=""),),
        )
        for sha, v in (("old", older), ("new", newer))
    ]  # fmt: skip
    assert result.outcome is Outcome.CULPRIT
    return rest_of(asked, result, runs)


@pytest.mark.parametrize(
    ("levels", "share", "range_"),
    [
        ((10.0, 10.0, 15.0, 20.0), 0.5, "--good mid --bad new"),
        ((10.0, 15.0, 20.0, 20.0), 0.5, "--good old --bad 'mid^'"),
        ((10.0, 10.5, 14.0, 20.0), 0.35, "--good mid --bad new"),
        # Better is higher.
        ((20.0, 20.0, 15.0, 10.0), 0.5, "--good mid --bad new"),
    ],
)
def test_the_part_with_most_of_the_rest_is_searched(levels, share, range_):
    found = rest(levels)
    assert found.share == pytest.approx(share)
    assert found.command == f"rtbisect run --repo /r {range_} --metric us -- ./bench"


def test_ratios_are_compared_as_ratios():
    # Half of the difference, and most of the ratio.
    assert rest((10.0, 10.0, 28.0, 40.0), ratio=1.1) is None
    assert rest((10.0, 10.0, 20.0, 40.0), ratio=1.1).share == pytest.approx(0.5)


@pytest.mark.parametrize(
    "levels",
    [
        (10.0, 10.0, 20.0, 20.0),
        (10.0, 10.0, 17.5, 20.0),
        # Luck of both ends.
        (10.0, 12.0, 18.0, 20.0),
        # The other way round, or no change.
        (10.0, 12.0, 11.0, 20.0),
        (10.0, 10.0, 15.0, 10.0),
    ],
)
def test_nothing_is_said_where_the_commit_makes_the_change(levels):
    assert rest(levels) is None


def test_what_the_search_has_looked_for_is_not_asked_for_again():
    assert rest((10.0, 10.0, 15.0, 20.0), note=Checks.EXPLAINS_PART) is None
