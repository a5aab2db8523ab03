# SPDX-License-Identifier: GPL-2.0-or-later
"""What the first runs of both ends say of the request."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from rtbisect.errors import MisaskedError
from rtbisect.model.campaign import CampaignRequest, Statistic
from rtbisect.model.command import CommandRequest
from rtbisect.model.kinds.pipeline import Ends
from rtbisect.model.subject import Measured
from rtbisect.pipeline.first_look import heed

COMMAND = CommandRequest(argv=("./t",), pass_fail=True, first_look=True)
REQUEST = CampaignRequest(
    kind="run", site="", tree="", older="old", newer="new", repo="/r", extra=COMMAND.extra()
)


def looking(kinds, **revisions):
    """A campaign in which each of these revisions has six runs of one value."""
    return SimpleNamespace(
        setup=SimpleNamespace(request=REQUEST, limits=SimpleNamespace(calibrate_min=6)),
        traits=SimpleNamespace(measured=Measured.COMMAND),
        evidence=lambda: {
            sha: SimpleNamespace(
                figure=lambda _key, value=value: [SimpleNamespace(value=value)] * 6
            )
            for sha, value in revisions.items()
        },
        tell=lambda kind, **_data: kinds.append(kind),
    )


@pytest.mark.parametrize(("good", "told"), [(1.0, [Ends.ALL_FAIL]), (0.0, [])])
def test_a_test_that_fails_in_all_runs_of_both_ends_is_told(good, told):
    kinds = []
    assert heed(looking(kinds, old=good, new=1.0), COMMAND.threshold(), "old", "new")
    assert kinds == told


def test_ends_the_other_way_round_are_a_wrong_request_and_those_of_a_part_are_not():
    """Between the good end and a proved culprit an older commit may have made it better."""
    number = replace(COMMAND.threshold(), statistic=Statistic.MEDIAN)
    steps = looking([], old=5.0, parent=1.0, new=4.0)
    with pytest.raises(MisaskedError):
        heed(steps, number, "old", "new")
    assert heed(steps, number, "old", "parent")
