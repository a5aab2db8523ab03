# SPDX-License-Identifier: GPL-2.0-or-later
"""Why a reply stands where it does, as this program and older ones have kept it."""

import json
from dataclasses import replace

import pytest

from rtbisect.errors import InternalError
from rtbisect.model.finding import Finding, Kept
from rtbisect.model.kinds.mail import Outcomes, Replied, Untrusted
from rtbisect.store.replies import KeptReply, Replies, ReplyState

REPLY = KeptReply(
    key="k1",
    message_id="<a@example.org>",
    campaign="bisect-1",
    sender="ada@example.org",
    subject="Re: x",
    at="2026-03-02T12:00:00+00:00",
    asked=(("retest", ""),),
    state=ReplyState.WAITING,
    why=Finding.of(Untrusted.OLD, most_days=14),
)
OUTCOMES = (
    Finding.of(Outcomes.TO_DECIDE, command="dup", campaign="bisect-1"),
    Finding.of(Outcomes.REFUSED, command="test", error="\u00e9; {x}\n"),
)


def nested(levels):
    return '{"kind":"a.b","data":{"why":' * levels + "null" + "}}" * levels


@pytest.fixture
def replies(tmp_path):
    return Replies(tmp_path)


def put(replies, column, text):
    """As another program, or a person, has left a row."""
    replies.put(REPLY, b"Subject: x\n\n")
    with replies.database.write() as connection:
        connection.exec_driver_sql(f"UPDATE reply SET {column} = ?", (text,))


def test_what_was_found_comes_back(replies):
    assert replies.put(REPLY, b"Subject: x\n\n")
    assert replies.get("k1") == REPLY
    why = Finding.of(Replied.CARRIED_OUT, outcomes=OUTCOMES)
    assert replies.move("k1", (ReplyState.WAITING,), ReplyState.DONE, why)
    assert replies.get("k1").why == why
    replies.put(replace(REPLY, key="k2", why=None), b"")
    assert replies.get("k2").why is None


def test_a_reply_moves_only_from_where_it_was_seen(replies):
    replies.put(REPLY, b"")
    why = Finding.of(Replied.SIGNED)
    assert not replies.move("k1", (ReplyState.ACCEPTED,), ReplyState.DONE, why)
    assert not replies.move("none", tuple(ReplyState), ReplyState.DONE, why)
    assert replies.get("k1") == REPLY


@pytest.mark.parametrize(
    "text",
    [
        "signed by who may ask",
        # An address may begin as JSON does.
        '{"kind"{@x.org is not among those whose commands count',
        '{"kind":"kept.as-said","data":{"text":"a@x"}} is not among those whose commands count',
    ],
)
def test_a_sentence_of_an_older_program_is_what_it_was(replies, tmp_path, text):
    put(replies, "why", text)
    with replies.database.write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0005'")
    lifted = Replies(tmp_path)
    assert lifted.get("k1").why == Finding.of(Kept.AS_SAID, text=text)
    assert Replies(tmp_path).get("k1") == lifted.get("k1")


def test_nothing_was_said(replies):
    put(replies, "why", "")
    assert replies.get("k1").why is None


def test_what_a_newer_program_has_found_is_there(replies):
    put(replies, "why", '{"kind":"new.kind","data":{"n":1}}')
    assert replies.get("k1").why == Finding("new.kind", {"n": 1})


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("why", '{"kind":"replied.si'),
        ("why", "[]"),
        ("why", '{"kind":1}'),
        ("why", '{"format":9,"kind":"replied.signed","data":{}}'),
        *(("why", nested(levels)) for levels in (40, 150, 5000)),
        ("asked", "x"),
        ("asked", "[1]"),
        ("asked", "1"),
        ("asked", "[" * 5000 + "]" * 5000),
        ("state", "x"),
    ],
)
def test_a_row_that_is_damaged_hides_no_other(replies, tmp_path, column, text):
    put(replies, column, text)
    other = replace(REPLY, key="k2")
    replies.put(other, b"")
    for found in (
        replies.all([ReplyState.WAITING]),
        replies.of_day(REPLY.at),
        replies.of_sender(REPLY.sender),
        replies.of_message(REPLY.message_id),
    ):
        damaged, readable = found
        assert readable == other
        why = Finding.of(Replied.UNREADABLE, database=str(tmp_path / "rtbisect.sqlite3"))
        assert (damaged.key, damaged.state, damaged.why) == ("k1", ReplyState.UNREADABLE, why)
    with pytest.raises(InternalError, match=r"^reply k1 cannot be read"):
        replies.get("k1")


def test_what_became_of_commands_comes_back(replies):
    replies.put(REPLY, b"")
    replies.keep_outcomes("k1", OUTCOMES)
    assert replies.outcomes("k1") == OUTCOMES
    assert replies.outcomes("k2") == ()


@pytest.mark.parametrize(
    "text",
    [
        "", "[", "1", "[1]", '[{"kind":1}]', "\0",
        *(f"[{nested(levels)}]" for levels in (40, 150, 5000)),
    ],
)  # fmt: skip
def test_outcomes_that_are_damaged_are_none(replies, tmp_path, text):
    (tmp_path / "replies").mkdir(exist_ok=True)
    (tmp_path / "replies/k1.said").write_text(text)
    assert replies.outcomes("k1") == ()


def test_outcomes_of_an_older_program_are_not_carried_out_again(replies, tmp_path):
    (tmp_path / "replies").mkdir(exist_ok=True)
    said = ["dup: for you to decide", "test: there is no patch"]
    (tmp_path / "replies/k1.said").write_text(json.dumps(said))
    assert replies.outcomes("k1") == tuple(Finding.of(Kept.AS_SAID, text=each) for each in said)
