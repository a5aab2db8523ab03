# SPDX-License-Identifier: GPL-2.0-or-later
"""What campaigns of older programs depend on byte for byte."""

import hashlib

from helpers.campaigns import ROOT

#: What is built into every kernel is part of what a campaign was begun with.
MODULE = {
    "Kbuild": "73cb5d3b438a9f11dd93ac4f12845e1559400933af0bcd16a90aaee445938241",
    "rtbisect_rcu.c": "def7daa66d6006934cefaff0830d737fd0139c7df7861e8b12384355c7da0ec2",
}


def test_a_campaign_goes_on_with_the_module_that_it_was_begun_with():
    """Not even a comment may change: a campaign that was begun with another text is refused."""
    folder = ROOT / "lava-jobs/suites/rcu"
    found = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in MODULE}
    assert found == MODULE
