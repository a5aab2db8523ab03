# SPDX-License-Identifier: GPL-2.0-or-later
"""How often is the search right, at what cost, and is its confidence true?

    make bench-search                                     a smoke run of every cell, minutes
    make bench-search ARGS="--cells main --trials 500"    the pre-registered cells, hours
    make bench-search ARGS="--cells strange --trials 50"  worlds that the model does not contain
    .venv/bin/python tools/bench_search.py --report       tables of what has run so far

Trials are kept one a line and never run twice, so that a long run may be interrupted. Conditions
stand in tools/search_cells.json; the k-th boot of a commit is the same for every arm. `--unopened`
takes a commit, and runs strange worlds whose parameters nobody knew before it was made; that it was
opened is kept in tools/data/opened.jsonl.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import os
import re
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from searchbench import tables
from searchbench.arms import ARMS, run
from searchbench.bursts import Bursty
from searchbench.strange import Strange, log_opened, unopened, world_of
from searchbench.world import Cell

HERE = Path(__file__).resolve().parent
#: Kinds of cells other than a plain one, by their group.
KINDS = {"strange": Strange, "bursts": Bursty}
GROUPS = ("main", "grid", "graphs", "fresh", "equal", *KINDS)


def trial(cell: Cell, arm: str, number: int) -> tables.Trial:
    return run(world_of(cell, tables.ancestry(cell.history), number), arm, number).data()


def cells(chosen: str) -> list[Cell]:
    """The cells of a group, of all groups, or those with the names (between commas)."""
    kept = json.loads((HERE / "search_cells.json").read_text(encoding="utf-8"))
    found = {group: [KINDS.get(group, Cell)(**item) for item in kept[group]] for group in GROUPS}
    if chosen in found:
        return found[chosen]
    every, names = [cell for group in found.values() for cell in group], chosen.split(",")
    return [cell for cell in every if chosen == "all" or cell.name in names]


def load(path: Path) -> list[tables.Trial]:
    """Trials that have run; published ones are compressed."""
    if not path.exists():
        return []
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def report(rows: list[tables.Trial]) -> None:
    known = cells("all")
    groups = tables.grouped(rows, [cell.name for cell in known], ARMS)
    tables.answers(groups)
    tables.reliability(groups)
    tables.against_oracle(groups)
    tables.limits(rows, known)


def asked() -> argparse.Namespace:
    """The command line; what cannot work is refused."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument(
        "--cells", default="all", help="main, grid, strange, bursts, all, or names with commas"
    )
    parser.add_argument("--unopened", metavar="SHA", help="instead: cells drawn from this commit")
    parser.add_argument("--opened", type=Path, default=HERE / "data" / "opened.jsonl")
    parser.add_argument("--arms", default="ours,git-1,git-9")
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("bench-search.jsonl"))
    parser.add_argument("--report", action="store_true")
    asked = parser.parse_args()
    if asked.unopened is not None and not re.fullmatch(
        "[0-9a-f]{40}([0-9a-f]{24})?", asked.unopened
    ):
        parser.error("--unopened takes the full name of a commit: 40 or 64 hexadecimal digits")
    if unknown := [arm for arm in asked.arms.split(",") if arm not in ARMS]:
        parser.error(f"no arm {unknown[0]}; there are {', '.join(ARMS)}")
    if asked.out.suffix == ".gz" and not asked.report:
        parser.error("published trials are read only: give another --out, or --report")
    named = any(arm.startswith("bayesect") for arm in asked.arms.split(","))
    if named and not asked.report and importlib.util.find_spec("git_bayesect") is None:
        parser.error("git-bayesect is not installed: .venv/bin/pip install git-bayesect==1.2")
    return asked


def tellable(cell: Cell, arm: str) -> bool:
    """Whether somebody can tell the oracle the distributions."""
    known = cell.kind == "location" and not cell.pool and type(cell) is Cell
    return known or not arm.startswith("oracle")


def main() -> int:
    given = asked()
    rows = load(given.out)
    done = {(r["cell"], r["arm"], r["trial"]) for r in rows}
    chosen: list[Cell] = [*unopened(given.unopened)] if given.unopened else cells(given.cells)
    numbers = range(given.first, given.first + given.trials)
    wanted = [
        (cell, arm, number)
        for number in numbers
        for cell in chosen
        for arm in given.arms.split(",")
        if (cell.name, arm, number) not in done and not given.report and tellable(cell, arm)
    ]
    if wanted and given.unopened:
        log_opened(given.opened, given.unopened, chosen, numbers)
    pool = ProcessPoolExecutor(given.jobs)
    try:
        with (Path(os.devnull) if given.report else given.out).open("a", encoding="utf-8") as out:
            for future in as_completed([pool.submit(trial, *item) for item in wanted]):
                rows.append(future.result())
                out.write(json.dumps(rows[-1]) + "\n")
                out.flush()
                if len(rows) % 20 == 0:
                    print(f"{len(rows)} of {len(done) + len(wanted)} trials", file=sys.stderr)
    finally:
        pool.shutdown(cancel_futures=True)
    report(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
