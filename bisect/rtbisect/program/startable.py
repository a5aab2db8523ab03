# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a revision has the program that is to be started in it, and how that is started."""

from __future__ import annotations

import errno
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Commands
from rtbisect.process.command import cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.errors import RtbisectError

#: Linux reads so many bytes of it (BINPRM_BUF_SIZE).
_LONGEST_FIRST_LINE = 256
_NAMES = re.compile(rb"#![ \t]*([^ \t\n]+)")
#: How execve(2) says that a file, or what its first line names, is not one that this machine can
#: run. A script that names itself is a loop.
_REFUSED = (
    errno.ENOEXEC, errno.EACCES, errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ELIBBAD,
    errno.EINVAL,
)  # fmt: skip


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


def refused(error: RtbisectError, program: str, tree: Path) -> Finding | None:
    """Why the kernel did not start a program that `unstartable` has let pass; None for any other
    error, and where the program is not of the revision.
    """
    why = error.__cause__
    if not isinstance(why, OSError) or why.errno not in _REFUSED or why.filename != program:
        return None
    if "/" not in program or not (tree / program).is_relative_to(tree):
        return None
    told = os.strerror(why.errno)
    return Finding.of(Commands.NOT_STARTED, program=cut(program, 160), error=told)


def as_started(argv: Sequence[str], tree: Path) -> tuple[str, ...]:
    """The command as execvp(3) and every shell start it at the top of `tree`: execve(2) refuses a
    script whose first line names no interpreter, and /bin/sh runs it then.
    """
    # What is on no path is nowhere, though a file of the tree may be called so.
    found = argv[0] if "/" in argv[0] else shutil.which(argv[0]) or ""
    place = tree / found
    if not (place.is_file() and os.access(place, os.X_OK)):
        return tuple(argv)
    first = _first_line(place)
    if first is None or b"\0" in first or _NAMES.match(first):
        return tuple(argv)
    return ("/bin/sh", "--", found, *argv[1:])


def _interpreter(script: Path) -> str:
    """The program that the first line of a script names (execve(2)); "" where it names none. A line
    that ends as on Windows names one that is not there.
    """
    named = _NAMES.match(_first_line(script) or b"")
    return os.fsdecode(named[1]) if named else ""


def _first_line(program: Path) -> bytes | None:
    """The first line, as far as Linux reads it; None of a program that may be executed and not
    read: it is no script that we can tell anything of.
    """
    try:
        with program.open("rb") as stream:
            return stream.readline(_LONGEST_FIRST_LINE)
    except OSError:
        return None
