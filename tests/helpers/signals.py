# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a process hears signals."""

import signal


def hears_signals():
    """Under nohup or in the background of a script children inherit signals as ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
