# SPDX-License-Identifier: GPL-2.0-or-later
"""How much of the time of native programs is made by where their functions lie.

    .venv/bin/python tools/bench_layouts.py FOLDER... --layouts 10 --runs 15
    .venv/bin/python tools/bench_layouts.py FOLDER... --plot layouts.svg

A FOLDER has `link`, a program that links ./program with the seed in $RTBISECT_LAYOUT_SEED (what it
needs is compiled before), and `words`, a line with the arguments of a run. It may have `input`,
which each run gets on standard input. Runs are made in turns: a round has one of each layout, in
an order of its own. Instructions are counted once a layout. Times are those of the CPU, user and
kernel; with --best-of a time is the least of so many runs, because what runs beside a program only
makes it slower.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from licensed_svg import licensed_svg
from rtbisect.judge.layouts import DIFFER, Cell, spread_of
from rtbisect.model.subject import Measured
from rtbisect.program.counter import Counter, Counting, counter_here
from rtbisect.report.layout_plot import LayoutPanel, layout_picture
from rtbisect.words.voice import voice_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbisect.model.layouts import LayoutSpread

#: What the link step gets, as of `rtbisect run --relayout`.
SEED = "RTBISECT_LAYOUT_SEED"
_HEAD = (
    "| program | instructions, and how far layouts differ | CPU ms, medians of layouts | runs, sd |"
    " layouts, sd (95%) | p | two builds differ by |"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What the layouts of a program took."""

    name: str
    #: Milliseconds of each layout, by its runs.
    times_ms: tuple[tuple[float, ...], ...]
    #: Of each layout; () where nobody counted.
    instructions: tuple[float, ...]
    #: Of the logarithms of times.
    spread: LayoutSpread


def main(words: Sequence[str]) -> int:
    """Measure, print the table; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="+", type=Path)
    parser.add_argument("--layouts", type=int, default=10)
    parser.add_argument("--runs", type=int, default=15, help="of each layout")
    parser.add_argument("--best-of", type=int, default=1, help="runs that make one time")
    parser.add_argument("--no-count", action="store_true", help="count no instructions")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg")
    asked = parser.parse_args(words)
    if min(asked.layouts, asked.runs) < 2 or asked.best_of < 1:
        parser.error("layouts and runs are two or more, --best-of is one or more")
    for folder in asked.folder:
        for name in ("link", "words"):
            if not (folder / name).is_file():
                parser.error(f"{folder} has no file {name}: see the head of this tool")
    counter = None if asked.no_count else counter_here()
    found = []
    for folder in asked.folder:
        found.append(measured(folder, asked.layouts, asked.runs, counter, asked.best_of))
        print(f"{folder.name} is measured", file=sys.stderr)
    print("\n".join(table(found)))
    if asked.plot is not None:
        picture = layout_picture(
            [panel_of(each) for each in found], voice_of(measured=Measured.COMMAND)
        )
        assert picture is not None
        drawn = licensed_svg(picture, "Layouts of native programs", "tools/bench_layouts.py")
        asked.plot.write_text(drawn, encoding="utf-8")
    return 0


def measured(
    folder: Path, layouts: int, runs: int, counter: Counter | None, best_of: int = 1
) -> Program:
    """Link, count and run a program. CalledProcessError where one of its commands fails."""
    with tempfile.TemporaryDirectory() as place:
        programs = [_linked(folder, Path(place), seed) for seed in range(1, layouts + 1)]
        if len({program.read_bytes() for program in programs}) < layouts:
            raise SystemExit(f"{folder}/link ignores ${SEED}: two seeds make one program")
        given = shlex.split((folder / "words").read_text(encoding="utf-8"))
        argvs = [[str(program), *given] for program in programs]
        counts = tuple(_counted(argv, folder, counter) for argv in argvs) if counter else ()
        draw = random.Random(0)
        cells = [
            Cell(
                layout,
                number,
                math.log(min(_cpu_ms(argvs[layout], folder) for _ in range(best_of))),
            )
            for number in range(runs)
            for layout in draw.sample(range(layouts), layouts)
        ]
    spread = spread_of(cells)
    assert spread is not None
    times = tuple(
        tuple(math.exp(cell.value) for cell in cells if cell.layout == layout)
        for layout in range(layouts)
    )
    return Program(name=folder.name, times_ms=times, instructions=counts, spread=spread)


def table(found: Sequence[Program]) -> Iterator[str]:
    """Lines of Markdown."""
    yield _HEAD
    yield "|---" * (_HEAD.count("|") - 1) + "|"
    for each in found:
        spread = each.spread
        sizes = (spread.boots_sd, spread.layouts_sd, spread.low, spread.high)
        runs, layouts, low, high = (f"{math.expm1(size):.1%}" for size in sizes)
        differ = math.expm1(DIFFER * spread.layouts_sd)
        medians = [statistics.median(times) for times in each.times_ms]
        p = "< 0.001" if spread.p < 0.001 else f"{spread.p:.3f}"
        yield (
            f"| {each.name} | {_counts(each.instructions)} | {min(medians):.1f} to"
            f" {max(medians):.1f} | {runs} | {layouts} ({low} to {high}) | {p} | {differ:.1%} |"
        )


def panel_of(each: Program) -> LayoutPanel:
    """A program in the picture."""
    return LayoutPanel(
        name=each.name,
        unit="ms",
        values=each.times_ms,
        floor=0.0,
        boots_sd=each.spread.boots_sd,
        layouts_sd=each.spread.layouts_sd,
    )


def _counts(instructions: Sequence[float]) -> str:
    if not instructions:
        return "-"
    low, high = min(instructions), max(instructions)
    return f"{low:,.0f}, {(high - low) / low:.4%}"


def _linked(folder: Path, place: Path, seed: int) -> Path:
    """The program in a layout. All have a path of the same length: it lies on their stack."""
    env = os.environ | {SEED: str(seed)}
    subprocess.run([str((folder / "link").absolute())], cwd=folder, env=env, check=True)
    own = place / f"{seed:04}"
    own.mkdir()
    return Path(shutil.copy2(folder / "program", own / "program"))


def _counted(argv: Sequence[str], folder: Path, counter: Counter) -> float:
    with tempfile.TemporaryDirectory() as place:
        counting = Counting(counter, Path(place))
        _run(counting.argv(argv), folder)
        return counting.count()


def _cpu_ms(argv: Sequence[str], folder: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _run(argv, folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used_s = after.ru_utime - before.ru_utime
    used_s += after.ru_stime - before.ru_stime
    return max(used_s, 1e-6) * 1000


def _run(argv: Sequence[str], folder: Path) -> None:
    given = folder / "input"
    with (given if given.is_file() else Path(os.devnull)).open("rb") as stream:
        subprocess.run(argv, cwd=folder, stdin=stream, stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
