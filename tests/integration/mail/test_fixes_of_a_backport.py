# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixes of what was reported in a stable tree: they name the commit of mainline."""

from dataclasses import replace

import pytest

from helpers.mail_world import World, needs_tools
from helpers.report_cases import rcu
from rtbisect.campaign.trees import tree_of
from rtbisect.config.site_file import load_site
from rtbisect.mail.poll import Stores
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.outbox import Outbox
from rtbisect.store.replies import Replies

pytestmark = needs_tools

MAINLINE = "9f" * 20


@pytest.fixture
def world(tmp_path, capsys):
    return World(tmp_path, capsys)


def commit(world, message):
    world._git("commit", "-q", "--allow-empty", "-m", f"rcu: something\n\n{message}")
    return world._git("rev-parse", "HEAD")


@pytest.mark.parametrize(
    "says", [f"commit {MAINLINE} upstream.", f"[ Upstream commit {MAINLINE} ]", "Text."]
)
def test_what_mends_a_backport_names_its_mainline_commit(world, says):
    culprit = commit(world, says)
    commit(world, 'Fixes: 0123456789ab ("another")')
    own = commit(world, f"Fixes: {culprit[:12]} (here)")
    fix = commit(world, f"commit {'e' * 40} upstream.\n\nFixes: {MAINLINE[:12]} (there)")
    revert = commit(world, f"This reverts commit {MAINLINE}.")
    site = load_site(world.site)
    tree = tree_of(world.state, site.target(world.target))
    of_mainline = () if says == "Text." else (fix, revert)
    assert tree.mending(culprit, revert, "") == (own, *of_mainline)


@pytest.mark.parametrize("upstream", [MAINLINE, ""])
def test_a_patch_in_the_thread_may_name_the_mainline_commit(world, upstream):
    report = rcu()
    name = world.campaign(report, culprit=replace(report.culprit, upstream=upstream))
    store = CampaignStore(world.state)
    threads = Stores(Replies(world.state), Outbox(world.state), store)
    ids = [world.sha[:12], upstream[:12], f"{name}.0123"]
    assert [mark for mark in ids if mark] == [
        mark.partition("@")[0] for mark in threads.mends(name)
    ]
    (store.get(name).draft().folder / "input.json").unlink()
    assert threads.mends(name)[0] == world.sha[:12]
