# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTTP of the desk: one request a connection, one thread for all of them, a bound for each
thing that a client decides (docs/bounds.md).

A client that is silent holds a socket until its deadline, or until somebody else wants its place:
who has not asked yet gives way first, the one that waits longest before the others.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO

#: Bytes of a request without its body.
_HEAD_BYTES = 16 << 10

#: Bytes of the body of a call; nobody reads what it says.
_BODY_BYTES = 1 << 20
_CHUNK_BYTES = 64 << 10

#: Rounds of the loop in which a connection that was accepted is given its task.
_ROUNDS = 5

_REQUEST = re.compile(r"([A-Z]{1,16}) (/[!-~]{0,2000}) HTTP/1\.[01]")
_HEADER = re.compile(r"([A-Za-z0-9-]{1,64}):[ \t]*([ -~\t]*)")
_LENGTH = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """What clients may take."""

    #: Connections that may be open at a time.
    connections: int = 128
    #: Until a request has arrived; an answer leaves in as many, and in what its bytes take.
    request_s: float = 20.0
    #: The slowest client that gets its answer.
    bytes_per_s: float = 128e3


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request that arrived whole."""

    method: str
    #: Path of the request, with its query.
    path: str
    #: The header Authorization; "" where there is none.
    token: str


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What a request gets."""

    status: int
    #: File that is sent as the body of the answer.
    file: Path | None = None


class _BadRequestError(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class HttpServer:
    """Listens from its making to `close`; OSError when the address is not to be had."""

    def __init__(
        self,
        address: tuple[str, int],
        answer: Callable[[HttpRequest], HttpAnswer],
        limits: HttpLimits,
    ) -> None:
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self._socket = socket.create_server(address, family=family)
        self.server_address: tuple[str, int] = self._socket.getsockname()[:2]
        self._answer, self._limits = answer, limits
        self._stop = asyncio.Event()
        self._open: set[asyncio.Task[None]] = set()
        # Connections that have sent no request yet, in the order in which they came.
        self._waiting: dict[asyncio.Task[None], None] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="desk", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Nobody listens any more, and no connection is left."""
        with suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._socket.close()
            self._loop.close()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._client, sock=self._socket, limit=_HEAD_BYTES)
        await self._stop.wait()
        here = asyncio.current_task()
        # A server that closes while a connection is being accepted forgets that one, open (its
        # transport fails to attach itself): first nobody new is taken, then these get their tasks,
        # which close them.
        self._loop.remove_reader(self._socket)
        for _ in range(_ROUNDS):
            for task in self._open:
                task.cancel()
            await asyncio.sleep(0)
        server.close()
        await asyncio.gather(*(asyncio.all_tasks() - {here}), return_exceptions=True)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or self._stop.is_set() or not self._make_room():
            writer.transport.abort()
            return
        self._open.add(task)
        self._waiting[task] = None
        # Who hangs up, is too slow or has to give way is no news.
        with suppress(OSError, EOFError, asyncio.CancelledError, TimeoutError):
            await self._talk(task, reader, writer)
        _hang_up(writer)
        self._waiting.pop(task, None)
        self._open.discard(task)

    def _make_room(self) -> bool:
        """Is there a place for one more? Who has not asked yet gives way."""
        if len(self._open) < self._limits.connections:
            return True
        if not self._waiting:
            return False
        oldest = next(iter(self._waiting))
        del self._waiting[oldest]
        self._open.discard(oldest)
        oldest.cancel()
        return True

    async def _talk(
        self, task: asyncio.Task[None], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            async with asyncio.timeout(self._limits.request_s):
                request = await _read(reader)
            answer = self._answer(request)
        except _BadRequestError as error:
            request, answer = HttpRequest("GET", "/", ""), HttpAnswer(error.status)
        self._waiting.pop(task, None)
        await self._send(writer, answer, body=request.method != "HEAD")

    async def _send(self, writer: asyncio.StreamWriter, answer: HttpAnswer, *, body: bool) -> None:
        stream, size, status = _open_file(answer)
        try:
            head = (
                f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
                "Server: rtbisect",
                "Content-Type: application/octet-stream",
                f"Content-Length: {size}",
                "Connection: close",
            )
            writer.write(("\r\n".join(head) + "\r\n\r\n").encode("ascii"))
            limits = self._limits
            async with asyncio.timeout(limits.request_s + size * body / limits.bytes_per_s):
                await writer.drain()
                if stream is not None and body and size:
                    await self._loop.sendfile(writer.transport, stream)
                writer.close()
                await writer.wait_closed()
        finally:
            if stream is not None:
                stream.close()


def _hang_up(writer: asyncio.StreamWriter) -> None:
    """What has not arrived is dropped: else the kernel would keep megabytes of it for a client that
    reads nothing, and nobody would count that connection any more (SO_LINGER in socket(7)).
    """
    with suppress(OSError):  # it was closed in peace
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()


def _open_file(answer: HttpAnswer) -> tuple[BinaryIO | None, int, int]:
    """The file of an answer, its bytes, and the status: 404 when it is gone."""
    if answer.file is None:
        return None, 0, answer.status
    try:
        stream = answer.file.open("rb")
    except OSError:
        return None, 0, HTTPStatus.NOT_FOUND
    return stream, os.fstat(stream.fileno()).st_size, answer.status


async def _read(reader: asyncio.StreamReader) -> HttpRequest:
    """A whole request; its body is read and thrown away, because who closes before that takes
    his answer back.
    """
    try:
        data = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError as error:
        raise _BadRequestError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE) from error
    first, *rest = data.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    start_line, headers = _REQUEST.fullmatch(first), _headers(rest)
    if start_line is None:
        raise _BadRequestError(HTTPStatus.BAD_REQUEST)
    left = _length(headers)
    while left:
        chunk = await reader.read(min(left, _CHUNK_BYTES))
        if not chunk:
            raise EOFError
        left -= len(chunk)
    return HttpRequest(start_line[1], start_line[2], headers.get("authorization", ""))


def _headers(lines: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        match = _HEADER.fullmatch(line)
        if match is None or match[1].lower() in headers:
            raise _BadRequestError(HTTPStatus.BAD_REQUEST)
        headers[match[1].lower()] = match[2].strip()
    return headers


def _length(headers: Mapping[str, str]) -> int:
    """Bytes of the body."""
    text = headers.get("content-length", "0")
    if "transfer-encoding" in headers:
        raise _BadRequestError(HTTPStatus.LENGTH_REQUIRED)
    if not _LENGTH.fullmatch(text):
        raise _BadRequestError(HTTPStatus.BAD_REQUEST)
    if int(text) > _BODY_BYTES:
        raise _BadRequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    return int(text)
