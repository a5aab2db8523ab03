# SPDX-License-Identifier: GPL-2.0-or-later
"""What the operator hears of campaigns and of the lab."""

from datetime import UTC, datetime

from helpers.mail_world import WHO, needs_tools
from helpers.report_cases import rcu
from rtbisect.campaign import labs
from rtbisect.report.lint.rules import lint
from rtbisect.store.campaigns import CampaignStore

pytestmark = needs_tools


def test_the_operator_hears_what_waits(world):
    name = world.campaign(rcu())
    store = CampaignStore(world.state)
    stopped = store.create("bisect", "{}", "2026-01-01T00:00:00+00:00")
    store.note(stopped, "lab ours: no device fits\n#regzbot fix: x")
    labs.quarantine(world.state).put("vm1", "BMC does not answer", datetime.now(UTC))
    site = ("--site", str(world.site))
    code, told = world("report", "digest", *site)
    assert (code, told["queued"]) == (3, False)
    assert any(name in line for line in told["drafts"])
    assert any(stopped in line for line in told["paused"])
    assert lint(told["eml"].encode()) == ()
    assert "\n#regzbot" not in told["eml"]
    code, told = world("report", "digest", "--lab", "--by", WHO, "--send", *site)
    assert (code, told["queued"]) == (3, True)
    assert "BMC does not answer" in told["eml"]
    assert lint(told["eml"].encode()) == ()
    assert world("mail", "send", *site)[1]["mails"][0]["recipients"] == ["operator@lab.example.org"]


def test_a_lab_that_is_well_is_no_mail(world):
    world.campaign(rcu())
    site = ("--site", str(world.site))
    code, told = world("report", "digest", "--lab", "--by", WHO, "--send", *site)
    assert (code, told["queued"]) == (0, False)
    assert world("report", "digest", "--by", "Somebody", "--send", *site)[0] == 2
    assert world("mail", "list")[1]["mails"] == []
