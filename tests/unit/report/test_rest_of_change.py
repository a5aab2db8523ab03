# SPDX-License-Identifier: GPL-2.0-or-later
"""What is left of a change beside a named commit, and where it is searched."""

import pytest

from helpers.results import culprit_result
from rtbisect.model.campaign import CampaignRequest, Judgement, Level, MetricKey, Sample, Sought
from rtbisect.model.command import SUITE, WINDOW, CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Told
from rtbisect.model.lab import Measurement, Run, RunStatus
from rtbisect.model.result import CheckName, CheckStatus, Verification
from rtbisect.report.rest_of_change import rest_of

NOISE = (-0.4, -0.2, -0.1, 0.1, 0.3, 0.5, 0.2)


def around(level, spread=1.0):
    return tuple(level + spread * each for each in NOISE)


def rest(levels, *, recovery=0.5, spread=1.0, sought=Sought.REGRESSION, **check):
    """Of the older end, the parent, the commit `mid` and the newer end, at these levels; the proof
    says how much of the change that is.
    """
    older, base, new, newer = (around(level, spread) for level in levels)
    command = CommandRequest(argv=("./bench",), metric="us")
    asked = CampaignRequest(
        kind="run", site="", tree="", older="old", newer="new", repo="/r", sought=sought,
        extra=command.extra(),
    )  # fmt: skip
    judged = Judgement(
        key=MetricKey(SUITE, "us", WINDOW), level=Level.REGRESSED, base=Sample(base),
        new=Sample(new), effect=1.0, interval=(0.5, 1.5), p=0.01,
        reason=Finding.of(Told.RATIO, ratio=2.0),
    )  # fmt: skip
    told = {"check": CheckName.PARENT, "status": CheckStatus.PASS, "parent": "dad"} | check
    proof = Verification(judgement=judged, recovery=recovery, **told)
    result = culprit_result("mid", judgement=judged, verifications=(proof,))
    runs = [
        Run(
            run_id="r", revision=sha, status=RunStatus.COMPLETE,
            measurements=(Measurement(suite=SUITE, name="us", window=WINDOW, value=v, unit=""),),
        )
        for sha, values in (("old", older), ("new", newer))
        for v in values
    ]  # fmt: skip
    return rest_of(asked, result, runs)


@pytest.mark.parametrize(
    ("levels", "range_"),
    [
        ((10.0, 10.0, 15.0, 20.0), "--good mid --bad new"),
        ((10.0, 15.0, 20.0, 20.0), "--good old --bad dad"),
        ((10.0, 12.0, 15.0, 20.0), "--good mid --bad new"),
        ((10.0, 15.0, 18.0, 20.0), "--good old --bad dad"),
    ],
)
def test_the_part_with_most_of_the_rest_is_searched(levels, range_):
    found = rest(levels)
    assert found.share == 0.5
    assert found.command == f"rtbisect run --repo /r {range_} --metric us -- ./bench"


def test_the_rest_of_a_repair_is_one():
    found = rest((20.0, 20.0, 15.0, 10.0), sought=Sought.REPAIR)
    assert "--find-fix" in found.command
    assert "--good new --bad mid" in found.command
    # A change for the worse beside a repair is none of it.
    assert rest((15.0, 20.0, 15.0, 17.0), sought=Sought.REPAIR) is None


@pytest.mark.parametrize(
    ("levels", "told"),
    [
        # All of it, as far as is known; followed by the search itself; not proved.
        ((10.0, 10.0, 15.0, 20.0), {"recovery": 0.7}),
        ((10.0, 10.0, 15.0, 20.0), {"recovery": None}),
        ((10.0, 10.0, 15.0, 20.0), {"short": True}),
        ((10.0, 10.0, 15.0, 20.0), {"status": CheckStatus.UNDECIDED}),
        ((10.0, 10.0, 15.0, 20.0), {"parent": ""}),
        # Luck of the ends, or a rest that goes the other way.
        ((10.0, 10.0, 15.0, 20.0), {"spread": 20.0}),
        ((15.0, 10.0, 15.0, 12.0), {}),
    ],
)
def test_nothing_is_said_where_no_part_surely_makes_another_change(levels, told):
    assert rest(levels, **told) is None
