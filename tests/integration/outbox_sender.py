# SPDX-License-Identifier: GPL-2.0-or-later
"""Send what is due in an outbox; a test kills this. `... STATE PORT STOP`: the process kills itself
at step STOP of the delivery, counted by the lines of our own code that run; 0: it is not killed.
A killed one says first where it stands: before, or between the end of the text and the note of the
answer (between), or behind that (after). One that lives prints the number of steps, and the first
and last of those between.
"""

import linecache
import os
import signal
import sys
import time
from pathlib import Path

from rtbisect.post.smtp import SmtpSettings, SmtpTransport
from rtbisect.sending import send_due
from rtbisect.store.outbox import Outbox

OURS = ("/rtbisect/post/", "/rtbisect/store/outbox.py", "/rtbisect/sending.py", "/smtplib.py")


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
                os.write(2, f"{self.where}\n".encode())
                os.kill(os.getpid(), signal.SIGKILL)
        # What ends a try has been written.
        if event == "return" and frame.f_code.co_name == "_end" and self.where == "between":
            self.where = "after"
        return self.trace


def main():
    state, port, stop = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    outbox = Outbox(state)
    transport = SmtpTransport(SmtpSettings("127.0.0.1", port, "none", hello="lab.example.org"))
    killer = Killer(stop)
    sys.settrace(killer.trace)
    send_due(outbox, transport, time.time)
    sys.settrace(None)
    sys.stdout.write(f"{killer.count} {killer.first} {killer.last}\n")


if __name__ == "__main__":
    main()
