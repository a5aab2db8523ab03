# SPDX-License-Identifier: GPL-2.0-or-later
"""What the first runs of both ends say of the request."""

import random
from dataclasses import replace
from types import SimpleNamespace

import pytest

from helpers.campaigns import line_of
from helpers.commanded import Commanded, searched
from rtbisect.errors import MisaskedError
from rtbisect.model.campaign import CampaignRequest, Outcome, Statistic
from rtbisect.model.command import CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Ends
from rtbisect.model.lab import REBUILT_S
from rtbisect.model.subject import Measured
from rtbisect.pipeline.first_look import heed

COMMAND = CommandRequest(argv=("./t",), pass_fail=True, first_look=True)
REQUEST = CampaignRequest(
    kind="run", site="", tree="", older="old", newer="new", repo="/r", extra=COMMAND.extra()
)


def looking(kinds, runs=(), *, built_apart=False, relaid=False, **revisions):
    """A campaign in which each of these revisions has six runs of one value."""
    return SimpleNamespace(
        setup=SimpleNamespace(request=REQUEST, limits=SimpleNamespace(calibrate_min=6)),
        traits=SimpleNamespace(measured=Measured.COMMAND, relaid=relaid, built_apart=built_apart),
        runs=[
            SimpleNamespace(revision=sha, measurements=[SimpleNamespace(value=value)], facts=facts)
            for sha, value, facts in runs
        ],
        evidence=lambda: {
            sha: SimpleNamespace(
                figure=lambda _key, value=value: [SimpleNamespace(value=value)] * 6
            )
            for sha, value in revisions.items()
        },
        ports=SimpleNamespace(journal=SimpleNamespace(campaign="run-1")),
        tell=lambda kind, **_data: kinds.append(kind),
    )


@pytest.mark.parametrize(("good", "told"), [(1.0, [Ends.ALL_FAIL]), (0.0, [])])
def test_a_test_that_fails_in_all_runs_of_both_ends_is_told(good, told):
    kinds = []
    assert heed(looking(kinds, old=good, new=1.0), COMMAND.threshold(), "old", "new")
    assert kinds == told


@pytest.mark.parametrize("passing", [None, 8])
def test_an_answer_says_that_no_run_of_the_ends_has_passed(tmp_path, passing):
    """A command that cannot work looks like a test that has always failed."""
    subject = Commanded(None, lambda number, run: float((number, run) != (0, passing)))
    asked = {"metric": "ms", "count": "", "pass_fail": True, "first_look": True}
    result = searched(tmp_path, subject, line_of(6), **asked)
    assert result.outcome is Outcome.NOT_REPRODUCED
    told = [each for each in result.reasons if each.kind == Ends.ALL_FAILED]
    boots = subject.runs.count(0)
    whole = Finding.of(Ends.ALL_FAILED, boots=boots, campaign="run-1")
    assert told == ([whole] if passing is None else [])


def test_ends_the_other_way_round_are_a_wrong_request_and_those_of_a_part_are_not():
    """Between the good end and a proved culprit an older commit may have made it better."""
    number = replace(COMMAND.threshold(), statistic=Statistic.MEDIAN)
    steps = looking([], old=5.0, parent=1.0, new=4.0)
    with pytest.raises(MisaskedError):
        heed(steps, number, "old", "new")
    assert heed(steps, number, "old", "parent")


#: As the runs of both ends follow each other.
ORDER = ("old", "new", "new", "old", "old", "new", "new", "old", "old", "new", "new", "old")
NOISE = (0.1, 0.3, 0.2, 0.0, 0.1, 0.2, 0.3, 0.2, 0.0, 0.1, 0.3, 0.2)
CHECKED_OUT, BUILT = (0, 1, 3, 5, 7, 9, 11), (0, 1)
REBUILT = ((REBUILT_S, "1.0"),)


@pytest.mark.parametrize("built_apart", [False, True])
@pytest.mark.parametrize("skew", [0.2, 1.5])
def test_noise_is_hardly_ever_told(built_apart, skew):
    """Also where single runs take many times as long as most."""
    number = replace(COMMAND.threshold(), statistic=Statistic.MEDIAN)
    rng, kinds = random.Random(1), []
    for _ in range(2000):
        runs = [(sha, rng.lognormvariate(0, skew), ()) for sha in ORDER]
        heed(looking(kinds, runs, old=4.0, new=5.0, built_apart=built_apart), number, "old", "new")
    assert len(kinds) < 0.01 * 2000


@pytest.mark.parametrize(
    ("slower", "by", "traits", "facts", "told"),
    [
        (CHECKED_OUT, 1.0, {}, (), True),
        (CHECKED_OUT, -1.0, {}, (), True),
        (CHECKED_OUT, 0.2, {}, (), False),
        (CHECKED_OUT, 1.0, {"built_apart": True}, (), False),
        (BUILT, 1.0, {"built_apart": True}, (), True),
        (BUILT, 1.0, {"built_apart": True, "relaid": True}, (), False),
        (CHECKED_OUT, 1.0, {"built_apart": True}, REBUILT, True),
        # One end says nothing.
        ((0,), 1.0, {"built_apart": True}, (), False),
    ],
)
def test_runs_of_new_files_that_differ_at_both_ends_are_told(slower, by, traits, facts, told):
    number = replace(COMMAND.threshold(), statistic=Statistic.MEDIAN)
    runs = [
        (sha, 5 + noise + (by if at in slower else 0.0), facts if at in slower else ())
        for at, (sha, noise) in enumerate(zip(ORDER, NOISE, strict=True))
    ]
    kinds = []
    heed(looking(kinds, runs, old=4.0, new=5.0, **traits), number, "old", "new")
    assert kinds == ([Ends.FRESH_DIFFER] if told else [])
