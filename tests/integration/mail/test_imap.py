# SPDX-License-Identifier: GPL-2.0-or-later
"""A mailbox on a real IMAP server (Dovecot, where that is installed), over TLS."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path

import pytest

from rtbisect.config.schema import Imap
from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.mail.transport.inbox import MOST_BYTES, ImapBox
from rtbisect.process import command

pytestmark = pytest.mark.skipif(
    not (shutil.which("dovecot") and shutil.which("openssl") and os.geteuid() == 0),
    reason="needs dovecot, openssl and root",
)

NOBODY = 65534
CONFIG = """\
base_dir = {root}/run
log_path = {root}/log
protocols = imap
ssl = required
ssl_cert = <{root}/crt.pem
ssl_key = <{root}/key.pem
listen = 127.0.0.1
mail_location = maildir:{root}/mail
first_valid_uid = 1
passdb {{
  driver = static
  args = password=secret
}}
userdb {{
  driver = static
  args = uid={nobody} gid={nobody} home={root}
}}
service imap-login {{
  inet_listener imap {{
    port = 0
  }}
  inet_listener imaps {{
    port = {port}
  }}
}}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Settings of a mailbox with two messages, one of them a giant."""
    root = tmp_path_factory.mktemp("imap")
    # The server drops root: each folder above lets it through.
    for folder in (root, *root.parents):
        if folder == Path(tempfile.gettempdir()):
            break
        folder.chmod(0o755)
    argv = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    argv += ["-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    argv += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "crt.pem"]
    command.run(argv, cwd=root, timeout_s=60, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name in ("new", "cur", "tmp"):
        (root / "mail" / name).mkdir(parents=True)
    (root / "mail/new/1.a.b").write_text("From: ada@example.org\nSubject: one\n\ntext\n")
    (root / "mail/new/2.a.b").write_text("From: ada@example.org\n\n" + ("x" * 70 + "\n") * 20_000)
    for path in (root / "mail", *(root / "mail").rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    (root / "run").mkdir()
    (root / "password").write_text("secret\n")
    (root / "password").chmod(0o600)
    config = root / "dovecot.conf"
    config.write_text(CONFIG.format(root=root, port=port, nobody=NOBODY))
    daemon = subprocess.Popen(["dovecot", "-F", "-c", str(config)])
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    files = {"password": f"{root}/password", "ca": f"{root}/crt.pem"}
    yield Imap(host="127.0.0.1", port=port, user="bot", **files)
    daemon.terminate()
    daemon.wait(30)


def test_messages_are_handed_out_until_they_are_done(server):
    with closing(ImapBox(server, Path)) as box:
        first, second = box.arrived(())
        assert first.data.replace(b"\r\n", b"\n").endswith(b"Subject: one\n\ntext\n")
        assert (first.giant, second.giant) == (False, True)
        assert len(second.data) == MOST_BYTES
        box.done(first)
    with closing(ImapBox(server, Path)) as box:
        # One that a person has opened is not one that was read here.
        assert [each.key for each in box.arrived((second.key,))] == [first.key]
        assert [each.key for each in box.arrived((first.key,))] == [second.key]
        box.done(second)
        assert list(box.arrived((first.key, second.key))) == []


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        ({"ca": None}, ConfigError, "certificate is not trusted"),
        ({"port": 1}, InfrastructureError, "Connection refused"),
        ({"folder": "nowhere"}, ConfigError, "Mailbox doesn't exist"),
    ],
)
def test_what_is_wrong_is_told(server, change, kind, said):
    with pytest.raises(kind, match=said):
        ImapBox(server.model_copy(update=change), Path)


def test_a_wrong_password_is_not_told(server, tmp_path):
    (tmp_path / "password").write_text("a wrong one")
    (tmp_path / "password").chmod(0o600)
    with pytest.raises(ConfigError, match="Authentication failed") as caught:
        ImapBox(server.model_copy(update={"password": f"{tmp_path}/password"}), Path)
    assert "a wrong one" not in str(caught.value)
