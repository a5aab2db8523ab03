# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect`: the door. Imports nothing heavy, so that Ctrl-C and a caller's PYTHONPATH are
dealt with before anything else happens.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn


def entry() -> NoReturn:
    """Run the command line; every ending is an exit code of errors.Exit."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        # nohup(1) ignores SIGHUP for its child, and that stays so.
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _on_signal)
    try:
        _isolate()
        from rtbisect.cli import app  # noqa: PLC0415  (a second of imports, inside the try)

        code = app.run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def _on_signal(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _isolate() -> None:
    """Start again with `python -I` when PYTHON* variables are set: a module that shadows one
    of ours, or asserts that are switched off, would change answers.
    """
    if not sys.flags.isolated and any(name.startswith("PYTHON") for name in os.environ):
        # Our own interpreter and our own words.
        os.execv(sys.executable, [sys.executable, "-I", *sys.orig_argv[1:]])  # noqa: S606
