# SPDX-License-Identifier: GPL-2.0-or-later
"""Mails that others take from a folder or an mbox: each once, whoever dies on the way."""

import os

import pytest

from rtbisect.mail.send import send_due
from rtbisect.mail.transport import local
from rtbisect.mail.transport.local import FileTransport, MboxTransport
from rtbisect.model.mail import MailKind, MailState, OutMail
from rtbisect.store import artefacts
from rtbisect.store.outbox import Outbox

MAIL = OutMail(
    message_id="<m@lab.example.org>",
    campaign="bisect-1",
    kind=MailKind.REPORT,
    sender="rtbisect@lab.example.org",
    recipients=("ada@example.org",),
    text="Message-ID: <m@lab.example.org>\n\nText.\n",
    approved_by="A Person",
    approved_at="2026",
)


@pytest.fixture
def outbox(tmp_path):
    outbox = Outbox(tmp_path / "state")
    outbox.put(MAIL)
    return outbox


@pytest.fixture(params=["files", "mbox"])
def way(request, tmp_path):
    return (FileTransport if request.param == "files" else MboxTransport)(tmp_path / "spool")


def mails(place):
    """Those that whoever takes them away finds."""
    paths = place.glob("*.eml") if place.is_dir() else [place] if place.exists() else []
    return sum(path.read_text().count("Message-ID:") for path in paths)


def die(*_words, **_named):
    raise KeyboardInterrupt


def killed(outbox, way):
    with pytest.raises(KeyboardInterrupt):
        send_due(outbox, way, lambda: 0.0)


def test_a_mail_that_was_taken_before_it_was_noted_is_not_written_again(
    outbox, way, tmp_path, monkeypatch
):
    monkeypatch.setattr(Outbox, "sent", die)
    killed(outbox, way)
    monkeypatch.undo()
    spool = tmp_path / "spool"
    assert mails(spool) == 1
    for path in list(spool.glob("*.eml")) or [spool]:
        path.unlink()
    (doubt,) = send_due(outbox, way, lambda: 1e9)
    assert (doubt.state, mails(spool)) == (MailState.IN_DOUBT, 0)
    # Who has looked may have it written again.
    outbox.decide(doubt, MailState.QUEUED, "nobody has it")
    (sent,) = send_due(outbox, way, lambda: 1e9)
    assert (sent.state, mails(spool)) == (MailState.SENT, 1)


def test_a_mail_that_lies_there_is_not_doubled_by_another_try(outbox, way, tmp_path, monkeypatch):
    monkeypatch.setattr(Outbox, "sent", die)
    killed(outbox, way)
    monkeypatch.undo()
    (doubt,) = send_due(outbox, way, lambda: 1e9)
    outbox.decide(doubt, MailState.QUEUED, "nobody has taken it")
    (sent,) = send_due(outbox, way, lambda: 1e9)
    assert (sent.state, mails(tmp_path / "spool")) == (MailState.SENT, 1)


@pytest.mark.parametrize(("module", "name"), [(artefacts, "_aside"), (local.mailbox.mbox, "lock")])
def test_a_kill_before_a_mail_can_be_seen_leaves_no_doubt(
    outbox, tmp_path, monkeypatch, module, name
):
    way = {"_aside": FileTransport, "lock": MboxTransport}[name](tmp_path / "spool")
    monkeypatch.setattr(module, name, die)
    killed(outbox, way)
    monkeypatch.undo()
    (sent,) = send_due(outbox, way, lambda: 1e9)
    assert (sent.state, mails(tmp_path / "spool")) == (MailState.SENT, 1)


def full(*_words, **_named):
    raise OSError(28, os.strerror(28))


def test_a_disk_that_fails_before_a_mail_can_be_seen_is_tried_again(outbox, tmp_path, monkeypatch):
    monkeypatch.setattr(artefacts, "_aside", full)
    (queued,) = send_due(outbox, FileTransport(tmp_path / "spool"), lambda: 0.0)
    assert queued.state is MailState.QUEUED


@pytest.mark.parametrize("module", [artefacts, local])
def test_a_disk_that_fails_once_a_mail_can_be_seen_leaves_a_doubt(
    outbox, tmp_path, monkeypatch, module
):
    """Who takes mails may have taken this one; of an mbox nobody knows how much is there."""
    way = (FileTransport if module is artefacts else MboxTransport)(tmp_path / "spool")
    monkeypatch.setattr(module, "sync", full)
    (doubt,) = send_due(outbox, way, lambda: 0.0)
    assert doubt.state is MailState.IN_DOUBT
