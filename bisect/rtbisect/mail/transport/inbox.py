# SPDX-License-Identifier: GPL-2.0-or-later
"""Where replies come in: a Maildir, or a mailbox on an IMAP server. A message is handed out until
somebody says that it is done with; it stays where it is, marked as seen. Whether a person has
opened it before says nothing: who polls knows what it has read, by name.
"""

from __future__ import annotations

import glob
import imaplib
import re
import ssl
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.process.command import printable
from rtbisect.process.secret_file import read_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator
    from pathlib import Path

    from rtbisect.config.schema import Imap

#: Of a longer one the head alone is read: nobody writes so much to say a word.
MOST_BYTES = 1_000_000
#: Seconds that the server may take for each answer.
TIMEOUT_S = 60.0
#: Messages of one look.
MOST = 200
#: Days after which a message that somebody has opened is not looked for any more.
DAYS = 30


@dataclass(frozen=True, slots=True)
class Arrived:
    """A message of an inbox."""

    #: Name of the message in the inbox, the same at each look.
    key: str
    #: Head and body as they came; MOST_BYTES at most.
    data: bytes
    #: The message has more than MOST_BYTES.
    giant: bool = False


class Inbox(Protocol):
    """Messages that nobody is done with yet."""

    def arrived(self, read: Container[str]) -> Iterator[Arrived]:
        """Those there are but those whose keys are in `read`, oldest first."""

    def done(self, arrived: Arrived) -> None:
        """Hand this one out no more."""

    def close(self) -> None:
        """End what is open; nothing is asked after."""


class Maildir:
    """A Maildir that a mail server delivers into."""

    def __init__(self, folder: Path) -> None:
        if not (folder / "new").is_dir() or not (folder / "cur").is_dir():
            raise ConfigError(f"{folder} is no Maildir", "give a folder with new, cur and tmp")
        self._folder = folder

    def arrived(self, read: Container[str]) -> Iterator[Arrived]:
        messages = []
        oldest = time.time() - timedelta(days=DAYS).total_seconds()
        # A mail program that opens the folder moves everything to `cur`.
        for part, since in (("new", 0.0), ("cur", oldest)):
            for path in (self._folder / part).iterdir():
                with suppress(FileNotFoundError):
                    at = path.stat().st_mtime
                    if path.is_file() and at >= since and _base(path.name) not in read:
                        messages.append((at, path))
        for _at, path in sorted(messages)[:MOST]:
            try:
                with path.open("rb") as file:
                    data = file.read(MOST_BYTES + 1)
            except FileNotFoundError:
                # The message was moved just now; the next look finds it.
                continue
            yield Arrived(_base(path.name), data[:MOST_BYTES], giant=len(data) > MOST_BYTES)

    def done(self, arrived: Arrived) -> None:
        for path in (self._folder / "new").glob(f"{glob.escape(arrived.key)}*"):
            if _base(path.name) == arrived.key:
                with suppress(FileNotFoundError):
                    path.rename(self._folder / "cur" / f"{arrived.key}:2,S")

    def close(self) -> None:
        """Nothing is open."""


def _base(name: str) -> str:
    """The name of a message without its flags."""
    return name.partition(":")[0]


class ImapBox:
    """A mailbox on a server, over TLS (RFC 9051, by the commands that RFC 3501 has, too). `beside`
    finds files of the site.
    """

    def __init__(self, server: Imap, beside: Callable[[str], Path]) -> None:
        self._where = f"mailbox of {server.user} on {server.host}"
        self._imap = self._connect(server, beside)
        # A number means another message where the server has another one of these.
        validity = self._imap.response("UIDVALIDITY")[1][0] or b"0"
        self._validity = validity.decode("ascii", "replace")

    def _connect(self, server: Imap, beside: Callable[[str], Path]) -> imaplib.IMAP4_SSL:
        password = read_secret(beside(server.password), "password of the mailbox")
        try:
            context = ssl.create_default_context(cafile=beside(server.ca) if server.ca else None)
        except (OSError, ValueError) as error:
            raise ConfigError(f"{self._where}: {error}", "see mail: inbox: of the site") from error
        try:
            imap = imaplib.IMAP4_SSL(
                server.host, server.port, ssl_context=context, timeout=TIMEOUT_S
            )
        except ssl.SSLCertVerificationError as error:
            problem = f"{self._where}: the certificate is not trusted ({error.verify_message})"
            raise ConfigError(problem, "give the right `host`, or its `ca`") from error
        except (OSError, imaplib.IMAP4.error) as error:
            raise InfrastructureError(f"{self._where}: {error}", "try again later") from error
        try:
            imap.login(server.user, password)
            self._data_if_ok(imap.select(f'"{server.folder}"'))
        except (OSError, imaplib.IMAP4.error) as error:
            with suppress(OSError, imaplib.IMAP4.error):
                imap.shutdown()
            problem = f"{self._where}: {printable(str(error).replace(password, '...'), 200)}"
            if isinstance(error, (OSError, imaplib.IMAP4.abort)):
                raise InfrastructureError(problem, "try again later") from error
            raise ConfigError(problem, "correct user and password") from error
        return imap

    def arrived(self, read: Container[str]) -> Iterator[Arrived]:
        since = imaplib.Time2Internaldate(datetime.now(UTC) - timedelta(days=DAYS))
        day = since.strip('"').partition(" ")[0]
        answer = self._ask("SEARCH", "OR", "UNSEEN", "SINCE", day)
        uids = [key.decode("ascii") for key in (answer[0] or b"").split()]
        for uid in [each for each in uids if self._key(each) not in read][:MOST]:
            size = re.search(
                rb"RFC822\.SIZE (\d+)", b"".join(_bytes(self._ask("FETCH", uid, "(RFC822.SIZE)")))
            )
            parts = self._ask("FETCH", uid, f"(BODY.PEEK[]<0.{MOST_BYTES}>)")
            data = next((part[1] for part in parts if isinstance(part, tuple)), b"")
            yield Arrived(
                self._key(uid), data, giant=size is not None and int(size[1]) > MOST_BYTES
            )

    def done(self, arrived: Arrived) -> None:
        self._ask("STORE", arrived.key.rpartition(".")[2], "+FLAGS", r"(\Seen)")

    def _key(self, uid: str) -> str:
        return f"imap.{self._validity}.{uid}"

    def close(self) -> None:
        with suppress(OSError, imaplib.IMAP4.error):
            self._imap.logout()

    def _ask(self, *words: str) -> list[Any]:
        try:
            return self._data_if_ok(self._imap.uid(*words))
        except (OSError, imaplib.IMAP4.error) as error:
            raise InfrastructureError(f"{self._where}: {error}", "try again later") from error

    def _data_if_ok(self, answer: tuple[str, list[Any]]) -> list[Any]:
        status, data = answer
        if status != "OK":
            raise imaplib.IMAP4.error(f"{status}: {data[0] if data else ''}")
        return data


def _bytes(parts: list[Any]) -> list[bytes]:
    return [part if isinstance(part, bytes) else part[0] for part in parts if part]
