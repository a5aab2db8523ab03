# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes of a lab of our own that outlive the command which starts them. Each has a folder where
it runs, with `run/NAME.pid` and `run/NAME.log`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from rtbisect.errors import InfrastructureError
from rtbisect.process import command, endings

#: Seconds until what a process makes at its start has to be there, or until it answers.
START_S = 15.0

#: The shell's own number is that of the process: it becomes it.
_NOTED = 'echo $$ >"$0.part" && mv "$0.part" "$0" && exec "$@"'


def start(
    argv: Sequence[str],
    folder: Path,
    name: str,
    *,
    pass_fds: Sequence[int] = (),
) -> None:
    """Start a process in a session of its own."""
    noted = folder / f"run/{name}.pid"
    noted.unlink(missing_ok=True)
    command.run(
        ["setsid", "-f", "sh", "-c", _NOTED, str(noted), *argv],
        cwd=folder,
        timeout_s=30,
        log=folder / f"run/{name}.log",
        pass_fds=pass_fds,
        check=True,
    )
    wait_for(noted)


def pid_of(folder: Path, name: str, comm: str = "") -> int:
    """The process, 0 when it is gone. A number may be somebody else's by now: ours run in their
    folder, under the name `comm` if that is given.
    """
    try:
        pid = int((folder / f"run/{name}.pid").read_text("ascii"))
        called = Path(f"/proc/{pid}/comm").read_text("utf-8").strip()
        where = Path(f"/proc/{pid}/cwd").readlink()
    except (OSError, ValueError):
        return 0
    return pid if where == folder.resolve() and called.startswith(comm) else 0


def end(folder: Path, name: str, comm: str = "", grace_s: float = endings.GRACE_S) -> None:
    """End a process with its whole group; nothing when it is gone."""
    pid = pid_of(folder, name, comm)
    if pid:
        endings.end_group(os.getpgid(pid), grace_s)
    (folder / f"run/{name}.pid").unlink(missing_ok=True)


def wait_for(*paths: Path, seconds: float = START_S) -> None:
    """Wait until these files are there; InfrastructureError when they do not come."""
    deadline = time.monotonic() + seconds
    while not all(path.exists() for path in paths):
        if time.monotonic() > deadline:
            raise InfrastructureError(f"{paths[0]} did not come", "see the logs beside it")
        time.sleep(0.02)


def secret(path: Path, text: str) -> None:
    """Write a file that only we read."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(text)
