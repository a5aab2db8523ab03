# SPDX-License-Identifier: GPL-2.0-or-later
"""A proxy in front of a LAVA server that loses answers."""

from http.server import BaseHTTPRequestHandler

import requests


class Proxy(BaseHTTPRequestHandler):
    """In front of the server; answers to the first jobs that are submitted are dropped, and the
    first looks at them are 500 and 502.
    """

    target, drops, bad = "", 0, 0

    def do_GET(self):
        if "/jobs/" in self.path and type(self).bad > 0:
            type(self).bad -= 1
            self.send_error(502 if type(self).bad % 2 else 500)
            return
        self._pass_on(None)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._pass_on(body)

    def _pass_on(self, body):
        kept = {k: v for k, v in self.headers.items() if k in ("Authorization", "Content-Type")}
        answer = requests.request(
            self.command, self.target + self.path, data=body, headers=kept, timeout=30
        )
        if body is not None and self.path.endswith("/jobs/") and type(self).drops > 0:
            type(self).drops -= 1
            self.connection.close()
            return
        self.send_response(answer.status_code)
        self.send_header("Content-Type", answer.headers["Content-Type"])
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, *_words):
        pass
