# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a revision has the program that is to be started in it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Commands
from rtbisect.process.command import cut

#: Linux reads so many bytes of it (BINPRM_BUF_SIZE).
_LONGEST_FIRST_LINE = 256
_NAMES = re.compile(rb"#![ \t]*([^ \t\n]*)")


def unstartable(program: str, tree: Path) -> Finding | None:
    """Why a program that is named by a path cannot be started at the top of `tree`; None where it
    can, or where it is no matter of the revision.
    """
    if "/" not in program:
        return None
    place = tree / program
    if not place.is_file():
        return Finding.of(Commands.NOT_THERE, program=cut(program, 160))
    if not place.is_relative_to(tree):
        return None
    if not os.access(place, os.X_OK):
        return Finding.of(Commands.NOT_EXECUTABLE, program=cut(program, 160))
    interpreter = _interpreter(place)
    if interpreter.startswith("/") and not Path(interpreter).is_file():
        named = cut(interpreter.replace("\r", "\\r"), 160)
        return Finding.of(Commands.NO_INTERPRETER, program=cut(program, 160), interpreter=named)
    return None


def _interpreter(script: Path) -> str:
    """The program that the first line of a script names (execve(2)); "" where it names none. A line
    that ends as on Windows names one that is not there.
    """
    try:
        with script.open("rb") as stream:
            named = _NAMES.match(stream.readline(_LONGEST_FIRST_LINE))
    except OSError:
        # One that may be executed and not read is no script that we can tell anything of.
        return ""
    return os.fsdecode(named[1]) if named else ""
