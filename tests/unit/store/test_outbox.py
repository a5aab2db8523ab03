# SPDX-License-Identifier: GPL-2.0-or-later
"""How a try to deliver a mail ended, as this program and older ones have kept it."""

import json

import pytest

from rtbisect.errors import BusyError, ConfigError, InternalError
from rtbisect.mail.send import send_due
from rtbisect.model.finding import Finding, Kept
from rtbisect.model.kinds.mail import Delivery
from rtbisect.model.mail import MailKind, MailState, OutMail
from rtbisect.store.outbox import Outbox

MAIL = OutMail(
    message_id="<m@lab.example.org>",
    campaign="bisect-1",
    kind=MailKind.REPORT,
    sender="rtbisect@lab.example.org",
    recipients=("ada@example.org", "eve@example.org"),
    text="Subject: x\n\n",
    approved_by="A Person",
    approved_at="2026",
)
ACCEPTED = Finding.of(Delivery.ACCEPTED, code=250, said="2.0.0 \u00e9 {x}\n")
NOBODY = Finding.of(Delivery.REFUSED, address="eve@example.org", code=550, said="no such user")


@pytest.fixture
def outbox(tmp_path):
    outbox = Outbox(tmp_path)
    outbox.put(MAIL)
    return outbox


def write(outbox, version="", **columns):
    """As another program, or a person, has left the row."""
    with outbox.database.write() as connection:
        for column, text in columns.items():
            connection.exec_driver_sql(f"UPDATE outbox SET {column} = ?", (text,))
        if version:
            connection.exec_driver_sql("UPDATE alembic_version SET version_num = ?", (version,))


def test_what_was_found_comes_back(outbox):
    assert outbox.get(MAIL.message_id) == MAIL
    sent = outbox.sent(MAIL, ACCEPTED, [NOBODY])
    assert (sent.state, sent.answer, sent.refused) == (MailState.SENT, ACCEPTED, (NOBODY,))
    assert outbox.get(MAIL.message_id) == sent


def test_what_a_person_decides_is_kept_as_his(outbox):
    doubt = outbox.doubt(MAIL, Finding.of(Delivery.KILLED))
    decided = outbox.decide(doubt, MailState.SENT, "it is in the archive")
    assert decided.answer == Finding.of(Delivery.DECIDED, why="it is in the archive")
    assert outbox.get(MAIL.message_id) == decided


class WrongSite:
    """A way of sending that ends in an error of the site file, behind its last step or before."""

    def __init__(self, *, far):
        self.far = far

    def send(self, _mail, before_end):
        if self.far:
            before_end()
        raise ConfigError("the password is wrong", "correct it")


@pytest.mark.parametrize("far", [False, True])
def test_a_try_that_the_site_file_ends_is_none_also_after_a_reboot(outbox, tmp_path, far):
    with pytest.raises(ConfigError):
        send_due(outbox, WrongSite(far=far), lambda: 0.0)
    after = Outbox(tmp_path, "another boot")
    after.settle()
    assert after.get(MAIL.message_id).state is (MailState.IN_DOUBT if far else MailState.QUEUED)


@pytest.mark.parametrize("text", ["2.0.0 taken", '{"kind": "as JSON begins', "451 \u00e9"])
def test_what_an_older_program_kept_is_as_it_was_said(outbox, tmp_path, text):
    write(outbox, "0006", answer=text, refused=json.dumps([f"eve@example.org: 550 {text}", text]))
    (lifted,) = Outbox(tmp_path).all()
    assert lifted.answer == Finding.of(Kept.AS_SAID, text=text)
    assert [each.data["text"] for each in lifted.refused] == [f"eve@example.org: 550 {text}", text]
    assert {each.kind for each in lifted.refused} == {Kept.AS_SAID}
    # It is lifted once.
    assert Outbox(tmp_path).all() == (lifted,)


def test_a_mail_that_an_older_program_had_not_tried_has_no_answer(outbox, tmp_path):
    write(outbox, "0006")
    assert Outbox(tmp_path).all() == (MAIL,)


def test_an_outbox_that_an_older_program_sends_from_is_left_alone(outbox, tmp_path):
    write(outbox, "0006")
    with outbox.sender(), pytest.raises(BusyError):
        Outbox(tmp_path)
    assert Outbox(tmp_path).all() == (MAIL,)


@pytest.mark.parametrize(
    "columns",
    [
        {"answer": "250 taken"},
        {"answer": "[]"},
        {"refused": "x"},
        {"refused": "1"},
        {"refused": '["550 nobody"]'},
    ],
)
def test_a_row_that_is_damaged_is_told_by_its_mail(outbox, columns):
    write(outbox, **columns)
    with pytest.raises(InternalError, match=r"<m@lab\.example\.org> cannot be read"):
        outbox.all()
