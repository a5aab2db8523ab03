# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of a finished campaign, by the command that writes it."""

from pathlib import Path

from helpers.mail_world import needs_tools
from helpers.report_epoll import epoll

pytestmark = needs_tools


def test_the_page_of_a_campaign_lies_beside_its_draft(world):
    name = world.campaign(epoll())
    code, told = world("report", "page", name)
    assert (code, told["campaign"]) == (0, name)
    place = Path(told["path"])
    assert place == world.public(name).with_name("index.html")
    # The draft is ours alone, and so is what tells of it.
    assert place.stat().st_mode & 0o777 == 0o600
    assert '<a href="report.eml">' in place.read_text("utf-8")
