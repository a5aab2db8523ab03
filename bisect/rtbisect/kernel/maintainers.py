# SPDX-License-Identifier: GPL-2.0-or-later
"""Whom the tree under test names for files: its own scripts/get_maintainer.pl, in the sandbox.

The script and MAINTAINERS are foreign: what they print is a proposal that `report.recipients`
holds against the site's rules.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rtbisect.errors import InfrastructureError
from rtbisect.kernel import confined
from rtbisect.kernel.bounds import Bounds
from rtbisect.kernel.sandbox import SRC, Sandbox
from rtbisect.kernel.settings import uid_of
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import NoMaintainers
from rtbisect.process.command import printable

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
class MaintainerLines:
    """What get_maintainer.pl said."""

    #: Lines of the form `Name <address> (role)`.
    lines: tuple[str, ...] = ()
    #: Why there are none; None where there are.
    why_not: Finding | None = None


def maintainers(source: Path, files: Sequence[str]) -> MaintainerLines:
    """Lines of get_maintainer.pl for `files` of the tree at `source`. A script that is missing,
    fails or does not end gives none: a report is proposed without it, and says so.
    InfrastructureError when the sandbox itself does not start.
    """
    if not (source / SCRIPT).is_file():
        return MaintainerLines(why_not=Finding.of(NoMaintainers.NO_SCRIPT, script=SCRIPT))
    present = [name for name in files[:_MOST_FILES] if (source / name).is_file()]
    if not present:
        return MaintainerLines(why_not=Finding.of(NoMaintainers.NO_FILES))
    with tempfile.TemporaryDirectory(prefix="rtbisect-maintainers-") as name:
        return _run_script(source, present, Path(name))


def _run_script(source: Path, files: Sequence[str], place: Path) -> MaintainerLines:
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
    output, errors = place / "told", place / "erred"
    words = ["env", f"--chdir={SRC}", "perl", SCRIPT, "--nogit", "--nogit-fallback", "--roles"]
    words += ["--norolestats", "--remove-duplicates", "-f", "--", *(f"./{file}" for file in files)]
    try:
        ended = confined.run(
            sandbox, words, cwd=place, timeout_s=_TIMEOUT_S, log=output, error_log=errors
        )
    except InfrastructureError as error:
        why_not = Finding.of(NoMaintainers.NOT_STARTED, script=SCRIPT, error=error.message)
        return MaintainerLines(why_not=why_not)
    if not ended.done.ok or ended.exceeded:
        last = ended.exceeded or (_lines(errors) or ["no word"])[-1]
        said = printable(last, 120)
        return MaintainerLines(why_not=Finding.of(NoMaintainers.FAILED, script=SCRIPT, said=said))
    lines = [printable(line, 300) for line in _lines(output)]
    return MaintainerLines(tuple(line for line in lines if "@" in line)[:_MOST_LINES])


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        return []
    text = path.read_bytes()[:_MOST_BYTES].decode("utf-8", "replace")
    return [line.strip() for line in text.split("\n") if line.strip()]
