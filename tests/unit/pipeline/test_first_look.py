# SPDX-License-Identifier: GPL-2.0-or-later
"""What the first runs of both ends say of the request."""

from types import SimpleNamespace

import pytest

from rtbisect.model.campaign import CampaignRequest
from rtbisect.model.command import CommandRequest
from rtbisect.model.kinds.pipeline import Ends
from rtbisect.model.subject import Measured
from rtbisect.pipeline.first_look import heed

COMMAND = CommandRequest(argv=("./t",), pass_fail=True, first_look=True)
REQUEST = CampaignRequest(
    kind="run", site="", tree="", older="old", newer="new", repo="/r", extra=COMMAND.extra()
)


@pytest.mark.parametrize(("good", "told"), [(1.0, [Ends.ALL_FAIL]), (0.0, [])])
def test_a_test_that_fails_in_all_runs_of_both_ends_is_told(good, told):
    kinds = []

    def end(value):
        return SimpleNamespace(figure=lambda _key: [SimpleNamespace(value=value)] * 6)

    steps = SimpleNamespace(
        setup=SimpleNamespace(request=REQUEST, limits=SimpleNamespace(calibrate_min=6)),
        traits=SimpleNamespace(measured=Measured.COMMAND),
        evidence=lambda: {"old": end(good), "new": end(1.0)},
        tell=lambda kind, **_data: kinds.append(kind),
    )
    assert heed(steps, COMMAND.threshold(), "old", "new")
    assert kinds == told
