# SPDX-License-Identifier: GPL-2.0-or-later
"""Whom the tree under test names for files: its own scripts/get_maintainer.pl, in the sandbox.

The script and MAINTAINERS are foreign: what they print is a proposal that `report.recipients`
holds against the site's rules.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.errors import InfrastructureError
from rtbisect.kernel import confined
from rtbisect.kernel.bounds import Bounds
from rtbisect.kernel.sandbox import SRC, Sandbox
from rtbisect.kernel.settings import uid_of
from rtbisect.process.command import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

SCRIPT = "scripts/get_maintainer.pl"

#: Files that are asked for; the first ones of a commit say whose it is.
_MOST_FILES = 40
#: Lines that are read, and bytes that the script may write.
_MOST_LINES = 60
_MOST_BYTES = 256 * 1024
_TIMEOUT_S = 120.0

#: Of the script: it reads the file MAINTAINERS and writes a few lines.
_BOUNDS = Bounds(
    memory_bytes=1 << 30,
    processes=64,
    disk_bytes=64 << 20,
    files=1000,
    tmp_bytes=16 << 20,
    file_bytes=_MOST_BYTES,
)


@dataclass(frozen=True, slots=True)
class Named:
    """Lines as `Name <address> (role)`; `why_not` says why there are none."""

    lines: tuple[str, ...] = ()
    why_not: str = ""


def maintainers(source: Path, files: Sequence[str]) -> Named:
    """Lines of get_maintainer.pl for `files` of the tree at `source`. A script that is missing,
    fails or does not end gives none: a report is proposed without it, and says so.
    InfrastructureError when the sandbox itself does not start.
    """
    if not (source / SCRIPT).is_file():
        return Named(why_not=f"the tree has no {SCRIPT}")
    asked = [name for name in files[:_MOST_FILES] if (source / name).is_file()]
    if not asked:
        return Named(why_not="none of the files of the commit is in the tree now")
    with tempfile.TemporaryDirectory(prefix="rtbisect-maintainers-") as name:
        return _ask(source, asked, Path(name))


def _ask(source: Path, files: Sequence[str], place: Path) -> Named:
    out, modules, fragments, ccache = (place / name for name in ("o", "modules", "f", "ccache"))
    for folder in (out, modules, fragments, ccache):
        folder.mkdir()
    # The script runs as a user that has to enter them.
    place.chmod(0o755)
    sandbox = Sandbox(
        source=source,
        out=out,
        modules=modules,
        fragments=fragments,
        ccache=ccache,
        bounds=_BOUNDS,
        uid=uid_of(place),
    )
    told, erred = place / "told", place / "erred"
    words = ["env", f"--chdir={SRC}", "perl", SCRIPT, "--nogit", "--nogit-fallback", "--roles"]
    words += ["--norolestats", "--remove-duplicates", "-f", "--", *(f"./{each}" for each in files)]
    try:
        found = confined.run(
            sandbox, words, cwd=place, timeout_s=_TIMEOUT_S, log=told, error_log=erred
        )
    except InfrastructureError as error:
        return Named(why_not=f"{SCRIPT}: {error.message}")
    if not found.done.ok or found.exceeded:
        last = found.exceeded or (_lines(erred) or ["no word"])[-1]
        return Named(why_not=f"{SCRIPT} failed: {printable(last, 120)}")
    lines = [printable(line, 300) for line in _lines(told)]
    return Named(tuple(line for line in lines if "@" in line)[:_MOST_LINES])


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        return []
    text = path.read_bytes()[:_MOST_BYTES].decode("utf-8", "replace")
    return [line.strip() for line in text.split("\n") if line.strip()]
