# SPDX-License-Identifier: GPL-2.0-or-later
"""What a budget shows before anything is measured."""

from dataclasses import replace
from functools import partial

from rtbisect.campaign.plan import limits_of
from rtbisect.config.schema import Campaign
from rtbisect.search.outlook import Terms
from rtbisect.search.shown import EFFECTS, ENOUGH, chance, shown

TERMS = Terms(build_s=30.0, boot_s=20.0, layout_s=None)
GROWING = limits_of(Campaign(), 0)
OF_SITE = replace(GROWING, grows_to=0)


def test_a_larger_change_and_a_larger_budget_are_better():
    assert chance(OF_SITE, TERMS, 3.0) > ENOUGH > chance(OF_SITE, TERMS, 1.0)
    more = limits_of(Campaign(), 500)
    assert chance(more, TERMS, 1.0) > chance(OF_SITE, TERMS, 1.0) + 0.2
    no_builds = replace(OF_SITE, max_builds=5)
    assert chance(no_builds, TERMS, 3.0) == 0.0


def test_what_a_small_change_takes_is_said():
    seen = {each.effect: each for each in shown(OF_SITE, partial(limits_of, Campaign()), TERMS)}
    assert tuple(seen) == EFFECTS
    wanted = seen[1.0].max_boots
    assert wanted is not None
    assert wanted > OF_SITE.max_boots
    assert chance(limits_of(Campaign(), wanted), TERMS, 1.0) >= ENOUGH
    assert seen[3.0].max_boots == OF_SITE.max_boots


def test_a_budget_that_grows_shows_more():
    more = chance(GROWING, TERMS, 1.0)
    assert more > chance(OF_SITE, TERMS, 1.0) + 0.2
    # It looks at the ends no longer than before.
    assert more <= chance(limits_of(Campaign(), GROWING.grows_to), TERMS, 1.0)
    asked = shown(GROWING, partial(limits_of, Campaign()), replace(TERMS, layout_s=165.0))[0]
    assert asked.chance > 0.6
    assert asked.max_boots is None or asked.max_boots > GROWING.grows_to


def test_a_larger_budget_that_looks_no_longer_is_not_advised():
    """A site may say how long the ends are looked at."""
    few = Campaign(looks_max=10)
    assert shown(limits_of(few, 400), partial(limits_of, few), TERMS)[0].max_boots is None


def test_looks_without_a_limit_of_their_own_end_early():
    """Campaigns of before looked at 10 boots a side at most."""
    before = replace(OF_SITE, looks_max=0, max_boots=500)
    assert chance(before, TERMS, 1.0) < chance(limits_of(Campaign(), 500), TERMS, 1.0) / 2
