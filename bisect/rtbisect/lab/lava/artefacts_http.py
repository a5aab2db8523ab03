# SPDX-License-Identifier: GPL-2.0-or-later
"""What machines of a lab fetch from us and tell us, over HTTP: artefacts of the jobs that are under
way, and the call of a LAVA server when a job ended.

Only artefacts that were offered are served, under a word of their campaign that nobody can guess
and their sha256: the address of an artefact ends with its campaign, also where another campaign
offers the same one. A call proves nothing: whoever sees a job can make one. It ends a pause early,
then the server itself is asked.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import threading
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.lab.job_definition import Resource
from rtbisect.lab.lava.http_server import HttpAnswer, HttpLimits, HttpRequest, HttpServer
from rtbisect.store.artefacts import ArtefactStore, write_whole

if TYPE_CHECKING:
    from pathlib import Path

_FETCH = re.compile(r"/artefact/([0-9a-f]{32})/([0-9a-f]{64})/[A-Za-z0-9._-]{1,64}")
_CALL = re.compile(r"/ended/([0-9a-f]{16})")

_KEY_BYTES = 32


def new_word() -> str:
    """A word for addresses that end with this process."""
    return secrets.token_hex(16)


def word_of(key: Path, campaign: str) -> str:
    """The word in the addresses of a campaign. The same after a resume, because its jobs may still
    wait on a server; it comes from the file `key`, which is made when there is none.
    """
    try:
        data = _key(key)
    except OSError as error:
        raise InfrastructureError(
            f"{key} cannot be read or made: {error.strerror}",
            "correct its owner, or free disk space",
        ) from error
    return hmac.new(data, campaign.encode(), hashlib.sha256).hexdigest()[:32]


def _key(path: Path) -> bytes:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, secrets.token_bytes(_KEY_BYTES), mode=0o600)
    return path.read_bytes()


@dataclass(frozen=True, slots=True)
class DeskSettings:
    """How machines of a lab reach us."""

    #: URL under which machines reach us, without a slash at its end.
    url: str
    #: Address and port. Without it nothing listens: another web server gives out the artefact store
    #: under that URL, and nobody calls.
    bind: tuple[str, int] | None = None
    #: In the addresses of all artefacts that we serve ourselves.
    word: str = field(default_factory=new_word)
    limits: HttpLimits = HttpLimits()  # noqa: RUF009  (frozen)


class Desk:
    """Listens from the first artefact that is offered or call that is expected to `close`."""

    def __init__(self, settings: DeskSettings, artefacts: ArtefactStore) -> None:
        self.settings = settings
        self.artefacts = artefacts
        self._lock = threading.Lock()
        self._offered: set[str] = set()
        self._calls: dict[str, threading.Event] = {}
        self._server: HttpServer | None = None

    def close(self) -> None:
        """Nobody listens any more."""
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.close()

    def _listen(self) -> None:
        """ConfigError when the address is not ours or taken."""
        with self._lock:
            if self.settings.bind is None or self._server is not None:
                return
            try:
                self._server = HttpServer(self.settings.bind, self._answer, self.settings.limits)
            except OSError as error:
                address, port = self.settings.bind
                raise ConfigError(
                    f"cannot listen on {address} port {port}: {error.strerror}",
                    "correct `serve` of the lab in the site file, or end who listens there",
                ) from error

    def offer(self, sha256: str, name: str) -> Resource:
        """Serve an artefact from now on; `name` is for people and for its ending."""
        self.artefacts.path(sha256)
        self._listen()
        with self._lock:
            self._offered.add(sha256)
        # Another web server knows the names of the store alone.
        word = f"{self.settings.word}/" if self.settings.bind is not None else ""
        return Resource(f"{self.settings.url}/artefact/{word}{sha256}/{name}", sha256)

    def expect(self, key: str) -> str:
        """URL that is to be called when the job `key` ended; "" when nobody listens."""
        if self.settings.bind is None:
            return ""
        self._listen()
        with self._lock:
            self._calls.setdefault(key, threading.Event())
        return f"{self.settings.url}/ended/{key}"

    def wait(self, key: str, seconds: float) -> bool:
        """Whether a call for `key` came within `seconds`."""
        with self._lock:
            event = self._calls.setdefault(key, threading.Event())
        called = event.wait(seconds)
        event.clear()
        return called

    def _answer(self, request: HttpRequest) -> HttpAnswer:
        """What a request gets; called by the thread that listens."""
        if call := _CALL.fullmatch(request.path):
            if request.method != "POST":
                return HttpAnswer(HTTPStatus.METHOD_NOT_ALLOWED)
            known = self._note_call(call[1], request.token)
            return HttpAnswer(HTTPStatus.OK if known else HTTPStatus.FORBIDDEN)
        if fetch := _FETCH.fullmatch(request.path):
            if request.method not in ("GET", "HEAD"):
                return HttpAnswer(HTTPStatus.METHOD_NOT_ALLOWED)
            word, sha256 = fetch.groups()
            with self._lock:
                offered = sha256 in self._offered
            if offered and hmac.compare_digest(word, self.settings.word):
                return HttpAnswer(HTTPStatus.OK, self.artefacts.root / sha256[:2] / sha256)
        return HttpAnswer(HTTPStatus.NOT_FOUND)

    def _note_call(self, key: str, token: str) -> bool:
        """A call arrived; False when nobody expects it or it does not know the job's key."""
        with self._lock:
            event = self._calls.get(key)
        if event is None or not hmac.compare_digest(token.encode(), key.encode()):
            return False
        event.set()
        return True
