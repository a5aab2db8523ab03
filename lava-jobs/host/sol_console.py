#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A host's serial console over IPMI (SOL), for LAVA's connection_command: stdin and stdout.

    sol_console.py -H 192.0.2.7 -U admin -f /etc/lava/password [-p 623] [-C 3]

There is one SOL session a BMC, and one that was left behind holds it: so it is ended first. Some
BMCs drop the first packet of a session (OpenIPMI's ipmi_sim, when the session before it ended at
the same sequence number): so a byte that means nothing goes first. When the session ends, because
the BMC restarted or somebody took it, another one is begun.
"""

from __future__ import annotations

import argparse
import atexit
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
import tty
from contextlib import suppress

READY = b"SOL Session operational"
#: ipmitool takes the character behind -e, where a line begins, as its own; nobody types this one.
ESCAPE = "\x1d"
#: Seconds: a session that did not begin, the pause before the next one, and behind the first byte.
BEGIN_S = 30.0
PAUSE_S = 1.0
SETTLE_S = 0.2
#: Seconds in which a host echoes what is typed, if it does.
ECHO_S = 0.1


def arguments() -> list[str]:
    """The words of every ipmitool command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("-H", dest="host", required=True)
    parser.add_argument("-U", dest="user", required=True)
    parser.add_argument("-f", dest="password", required=True, help="file with the password")
    parser.add_argument("-p", dest="port", default="623")
    parser.add_argument("-C", dest="cipher", help="cipher suite; else the BMC is asked")
    parser.add_argument("--ipmitool", default="ipmitool")
    asked = parser.parse_args()
    words = [asked.ipmitool, "-I", "lanplus", "-H", asked.host, "-p", asked.port]
    words += ["-U", asked.user, "-f", asked.password, "-N", "1", "-R", "3", "-e", ESCAPE]
    return [*words, "-C", asked.cipher] if asked.cipher else words


class Session:
    """One SOL session: ipmitool in a terminal of its own."""

    def __init__(self, words: list[str]) -> None:
        subprocess.run(
            [*words, "sol", "deactivate"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=BEGIN_S,
        )
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvp(words[0], [*words, "sol", "activate"])

    def begin(self) -> bytes | None:
        """What came behind ipmitool's own words; None when there is no session."""
        seen, deadline = b"", time.monotonic() + BEGIN_S
        while time.monotonic() < deadline:
            if not select.select([self.terminal], [], [], 1.0)[0]:
                continue
            data = self.read()
            if not data:
                return None
            seen += data
            place = seen.find(READY)
            if place >= 0 and b"\n" in seen[place:]:
                os.write(self.terminal, b"\0")
                time.sleep(SETTLE_S)
                return seen[place:].partition(b"\n")[2]
        return None

    def read(self) -> bytes:
        """Bytes of the console; none when the session has ended."""
        try:
            return os.read(self.terminal, 1 << 16)
        except OSError:  # the other side of the terminal is closed
            return b""

    def end(self) -> None:
        """End ipmitool, and know how."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def relay(session: Session) -> bool:
    """Carry bytes both ways; False when nobody listens any more, True when the session ended.

    What is typed goes byte by byte, each one after the host has said something to the one before
    or has been silent for ECHO_S: a packet of several is lost as a whole, and a serial port without
    flow control takes no more than its firmware reads.
    """
    typed, free = b"", 0.0
    while True:
        left = max(0.0, free - time.monotonic()) if typed else None
        ready = select.select([0, session.terminal], [], [], left)[0]
        if session.terminal in ready:
            data = session.read()
            if not data:
                return True
            tell(data)
            free = 0.0
        if 0 in ready:
            data = os.read(0, 4096)
            if not data:
                return False
            typed += data
        if typed and time.monotonic() >= free:
            os.write(session.terminal, typed[:1])
            typed, free = typed[1:], time.monotonic() + ECHO_S


def tell(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def main() -> int:
    words = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    if os.isatty(0):
        # Each character goes at once, and the host echoes it: a terminal that begins as one for
        # lines would keep the key that stops a boot loader until the line ends.
        before = termios.tcgetattr(0)
        tty.setraw(0)
        atexit.register(termios.tcsetattr, 0, termios.TCSADRAIN, before)
    while True:
        session = Session(words)
        try:
            first = session.begin()
            if first is None:
                print("console: no session; trying again", file=sys.stderr)
            else:
                tell(first)
                if not relay(session):
                    return 0
                print("console: the session ended; beginning another", file=sys.stderr)
        finally:
            session.end()
        time.sleep(PAUSE_S)


if __name__ == "__main__":
    sys.exit(main())
