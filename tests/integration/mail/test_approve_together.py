# SPDX-License-Identifier: GPL-2.0-or-later
"""Two sessions that approve at one moment."""

from helpers.mail_world import WHO, needs_tools
from helpers.report_cases import rcu
from rtbisect.mail import approve
from rtbisect.store.outbox import Outbox

pytestmark = needs_tools


def test_of_two_who_approve_the_same_at_one_moment_one_is_refused(world, monkeypatch):
    first, second = world.campaign(rcu()), world.campaign(rcu())
    for name in (first, second):
        world("report", "propose", name, "--by", WHO)
    write = approve.assemble.SystemClock.now_iso

    def meanwhile(clock):
        monkeypatch.setattr(approve.assemble.SystemClock, "now_iso", write)
        assert world("report", "approve", second, "--by", WHO)[0] == 0
        return write(clock)

    # It is read when the mail is made, behind all that is asked before.
    monkeypatch.setattr(approve.assemble.SystemClock, "now_iso", meanwhile)
    assert world("report", "approve", first, "--by", WHO)[0] == 2
    assert [each.campaign for each in Outbox(world.state).all()] == [second]
