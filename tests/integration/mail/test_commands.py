# SPDX-License-Identifier: GPL-2.0-or-later
"""Where reports stand, whatever is killed, dropped or withdrawn; and replies that are worked on."""

import mailbox
from contextlib import closing
from datetime import UTC, datetime
from email.utils import format_datetime
from types import SimpleNamespace

import pytest

from helpers.findings import words
from helpers.mail_server import Server
from helpers.mail_world import USE, WHO, needs_tools
from helpers.report_cases import rcu
from rtbisect.config.site_file import load_site
from rtbisect.errors import InfrastructureError
from rtbisect.mail import commands, report_state
from rtbisect.model.campaign import CampaignRequest, Sought
from rtbisect.model.command import Extra
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Outcomes, Replied
from rtbisect.model.report import ReportState
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.outbox import Outbox
from rtbisect.store.replies import KeptReply, Replies, ReplyState

pytestmark = needs_tools


def approved(world):
    name = world.campaign(rcu(), newer=world.sha)
    world("report", "propose", name, "--by", WHO, "--use-case", USE)
    assert world("report", "approve", name, "--by", WHO)[0] == 0
    return name


def send(world):
    return world("mail", "send", "--site", str(world.site))


def state_of(world, name):
    return world("report", "show", name)[1]["state"]


def withdraw(world, name):
    return world("report", "withdraw", name, "--by", WHO, "--why", "it was the tool", "--send")


def test_what_was_withdrawn_is_not_sent_behind_that(world):
    with closing(Server(world.root / "server", "--fault", "cut")) as server:
        world.mail["send"] = {
            "smtp": {"host": "127.0.0.1", "port": server.port, "security": "none"}
        }
        name = approved(world)
        (doubt,) = send(world)[1]["mails"]
        assert doubt["state"] == "in doubt"
        assert withdraw(world, name)[0] == 0
        identity = doubt["message_id"]
        code, told = world("mail", "decide", identity, "again", "--why", "x")
        assert (code, "was withdrawn" in told["error"]) == (2, True)
        assert world("mail", "decide", identity, "sent", "--why", "x")[0] == 0
        assert state_of(world, name) == "withdrawn"


def test_a_withdrawal_that_is_dropped_has_told_nobody(world):
    name = approved(world)
    send(world)
    withdraw(world, name)
    assert state_of(world, name) == "withdrawn"
    (mail,) = [m for m in world("mail", "list")[1]["mails"] if m["kind"] == "withdrawal"]
    assert world("mail", "drop", mail["message_id"])[0] == 0
    assert state_of(world, name) == "sent"
    assert withdraw(world, name)[0] == 0
    # There is one withdrawal of a report, whoever makes it when.
    assert withdraw(world, name)[0] == 2


@pytest.mark.parametrize("stands", [s for s in ReportState if s is not ReportState.WITHDRAWN])
def test_what_a_kill_left_is_put_right(world, stands):
    name = approved(world)
    store, outbox = CampaignStore(world.state), Outbox(world.state)
    for mail, expected in (
        ("queued", {"draft": "approved"}),
        ("sent", {"draft": "sent", "approved": "sent"}),
        ("withdrawn", dict.fromkeys(map(str, ReportState), "withdrawn")),
    ):
        if mail == "sent":
            send(world)
        if mail == "withdrawn":
            withdraw(world, name)
        store.move_report(name, list(ReportState), stands)
        report_state.follow_outbox(store, outbox)
        assert state_of(world, name) == expected.get(stands.value, stands.value)


@pytest.mark.parametrize("stands", [ReportState.SENT, ReportState.ANSWERED, ReportState.FIXED])
def test_who_drops_a_withdrawal_has_the_report_as_it_was(world, stands):
    name = approved(world)
    send(world)
    CampaignStore(world.state).move_report(name, (ReportState.SENT,), stands)
    withdraw(world, name)
    (mail,) = [m for m in world("mail", "list")[1]["mails"] if m["kind"] == "withdrawal"]
    world("mail", "drop", mail["message_id"])
    assert state_of(world, name) == stands.value


def test_a_report_in_doubt_may_be_answered(world):
    with closing(Server(world.root / "server", "--fault", "cut")) as server:
        world.mail["send"] = {
            "smtp": {"host": "127.0.0.1", "port": server.port, "security": "none"}
        }
        name = approved(world)
        (doubt,) = send(world)[1]["mails"]
        store = CampaignStore(world.state)
        assert store.move_report(name, (ReportState.SENT,), ReportState.ANSWERED)
        world("mail", "decide", doubt["message_id"], "sent", "--why", "x")
        assert state_of(world, name) == "answered"


def test_a_draft_whose_mail_is_gone_is_a_draft(world):
    name = approved(world)
    outbox = Outbox(world.state)
    outbox.drop(outbox.all()[0])
    assert state_of(world, name) == "approved"
    assert send(world)[0] == 0
    assert state_of(world, name) == "draft"
    assert world("report", "approve", name, "--by", WHO)[0] == 0


def test_a_state_moves_only_from_where_it_was_seen(world):
    name = approved(world)
    store = CampaignStore(world.state)
    assert not store.move_report(name, (ReportState.SENT,), ReportState.FIXED)
    assert store.move_report(name, (ReportState.APPROVED,), ReportState.SENT)
    assert not store.move_report("none", tuple(ReportState), ReportState.SENT)
    assert state_of(world, name) == "sent"


def test_who_has_not_read_it_does_not_approve_it(world):
    world.mail["approvers"] += [
        {"name": "Jo Ada", "address": "joada@lab.example.org"},
    ]
    name = world.campaign(rcu())
    world("report", "propose", name, "--by", "Jo Ada")
    code, told = world("report", "approve", name, "--by", "ada@lab.example.org")
    assert (code, "has read it, not Ada" in told["error"]) == (2, True)


def test_a_mail_with_other_letters_is_told(world):
    name = world.campaign(rcu())
    world("report", "propose", name, "--by", WHO)
    place = world.public(name)
    data = place.read_bytes().replace(b"us-ascii", b"utf-8").replace(b"7bit", b"8bit")
    place.write_bytes(data.replace(b"  machine", "  Jos\u00e9".encode()))
    code, told = world("report", "approve", name, "--by", WHO)
    assert (code, "no ASCII" in told["error"]) == (2, True)


# --- replies that are worked on ---


@pytest.fixture
def reply(world):
    """An accepted reply that asks for the branch."""
    name = approved(world)
    send(world)
    kept = Replies(world.state)

    def make(key="k1", asked=(("retest", ""),)):
        found = KeptReply(
            key=key, message_id=f"<{key}@kernel.example.org>", campaign=name,
            sender="zo@kernel.example.org", subject="Re: x",
            at=datetime.now(UTC).isoformat(), asked=asked, state=ReplyState.ACCEPTED,
        )  # fmt: skip
        kept.put(found, b"Subject: x\n\nText.\n")
        return kept

    return make


def test_what_is_wrong_with_the_command_is_told(world, reply):
    kept = reply(asked=(("test", "no-such-branch"), ("bisect", "one"), ("dup", "x")))
    code, told = world("mail", "work")
    assert (code, told["replies"][0]["state"]) == (0, "done")
    why = kept.get("k1").why
    assert (why.kind, why.data["outcomes"]) == (Replied.CARRIED_OUT, kept.outcomes("k1"))
    first, second, third = kept.outcomes("k1")
    assert (first.kind, first.data["command"]) == (Outcomes.REFUSED, "test")
    assert "no-such-branch" in first.data["error"]
    assert (second.kind, second.data["command"]) == (Outcomes.REFUSED, "bisect")
    assert (third.kind, third.data["command"]) == (Outcomes.TO_DECIDE, "dup")


@pytest.mark.parametrize("sought", Sought)
def test_a_reply_says_good_and_bad_as_the_command_line_does(world, sought):
    (world.tree / "kernel/rcu/tree.c").write_text("int y;\n")
    world._git("commit", "-q", "-a", "-m", "rcu: mend it")
    older, newer = world.sha, world._git("rev-parse", "HEAD")
    request = CampaignRequest(
        kind="demo", site=str(world.site), tree="stable-rt", older="a", newer="b", sought=sought
    )
    ends = " ".join(sought.ends(older, newer))
    asked = commands._bisection_request(world.state, load_site(world.site), request, ends)
    assert (asked.older, asked.newer, asked.sought) == (older, newer, sought)


def test_what_was_known_of_the_reported_range_is_not_known_of_another(world):
    (world.tree / "kernel/rcu/tree.c").write_text("int y;\n")
    world._git("commit", "-q", "-a", "-m", "rcu: mend it")
    asked_then = Extra(max_boots=260, sure=0.9, given="c" * 40)
    request = CampaignRequest(
        kind="bisect", site=str(world.site), tree="stable-rt", older="a", newer="b",
        extra=asked_then.pairs,
    )  # fmt: skip
    ends = f"{world.sha} {world._git('rev-parse', 'HEAD')}"
    asked = commands._bisection_request(world.state, load_site(world.site), request, ends)
    assert Extra.of(asked) == Extra(max_boots=260)


def test_a_reply_without_a_patch_is_told(world, reply):
    kept = reply(asked=(("test", ""),))
    assert world("mail", "work")[0] == 0
    (outcome,) = kept.outcomes("k1")
    assert (outcome.kind, outcome.data["command"]) == (Outcomes.REFUSED, "test")


def test_an_address_that_no_archive_has_is_told(world, reply):
    kept = reply(asked=(("test", "https://elsewhere.example.org/x"),))
    assert world("mail", "work")[0] == 0
    (outcome,) = kept.outcomes("k1")
    assert outcome.kind == Outcomes.REFUSED
    assert "https://elsewhere.example.org/x" in outcome.data["error"]


def test_a_reply_that_is_closed_asks_nothing(world, reply):
    kept = reply()
    site = ("--site", str(world.site))
    assert world("mail", "close", "k1", "--by", "Somebody", *site)[0] == 2
    assert world("mail", "close", "k1", "--by", WHO, *site)[1]["replies"][0]["state"] == "noted"
    assert world("mail", "close", "k1", "--by", WHO, *site)[0] == 2
    assert world("mail", "work")[1]["replies"] == []
    assert kept.get("k1").why.kind == Replied.CLOSED


@pytest.mark.parametrize("fails", [False, True])
def test_a_reply_that_is_closed_while_it_is_worked_on_asks_no_more(
    world, reply, monkeypatch, fails
):
    before = world.sha
    commit(world)
    reply("k1", (("bisect", f"{before} {world._git('rev-parse', 'HEAD')}"), ("dup", "")))
    kept = reply("k2", (("dup", ""),))

    def once(*_, **__):
        for key in ("k1", "k2"):
            close = ("mail", "close", key, "--by", WHO, "--site", str(world.site))
            assert world(*close)[0] == 0
        if fails:
            raise InfrastructureError("the lab is away")
        return SimpleNamespace(id="bisect-9")

    monkeypatch.setattr(commands.session, "once", once)
    assert world("mail", "work")[0] == (3 if fails else 0)
    searched = Finding.of(Outcomes.SEARCHED, command="bisect", campaign="bisect-9")
    assert kept.outcomes("k1") == (() if fails else (searched,))
    assert kept.outcomes("k2") == ()
    for key in ("k1", "k2"):
        assert (kept.get(key).state, kept.get(key).why.kind) == (ReplyState.NOTED, Replied.CLOSED)


@pytest.fixture
def lab(monkeypatch):
    """A lab that fails; it counts what it is asked."""
    asked = []

    def once(_state, request, _progress, *, again):
        asked.append((request, again))
        raise InfrastructureError("the lab is away")

    monkeypatch.setattr(commands.session, "once", once)
    return asked


def test_a_reply_that_cannot_be_read_stops_no_other(world, reply):
    reply("k1")
    kept = reply("k2", (("dup", ""),))
    query = "UPDATE reply SET asked = 'x' WHERE key = 'k1'"
    with kept.database.write() as connection:
        connection.exec_driver_sql(query)
    code, told = world("mail", "work")
    assert (code, [each["state"] for each in told["replies"]]) == (0, ["unreadable", "done"])
    assert kept.get("k2").state is ReplyState.DONE
    code, told = world("mail", "replies")
    unread, done = told["replies"]
    assert (code, unread["key"], unread["state"], unread["asked"]) == (0, "k1", "unreadable", [])
    assert unread["why_found"]["kind"] == Replied.UNREADABLE
    assert done["state"] == "done"
    assert world("mail", "close", "k1", "--by", WHO, "--site", str(world.site))[0] == 70


def commit(world):
    with (world.tree / "kernel/rcu/tree.c").open("a") as file:
        file.write("int z;\n")
    world._git("commit", "-qam", "rcu: more")


def test_a_fault_of_the_lab_leaves_the_reply_and_the_others_go_on(world, reply, lab):
    commit(world)
    kept = reply("k1")
    reply("k2", (("dup", ""),))
    code, told = world("mail", "work")
    assert (code, [each["state"] for each in told["replies"]]) == (3, ["accepted", "done"])
    assert kept.get("k1").why == Finding.of(Replied.WAITS, error="the lab is away")
    assert kept.get("k2").state is ReplyState.DONE
    # The same question again, and no other: what is done is not done twice.
    commit(world)
    world("mail", "work")
    (first, _), (second, again) = lab
    assert (first, again) == (second, False)


def test_a_retest_is_of_the_branch_whatever_is_written_behind_it(world, reply, lab):
    commit(world)
    reply(asked=(("retest", "please, with the new head"),))
    world("mail", "work")
    assert lab[0][0].newer == world._git("rev-parse", "HEAD")


def test_a_site_file_that_is_broken_is_not_the_askers_fault(world, reply):
    kept = reply()
    place = world.root / "site.yaml"
    text = place.read_text()
    place.write_text("{")
    assert world("mail", "work")[0] == 2
    assert kept.get("k1").state is ReplyState.ACCEPTED
    place.write_text(text)
    assert world("mail", "work")[0] == 0
    assert kept.get("k1").state is ReplyState.DONE


def test_what_was_done_before_a_fault_is_not_done_again(world, reply, lab):
    commit(world)
    kept = reply(asked=(("dup", ""), ("retest", "")))
    assert world("mail", "work")[0] == 3
    (said,) = kept.outcomes("k1")
    assert said.kind == Outcomes.TO_DECIDE
    assert world("mail", "work")[0] == 3
    assert len(lab) == 2


ANSWER = """\
Authentication-Results: mx.lab.example.org; dkim={dkim} header.d=kernel.example.org
DKIM-Signature: v=1; d=kernel.example.org; b=x; h=From:Date:Message-ID:In-Reply-To
Received: by {way}
Date: {date}
From: Zo <zo@kernel.example.org>
Message-ID: <q1@kernel.example.org>
In-Reply-To: <{parent}>

#rtbisect retest
"""


def copies(world, *signed):
    """The same reply so many times, each signed or not, polled one after the other."""
    name = approved(world)
    send(world)
    world.mail["inbox"] = {"maildir": str(world.root / "in")}
    world.mail["commands"] = {
        "people": ["zo@kernel.example.org"], "trusted": ["mx.lab.example.org"],
    }  # fmt: skip
    box = mailbox.Maildir(world.root / "in")
    parent = world("report", "show", name)[1]["message_id"].strip("<>")
    date = format_datetime(datetime.now(UTC))
    for way, dkim in enumerate(signed):
        box.add(ANSWER.format(date=date, dkim=dkim, way=way, parent=parent).encode())
        world("mail", "poll", "--site", str(world.site))
    return world("mail", "replies")[1]["replies"]


def test_a_copy_of_a_reply_asks_no_more(world):
    first, second = copies(world, "pass", "pass")
    assert (first["state"], second["state"]) == ("accepted", "noted")
    assert second["why"] == words(Finding.of(Replied.COPY, key=first["key"]))


def test_a_signed_copy_takes_the_place_of_one_that_is_not(world):
    first, second, third = copies(world, "fail", "pass", "fail")
    assert (first["state"], second["state"], third["state"]) == ("noted", "accepted", "noted")
    assert first["why"] == words(Finding.of(Replied.SIGNED_COPY, key=second["key"]))


def test_a_signed_copy_counts_however_many_came_before_it_that_are_not(world):
    """Through two lists, or by a stranger who sends what he has read twice."""
    first, second, third = copies(world, "fail", "fail", "pass")
    assert [each["state"] for each in (first, second, third)] == ["noted", "noted", "accepted"]
