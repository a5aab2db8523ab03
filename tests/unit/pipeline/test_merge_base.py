# SPDX-License-Identifier: GPL-2.0-or-later
"""The command that looks for a change on the side of the end that a merge base stands for."""

from types import SimpleNamespace

from rtbisect.model.campaign import CampaignKind, CampaignRequest
from rtbisect.model.command import CommandRequest, Extra
from rtbisect.pipeline.merge_base import _other_branch

BASE, GIVEN, NEWER, OTHER = ("1234"[n] * 40 for n in range(4))


def test_the_search_on_the_other_branch_has_its_own_two_ends_alone():
    kept = Extra(given=GIVEN, goods=(GIVEN, OTHER), others=CommandRequest(argv=("x",)).extra())
    request = CampaignRequest(
        kind=CampaignKind.RUN, site="", tree="", older=BASE, newer=NEWER, extra=kept.pairs
    )
    steps = SimpleNamespace(setup=SimpleNamespace(request=request))
    command = _other_branch(steps, GIVEN, None).data["command"]
    ends = f"--good {GIVEN[:12]} --bad {BASE[:12]}"
    assert command == f"rtbisect run {ends} --find-fix -- x"
