# SPDX-License-Identifier: GPL-2.0-or-later
"""What hostile clients send to the artefact server, and the addresses that it gives out."""

import contextlib
import http.client
import os
import socket
import stat
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

from rtbisect.errors import ConfigError
from rtbisect.lab.job_definition import Resource
from rtbisect.lab.lava.artefacts_http import Desk, DeskSettings, word_of
from rtbisect.lab.lava.http_server import HttpLimits
from rtbisect.store.artefacts import ArtefactStore

KEY = "0123456789abcdef"
LARGE = 8 << 20

#: So short that a test waits for it, so long that no honest request is cut off.
PATIENT = HttpLimits(connections=16, request_s=600.0)
SHORT = HttpLimits(connections=16, request_s=0.3, bytes_per_s=1e9)


class Bench:
    """A desk that listens, with one artefact, and sockets of clients."""

    def __init__(self, root, limits):
        self.store = ArtefactStore(root)
        settings = DeskSettings("http://127.0.0.1:1", ("127.0.0.1", 0), limits=limits)
        self.desk = Desk(settings, self.store)
        self.kernel = self.store.put_bytes(b"kernel")
        self.path = self.path_of(self.desk.offer(self.kernel, "kernel"))
        self.desk.expect(KEY)
        self.clients = contextlib.ExitStack()

    @staticmethod
    def path_of(resource: Resource) -> str:
        return urllib.parse.urlsplit(resource.url).path

    @property
    def address(self):
        return self.desk._server.server_address

    def client(self, data=b""):
        """A client that has sent `data` and waits."""
        made = self.clients.enter_context(socket.create_connection(self.address, timeout=120))
        made.sendall(data)
        return made

    def said(self, data):
        """All that the server answers to `data`, until it hangs up."""
        return self.rest(self.client(data))

    @staticmethod
    def rest(client):
        parts = []
        with contextlib.suppress(ConnectionError):
            while part := client.recv(1 << 16):
                parts.append(part)
        return b"".join(parts)

    def fetch(self, path=None):
        """Status and body of an honest request."""
        asked = http.client.HTTPConnection(*self.address, timeout=120)
        with contextlib.closing(asked):
            asked.request("GET", path or self.path)
            answer = asked.getresponse()
            return answer.status, answer.read()

    def close(self):
        self.clients.close()
        self.desk.close()


@pytest.fixture
def bench(tmp_path):
    """Deadlines that no test waits for."""
    made = Bench(tmp_path, PATIENT)
    yield made
    made.close()


@pytest.fixture
def short(tmp_path):
    """A deadline that passes while a test waits."""
    made = Bench(tmp_path, SHORT)
    yield made
    made.close()


def status_of(said: bytes) -> int:
    return int(said.split(b" ", 2)[1]) if said else 0


def test_three_hundred_silent_clients_hold_neither_threads_nor_the_door(bench):
    before = threading.active_count()
    silent = [bench.client() for _ in range(300)]
    assert bench.fetch() == (200, b"kernel")
    assert threading.active_count() == before
    # All but the last ones have given way.
    assert not any(bench.rest(client) for client in silent[: 300 - PATIENT.connections])
    assert len(bench.desk._server._open) <= PATIENT.connections


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET /",
        b"GET / HTTP/1.1\r\nA: b\r\n",
        b"POST /ended/" + KEY.encode() + b" HTTP/1.1\r\nContent-Length: 100\r\n\r\nhalf",
        b"HEAD / HTTP/1.1\r\nContent-Length: 100\r\n\r\n",
    ],
    ids=["silent", "half a line", "headers without end", "half a call", "HEAD with half a body"],
)
def test_a_request_that_does_not_arrive_ends_at_its_deadline(short, begun):
    assert short.said(begun) == b""


def test_a_trickle_does_not_put_the_deadline_off(short):
    client = short.client(b"GET / HTTP/1.1\r\n")
    stop = threading.Event()

    def trickle():
        with contextlib.suppress(OSError):
            while not stop.wait(0.05):
                client.sendall(b"A")

    writer = threading.Thread(target=trickle)
    writer.start()
    try:
        assert short.rest(client) == b""
    finally:
        stop.set()
        writer.join()


def test_who_reads_nothing_is_hung_up_on(short):
    large = short.store.put_bytes(os.urandom(LARGE))
    path = short.path_of(short.desk.offer(large, "kernel"))
    client = short.client()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.sendall(f"GET {path} HTTP/1.1\r\n\r\n".encode())
    while short.desk._server._open:
        threading.Event().wait(0.02)
    # What has not arrived by then does not wait in the kernel either.
    assert len(short.rest(client)) < LARGE // 64
    # An honest one is served; a small artefact, because a busy host is slow with a large one.
    assert short.fetch() == (200, b"kernel")


def test_headers_without_end_are_refused(bench):
    assert status_of(bench.said(b"GET / HTTP/1.1\r\nA: " + b"a" * (1 << 20))) in {0, 431}
    assert status_of(bench.said(b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 100_000)) in {0, 431}
    assert bench.fetch() == (200, b"kernel")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\r\n\r\n", 400),
        (b"GET http://example.org/ HTTP/1.1\r\n\r\n", 400),
        (b"GET /a b HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/9.9\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno header\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", 400),
        (b"DELETE / HTTP/1.1\r\n\r\n", 404),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", 411),
        (b"GET /artefact/../../../../etc/passwd HTTP/1.1\r\n\r\n", 404),
        (b"GET /artefact/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n\r\n", 404),
        (b"GET //etc/passwd HTTP/1.1\r\n\r\n", 404),
    ],
)
def test_what_is_no_request_of_ours_is_refused(bench, sent, status):
    assert status_of(bench.said(sent)) == status
    assert bench.fetch() == (200, b"kernel")


def test_a_path_that_leaves_its_artefact_is_refused(bench):
    for path in (f"{bench.path}/../../x", f"{bench.path}?x", f"{bench.path}/", bench.path + "%00"):
        assert bench.fetch(path)[0] == 404, path


def test_methods_that_an_address_does_not_have(bench):
    assert status_of(bench.said(f"POST {bench.path} HTTP/1.1\r\n\r\n".encode())) == 405
    assert status_of(bench.said(f"GET /ended/{KEY} HTTP/1.1\r\n\r\n".encode())) == 405
    assert not bench.desk.wait(KEY, 0.0)


def test_a_call_with_a_body_at_the_limit_is_heard(bench):
    head = (
        f"POST /ended/{KEY} HTTP/1.1\r\nAuthorization: {KEY}\r\nContent-Length: {1 << 20}\r\n\r\n"
    )
    assert status_of(bench.said(head.encode() + b"x" * (1 << 20))) == 200
    assert bench.desk.wait(KEY, 0.0)


def test_addresses_end_with_their_campaign(tmp_path):
    store = ArtefactStore(tmp_path / "artefacts")
    kernel, key = store.put_bytes(b"kernel"), tmp_path / "lab/desk.key"

    def begun(campaign):
        word = word_of(key, campaign)
        made = Desk(DeskSettings("http://127.0.0.1:1", ("127.0.0.1", 0), word), store)
        return made, Bench.path_of(made.offer(kernel, "kernel"))

    def status(desk, path):
        asked = http.client.HTTPConnection(*desk._server.server_address, timeout=120)
        with contextlib.closing(asked):
            asked.request("GET", path)
            return asked.getresponse().status

    one, old = begun("c1")
    assert status(one, old) == 200
    one.close()
    other, new = begun("c2")
    assert old != new
    # The same artefact is offered again, and the old address is as good as none.
    assert (status(other, old), status(other, new)) == (404, 200)
    other.close()
    # A job that waits on the server while we are away finds what it was told.
    resumed, path = begun("c1")
    assert path == old
    resumed.close()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_the_addresses_of_two_state_directories_differ(tmp_path):
    assert word_of(tmp_path / "a/key", "c1") != word_of(tmp_path / "b/key", "c1")


def test_another_web_server_finds_the_names_of_the_store(tmp_path):
    store = ArtefactStore(tmp_path)
    kernel = store.put_bytes(b"kernel")
    offered = Desk(DeskSettings("http://127.0.0.1:1"), store).offer(kernel, "kernel")
    assert offered.url == f"http://127.0.0.1:1/artefact/{kernel}/kernel"


def test_a_desk_that_is_closed_lets_the_next_campaign_listen(bench):
    address = bench.address
    silent = bench.client()
    bench.desk.close()
    assert bench.rest(silent) == b""
    with pytest.raises(ConnectionError):
        socket.create_connection(address, timeout=120)
    settings = DeskSettings("http://127.0.0.1:1", address)
    following = Desk(settings, bench.store)
    try:
        assert following.expect(KEY)
    finally:
        following.close()


def test_a_call_of_the_server_ends_the_pause(tmp_path):
    here = Desk(DeskSettings("http://127.0.0.1:1", ("127.0.0.1", 0)), ArtefactStore(tmp_path))
    try:
        url = here.expect(KEY)
        assert url == f"http://127.0.0.1:1/ended/{KEY}"
        base = f"http://127.0.0.1:{here._server.server_address[1]}"

        def call(path, token):
            asked = urllib.request.Request(f"{base}{path}", b"{}", {"Authorization": token})
            try:
                with urllib.request.urlopen(asked, timeout=10) as answer:
                    return answer.status
            except urllib.error.HTTPError as error:
                return error.code

        assert call(f"/ended/{KEY}", "forged") == 403
        assert call("/ended/ffffffffffffffff", KEY) == 403
        assert call("/ended/../../x", KEY) == 404
        assert not here.wait(KEY, 0.0)
        begin = time.monotonic()
        threading.Timer(0.05, call, (f"/ended/{KEY}", KEY)).start()
        assert here.wait(KEY, 600.0)
        assert time.monotonic() - begin < 300
        assert not here.wait(KEY, 0.0)
    finally:
        here.close()


def test_only_what_was_offered_is_served(tmp_path):
    store = ArtefactStore(tmp_path)
    here = Desk(DeskSettings("http://127.0.0.1:1", ("127.0.0.1", 0)), store)
    kernel, log = store.put_bytes(b"kernel"), store.put_bytes(b"log")
    try:
        offered = here.offer(kernel, "kernel")
        word = here.settings.word
        assert offered.url == f"http://127.0.0.1:1/artefact/{word}/{kernel}/kernel"
        base = f"http://127.0.0.1:{here._server.server_address[1]}"

        def get(path, method="GET"):
            asked = urllib.request.Request(f"{base}{path}", method=method)
            try:
                with urllib.request.urlopen(asked, timeout=10) as answer:
                    return answer.status, answer.read(), answer.headers["Content-Length"]
            except urllib.error.HTTPError as error:
                return error.code, b"", None

        assert get(f"/artefact/{word}/{kernel}/kernel") == (200, b"kernel", "6")
        assert get(f"/artefact/{word}/{kernel}/kernel", "HEAD") == (200, b"", "6")
        assert get(f"/artefact/{word}/{log}/log")[0] == 404
        assert get(f"/artefact/{word}/{kernel}/../../x")[0] == 404
        assert get(f"/artefact/{kernel}/kernel")[0] == 404
        assert get("/")[0] == 404
        store.path(kernel).unlink()
        assert get(f"/artefact/{word}/{kernel}/kernel")[0] == 404
    finally:
        here.close()


def test_an_address_that_is_taken_is_told(tmp_path):
    store = ArtefactStore(tmp_path)
    one = Desk(DeskSettings("http://127.0.0.1:1", ("127.0.0.1", 0)), store)
    sha256 = store.put_bytes(b"x")
    one.offer(sha256, "x")
    other = Desk(DeskSettings("http://127.0.0.1:1", one._server.server_address), store)
    try:
        with pytest.raises(ConfigError, match=r"cannot listen on 127\.0\.0\.1"):
            other.offer(sha256, "x")
    finally:
        one.close()
