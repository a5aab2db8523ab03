# SPDX-License-Identifier: GPL-2.0-or-later
"""Replies through a real Maildir."""

import mailbox
import os

import pytest

from rtbisect.errors import ConfigError
from rtbisect.model.mail import OutMail
from rtbisect.model.report import Report, ReportState
from rtbisect.polling import Stores, poll
from rtbisect.post import inbox as post
from rtbisect.post.inbox import Maildir
from rtbisect.post.replies import Trust
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.outbox import Outbox
from rtbisect.store.replies import Replies, ReplyState

TRUST = Trust("bot@lab.example.org", ("ada@kernel.example.org",), ("mx.lab.example.org",))
MAIL = """\
Authentication-Results: mx.lab.example.org; dkim=pass header.d=kernel.example.org
From: {sender}
Message-ID: <{name}@kernel.example.org>
In-Reply-To: {parent}

{body}
"""


@pytest.fixture
def stores(tmp_path):
    made = Stores(Replies(tmp_path), Outbox(tmp_path), CampaignStore(tmp_path))
    made.outbox.put(
        OutMail("<r1@lab.example.org>", "bisect-1", "report", "b@example.org", (), "", "A", "now")
    )
    return made


@pytest.fixture
def box(tmp_path):
    return mailbox.Maildir(tmp_path / "mail")


def add(
    box, name="a1", *, sender="ada@kernel.example.org", parent="<r1@lab.example.org>", body="x"
):
    return box.add(MAIL.format(name=name, sender=sender, parent=parent, body=body).encode())


def look(tmp_path, stores):
    return list(poll(Maildir(tmp_path / "mail"), stores, TRUST, "now"))


def test_each_reply_is_read_once(tmp_path, box, stores):
    add(box, body="#rtbisect retest")
    add(box, "a2", sender="eve@example.org", body="#rtbisect test x")
    add(box, "a3", body="Thank you.")
    add(box, "a4", parent="<other@example.org>", body="#rtbisect retest")
    found = look(tmp_path, stores)
    assert [each.state for each in found] == [
        ReplyState.ACCEPTED, ReplyState.WAITING, ReplyState.NOTED, ReplyState.IGNORED,
    ]  # fmt: skip
    assert found[0].asked == (("retest", ""),)
    assert look(tmp_path, stores) == []
    assert list((tmp_path / "mail/new").iterdir()) == []
    assert len(list((tmp_path / "mail/cur").iterdir())) == 4
    assert stores.replies.all() == tuple(found)


def test_an_answer_to_an_answer_is_in_the_thread(tmp_path, box, stores):
    add(box)
    look(tmp_path, stores)
    add(box, "a2", parent="<a1@kernel.example.org>", body="#rtbisect retest")
    (found,) = look(tmp_path, stores)
    assert (found.campaign, found.state) == ("bisect-1", ReplyState.ACCEPTED)


def test_a_mail_that_was_kept_and_not_marked_is_no_second_one(tmp_path, box, stores):
    add(box, body="#rtbisect retest")

    class Dies(Maildir):
        def done(self, arrived):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(poll(Dies(tmp_path / "mail"), stores, TRUST, "now"))
    assert look(tmp_path, stores) == []
    assert len(stores.replies.all()) == 1


def test_what_a_mail_program_has_opened_is_read_all_the_same(tmp_path, box, stores):
    name = add(box, body="#rtbisect retest")
    (tmp_path / "mail/new" / name).rename(tmp_path / "mail/cur" / f"{name}:2,")
    (found,) = look(tmp_path, stores)
    assert found.state is ReplyState.ACCEPTED
    (tmp_path / "mail/cur" / f"{name}:2,").rename(tmp_path / "mail/cur" / f"{name}:2,RS")
    assert look(tmp_path, stores) == []


def test_what_is_moved_while_it_is_looked_at_is_found_later(tmp_path, box):
    first, second = add(box), add(box, "a2")
    folder = Maildir(tmp_path / "mail")
    looking = folder.arrived(())
    assert next(looking).key in (first, second)
    for path in list((tmp_path / "mail/new").iterdir()):
        path.rename(tmp_path / "mail/cur" / f"{path.name}:2,")
    assert list(looking) == []
    for each in folder.arrived(()):
        folder.done(each)
    assert {each.key for each in folder.arrived((first,))} == {second}


def test_what_lies_there_for_long_is_left(tmp_path, box, stores):
    name = add(box, body="#rtbisect retest")
    old = tmp_path / "mail/cur" / f"{name}:2,S"
    (tmp_path / "mail/new" / name).rename(old)
    os.utime(old, (0, 0))
    assert look(tmp_path, stores) == []


def test_a_giant_is_not_read_whole(tmp_path, box, stores):
    add(box, body="#rtbisect retest\n" + "x" * (post.MOST_BYTES + 10))
    (found,) = look(tmp_path, stores)
    assert (found.asked, found.why) == ((), "is too large")


def test_a_folder_that_is_no_maildir(tmp_path):
    with pytest.raises(ConfigError, match="is no Maildir"):
        Maildir(tmp_path)


def test_an_answer_to_a_draft_is_in_its_thread(tmp_path, box, stores):
    name = stores.campaigns.create("bisect", "{}", "now")
    report = Report(name, ReportState.DRAFT, "d1@lab.example.org", "", "p", "", "")
    stores.campaigns.set_report(name, report)
    add(box, parent="<d1@lab.example.org>", body="#rtbisect test")
    (found,) = look(tmp_path, stores)
    assert found.campaign == name
    assert b"#rtbisect test" in stores.replies.mail(found.key).read_bytes()
