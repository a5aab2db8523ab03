# SPDX-License-Identifier: GPL-2.0-or-later
"""What a search leaves for its proof, and the limits that a request and a site make together."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from helpers.campaigns import world
from rtbisect.campaign.plan import limits_of
from rtbisect.config.schema import Campaign
from rtbisect.model.campaign import GROWN_BOOTS, CampaignKind, CampaignRequest, MetricKey
from rtbisect.model.command import Extra, command_line
from rtbisect.pipeline.budget import Budget


def budget(tmp_path, begun=0, **limits):
    setup, _ = world(tmp_path, 4).open()
    setup = replace(setup, limits=replace(setup.limits, **limits))
    traits = SimpleNamespace()
    return Budget(setup=setup, traits=traits, builds=(), layouts=0, boot_s=(), begun=begun)


def test_a_search_leaves_what_its_proof_takes_of_other_builds(tmp_path):
    assert budget(tmp_path, max_boots=200).search_boots_left() == 200 - 18
    assert budget(tmp_path, max_boots=200).search_boots_left(beside=40) == 200 - 18 - 40
    # No more than it can do without; what is spent is spent.
    assert budget(tmp_path, max_boots=200).search_boots_left(beside=90) == 200 - 80
    assert budget(tmp_path, begun=150, max_boots=200).search_boots_left(beside=40) == 0
    old = budget(tmp_path, max_boots=200, proofs=1)
    assert old.search_boots_left(beside=40) == old.search_boots_left()


@pytest.mark.parametrize(
    ("campaign", "asked", "boots", "looks", "grows_to"),
    [
        ({}, 0, 200, 40, GROWN_BOOTS),
        ({}, 300, 300, 60, 0),
        ({"max_boots": 80}, 0, 80, 16, 0),
        ({"max_builds": 120}, 0, 200, 40, 0),
        ({"looks_max": 30}, 0, 200, 30, GROWN_BOOTS),
    ],
)
def test_looks_and_growth_follow_from_the_budget_that_was_said(
    campaign, asked, boots, looks, grows_to
):
    limits = limits_of(Campaign(**campaign), asked)
    assert (limits.max_boots, limits.looks_max, limits.grows_to) == (boots, looks, grows_to)


def test_a_budget_that_was_asked_for_is_kept_and_asked_for_again():
    request = CampaignRequest(
        kind=CampaignKind.BISECT,
        site="/etc/rt/site.yaml",
        tree="t",
        older="a" * 40,
        newer="b" * 40,
        extra=Extra(max_boots=260).pairs,
    )
    assert Extra.of(request).max_boots == 260
    assert "--max-boots 260" in command_line(request, MetricKey("ipi", "res_per_s", "pf-on"))
    assert Extra(max_boots=0).pairs == ()
