# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers that never come to an end: nothing waits beyond its deadline, nothing grows beyond its
bound.
"""

import contextlib
import socket
import threading

import pytest
import requests

from rtbisect.process import http_body

HEAD = b"HTTP/1.1 200 OK\r\n"
LONG = HEAD + b"Content-Length: 1000000\r\n\r\n"


@contextlib.contextmanager
def server(begin, again, pause_s):
    """Sends `begin`, then `again` for ever, with pauses."""
    over = threading.Event()
    listening = socket.create_server(("127.0.0.1", 0))

    def serve():
        with contextlib.suppress(OSError):
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(begin)
                while again and not over.wait(pause_s):
                    connection.sendall(again)

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    over.set()
    listening.close()


TRICKLES = {
    "status": (b"", b"H"),
    "head": (HEAD, b"X-A: b\r\n"),
    "one line of the head": (HEAD + b"X: ", b"y"),
    "body": (LONG, b"z"),
    "body without a length": (HEAD + b"\r\n", b"z"),
    "chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nz\r\n"),
    "one chunk": (HEAD + b"Transfer-Encoding: chunked\r\n\r\nFFFFF\r\n", b"z"),
    "packed": (LONG.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n"), b"\x1f"),
}


@pytest.mark.parametrize("what", TRICKLES)
def test_a_trickle_ends_with_its_deadline(what):
    """Each part comes long before the silence is too long."""
    with server(*TRICKLES[what], 0.05) as url, pytest.raises(requests.RequestException):
        http_body.ask(http_body.session(), "GET", url, http_body.WholeBody(1 << 30), deadline_s=0.5)


def test_silence_ends_before_its_deadline():
    sink = http_body.WholeBody(1 << 30)
    with server(LONG, b"z", 600) as url, pytest.raises(requests.RequestException):
        http_body.ask(http_body.session(), "GET", url, sink, deadline_s=600, silence_s=0.2)


ENDLESS = {
    "without a length": HEAD + b"\r\n",
    "a length that lies": HEAD + b"Content-Length: 99999999999999999999\r\n\r\n",
    "a length below zero": HEAD + b"Content-Length: -1\r\n\r\n",
}


@pytest.mark.parametrize("what", ENDLESS)
def test_a_body_without_an_end_is_bounded(what):
    raised = (http_body.TooLargeError, requests.RequestException)
    with server(ENDLESS[what], b"z" * 65536, 0) as url, pytest.raises(raised):
        http_body.ask(http_body.session(), "GET", url, http_body.WholeBody(1 << 20), deadline_s=600)


def test_a_packed_body_is_not_unpacked():
    """A few bytes may stand for more than memory holds."""
    packed = b"\x1f\x8b\x08" + bytes(100)
    head = HEAD + b"Content-Encoding: gzip\r\nContent-Length: 103\r\n\r\n"
    with server(head + packed, b"", 0) as url:
        sink = http_body.WholeBody(200)
        assert http_body.ask(http_body.session(), "GET", url, sink, deadline_s=600) == 200
    assert sink.data() == packed


@pytest.mark.parametrize(
    "answer",
    [
        LONG + b"short",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nnonsense\r\n",
        b"\x00\xff" * 100,
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 500 + b"\r\n",
        HEAD + b"X: " + b"y" * 100_000 + b"\r\n\r\n",
    ],
    ids=["cut off", "no chunk", "no HTTP", "too many lines", "a line too long"],
)
def test_what_is_no_whole_answer_is_told(answer):
    with server(answer, b"", 0) as url, pytest.raises(requests.RequestException):
        http_body.ask(http_body.session(), "GET", url, http_body.WholeBody(1 << 20), deadline_s=600)


def test_a_session_is_used_again_after_a_deadline():
    using = http_body.session()
    with server(LONG, b"z", 0.05) as url, pytest.raises(requests.RequestException):
        http_body.ask(using, "GET", url, http_body.WholeBody(1 << 20), deadline_s=0.3)
    with server(HEAD + b"Content-Length: 2\r\n\r\nok", b"", 0) as url:
        sink = http_body.WholeBody(2)
        assert http_body.ask(using, "GET", url, sink, deadline_s=600) == 200
    assert sink.data() == b"ok"
