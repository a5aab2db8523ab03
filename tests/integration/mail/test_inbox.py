# SPDX-License-Identifier: GPL-2.0-or-later
"""Replies through a real Maildir."""

import mailbox
import os
from dataclasses import replace

import pytest

from helpers.results import culprit_result
from rtbisect.config.schema import Commands
from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.mail.command_mail import SenderRules
from rtbisect.mail.poll import Stores, poll
from rtbisect.mail.transport import inbox as post
from rtbisect.mail.transport.inbox import Maildir
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Ignored, NoText, Replied
from rtbisect.model.mail import MailKind, OutMail
from rtbisect.model.report import Report, ReportState
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.outbox import Outbox
from rtbisect.store.replies import Replies, ReplyState

TRUST = SenderRules(
    own="bot@lab.example.org",
    commands=Commands(people=["ada@kernel.example.org"], trusted=["mx.lab.example.org"]),
)
MAIL = """\
Authentication-Results: mx.lab.example.org; dkim=pass header.d=kernel.example.org
DKIM-Signature: v=1; d=kernel.example.org; s=s1; b=abcd;
 h=From:To:Cc:Subject:Date:Message-ID:References:In-Reply-To
Date: {date}
From: {sender}
Message-ID: <{name}@kernel.example.org>
In-Reply-To: {parent}
References: {references}

{body}
"""


def trusting(**quota):
    return replace(TRUST, commands=TRUST.commands.model_copy(update=quota))


@pytest.fixture
def stores(tmp_path):
    made = Stores(Replies(tmp_path), Outbox(tmp_path), CampaignStore(tmp_path))
    made.outbox.put(
        OutMail(
            message_id="<r1@lab.example.org>",
            campaign="bisect-1",
            kind=MailKind.REPORT,
            sender="b@example.org",
            recipients=(),
            text="",
            approved_by="A",
            approved_at="now",
        )
    )
    return made


@pytest.fixture
def box(tmp_path):
    return mailbox.Maildir(tmp_path / "mail")


NOW = "2026-03-02T12:00:00+00:00"
DATE = "Mon, 02 Mar 2026 10:00:00 +0000"


def add(box, name="a1", dkim="pass", **changes):
    told = {
        "sender": "ada@kernel.example.org", "parent": "<r1@lab.example.org>", "references": "",
        "body": "x", "date": DATE,
    }  # fmt: skip
    text = MAIL.format(name=name, **(told | changes))
    return box.add(text.replace("dkim=pass", f"dkim={dkim}").encode())


def look(tmp_path, stores, trust=TRUST, now=NOW):
    return list(poll(Maildir(tmp_path / "mail"), stores, trust, now))


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
    add(
        box, "a2", parent="<a1@kernel.example.org>", body="#rtbisect retest",
        references="<r1@lab.example.org> <a1@kernel.example.org>",
    )  # fmt: skip
    (found,) = look(tmp_path, stores)
    assert (found.campaign, found.state) == ("bisect-1", ReplyState.ACCEPTED)


def test_an_answer_that_names_no_mail_of_ours_is_in_the_thread_and_waits(tmp_path, box, stores):
    add(box)
    look(tmp_path, stores)
    add(box, "a2", parent="<a1@kernel.example.org>", body="#rtbisect retest")
    (found,) = look(tmp_path, stores)
    assert (found.campaign, found.state) == ("bisect-1", ReplyState.WAITING)


def test_a_mail_that_was_kept_and_not_marked_is_no_second_one(tmp_path, box, stores):
    add(box, body="#rtbisect retest")

    class Dies(Maildir):
        def done(self, arrived):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(poll(Dies(tmp_path / "mail"), stores, TRUST, NOW))
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
    assert (found.asked, found.why) == ((), Finding.of(NoText.TOO_LARGE))


def test_a_folder_that_is_no_maildir(tmp_path):
    with pytest.raises(ConfigError, match="is no Maildir"):
        Maildir(tmp_path)


def reported(stores, state):
    """A campaign with a report, d1, that stands so."""
    name = stores.campaigns.create("bisect", "{}", "now")
    report = Report(
        campaign=name,
        state=state,
        message_id="d1@lab.example.org",
        eml="",
        path="p",
        bisect_log="",
        story="",
    )
    result = culprit_result("1" * 40)
    stores.campaigns.finish(name, result, report)
    return name


def test_an_answer_to_a_draft_is_in_its_thread(tmp_path, box, stores):
    name = reported(stores, ReportState.DRAFT)
    add(box, parent="<d1@lab.example.org>", body="#rtbisect test")
    (found,) = look(tmp_path, stores)
    assert found.campaign == name
    assert b"#rtbisect test" in stores.replies.mail(found.key).read_bytes()


# --- a mail that comes again ---


def test_a_command_that_is_sent_again_under_another_name_counts_once(tmp_path, box, stores):
    """Some servers do not sign the Message-ID: anybody may send the mail again with another one."""
    unsigned = "From:To:Cc:Subject:Date:References:In-Reply-To"
    for name in ("a1", "a2", "a3"):
        add(box, name, body="#rtbisect retest")
    for path in (tmp_path / "mail/new").iterdir():
        whole = path.read_text()
        path.write_text(whole.replace("Date:Message-ID:References", "Date:References"))
        assert unsigned in path.read_text()
    found = look(tmp_path, stores)
    assert [each.state for each in found] == [ReplyState.ACCEPTED] + [ReplyState.NOTED] * 2
    # Nor after it was carried out, nor after a person has closed it.
    for state in (ReplyState.DONE, ReplyState.NOTED):
        stores.replies.move(found[0].key, tuple(ReplyState), state, Finding.of(Replied.SIGNED))
        add(box, f"b-{state}", body="#rtbisect retest")
        assert [each.state for each in look(tmp_path, stores)] == [ReplyState.NOTED]


def through_a_list(box, number=1):
    """A copy whose signature the list has broken."""
    add(box, dkim="fail", body=f"#rtbisect retest\n--\nlist {number}")


def test_a_copy_stands_where_its_original_does(tmp_path, box, stores):
    through_a_list(box, 1)
    (first,) = look(tmp_path, stores)
    through_a_list(box, 2)
    look(tmp_path, stores)
    why = Finding.of(Replied.CLOSED, person="A Person")
    assert stores.replies.move(first.key, (ReplyState.WAITING,), ReplyState.NOTED, why)
    add(box, body="#rtbisect retest")
    (signed,) = look(tmp_path, stores)
    assert (signed.state, signed.why) == (ReplyState.NOTED, Finding.of(Replied.COPY, key=first.key))


def test_a_signed_copy_of_what_a_person_has_accepted_counts_under_no_name(tmp_path, box, stores):
    through_a_list(box)
    (first,) = look(tmp_path, stores)
    why = Finding.of(Replied.ACCEPTED, person="A Person")
    assert stores.replies.move(first.key, (ReplyState.WAITING,), ReplyState.ACCEPTED, why)
    for name in ("a1", "a2"):
        path = tmp_path / "mail/new" / add(box, name, body="#rtbisect retest")
        path.write_text(path.read_text().replace("Date:Message-ID:References", "Date:References"))
        assert [each.state for each in look(tmp_path, stores)] == [ReplyState.NOTED]


def test_a_signed_copy_that_a_kill_kept_from_the_store_counts(tmp_path, box, stores, monkeypatch):
    through_a_list(box)
    look(tmp_path, stores)
    add(box, body="#rtbisect retest")
    monkeypatch.setattr(stores.replies, "put", killed)
    with pytest.raises(KeyboardInterrupt):
        look(tmp_path, stores)
    monkeypatch.undo()
    assert [each.state for each in look(tmp_path, stores)] == [ReplyState.ACCEPTED]


def killed(*_words):
    raise KeyboardInterrupt


def test_the_same_words_on_another_day_are_another_command(tmp_path, box, stores):
    add(box, body="#rtbisect retest", date="Sun, 01 Mar 2026 10:00:00 +0000")
    add(box, "a2", body="#rtbisect retest")
    assert [each.state for each in look(tmp_path, stores)] == [ReplyState.ACCEPTED] * 2


def test_a_thread_stays_with_the_first_mail_of_a_name(tmp_path, box, stores):
    """Eve answers another report under the name of a mail that is answered already."""
    stores.outbox.put(
        OutMail(
            message_id="<r2@lab.example.org>",
            campaign="bisect-2",
            kind=MailKind.REPORT,
            sender="b@example.org",
            recipients=(),
            text="",
            approved_by="A",
            approved_at="now",
        )
    )
    add(box, "bob")
    look(tmp_path, stores)
    add(box, "bob", sender="eve@example.org", parent="<r2@lab.example.org>")
    look(tmp_path, stores)
    add(box, "a2", parent="<bob@kernel.example.org>")
    (found,) = look(tmp_path, stores)
    assert found.campaign == "bisect-1"


def test_a_store_that_fails_leaves_the_mail_in_the_inbox(tmp_path, box, stores, monkeypatch):
    add(box, body="#rtbisect retest")
    monkeypatch.setattr(stores.outbox, "get", refused)
    with pytest.raises(InfrastructureError, match="disk"):
        look(tmp_path, stores)
    monkeypatch.undo()
    (found,) = look(tmp_path, stores)
    assert found.state is ReplyState.ACCEPTED


def test_a_reply_to_what_another_version_wrote_holds_nobody_up(tmp_path, box, stores):
    name = reported(stores, ReportState.SENT)
    with stores.campaigns.database.write() as connection:
        connection.exec_driver_sql("UPDATE campaign SET report = '{}'")
    add(box, parent="<d1@lab.example.org>", references="<d1@lab.example.org>")
    add(box, "a2", body="#rtbisect retest")
    assert {each.campaign for each in look(tmp_path, stores)} == {name, "bisect-1"}


def refused(_message_id):
    raise InfrastructureError("the disk is full", "free some")


def test_a_stranger_cannot_move_a_thread(tmp_path, box, stores):
    """Eve answers another report under the name of a mail that Ada is going to answer."""
    stores.outbox.put(
        OutMail(
            message_id="<r2@lab.example.org>",
            campaign="bisect-2",
            kind=MailKind.REPORT,
            sender="b@example.org",
            recipients=(),
            text="",
            approved_by="A",
            approved_at="now",
        )
    )
    add(box, "bob", sender="eve@example.org", parent="<r2@lab.example.org>")
    look(tmp_path, stores)
    add(
        box, parent="<bob@kernel.example.org>", body="#rtbisect retest",
        references="<r1@lab.example.org> <bob@kernel.example.org>",
    )  # fmt: skip
    (found,) = look(tmp_path, stores)
    assert (found.campaign, found.state) == ("bisect-1", ReplyState.ACCEPTED)


# --- quotas ---


def test_a_person_has_so_many_commands_a_day(tmp_path, box, stores):
    trust = trusting(a_day=3)
    for name in ("a1", "a2"):
        add(box, name, body=f"{name}\n#rtbisect retest\n#rtbisect test x")
    add(box, "a3", body="#rtbisect retest")
    found = look(tmp_path, stores, trust)
    states = sorted((len(each.asked), each.state) for each in found)
    assert states[0] == (1, ReplyState.ACCEPTED)
    assert sorted(state for n, state in states if n == 2) == [
        ReplyState.ACCEPTED, ReplyState.WAITING,
    ]  # fmt: skip
    add(box, "a4", body="#rtbisect retest", date="Tue, 03 Mar 2026 10:00:00 +0000")
    (other,) = look(tmp_path, stores, trust, "2026-03-03T12:00:00+00:00")
    assert other.state is ReplyState.ACCEPTED


def kept(tmp_path):
    return [path.stat().st_size for path in (tmp_path / "replies").glob("*.eml")]


@pytest.mark.parametrize("parent", ["<r1@lab.example.org>", "<other@example.org>"])
def test_strangers_can_make_us_keep_so_many_mails_a_day(tmp_path, box, stores, parent):
    trust = trusting(others_a_day=3)
    for n in range(8):
        add(box, f"e{n}", sender="eve@example.org", parent=parent, body=f"#rtbisect test {n}")
    found = look(tmp_path, stores, trust)
    assert (len(found), len(stores.replies.all())) == (8, 3)
    assert len(kept(tmp_path)) <= 3
    refused = Finding.of(Ignored.ONE_TOO_MANY, most=3)
    assert [each.why for each in found].count(refused) == 5
    # They do not come again, and who proves who he is has his word.
    add(box, body="#rtbisect retest")
    assert [each.state for each in look(tmp_path, stores, trust)] == [ReplyState.ACCEPTED]


def test_copies_of_a_signed_mail_are_kept_as_those_of_strangers(tmp_path, box, stores):
    for _ in range(8):
        add(box, body="#rtbisect retest")
    for n, path in enumerate((tmp_path / "mail/new").iterdir()):
        path.write_text(path.read_text().replace("\n\n", f"\nX-Way: {n}\n\n", 1))
    look(tmp_path, stores, trusting(others_a_day=3))
    states = [each.state for each in stores.replies.all()]
    assert states == [ReplyState.ACCEPTED] + [ReplyState.NOTED] * 3


def test_strangers_can_make_us_keep_so_many_bytes_a_day(tmp_path, box, stores):
    trust = trusting(others_mb_a_day=0.25)
    for n in range(8):
        add(box, f"e{n}", sender="eve@example.org", body=f"{n}" * 100_000)
    look(tmp_path, stores, trust)
    assert len(kept(tmp_path)) == 2
    assert sum(kept(tmp_path)) <= 250_000
