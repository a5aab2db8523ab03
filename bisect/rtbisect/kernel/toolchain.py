# SPDX-License-Identifier: GPL-2.0-or-later
"""Which programs make a kernel: two of other versions make another kernel of the same source."""

from __future__ import annotations

import hashlib
from pathlib import Path

from rtbisect.process import command

#: Folder in which the sandbox finds the tools, whatever our PATH says.
BIN = Path("/usr/bin")

#: What each is asked for its version. Not all are there: pahole and openssl depend on the
#: configuration.
_ASKED = (
    *((name, "--version") for name in ("as", "ld", "objcopy", "make", "flex", "bison", "bc")),
    *((name, "--version") for name in ("perl", "pahole", "lz4")),
    ("openssl", "version"),
)

#: These write machine code: a distribution mends them without another version.
_WRITE_CODE = ("as", "ld")

_TIMEOUT_S = 60.0


def look(compiler: str, folder: Path = BIN, *, linker: str = "") -> str:
    """A line `name: version` for each program in `folder`, the compiler first. `linker` links
    kernels in the place of ld, "" for none.

    InfrastructureError when a program does not answer, ConfigError without a compiler.
    """
    lines = [f"{compiler}: {_first_line(folder / compiler, '--version')}"]
    for name, word in _ASKED:
        place = folder / name
        version = _first_line(place, word) if place.is_file() else "none"
        lines.append(f"{name}: {version}{_file_mark(place) if name in _WRITE_CODE else ''}")
    if linker:
        version = _first_line(folder / linker, "--version")
        lines.append(f"{linker}: {version}{_file_mark(folder / linker)}")
    # The compiler proper is a program behind the one that is called.
    proper = Path(_first_line(folder / compiler, "-print-prog-name=cc1"))
    lines.append(f"cc1:{_file_mark(proper)}")
    return "\n".join(lines)


def changed(before: str, now: str) -> str:
    """The programs that differ, for a person."""
    old, new = (
        dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
        for text in (before, now)
    )
    names = [name for name in old | new if old.get(name) != new.get(name)]
    return "; ".join(f"{name} was {old.get(name)}, is {new.get(name)}" for name in names)


def _first_line(program: Path, word: str) -> str:
    done = command.run([str(program), word], cwd=Path("/"), timeout_s=_TIMEOUT_S, check=True)
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    return command.printable(lines[0]) if lines else ""


def _file_mark(program: Path) -> str:
    """The start of the file's sha256."""
    if not program.is_file():
        return " none"
    with program.open("rb") as stream:
        return f" ({hashlib.file_digest(stream, 'sha256').hexdigest()[:12]})"
