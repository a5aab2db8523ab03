# SPDX-License-Identifier: GPL-2.0-or-later
"""Read a build log: who owns the failure, and the one line that says why. Pure.

A compiler error belongs to the tree and is a verdict. A full disk, a process that the
out-of-memory killer ended and a host tool that is not installed say nothing about it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from rtbisect.kernel.sandbox import MOD, OUT, SRC
from rtbisect.process.command import printable

LIMIT = 200

#: Host tools of a kernel build and the Debian packages that bring them. Only these count
#: as missing on the host: a command that nobody knows is a typing error of the tree.
HOST_TOOLS = {
    "awk": "gawk",
    "bash": "bash",
    "bc": "bc",
    "bison": "bison",
    "bzip2": "bzip2",
    "bwrap": "bubblewrap",
    "ccache": "ccache",
    "choom": "util-linux",
    "cpio": "cpio",
    "flex": "flex",
    "gcc": "gcc",
    "git": "git",
    "gzip": "gzip",
    "ld": "binutils",
    "lz4": "lz4",
    "lz4c": "lz4",
    "lzop": "lzop",
    "make": "make",
    "nm": "binutils",
    "objcopy": "binutils",
    "openssl": "openssl",
    "pahole": "dwarves",
    "perl": "perl",
    "pkg-config": "pkg-config",
    "prlimit": "util-linux",
    "python3": "python3",
    "rsync": "rsync",
    "setpriv": "util-linux",
    "xz": "xz-utils",
    "zstd": "zstd",
}

#: Headers of host libraries, likewise.
HOST_HEADERS = {
    "libelf.h": "libelf-dev",
    "gelf.h": "libelf-dev",
    "openssl/bio.h": "libssl-dev",
    "openssl/evp.h": "libssl-dev",
    "openssl/opensslv.h": "libssl-dev",
}


class Owner(StrEnum):
    """Whom a failed build belongs to."""

    TREE = "tree"
    DISK = "disk"
    MEMORY = "memory"
    SANDBOX = "sandbox"
    TOOL = "tool"
    UNCLEAN = "unclean"


@dataclass(frozen=True, slots=True)
class FirstError:
    """Why a build failed."""

    owner: Owner
    #: Printable, at most 200 characters.
    line: str
    #: Debian's, that has what is missing; "" unless the owner is TOOL.
    package: str = ""


_DISK = re.compile(r".*: No space left on device\.?")
_MEMORY = re.compile(
    r".*(?:Killed signal terminated program|internal compiler error: Killed|memory exhausted"
    r"|: Cannot allocate memory|out of memory allocating \d+ bytes).*"
    r"|make(?:\[\d+\])?: \*\*\* .*(?:Killed|Error 137)"
)
_SANDBOX = re.compile(r"(?:bwrap|setpriv|choom|prlimit): .*")
_UNCLEAN = re.compile(r".*The source tree is not clean.*")
_TOOL = re.compile(
    r".*: (?:\d+: |line \d+: )?([\w.+-]+): (?:command )?not found"
    r"|make(?:\[\d+\])?: ([\w.+-]+): No such file or directory"
    r"|ccache: error: Could not find compiler \"([\w.+-]+)\" in PATH"
)
_HEADER = re.compile(r".*fatal error: ([\w./]+): No such file or directory")

#: What the tree's own failures look like, the most telling first. The first line of the
#: log that matches the first matching pattern is the one to show.
_TELLING = (
    re.compile(r"\S+?:\d+(?::\d+)?: (?:fatal |internal compiler )?error: .*"),
    re.compile(r"\S+?:\d+: Error: .*"),
    re.compile(r"(?:ERROR: modpost: |ERROR: \").*"),
    re.compile(r".*(?:undefined reference to|multiple definition of|undefined symbol).*"),
    re.compile(
        r"(?:\S*/)?ld(?:\.\w+)?: .*(?:error|cannot find|failed|overflow|overlaps).*", re.IGNORECASE
    ),
    re.compile(r"\S*Kconfig\S*:\d+: ?.*(?:error|unknown|unexpected|can't open|syntax).*"),
    re.compile(r"error: .*|(?:\S+: )?error: objtool.*|FAILED: .*"),
    re.compile(r"\S*Makefile\S*:\d+: \*\*\* .*"),
    re.compile(r"make(?:\[\d+\])?: \*\*\* No rule to make target .*"),
    re.compile(r".*: (?:not found|command not found|Permission denied|Read-only file system)"),
    re.compile(r"\*\*\* .*"),
    re.compile(r"make(?:\[\d+\])?: \*\*\* .*"),
)


def find(log: str) -> FirstError:
    """Owner and line of the failure that `log` ends with."""
    lines = [_short(line) for line in log.splitlines() if line.strip()]
    for owner, pattern in ((Owner.DISK, _DISK), (Owner.MEMORY, _MEMORY), (Owner.UNCLEAN, _UNCLEAN)):
        if line := _first(pattern, lines):
            return FirstError(owner, printable(line, LIMIT))
    if lines and _SANDBOX.fullmatch(lines[0]):
        return FirstError(Owner.SANDBOX, printable(lines[0], LIMIT))
    if missing := _missing(lines):
        return missing
    for pattern in _TELLING:
        if line := _first(pattern, lines):
            return FirstError(Owner.TREE, printable(line, LIMIT))
    last = printable(lines[-1], LIMIT) if lines else "make failed and printed nothing"
    return FirstError(Owner.TREE, last)


def _first(pattern: re.Pattern[str], lines: list[str]) -> str:
    return next((line for line in lines if pattern.fullmatch(line)), "")


def _missing(lines: list[str]) -> FirstError | None:
    for line in lines:
        if match := _TOOL.fullmatch(line):
            tool = match[1] or match[2] or match[3]
            if tool in HOST_TOOLS:
                return FirstError(Owner.TOOL, printable(line, LIMIT), HOST_TOOLS[tool])
        elif (match := _HEADER.fullmatch(line)) and match[1] in HOST_HEADERS:
            return FirstError(Owner.TOOL, printable(line, LIMIT), HOST_HEADERS[match[1]])
    return None


def _short(line: str) -> str:
    """Without the folders of the sandbox, and short enough for every pattern to be quick."""
    for folder in (SRC, OUT, MOD):
        line = line.replace(folder + "/", "")
    return line[:2000].rstrip()
