# SPDX-License-Identifier: GPL-2.0-or-later
"""What the compiler cache costs where it has not met a file, and spares where it has.

    .venv/bin/python tools/bench_compile.py --every 5    C files of the last build of the demo

Each file is compiled in turn by the compiler alone, behind ccache as it is, and as this program
calls it (kernel/compiler_cache.py), with caches that are empty; then the last one again. Objects
have to have the same size. Files are those of an O= directory with the source it was made from.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import real_figures
from rtbisect.config.paths import state_dir
from rtbisect.kernel import compiler_cache
from rtbisect.kernel.sandbox import FRAGMENTS, SRC

#: What kbuild has called with the compiler behind it: before there was a wrapper, ccache itself.
_CACHES = ("ccache", f"{FRAGMENTS}/{compiler_cache.WRAPPER}")


def compilations(out: Path, source: Path) -> list[list[str]]:
    """Command lines of C files that were compiled below an O= directory."""
    found = []
    for path in sorted(out.rglob(".*.o.cmd")):
        with path.open(encoding="utf-8") as lines:
            command = next(lines).partition(" := ")[2]
        # Behind the compiler comes objtool.
        cache, *words = shlex.split(command.partition(" ; ")[0])
        if cache in _CACHES and words[-1].endswith(".c"):
            found.append([word.replace(SRC, str(source)) for word in words])
    return found


def to_folder(argv: list[str], folder: Path) -> list[str]:
    """The same with its results in another folder."""
    depends = "-Wp,-MMD,"
    words = [f"{depends}{folder}/x.d" if word.startswith(depends) else word for word in argv]
    words[words.index("-o") + 1] = str(folder / "x.o")
    return words


def cpu_s(argv: list[str], out: Path, cache: Path) -> float:
    """Seconds of CPU that a command takes, with its cache at `cache`."""
    before = real_figures.cpu_s()
    env = os.environ | compiler_cache.environment("bench") | {"CCACHE_DIR": str(cache)}
    subprocess.run(argv, cwd=out, env=env, check=True)
    return real_figures.cpu_s() - before


def measured(files: list[list[str]], out: Path) -> dict[str, float]:
    """Seconds of CPU of all files, for each way to compile them."""
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="rtbisect-") as name:
        folder = Path(name)
        wrapper = folder / compiler_cache.WRAPPER
        wrapper.write_text(compiler_cache.SPARING, "utf-8")
        wrapper.chmod(0o755)
        ways = {
            "compiler alone": ([], "none"),
            "ccache, not met": (["ccache"], "plain"),
            "ours, not met": ([str(wrapper)], "ours"),
            "ours, met": ([str(wrapper)], "ours"),
        }
        for argv in files:
            sizes = set()
            for way, (before, cache) in ways.items():
                total[way] += cpu_s([*before, *to_folder(argv, folder)], out, folder / cache)
                sizes.add((folder / "x.o").stat().st_size)
            if len(sizes) != 1:
                raise SystemExit(f"{argv[-1]} has objects of {sizes} bytes")
    return dict(total)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=Path, help="O= directory (default: that of the demo)")
    parser.add_argument("--source", type=Path, help="its source (default: that of the demo)")
    parser.add_argument("--every", type=int, default=10, help="take every so many files")
    asked = parser.parse_args()
    source = asked.source or state_dir() / "trees/demo-tree"
    outs = [asked.out] if asked.out else sorted((state_dir() / "build").glob("tinyconfig_*/out"))
    files = compilations(outs[0], source) if outs else []
    if not files:
        raise SystemExit("no build of the demo: run `make demo`, or take --out and --source")
    total = measured(files[:: asked.every], outs[0])
    alone = total["compiler alone"]
    for way, seconds in total.items():
        print(f"{way:16}  {seconds:7.1f} s of CPU  {seconds / alone:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
