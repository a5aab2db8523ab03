# SPDX-License-Identifier: GPL-2.0-or-later
"""The outbox and a real SMTP server: each mail once, whatever happens on the way."""

import contextlib
import email
import os
import shutil
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from helpers.depth import deep
from helpers.findings import Like
from helpers.mail_server import Server, SetWords
from rtbisect.config.schema import Smtp
from rtbisect.errors import BusyError, ConfigError
from rtbisect.mail.send import send_due
from rtbisect.mail.transport.local import FileTransport, MboxTransport, SendmailTransport
from rtbisect.mail.transport.smtp import SmtpTransport
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Delivery
from rtbisect.model.mail import MailKind, MailState, OutMail
from rtbisect.process import command
from rtbisect.store import outbox as store
from rtbisect.store.outbox import Outbox

HELPERS = Path(__file__).resolve().parents[2] / "helpers"
#: Of 400 steps or so.
KILLS = deep(40, 100)
SECOND = "second@example.org"
REFUSED = Finding.of(
    Delivery.REFUSED, address="first@example.org", code=550, said="5.1.1 no such user"
)

TEXT = """\
From: rtbisect <rtbisect@lab.example.org>
To: first@example.org, second@example.org
Subject: a mail
Message-ID: {}

A line.
.A line with a dot.
.
The end.
"""


def mail(number=1):
    identity = f"<mail-{number}@lab.example.org>"
    return OutMail(
        message_id=identity, campaign=f"bisect-{number}", kind=MailKind.REPORT,
        sender="rtbisect@lab.example.org",
        recipients=("first@example.org", "second@example.org"), text=TEXT.format(identity),
        approved_by="A Person", approved_at="2026",
    )  # fmt: skip


@pytest.fixture
def serve(tmp_path):
    with contextlib.ExitStack() as stack:

        def start(*words):
            made = Server(tmp_path / "server", *words)
            stack.callback(made.close)
            return made

        yield start


@pytest.fixture
def outbox(tmp_path):
    return Outbox(tmp_path / "state")


def states(outbox):
    return [each.state for each in outbox.all()]


def test_a_mail_is_sent_once_as_it_was_approved(serve, outbox):
    server = serve()
    outbox.put(mail())
    (sent,) = send_due(outbox, server.transport(), lambda: 0.0)
    assert (sent.state, sent.refused) == (MailState.SENT, ())
    assert sent.answer == Finding.of(Delivery.ACCEPTED, code=250, said="2.0.0 taken")
    assert send_due(outbox, server.transport(), lambda: 1e9) == ()
    (found,) = server.taken()
    sender, people, text = found.split(b"\n", 2)
    assert sender == b"rtbisect@lab.example.org"
    assert people == b"first@example.org second@example.org"
    assert text.replace(b"\r\n", b"\n").decode() == mail().text
    with pytest.raises(ConfigError, match="already"):
        outbox.put(mail())


@pytest.mark.parametrize(
    ("fault", "state", "copies", "answer"),
    [
        ("one", MailState.SENT, 1, Like(Delivery.ACCEPTED, code=250)),
        ("one-later", MailState.QUEUED, 0, Like(Delivery.NOT_NOW, code=450, address=SECOND)),
        ("all", MailState.REFUSED, 0, REFUSED),
        (
            "sender",
            MailState.REFUSED,
            0,
            Like(Delivery.REFUSED, code=550, address="rtbisect@lab.example.org"),
        ),
        ("content", MailState.REFUSED, 0, Like(Delivery.REFUSED, code=554, address="")),
        ("busy", MailState.QUEUED, 0, Like(Delivery.NOT_NOW, code=452, address="")),
        ("cut", MailState.IN_DOUBT, 1, Like(Delivery.NO_ANSWER, host="127.0.0.1")),
        ("deaf", MailState.IN_DOUBT, 1, Like(Delivery.NO_ANSWER, host="127.0.0.1")),
        ("stop", MailState.QUEUED, 0, Like(Delivery.NO_ANSWER, host="127.0.0.1")),
        ("odd", MailState.IN_DOUBT, 1, Like(Delivery.UNCLEAR, code=354)),
        ("away", MailState.QUEUED, 0, Like(Delivery.NOT_NOW, code=421, address="")),
    ],
)
def test_what_a_server_says(serve, outbox, fault, state, copies, answer):
    server = serve("--fault", fault)
    outbox.put(mail())
    (ended,) = send_due(outbox, server.transport(), lambda: 1000.0)
    assert ended == outbox.get(mail().message_id)
    assert ended.state is state
    assert ended.answer == answer
    assert len(server.taken()) == copies
    refused = Like(Delivery.REFUSED, code=550, address=SECOND)
    assert list(ended.refused) == ([refused] if fault == "one" else [])
    if state is MailState.QUEUED:
        assert ended.next_s == 1000.0 + store.FIRST_S
    # Nothing is sent again by itself, or before its time.
    assert send_due(outbox, server.transport(), lambda: 1001.0) == ()
    assert len(server.taken()) == copies


def test_greylisting_is_waited_for(serve, outbox):
    server = serve("--fault", "grey")
    outbox.put(mail())
    (first,) = send_due(outbox, server.transport(), lambda: 1000.0)
    assert (first.state, first.tries) == (MailState.QUEUED, 1)
    assert first.answer == Like(Delivery.NOT_NOW, address="first@example.org", code=451)
    (second,) = send_due(outbox, server.transport(), lambda: first.next_s)
    assert second.state is MailState.SENT
    assert len(server.taken()) == 1


def test_pauses_grow_and_end(outbox):
    outbox.put(mail())
    away = SmtpTransport(Smtp(host="127.0.0.1", port=1, security="none"), Path)
    now, pauses = 0.0, []
    while states(outbox) == [MailState.QUEUED]:
        (ended,) = send_due(outbox, away, partial(float, now))
        pauses.append(ended.next_s - now)
        now = ended.next_s
    assert states(outbox) == [MailState.HELD]
    assert len(pauses) == store.MOST_TRIES
    assert pauses[:3] == [60.0, 120.0, 240.0]
    assert max(pauses) == store.LONGEST_S
    again = outbox.decide(outbox.get(mail().message_id), MailState.QUEUED, "the server is back")
    assert list(outbox.due(0.0)) == [again]


def test_a_clock_that_was_wrong_delays_nothing(serve, outbox):
    server = serve("--fault", "busy")
    outbox.put(mail())
    (ended,) = send_due(outbox, server.transport(), lambda: 4e9)
    assert ended.next_s > 4e9
    # The clock is set back by decades.
    assert list(outbox.due(1000.0)) == [ended]


def test_one_process_sends(serve, outbox):
    with outbox.sender(), pytest.raises(BusyError):
        send_due(outbox, serve().transport(), lambda: 0.0)


def test_a_machine_that_was_down_leaves_a_doubt(tmp_path):
    before = Outbox(tmp_path, "one")
    before.put(mail())
    before.begin(mail())
    # The process died; the machine did not: it did not come to the end of the mail.
    same = Outbox(tmp_path, "one")
    assert same.settle() == ()
    assert states(same) == [MailState.QUEUED]
    same.begin(mail())
    (doubt,) = Outbox(tmp_path, "another").settle()
    assert doubt.state is MailState.IN_DOUBT


def test_a_person_decides_on_what_is_in_doubt(serve, outbox):
    server = serve("--fault", "cut")
    outbox.put(mail())
    (doubt,) = send_due(outbox, server.transport(), lambda: 0.0)
    with pytest.raises(ConfigError, match="has left"):
        outbox.drop(doubt)
    sent = outbox.decide(doubt, MailState.SENT, "it is in the archive")
    with pytest.raises(ConfigError, match="nothing to decide"):
        outbox.decide(sent, MailState.QUEUED, "")
    assert send_due(outbox, server.transport(), lambda: 1e9) == ()


def test_what_was_not_sent_can_be_dropped(outbox):
    outbox.put(mail())
    outbox.drop(outbox.get("mail-1@lab.example.org"))
    assert outbox.all() == ()
    with pytest.raises(ConfigError, match="no mail"):
        outbox.get("mail-1@lab.example.org")


# --- TLS and login ---


@pytest.fixture
def certificate(tmp_path):
    """A certificate of the test's own for 127.0.0.1, with its key in the same file."""
    place = tmp_path / "c.pem"
    argv = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    argv += ["-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    argv += ["-addext", "subjectAltName=IP:127.0.0.1"]
    argv += ["-keyout", str(place), "-out", f"{place}.crt"]
    command.run(argv, cwd=tmp_path, timeout_s=60, check=True)
    crt = Path(f"{place}.crt")
    place.write_text(place.read_text() + crt.read_text())
    return place


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl")
@pytest.mark.parametrize("security", ["tls", "starttls"])
def test_tls_and_login(serve, outbox, certificate, tmp_path, security):
    words = ["--certificate", certificate, "--user", "bot", "secret"]
    server = serve(*words, *(["--tls"] if security == "tls" else []))
    password = tmp_path / "password"
    password.write_text("wrong\n")
    password.chmod(0o600)
    with_login = {"user": "bot", "password": str(password), "security": security}
    outbox.put(mail())
    with pytest.raises(ConfigError, match="certificate is not trusted"):
        send_due(outbox, server.transport(**with_login), lambda: 0.0)
    trusted = with_login | {"ca": f"{certificate}.crt"}
    with pytest.raises(ConfigError, match="refuses user bot") as caught:
        send_due(outbox, server.transport(**trusted), lambda: 0.0)
    assert "wrong" not in str(caught.value)
    password.write_text("secret\n")
    (sent,) = send_due(outbox, server.transport(**trusted), lambda: 0.0)
    assert sent.state is MailState.SENT
    assert len(server.taken()) == 1


def test_a_server_without_tls_gets_no_mail(serve, outbox, tmp_path):
    outbox.put(mail())
    with pytest.raises(ConfigError, match="STARTTLS"):
        send_due(outbox, serve().transport(security="starttls"), lambda: 0.0)
    assert states(outbox) == [MailState.QUEUED]
    with pytest.raises(ConfigError, match="this machine alone"):
        SmtpTransport(Smtp(host="mail.example.org", port=25, security="none"), Path)


def test_a_challenge_that_is_none_is_tried_again_later(outbox, tmp_path):
    (tmp_path / "password").write_text("secret\n")
    (tmp_path / "password").chmod(0o600)
    login = {"user": "bot", "password": str(tmp_path / "password")}
    with contextlib.closing(SetWords(b"220 x", b"250-x\r\n250 AUTH LOGIN", b"334 abc")) as server:
        # The schema wants TLS where there is a password.
        asked = Smtp.model_construct(host="127.0.0.1", port=server.port, security="none", **login)
        outbox.put(mail())
        (ended,) = send_due(outbox, SmtpTransport(asked, Path, "lab.example.org"), lambda: 0.0)
    assert (ended.state, ended.answer.kind) == (MailState.QUEUED, Delivery.NO_ANSWER)


# --- kills ---


def deliver(port, *deliveries):
    """Deliver (state, step of the kill) after each other; gives what each of them says."""
    words = [str(word) for each in deliveries for word in each]
    argv = [sys.executable, "-I", str(HELPERS / "outbox_sender.py"), str(port), *words]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_kill_at_any_point_sends_nothing_twice(serve, tmp_path):
    """KILLS points from the approval to the delivery, half of them where the text has ended and its
    answer is not noted: only those may leave a doubt, and nothing arrives twice.
    """
    server = serve()
    whole = tmp_path / "whole"
    Outbox(whole).put(mail(0))
    (said,) = deliver(server.port, (whole, 0))
    steps, first, last = map(int, said.split())
    assert steps > KILLS
    half = KILLS // 2
    points = [n * steps // (half + 1) for n in range(1, half + 1)]
    points += [first + n * (last + 1 - first) // half for n in range(half)]
    # An outbox each: what else lies in one takes steps, too.
    outboxes = [Outbox(tmp_path / f"killed-{number}") for number, _ in enumerate(points, 1)]
    for number, outbox in enumerate(outboxes, 1):
        outbox.put(mail(number))
    killed = deliver(
        server.port, *((tmp_path / f"killed-{n}", point) for n, point in enumerate(points, 1))
    )
    where = {mail(number).message_id: said for number, said in enumerate(killed, 1)}
    deliver(server.port, *((tmp_path / f"killed-{n}", 0) for n, _ in enumerate(points, 1)))
    ended = [each for outbox in outboxes for each in outbox.all()]
    found = Counter(
        email.message_from_bytes(each.split(b"\n", 2)[2])["Message-ID"] for each in server.taken()
    )
    told = Counter((where[each.message_id], str(each.state)) for each in ended)
    assert len(ended) == KILLS
    assert {each.state for each in ended} == {MailState.SENT, MailState.IN_DOUBT}
    assert {found[name] for name in where} <= {0, 1}
    for each in ended:
        if each.state is MailState.IN_DOUBT:
            assert where[each.message_id] == "between"
        else:
            assert found[each.message_id] == 1
    # Both halves are where they were wanted.
    assert told["before", "sent"] > half // 2
    assert told["between", "in doubt"] > half // 2
    sys.stderr.write(f"kills by place and end: {dict(told)}, arrived {found.total()}\n")


# --- other ways ---


def test_files_and_mbox_hold_a_mail_once(outbox, tmp_path):
    for way, place in ((FileTransport(tmp_path / "f"), "f/mail-1@lab.example.org.eml"),
                       (MboxTransport(tmp_path / "m/box"), "m/box")):  # fmt: skip
        outbox.put(mail())
        (sent,) = send_due(outbox, way, lambda: 0.0)
        assert sent.state is MailState.SENT
        # As if the session had died before it noted that.
        way.send(mail(), lambda: None)
        text = (tmp_path / place).read_text()
        assert text.count("Message-ID: <mail-1") == 1
        assert "The end." in text
        outbox = Outbox(tmp_path / "another")


def test_a_lock_that_a_kill_left_is_broken(outbox, tmp_path):
    lock = tmp_path / "box.lock"
    lock.touch()
    outbox.put(mail())
    assert (
        send_due(outbox, MboxTransport(tmp_path / "box"), lambda: 0.0)[0].state is MailState.QUEUED
    )
    os.utime(lock, (1, 1))
    assert send_due(outbox, MboxTransport(tmp_path / "box"), lambda: 1e9)[0].state is MailState.SENT


def test_a_sendmail_that_is_not_there_leaves_no_doubt(outbox, tmp_path):
    outbox.put(mail())
    with pytest.raises(ConfigError, match="is no program"):
        send_due(outbox, SendmailTransport(str(tmp_path / "none"), tmp_path), lambda: 0.0)
    assert outbox.settle() == ()
    assert states(outbox) == [MailState.QUEUED]


def test_a_sendmail_that_cannot_be_started_leaves_no_doubt(outbox, tmp_path):
    program = tmp_path / "sendmail"
    program.write_text("#!/nowhere/sh\n")
    program.chmod(0o755)
    outbox.put(mail())
    (ended,) = send_due(outbox, SendmailTransport(str(program), tmp_path), lambda: 0.0)
    assert ended.state is MailState.QUEUED
    assert outbox.settle() == ()


@pytest.mark.parametrize(
    ("shell", "state"),
    [
        ('cat > "$0.out"; echo "$@" > "$0.args"', MailState.SENT),
        # Queued, or queued for one of two recipients: each of these may stand behind a mail that
        # is on its way.
        *((f"cat > /dev/null; exit {code}", MailState.IN_DOUBT) for code in (1, 64, 67, 69, 75)),
        ("kill -9 $$", MailState.IN_DOUBT),
    ],
)
def test_a_sendmail_command(outbox, tmp_path, shell, state):
    program = tmp_path / "sendmail"
    program.write_text(f"#!/bin/sh\n{shell}\n")
    program.chmod(0o755)
    outbox.put(mail())
    (ended,) = send_due(outbox, SendmailTransport(str(program), tmp_path), lambda: 0.0)
    assert ended.state is state
    if state is MailState.SENT:
        assert (tmp_path / "sendmail.out").read_text() == mail().text
        assert (tmp_path / "sendmail.args").read_text() == (
            "-i -f rtbisect@lab.example.org -- first@example.org second@example.org\n"
        )
