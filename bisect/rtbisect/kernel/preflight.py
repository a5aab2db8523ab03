# SPDX-License-Identifier: GPL-2.0-or-later
"""Is this machine able to build a kernel? Asked before a campaign starts."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.kernel.first_error import HOST_HEADERS, HOST_TOOLS

TOOLS = (
    "make",
    "gcc",
    "ld",
    "flex",
    "bison",
    "bc",
    "lz4",
    "ccache",
    "bwrap",
    "choom",
    "setpriv",
    "prlimit",
    "git",
)
#: Any of these will do; objtool needs them.
HEADERS = ("libelf.h", "gelf.h")

MIN_DISK_BYTES = 8 * 10**9
MIN_MEMORY_BYTES = 2 * 2**30


@dataclass(frozen=True, slots=True)
class BuildHost:
    """What this machine has for building kernels."""

    #: Members of TOOLS and of HEADERS that are installed.
    tools: frozenset[str]
    headers: frozenset[str]
    #: Free, where the state directory is.
    disk_bytes: int
    #: Memory that is available.
    memory_bytes: int


def look(root: Path, which: Callable[[str], str | None] = shutil.which) -> BuildHost:
    """Look at this host; `root` need not exist yet."""
    place = next(path for path in (root, *root.absolute().parents) if path.exists())
    meminfo = Path("/proc/meminfo").read_text(encoding="ascii")
    match = re.search(r"^MemAvailable:\s+(\d+) kB", meminfo, re.MULTILINE)
    return BuildHost(
        tools=frozenset(tool for tool in TOOLS if which(tool)),
        headers=frozenset(name for name in HEADERS if (Path("/usr/include") / name).exists()),
        disk_bytes=shutil.disk_usage(place).free,
        memory_bytes=int(match[1]) * 1024 if match else MIN_MEMORY_BYTES,
    )


def judge(host: BuildHost, root: Path) -> None:
    """Raise the first thing that is missing: ConfigError (packages), InfrastructureError."""
    packages = {HOST_TOOLS[tool]: tool for tool in TOOLS if tool not in host.tools}
    if not host.headers:
        packages[HOST_HEADERS[HEADERS[0]]] = HEADERS[0]
    if packages:
        raise ConfigError(
            f"kernels cannot be built here: {', '.join(packages.values())} not installed",
            f"run `apt-get install {' '.join(packages)}`",
        )
    if host.disk_bytes < MIN_DISK_BYTES:
        raise InfrastructureError(
            f"{host.disk_bytes / 1e9:.1f} GB are free for {root}, kernels need 8 GB",
            "free disk space or set another --state",
            retryable=False,
        )
    if host.memory_bytes < MIN_MEMORY_BYTES:
        raise InfrastructureError(
            f"{host.memory_bytes / 2**30:.1f} GiB of memory are available, 2 GiB are needed",
            "end other programs, then try again",
        )
