# SPDX-License-Identifier: GPL-2.0-or-later
"""Files with a password or a token: others must not read them, whoever uses them."""

from pathlib import Path

import pytest

from rtbisect.config.schema import Imap, Smtp
from rtbisect.errors import ConfigError
from rtbisect.lab.bmc import Bmc, BmcSettings
from rtbisect.lab.lava.rest import LavaRest, RestSettings
from rtbisect.mail.transport.inbox import ImapBox
from rtbisect.mail.transport.smtp import SmtpTransport
from rtbisect.model.mail import MailKind, OutMail
from rtbisect.process.secret_file import check_secret, read_secret

MAIL = OutMail(
    message_id="<a@example.org>",
    campaign="c",
    kind=MailKind.REPORT,
    sender="b@example.org",
    recipients=("x@example.org",),
    text="",
    approved_by="A",
    approved_at="n",
)


@pytest.fixture
def place(tmp_path):
    made = tmp_path / "password"
    made.write_text("secret\n")
    made.chmod(0o600)
    return made


def test_a_secret_of_ours_is_read(place):
    assert read_secret(place, "password") == "secret"
    place.chmod(0o400)
    check_secret(place, "password")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o644, 0o610])
def test_a_secret_that_others_can_reach_is_refused(place, mode):
    place.chmod(mode)
    for use in (read_secret, check_secret):
        with pytest.raises(ConfigError, match="can be read or written by others") as raised:
            use(place, "password")
        assert raised.value.hint == f"run `chmod 600 {place}`"


@pytest.mark.parametrize("data", [b"", b"\n", b"a\nb", b"\xff", b"a\0b", b"x" * 5000])
def test_what_is_no_secret_is_not_told(place, data):
    place.write_bytes(data)
    with pytest.raises(ConfigError) as raised:
        read_secret(place, "password")
    assert "xff" not in str(raised.value)
    assert "xxxx" not in str(raised.value)


def test_no_file_is_no_secret(tmp_path):
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(ConfigError):
            check_secret(path, "password")


def test_whoever_uses_a_secret_wants_it_for_himself(place):
    place.chmod(0o644)
    server = SmtpTransport(Smtp(host="127.0.0.1", port=9, user="u", password=str(place)), Path)
    for use in (
        server._password,
        lambda: ImapBox(Imap(host="127.0.0.1", port=9, user="u", password=str(place)), Path),
        lambda: Bmc(BmcSettings(address="127.0.0.1", user="admin", password=place)).power(),
        lambda: LavaRest(RestSettings(url="http://127.0.0.1:9/", token=place)),
    ):
        with pytest.raises(ConfigError, match="by others"):
            use()
