# SPDX-License-Identifier: GPL-2.0-or-later
"""Send what is due in an outbox; a test kills this. `... STATE PORT STOP`: the process kills itself
at step STOP of the delivery, counted by the lines of our own code that run; 0: it is not killed.
"""

import os
import signal
import sys
import time
from pathlib import Path

from rtbisect.post.smtp import SmtpSettings, SmtpTransport
from rtbisect.sending import send_due
from rtbisect.store.outbox import Outbox

OURS = ("/rtbisect/post/", "/rtbisect/store/outbox.py", "/rtbisect/sending.py", "/smtplib.py")


def killer(stop):
    count = 0

    def trace(frame, event, arg):
        nonlocal count
        if not any(part in frame.f_code.co_filename for part in OURS):
            return None
        if event == "line":
            count += 1
            if count == stop:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    return trace, lambda: count


def main():
    state, port, stop = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    outbox = Outbox(state)
    transport = SmtpTransport(SmtpSettings("127.0.0.1", port, "none", hello="lab.example.org"))
    trace, count = killer(stop)
    sys.settrace(trace)
    send_due(outbox, transport, time.time)
    sys.settrace(None)
    sys.stdout.write(f"{count()}\n")


if __name__ == "__main__":
    main()
