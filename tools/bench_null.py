# SPDX-License-Identifier: GPL-2.0-or-later
"""What becomes of ranges in which nothing regressed and builds of one code differ?

    .venv/bin/python tools/bench_null.py --trials 6000            the looks at the ends, 0.1 s each
    .venv/bin/python tools/bench_null.py --whole --trials 200     to the end of the search

In each range builds have a share of the variance of a run that is drawn evenly from 0 to MOST.
Trials are kept one a line and never run twice, so that a long run may be interrupted.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import fmean, median
from typing import Any

from rtbisect.search import engine
from rtbisect.search.end_layouts import end_layouts_due
from rtbisect.search.spec import NONE_AT_MOST
from searchbench import arms, tables
from searchbench.calibration import spec_of
from searchbench.simulate import until
from searchbench.world import Cell, World

#: The largest share of builds.
MOST = 0.7
#: Of the rest, that of boots.
OF_BOOTS = 0.3
#: The shortest history in which there is something to look for, and one to look for it in.
SHORT, LONG = "linear-16", "linear-200"


def world_of(number: int, history: str) -> World:
    """A range without a change."""
    rng = random.Random(f"null/{number}")
    build = rng.uniform(0, MOST)
    cell = Cell(name="null", history=history, effect=0.0, boot=OF_BOOTS * (1 - build), build=build)
    ancestry = tables.ancestry(history)
    return World(cell, ancestry, rng.randrange(2**32), (), layout=False, broken=frozenset())


def looked(number: int) -> dict[str, Any]:
    """Up to where the search begins to look between the ends, or its end before that."""
    here = world_of(number, SHORT)
    state, finish = until(
        engine.start(spec_of(here)),
        here,
        lambda state: bool(state.ends.reproduced) and not end_layouts_due(state),
    )
    ended = finish.outcome.value if finish else ""
    passed = bool(state.ends.reproduced)
    none = float(state.belief.none) if passed else 1.0
    return {"trial": number, "passed": passed, "ended": ended, "none": none, "boots": here.boots}


def searched(number: int) -> dict[str, Any]:
    """To the end, with a proof of what is named."""
    row = arms.run(world_of(number, LONG), "ours-proved", number)
    return {
        "trial": number, "passed": row.reproduced, "ended": row.outcome, "named": row.size,
        "boots": row.boots, "hours": row.hours,
    }  # fmt: skip


def report(rows: list[dict[str, Any]], *, whole: bool) -> None:
    passed = [row for row in rows if row["passed"]]
    low, high = tables.wilson(len(passed), len(rows))
    print(f"{len(passed)} of {len(rows)} pass the looks at the ends [{low:.4f}, {high:.4f}]")
    if not passed:
        return
    print("they end as", dict(Counter(row["ended"] or "searched" for row in passed)))
    if whole:
        hours = [row["hours"] for row in passed]
        print(f"named: {sum(bool(row['named']) for row in passed)}")
        print(f"hours: mean {fmean(hours):.1f}, median {median(hours):.1f}, most {max(hours):.1f}")
        return
    for most in (NONE_AT_MOST, 0.05, 0.5):
        hits = sum(not row["ended"] and row["none"] <= most for row in passed)
        low, high = tables.wilson(hits, len(rows))
        print(f"searched with P(H0) at most {most}: {hits} [{low:.4f}, {high:.4f}]")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--whole", action="store_true", help="carry the search to its end")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("bench-null.jsonl"))
    asked = parser.parse_args()
    kept = asked.out.read_text("utf-8").splitlines() if asked.out.is_file() else []
    rows = [row for line in kept if ("named" in (row := json.loads(line))) == asked.whole]
    known = {row["trial"] for row in rows}
    numbers = [n for n in range(asked.first, asked.first + asked.trials) if n not in known]
    one = searched if asked.whole else looked
    with ProcessPoolExecutor(asked.jobs) as pool, asked.out.open("a", encoding="utf-8") as out:
        for row in pool.map(one, numbers, chunksize=4):
            rows.append(row)
            out.write(json.dumps(row) + "\n")
            out.flush()
    report(rows, whole=asked.whole)
    return 0


if __name__ == "__main__":
    sys.exit(main())
