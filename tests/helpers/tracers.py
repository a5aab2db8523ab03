# SPDX-License-Identifier: GPL-2.0-or-later
"""Texts that the tracers of four kernels printed, and the programs of the device that fold them."""

import gzip
import os
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "tracers"
VERSIONS = ("6.1", "6.12", "6.16", "7.2")

_FLAGS = (
    "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined",
    # Else undefined behaviour is told on stderr and the program goes on.
    "-fno-sanitize-recover=all",
)  # fmt: skip


@cache
def recorded(version, name):
    """A recorded text."""
    path = DATA / version / name
    if path.exists():
        return path.read_text("ascii")
    return gzip.decompress((DATA / version / f"{name}.gz").read_bytes()).decode("ascii")


def compiled(folder, source):
    """A program of the device, built for this machine with the sanitizers."""
    program = folder / Path(source).stem
    argv = ["gcc", *_FLAGS, "-o", str(program), str(ROOT / "lava-jobs" / "suites" / source)]
    subprocess.run(argv, check=True)
    return program


def fold(program, folder, trace):
    """The program's end, when it was given the bytes of a trace. One that loops is ended."""
    # It ends at once; what it holds then is no leak.
    env = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}
    argv = [str(program), "-o", str(folder)]
    return subprocess.run(argv, input=trace, capture_output=True, check=False, env=env, timeout=300)


def folded(program, folder, trace):
    """What the program makes of a trace: file name to text."""
    done = fold(program, folder, trace.encode())
    assert done.returncode == 0, done.stderr.decode()
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}
