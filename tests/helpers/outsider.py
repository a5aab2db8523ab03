# SPDX-License-Identifier: GPL-2.0-or-later
"""Somebody who has a mail of ours and nothing else: lines of a shell in an empty folder, in a
network of their own where example hosts are this program.

    unshare --net --mount python outsider.py FOLDER COMMAND...

FOLDER has hosts (in the place of /etc/hosts), cert.pem, key.pem, and www/<host>/, which is served
by https until COMMAND ends.
"""

import fcntl
import http.server
import os
import socket
import ssl
import struct
import subprocess
import sys
import threading
from pathlib import Path

_SIOCSIFFLAGS, _UP_AND_RUNNING = 0x8914, 0x41


def certify(folder, hosts):
    """A test authority (ca.pem), and a certificate of all hosts by it."""
    (folder / "names").write_text("subjectAltName=" + ",".join(f"DNS:{host}" for host in hosts))
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    for argv in (
        ("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Test authority",
         "-days", "2", "-addext", "basicConstraints=critical,CA:TRUE"),
        ("req", *key, "-keyout", "key.pem", "-out", "asked.pem", "-subj", "/CN=example.org"),
        ("x509", "-req", "-in", "asked.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-out",
         "cert.pem", "-days", "2", "-extfile", "names", "-CAcreateserial"),
    ):  # fmt: skip
        subprocess.run(["openssl", *argv], cwd=folder, capture_output=True, check=True)


class Outsider:
    """A machine of somebody else: its network is below `root`/www, its home and work are empty."""

    def __init__(self, root, hosts):
        self.root, self.hosts = root, hosts
        self.home, self.programs = root / "home", root / "programs"
        for folder in (self.home, self.programs, *(root / "www" / host for host in hosts)):
            folder.mkdir(parents=True)
        names = "".join(f"127.0.0.1 {host}\n" for host in ("localhost", *hosts))
        (root / "hosts").write_text(names)
        certify(root, hosts)
        (root / "wgetrc").write_text(f"ca_certificate = {root / 'ca.pem'}\n")

    def site(self, host):
        """The folder of a host."""
        return self.root / "www" / host

    def has_program(self, name, text):
        """A program of this machine that goes before others of its name."""
        (self.programs / name).write_text(text)
        (self.programs / name).chmod(0o755)

    def run(self, lines, folder, wheels, timeout_s=600):
        """`sh -e` with lines in a folder; packages come from the folder `wheels` alone."""
        authority = str(self.root / "ca.pem")
        environment = {
            "PATH": f"{self.programs}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(self.home), "LC_ALL": "C.UTF-8", "WGETRC": str(self.root / "wgetrc"),
            "SSL_CERT_FILE": authority, "GIT_SSL_CAINFO": authority, "PIP_CERT": authority,
            "PIP_FIND_LINKS": str(wheels), "PIP_NO_INDEX": "1", "PIP_NO_COMPILE": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_CACHE_DIR": "1",
        }  # fmt: skip
        inside = [sys.executable, str(Path(__file__).resolve()), str(self.root), "sh", "-e", "-c"]
        return subprocess.run(
            ["unshare", "--net", "--mount", *inside, "\n".join(lines)], cwd=folder,
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=timeout_s, check=False,
        )  # fmt: skip


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Files of the host that is asked."""

    def do_GET(self):
        # One folder a host, and no other host.
        host = self.headers.get("Host", "").partition(":")[0]
        self.directory = str(Path(self.root) / host)
        super().do_GET()

    def log_message(self, *_words):
        pass


def _serve(folder):
    _Handler.root = folder / "www"
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 443), _Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def main(folder, *argv):
    with socket.socket() as any_socket:
        request = struct.pack("16sH14s", b"lo", _UP_AND_RUNNING, b"")
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, request)
    subprocess.run(["mount", "--bind", Path(folder) / "hosts", "/etc/hosts"], check=True)
    _serve(Path(folder))
    return subprocess.run(argv, check=False, env=os.environ).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
