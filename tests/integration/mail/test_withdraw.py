# SPDX-License-Identifier: GPL-2.0-or-later
"""A report that was sent is taken back in its own thread."""

import email
import mailbox
from contextlib import closing
from email.policy import default

from helpers.mail_world import USE, WHO, needs_tools
from helpers.report_cases import rcu
from rtbisect.report.lint.rules import lint

pytestmark = needs_tools


def test_a_report_is_withdrawn_in_its_own_thread(world):
    name = world.campaign(rcu())
    why = "the tool had made the noise"
    words = ("report", "withdraw", name, "--by", WHO, "--why", why)
    code, told = world(*words)
    assert (code, "has not left" in told["error"]) == (2, True)
    world("report", "propose", name, "--by", WHO, "--use-case", USE)
    world("report", "approve", name, "--by", WHO)
    world("mail", "send", "--site", str(world.site))
    code, shown = world(*words)
    assert (code, shown["queued"]) == (0, False)
    assert world("mail", "send", "--site", str(world.site))[1]["mails"] == []
    code, told = world(*words, "--send")
    assert (code, told["queued"]) == (0, True)
    assert world("report", "show", name)[1]["state"] == "withdrawn"
    world("mail", "send", "--site", str(world.site))
    with closing(mailbox.mbox(world.root / "out.mbox")) as box:
        first, second = box
    assert second["In-Reply-To"] == first["Message-ID"]
    assert second["References"].split()[-1] == first["Message-ID"]
    assert (second["To"], second["Cc"]) == (first["To"], first["Cc"])
    assert second["Subject"].split() == ["Re:", *first["Subject"].split()]
    text = second.get_payload()
    assert why in text
    assert f"\n#regzbot resolve: {why}\n" in text
    assert lint(second.as_bytes()) == ()
    # Only once; and then the commit may be told again.
    assert world(*words, "--send")[0] == 2
    again = world.campaign(rcu())
    world("report", "propose", again, "--by", WHO)
    assert world("report", "approve", again, "--by", WHO)[0] == 0


def test_a_reason_writes_no_headers_or_commands(world):
    name = world.campaign(rcu())
    world("report", "propose", name, "--by", WHO, "--use-case", USE)
    world("report", "approve", name, "--by", WHO)
    world("mail", "send", "--site", str(world.site))
    why = "wrong\nBcc: x@example.org\n#regzbot fix: x\nSigned-off-by: Me <m@example.org>"
    told = world("report", "withdraw", name, "--by", WHO, "--why", why)[1]
    mail = email.message_from_string(told["eml"], policy=default)
    assert mail["Bcc"] is None
    assert "\n#regzbot fix" not in told["eml"]
    assert "Signed-off-by:" not in told["eml"]
