# SPDX-License-Identifier: GPL-2.0-or-later
"""How often is the search right, at what cost, and is its confidence true?

    make bench-search                                     a smoke run of every cell, minutes
    make bench-search ARGS="--cells main --trials 500"    the pre-registered cells, hours
    .venv/bin/python tools/bench_search.py --report       tables of what has run so far

Trials are kept one a line and never run twice, so that a long run may be interrupted. Conditions
stand in tools/search_cells.json; the k-th boot of a commit is the same for every arm.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import math
import os
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from scipy.stats import binomtest

from rtbisect.search.ancestry import Ancestry
from searchbench.arms import ARMS, NOTHING, run
from searchbench.bounds import bounds
from searchbench.histories import history
from searchbench.world import Cell, world

HERE = Path(__file__).resolve().parent
ROW = "{cell:<20} {arm:<20} {n:>4} {right:>5} {wilson:>13} {stated:>7} {named:>7} {open:>6} {none:>9} {false:>7} {runs:>6} {builds:>6} {hours:>6} {cpu:>6}"  # noqa: E501  (one row)
HEADS = (
    "cell", "arm", "n", "right", "wilson", "stated", "named", "open", "none", "false", "runs",
    "builds", "hours", "cpu",
)  # fmt: skip


def wilson(hits: int, count: int) -> tuple[float, float]:
    """Interval of a share (Wilson 1927)."""
    if not count:
        return 0.0, 1.0
    interval = binomtest(hits, count).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


@lru_cache(maxsize=4)
def ancestry(name: str) -> Ancestry:
    return Ancestry(history(name))


def trial(cell: Cell, arm: str, number: int) -> dict[str, object]:
    return run(world(cell, ancestry(cell.history), number), arm, number).data()


def cells(chosen: str) -> list[Cell]:
    kept = json.loads((HERE / "search_cells.json").read_text(encoding="utf-8"))
    found = [Cell(**item) for group in ("main", "grid") for item in kept[group]]
    if chosen in ("main", "grid"):
        return [Cell(**item) for item in kept[chosen]]
    names = chosen.split(",")
    return found if chosen == "all" else [cell for cell in found if cell.name in names]


def load(path: Path) -> list[dict[str, object]]:
    """Trials that have run; published ones are compressed."""
    if not path.exists():
        return []
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def report(rows: list[dict[str, object]]) -> None:
    print(ROW.format(**{head: head for head in HEADS}))
    groups = defaultdict(list)
    for row in rows:
        groups[row["cell"], row["arm"]].append(row)
    order = [cell.name for cell in cells("all")]
    arms = list(ARMS)
    place = {key: (order.index(str(key[0])), arms.index(str(key[1]))) for key in groups}
    for (cell, arm), found in sorted(groups.items(), key=lambda group: place[group[0]]):
        with_culprit = [r for r in found if r["has_culprit"]]
        without = [r for r in found if not r["has_culprit"]]
        right = sum(r["right"] for r in with_culprit)
        low, high = wilson(right, len(with_culprit))
        named = [r for r in found if r["outcome"] == "culprit"]
        hits = sum(r["right"] for r in named)
        wrong_none = sum(r["outcome"] in NOTHING for r in with_culprit)
        open_ = sum(r["outcome"] == "inconclusive" for r in with_culprit)
        blamed = ("culprit", "culprit_set", "multiple_culprits")
        false = sum(r["outcome"] in blamed for r in without)
        # Of the ranges without a culprit only those count that looked like a regression.
        without = [r for r in without if r["reproduced"]]
        stated = mean([r["confidence"] for r in named])
        print(ROW.format(
            cell=cell, arm=arm, n=len(found), right=f"{right / max(1, len(with_culprit)):.3f}",
            wilson=f"[{low:.3f},{high:.3f}]", stated=f"{stated:.3f}",
            named=f"{hits / max(1, len(named)):.3f}", open=open_, none=wrong_none,
            false=f"{false}/{len(without)}", runs=f"{mean([r['boots'] for r in found]):.0f}",
            builds=f"{mean([r['builds'] for r in found]):.1f}",
            hours=f"{mean([r['hours'] for r in found]):.1f}",
            cpu=f"{mean([r['cpu_s'] for r in found]):.1f}",
        ))  # fmt: skip


def reliability(rows: list[dict[str, object]], arm: str = "ours") -> None:
    """Stated against measured confidence of the named culprits, over all cells."""
    named = [r for r in rows if r["arm"] == arm and r["outcome"] == "culprit"]
    print(f"\nconfidence of {arm}: stated against measured, {len(named)} named culprits")
    for low, high in pairwise((0.95, 0.96, 0.97, 0.98, 0.99, 1.01)):
        held = [r for r in named if low <= r["confidence"] < high]
        if held:
            right = sum(r["right"] for r in held)
            one, two = wilson(right, len(held))
            stated = mean([r["confidence"] for r in held])
            bar = "#" * round(40 * right / len(held))
            said = f"{right / len(held):.3f} [{one:.3f},{two:.3f}]"
            print(f"  stated {stated:.3f}  measured {said}  n={len(held):<5} {bar}")


def limits(rows: list[dict[str, object]]) -> None:
    """Boots after the calibration beside what theory allows."""
    print("\nboots without the calibration, and the least that theory allows (error 0.05)")
    shown = {r["cell"] for r in rows}
    for cell in cells("all"):
        if cell.name not in shown or cell.kind != "location" or cell.pool:
            continue
        found = [r for r in rows if r["cell"] == cell.name and r["has_culprit"] and r["reproduced"]]
        least = bounds(cell, ancestry(cell.history).size)
        means = {
            arm: mean([r["boots"] - 2 * r["calibration"] for r in found if r["arm"] == arm])
            for arm in ("ours", "oracle")
        }
        known = {arm: value for arm, value in means.items() if not math.isnan(value)}
        said = "  ".join(f"{arm} {value:.0f}" for arm, value in known.items())
        print(
            f"  {cell.name:<20} Fano {least.fano:.0f}  Burnashev {least.burnashev:.0f}  {said}"
            f"  ({least.capacity:.3f} bits a boot)"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--cells", default="all", help="main, grid, all, or names with commas")
    parser.add_argument("--arms", default="ours,git-1,git-9")
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("bench-search.jsonl"))
    parser.add_argument("--report", action="store_true")
    asked = parser.parse_args()
    rows = load(asked.out)
    done = {(r["cell"], r["arm"], r["trial"]) for r in rows}
    wanted = [
        (cell, arm, number)
        for number in range(asked.first, asked.first + asked.trials)
        for cell in cells(asked.cells)
        for arm in asked.arms.split(",")
        if (cell.name, arm, number) not in done and not asked.report
        # Of these nobody tells the oracle the distributions.
        if arm != "oracle" or (cell.kind == "location" and not cell.pool)
    ]
    if unknown := [arm for arm in asked.arms.split(",") if arm not in ARMS]:
        parser.error(f"no arm {unknown[0]}; there are {', '.join(ARMS)}")
    if wanted and asked.out.suffix == ".gz":
        parser.error("published trials are read only: give another --out, or --report")
    named = any(arm.startswith("bayesect") for arm in asked.arms.split(","))
    if wanted and named and importlib.util.find_spec("git_bayesect") is None:
        parser.error("git-bayesect is not installed: .venv/bin/pip install git-bayesect==1.2")
    pool = ProcessPoolExecutor(asked.jobs)
    try:
        with (Path(os.devnull) if asked.report else asked.out).open("a", encoding="utf-8") as out:
            for future in as_completed([pool.submit(trial, *item) for item in wanted]):
                rows.append(future.result())
                out.write(json.dumps(rows[-1]) + "\n")
                out.flush()
                if len(rows) % 20 == 0:
                    print(f"{len(rows)} of {len(done) + len(wanted)} trials", file=sys.stderr)
    finally:
        pool.shutdown(cancel_futures=True)
    report(rows)
    reliability(rows)
    limits(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
