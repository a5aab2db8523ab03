# SPDX-License-Identifier: GPL-2.0-or-later
"""The console over SOL with a stand-in for ipmitool that drops, ends and refuses."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "lava-jobs/host/sol_console.py"

#: `sol activate` answers with what it read, without the first byte of a session; a "!" ends it, and
#: behind a "?" it echoes nothing until there is a "." and then tells all.
STAND_IN = """\
#!{python}
import os, pathlib, sys, tty
here = pathlib.Path(__file__).parent
with (here / "argv").open("a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
if "deactivate" in sys.argv:
    sys.exit(1)
refusals = here / "refusals"
if refusals.exists():
    refusals.unlink()
    print("Info: SOL payload already active on another session")
    sys.exit(1)
tty.setraw(0)
os.write(1, b"[SOL Session operational.  Use ~? for help]\\r\\nfirmware\\r\\n")
os.read(0, 1)
kept = b""
while True:
    data = os.read(0, 100)
    if data == b"!":
        sys.exit(1)
    if kept or data == b"?":
        kept += data
        if data != b".":
            continue
        data, kept = kept, b""
    os.write(1, b"<" + data + b">")
"""


class Console:
    def __init__(self, root):
        tool = root / "ipmitool"
        tool.write_text(STAND_IN.format(python=sys.executable))
        tool.chmod(0o755)
        self.root = root
        self.terminal, side = pty.openpty()
        os.set_blocking(self.terminal, True)
        argv = [sys.executable, str(SCRIPT), "-H", "192.0.2.7", "-U", "admin", "-f", "pw"]
        self.child = subprocess.Popen(
            [*argv, "-p", "16623", "-C", "3", "--ipmitool", str(tool)],
            stdin=side,
            stdout=side,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        os.close(side)

    def type(self, data):
        os.write(self.terminal, data)

    def until(self, what):
        seen, deadline = b"", time.monotonic() + 60
        while what not in seen:
            assert time.monotonic() < deadline, seen
            if select.select([self.terminal], [], [], 1)[0]:
                seen += os.read(self.terminal, 4096)
        return seen

    def calls(self):
        return (self.root / "argv").read_text().rstrip("\n").split("\n")


@pytest.fixture
def console(tmp_path):
    (tmp_path / "refusals").touch()
    here = Console(tmp_path)
    yield here
    here.child.terminate()
    here.child.wait()
    here.child.stderr.close()
    os.close(here.terminal)


def test_a_console_outlives_its_sessions_and_loses_no_byte(console):
    # Refused at first; then what the firmware says, without ipmitool's own words.
    assert console.until(b"firmware").startswith(b"firmware")
    console.type(b"\x02")
    assert b"<\x02>" in console.until(b">")
    console.type(b"!")
    assert b"firmware" in console.until(b"firmware")
    console.type(b"~.")
    assert b"<~><.>" in console.until(b"<.>")
    calls = console.calls()
    words = "-I lanplus -H 192.0.2.7 -p 16623 -U admin -f pw -N 1 -R 3 -e \x1d -C 3 sol"
    assert calls == [f"{words} {what}" for what in ("deactivate", "activate") * 3]


def test_a_byte_follows_when_the_host_has_echoed_the_one_before(console):
    """All of a packet is lost with it; and a host that echoes nothing gets its bytes, too."""
    console.until(b"firmware")
    line = b"kernel console=ttyS0,115200 nohz_full=2-7\r"
    console.type(line)
    told = console.until(b"<\r>")
    assert told.strip() == b"".join(b"<%c>" % byte for byte in line).strip()
    console.type(b"?secret.")
    assert b"<?secret.>" in console.until(b".>")
