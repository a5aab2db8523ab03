# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP answers that come within a deadline and within a number of bytes.

The timeouts of `requests` are for single reads: a server that sends a byte now and then is waited
for without end, in the head of an answer as well as in its body. Here the connection is shut down
when the time is over, whatever its thread waits for.
"""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

import requests
import requests.adapters
import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

_CHUNK = 1 << 16

#: Per thread: the request in progress.
_LOCAL = threading.local()


class Sink(Protocol):
    """Receives the chunks of a body; raises to stop the transfer."""

    def add(self, data: bytes) -> None:
        """Take the next chunk."""


class TooLargeError(Exception):
    """A body has more bytes than were allowed."""


class WholeBody:
    """Collects a body of at most `most_bytes`; TooLargeError for more."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._data = bytearray()

    def add(self, data: bytes) -> None:
        self._data += data
        if len(self._data) > self._most:
            raise TooLargeError

    def data(self) -> bytes:
        return bytes(self._data)


@dataclass
class _RequestWatch:
    """One request. `over` is set when its time was over."""

    connection: Any = None
    sock: Any = None
    over: bool = False

    def end(self) -> None:
        self.over = True
        # A connection forgets the socket of an answer that ends with it.
        sock = getattr(self.connection, "sock", None) or self.sock
        if sock is not None:
            with suppress(OSError):
                # Of the plain socket: that of TLS forgets its keys, beside the thread that reads.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)


class _PlainConnection(HTTPConnection):
    def connect(self) -> None:
        _watched(self)
        super().connect()
        _watched(self)

    def request(self, *words: Any, **named: Any) -> None:
        _watched(self)
        super().request(*words, **named)


class _SecureConnection(_PlainConnection, HTTPSConnection):
    """The same over TLS: `super` of the first base is that of the second."""


def _watched(connection: HTTPConnection) -> None:
    watch = getattr(_LOCAL, "watch", None)
    if watch is not None:
        watch.connection, watch.sock = connection, connection.sock


class _PlainPool(HTTPConnectionPool):
    ConnectionCls = _PlainConnection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


class _Adapter(requests.adapters.HTTPAdapter):
    def init_poolmanager(self, *words: Any, **named: Any) -> None:
        super().init_poolmanager(*words, **named)
        self.poolmanager.pool_classes_by_scheme = {"http": _PlainPool, "https": _SecurePool}


def session() -> requests.Session:
    """A session whose requests `ask` can end; it reads neither proxies nor a ~/.netrc."""
    opened = requests.Session()
    opened.trust_env = False
    for scheme in ("http://", "https://"):
        opened.mount(scheme, _Adapter())
    return opened


def ask(  # noqa: PLR0913  (keyword-only; each one is a property of a request)
    using: requests.Session,
    method: str,
    url: str,
    sink: Sink,
    *,
    deadline_s: float,
    silence_s: float = 30.0,
    params: Mapping[str, str] | None = None,
    body: object = None,
) -> int:
    """The status of an answer; its body goes to `sink`, as it was sent and whatever the status is.
    Redirects are not followed. requests.RequestException when nobody answers, within `silence_s`
    seconds for a part or `deadline_s` for all.
    """
    watch = _RequestWatch()
    timer = threading.Timer(deadline_s, watch.end)
    timer.daemon = True
    _LOCAL.watch = watch
    timer.start()
    try:
        with using.request(
            method,
            url,
            params=dict(params or {}),
            json=body,
            headers={"Accept-Encoding": "identity"},
            timeout=silence_s,
            stream=True,
            allow_redirects=False,
        ) as answer:
            for part in answer.raw.stream(_CHUNK, decode_content=False):
                sink.add(part)
            status = answer.status_code
    except (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError, ValueError) as error:
        if watch.over:
            raise requests.Timeout(f"no whole answer in {deadline_s:.0f} s") from error
        if isinstance(error, requests.RequestException):
            raise
        raise requests.ConnectionError(type(error).__name__) from error
    finally:
        timer.cancel()
        _LOCAL.watch = None
    # A body that ends with its connection looks whole.
    if watch.over:
        raise requests.Timeout(f"no whole answer in {deadline_s:.0f} s")
    return status
