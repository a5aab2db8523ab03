# SPDX-License-Identifier: GPL-2.0-or-later
"""What a command and a build leave: their exit codes, and the end of what they print."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

from rtbisect.errors import InfrastructureError, MisaskedError
from rtbisect.process.command import failure, printable

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.process.command import Completed

#: git bisect run: this revision cannot be tested; and from here on: stop.
SKIP = 125
ABORT = 128

#: A shell found no such program, or could not start it; git bisect run asks a good revision then.
NOT_RUN = (126, 127)

#: Figures stand in the last lines of stdout; this much of it is read. A JSON object may have as
#: many lines as there are.
TAIL_BYTES = 1024 * 1024
#: Longest output, in bytes, that --format, --extract and --json-path read.
MOST_BYTES = 16 * 1024 * 1024
#: What fails with less than this left on the disk failed for want of room.
FULL_BYTES = 64 * 1024 * 1024
#: A command or a build that prints more is ended: one that prints for ever fills the disk.
MOST_PRINTED_BYTES = 256 * 1024 * 1024
#: Bytes of output that are kept on disk: its end.
KEPT_BYTES = 1024 * 1024

#: Code that copies itself, or a table that lies between functions, ends with a signal then.
_MOVED = "; leave out --relayout where the program breaks when its functions move"

#: What is no text: byte order marks of files, and terminal escapes (colours; titles and links,
#: which BEL or ESC \ ends), which many programs print even without a terminal.
_NO_TEXT = re.compile(
    r"\x1b\[[0-9;?]{0,20}[A-Za-z]|\x1b\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)|\ufeff"
)


def check_goes_on(done: Completed, where: str, log: Path, *, moved: bool = False) -> None:
    """InfrastructureError where what was started asks to stop: exit code 128 and more, or a signal.
    `where` follows the reason, as "on 1234"; `moved`: it is a program whose functions lie in
    another order than its usual one.
    """
    if not done.stopped and not 0 <= done.returncode < ABORT:
        raise InfrastructureError(
            f"{failure(done)} {where}",
            f"see {log}; `rtbisect resume` goes on when it is mended" + (_MOVED if moved else ""),
            retryable=False,
        )


def check_room(where: str, *folders: Path) -> None:
    """InfrastructureError where a disk is full: what failed then says nothing of a revision."""
    for folder in folders:
        if folder.is_dir() and shutil.disk_usage(folder).free < FULL_BYTES:
            raise InfrastructureError(
                f"the disk is full {where}",
                f"make room at {folder}; `rtbisect resume` goes on then",
                retryable=False,
            )


def not_there(begun: str, code: int, errors: list[str], look_at: str) -> MisaskedError:
    """What is raised where the very first of all, which `begun` tells, ended with NOT_RUN."""
    last = f": {printable(errors[-1], 160)}" if errors else ""
    return MisaskedError(
        f"{begun} ended with {code}{last}",
        f"that says that there is no such program: look at {look_at}, then start again",
    )


def tail(path: Path) -> list[str]:
    """The last lines of a file of any size, which may contain invalid UTF-8."""
    lines = _text(_end_of(path, TAIL_BYTES)).splitlines()
    return [line.strip() for line in lines if line.strip()]


def whole(path: Path) -> str:
    """The text of a file of at most MOST_BYTES, which may contain invalid UTF-8."""
    return _text(path.read_bytes())


def _text(data: bytes) -> str:
    return _NO_TEXT.sub("", data.decode("utf-8", "replace"))


def keep_end(path: Path) -> None:
    """Keep the end of a long output: hundreds of runs of a chatty command fill a disk."""
    if path.stat().st_size > KEPT_BYTES:
        path.write_bytes(_end_of(path, KEPT_BYTES))


def _end_of(path: Path, most_bytes: int) -> bytes:
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - most_bytes))
        return stream.read(most_bytes)
