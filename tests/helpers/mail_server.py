# SPDX-License-Identifier: GPL-2.0-or-later
"""SMTP servers of the tests: a real one, as a process that a test starts, and one of set words."""

import socket
import subprocess
import sys
import threading
from pathlib import Path

from rtbisect.config.schema import Smtp
from rtbisect.mail.transport.smtp import SmtpTransport

HERE = Path(__file__).parent


class Server:
    """A mail server; `taken` has what it took."""

    def __init__(self, root, *words):
        self.folder = root
        self.folder.mkdir(exist_ok=True)
        argv = [sys.executable, "-I", str(HERE / "smtp_server.py"), str(root), *map(str, words)]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def taken(self):
        whole = [p for p in sorted(self.folder.iterdir()) if not p.suffix and p.name != "c.pem"]
        return [path.read_bytes() for path in whole]

    def transport(self, **changes):
        settings = {"host": "127.0.0.1", "port": self.port, "security": "none", **changes}
        transport = SmtpTransport(Smtp(**settings), Path, "lab.example.org")
        transport.timeout_s = 3.0
        return transport

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class SetWords:
    """A server that says these lines to whoever connects, one for each line that it hears."""

    def __init__(self, *lines):
        self.lines = lines
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.talk, daemon=True).start()

    def talk(self):
        connection, _ = self.listener.accept()
        with connection, connection.makefile("rb") as heard:
            for line in self.lines:
                connection.sendall(line + b"\r\n")
                heard.readline()

    def close(self):
        self.listener.close()
