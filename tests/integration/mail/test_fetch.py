# SPDX-License-Identifier: GPL-2.0-or-later
"""Patches by address, from a real HTTP server."""

import gzip
import http.server
import threading

import pytest

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.mail.transport import fetch as post
from rtbisect.mail.transport.fetch import fetch

MBOX = b"From x\nSubject: [PATCH] a\n\ndiff --git a/x b/x\n"


#: Bytes that a packed mbox lacks: of its length, all of its end, of the text, of the head.
CUTS = (1, 8, 12, len(gzip.compress(MBOX)) - 5)


class Archive(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/r/moved":
            self.send_response(302)
            self.send_header("Location", "/r/mbox")
            self.end_headers()
            return
        half = gzip.compress(b"x" * (post.MOST_BYTES // 2 + 1))
        packed = {"/r/packed": gzip.compress(MBOX), "/r/torn": gzip.compress(MBOX)[:-12] + b"x" * 9,
                  "/r/bomb": gzip.compress(b"x" * (post.MOST_BYTES + 1)), "/r/bombs": half * 2,
                  "/r/members": gzip.compress(MBOX) + gzip.compress(MBOX) + bytes(9),
                  "/r/rubbish": gzip.compress(MBOX) + b"x" * 9}  # fmt: skip
        packed |= {f"/r/cut{n}": gzip.compress(MBOX)[:-n] for n in CUTS}
        packed["/r/cut-member"] = gzip.compress(MBOX) + gzip.compress(MBOX)[:-12]
        found = packed | {"/r/mbox": MBOX, "/r/large": b"x" * (post.MOST_BYTES + 1)}
        found = found.get(self.path)
        broken = {"/r/busy": 429, "/r/down": 503}.get(self.path, 404)
        self.send_response(200 if found else broken)
        self.end_headers()
        self.wfile.write(found or b"")

    def log_message(self, *words):
        pass


@pytest.fixture
def archive():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Archive)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/r/"
    server.shutdown()
    server.server_close()


def test_an_mbox_of_an_archive(archive):
    assert fetch(f"{archive}mbox", [archive]) == MBOX
    assert fetch(f"{archive}packed", [archive]) == MBOX
    assert fetch(f"{archive}members", [archive]) == MBOX * 2


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("none", "answers 404"),
        ("moved", "answers 302"),
        ("large", "has more than"),
        ("bomb", "has more than"),
        ("bombs", "has more than"),
        ("rubbish", "is torn"),
        ("torn", "is torn"),
        ("../r/mbox", "in no archive"),
        ("%2e%2e/secret", "in no archive"),
        ("a%2Fb", "in no archive"),
        ("a\\b", "in no archive"),
        ("a\nb", "in no archive"),
    ],
)
def test_what_is_no_mbox_there(archive, path, said):
    with pytest.raises(ConfigError, match=said):
        fetch(archive + path, [archive])


@pytest.mark.parametrize("archives", [[], ["https://lists.example.org/r/"]])
def test_other_places_are_not_asked(archive, archives):
    with pytest.raises(ConfigError, match="in no archive"):
        fetch(f"{archive}mbox", archives)


@pytest.mark.parametrize("path", ["busy", "down"])
def test_a_server_that_is_in_trouble_may_come_back(archive, path):
    with pytest.raises(InfrastructureError, match="answers"):
        fetch(archive + path, [archive])


@pytest.mark.parametrize("path", [*(f"cut{n}" for n in CUTS), "cut-member"])
def test_a_part_of_a_packed_mbox_is_none(archive, path):
    """Its patches would be applied in part; the archive may have all of it later."""
    with pytest.raises(InfrastructureError):
        fetch(archive + path, [archive])


def test_a_server_that_is_away_may_come_back():
    with pytest.raises(InfrastructureError):
        fetch("http://127.0.0.1:1/r/mbox", ["http://127.0.0.1:1/r/"])
