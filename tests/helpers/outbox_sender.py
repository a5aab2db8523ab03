# SPDX-License-Identifier: GPL-2.0-or-later
"""Send what is due in an outbox; a test kills this. `... PORT STATE STOP [STATE STOP ...]`: one
delivery after the other, each in a process of its own (a fork: a new interpreter takes a second).
A process kills itself at step STOP of its delivery, counted by the lines of our own code that run;
0: it is not killed. Each says one line. A killed one where it stands: before, or between the end of
the text and the note of the answer (between), or behind that (after). One that lives has the number
of steps, and the first and last of those between.
"""

import linecache
import os
import signal
import sys
import time
from pathlib import Path

from rtbisect.config.schema import Smtp
from rtbisect.mail.send import send_due
from rtbisect.mail.transport.smtp import SmtpTransport
from rtbisect.store.outbox import Outbox

OURS = ("/rtbisect/mail/", "/rtbisect/store/outbox.py", "/smtplib.py")


class Killer:
    def __init__(self, stop):
        self.stop, self.count = stop, 0
        self.where, self.first, self.last = "before", 0, 0

    def trace(self, frame, event, arg):
        if not any(part in frame.f_code.co_filename for part in OURS):
            return None
        if event == "line":
            self.count += 1
            if (
                linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
                == "before_end()"
            ):
                self.where, self.first = "between", self.count
            if self.where == "between":
                self.last = self.count
            if self.count == self.stop:
                os.write(1, f"{self.where}\n".encode())
                os.kill(os.getpid(), signal.SIGKILL)
        # What ends a try has been written.
        if event == "return" and frame.f_code.co_name == "_end" and self.where == "between":
            self.where = "after"
        return self.trace


def deliver(port, state, stop):
    outbox = Outbox(Path(state))
    transport = SmtpTransport(
        Smtp(host="127.0.0.1", port=port, security="none"), Path, "lab.example.org"
    )
    killer = Killer(stop)
    sys.settrace(killer.trace)
    send_due(outbox, transport, time.time)
    sys.settrace(None)
    os.write(1, f"{killer.count} {killer.first} {killer.last}\n".encode())


def main():
    port, words = int(sys.argv[1]), sys.argv[2:]
    for state, stop in zip(words[::2], map(int, words[1::2]), strict=True):
        child = os.fork()
        if not child:
            deliver(port, state, stop)
            os._exit(0)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if ended != (-signal.SIGKILL if stop else 0):
            sys.exit(f"delivery {state}, step {stop}: ended with {ended}")


if __name__ == "__main__":
    main()
