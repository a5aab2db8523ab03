# SPDX-License-Identifier: GPL-2.0-or-later
"""What machines of a lab fetch from us and tell us, over HTTP: artefacts of the jobs that are under
way, and the call of a LAVA server when a job ended.

Only artefacts that were offered are served, by their sha256. A call proves nothing: whoever sees
a job can make one. It ends a pause early, then the server itself is asked.
"""

from __future__ import annotations

import hmac
import re
import shutil
import socket
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError
from rtbisect.lab.jobs import Resource

if TYPE_CHECKING:
    from rtbisect.artefacts import ArtefactStore

_FETCH = re.compile(r"/artefact/([0-9a-f]{64})/[A-Za-z0-9._-]{1,64}")
_CALL = re.compile(r"/ended/([0-9a-f]{16})")

#: Bytes of a call that are read before it is answered.
_LARGEST_CALL = 1 << 20

#: Seconds that a client may be silent.
_SILENCE_S = 60


@dataclass(frozen=True, slots=True)
class DeskSettings:
    """`url` is how machines of the lab reach us, without a slash at its end. Without `bind`
    (address and port) nothing listens: another web server gives out the artefact store under that
    URL, and nobody calls.
    """

    url: str
    bind: tuple[str, int] | None = None


class Desk:
    """Listens from the first artefact that is offered or call that is expected to `close`."""

    def __init__(self, settings: DeskSettings, artefacts: ArtefactStore) -> None:
        self.settings = settings
        self.artefacts = artefacts
        self._lock = threading.Lock()
        self._offered: set[str] = set()
        self._calls: dict[str, threading.Event] = {}
        self._server: ThreadingHTTPServer | None = None

    def close(self) -> None:
        """Nobody listens any more."""
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def _listen(self) -> None:
        """ConfigError when the address is not ours or taken."""
        with self._lock:
            if self.settings.bind is None or self._server is not None:
                return
            try:
                self._server = _Server(self.settings.bind, self)
            except OSError as error:
                address, port = self.settings.bind
                raise ConfigError(
                    f"cannot listen on {address} port {port}: {error.strerror}",
                    "correct `serve` of the lab in the site file, or end who listens there",
                ) from error
            threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def offer(self, sha256: str, name: str) -> Resource:
        """Serve an artefact from now on; `name` is for people and for its ending."""
        self.artefacts.path(sha256)
        self._listen()
        with self._lock:
            self._offered.add(sha256)
        return Resource(f"{self.settings.url}/artefact/{sha256}/{name}", sha256)

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

    # --- what handlers ask ---

    def offered(self, sha256: str) -> bool:
        with self._lock:
            return sha256 in self._offered

    def called(self, key: str, token: str) -> bool:
        """A call arrived; False when nobody expects it or it does not know the job's key."""
        with self._lock:
            event = self._calls.get(key)
        if event is None or not hmac.compare_digest(token.encode(), key.encode()):
            return False
        event.set()
        return True


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], desk: Desk) -> None:
        self.desk = desk
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "rtbisect"
    sys_version = ""
    timeout = _SILENCE_S

    def do_HEAD(self) -> None:
        self._fetch(body=False)

    def do_GET(self) -> None:
        self._fetch(body=True)

    def do_POST(self) -> None:
        found = _CALL.fullmatch(self.path)
        length = self.headers.get("Content-Length", "0")
        if found is None or not length.isdecimal() or int(length) > _LARGEST_CALL:
            self._answer(404 if found is None else 413)
            return
        self.rfile.read(int(length))
        token = self.headers.get("Authorization", "")
        self._answer(200 if self.server.desk.called(found[1], token) else 403)

    def _fetch(self, *, body: bool) -> None:
        desk = self.server.desk
        found = _FETCH.fullmatch(self.path)
        if found is None or not desk.offered(found[1]):
            self._answer(404)
            return
        place = desk.artefacts.root / found[1][:2] / found[1]
        try:
            stream = place.open("rb")
        except OSError:
            self._answer(404)
            return
        with stream:
            self.send_response(200)
            self.send_header("Content-Type", "application/octet-stream")
            self.send_header("Content-Length", str(place.stat().st_size))
            self.end_headers()
            if body:
                shutil.copyfileobj(stream, self.wfile, 1 << 18)

    def _answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base's name)
        """Nothing: LAVA's own log says what it fetched."""
