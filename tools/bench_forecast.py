# SPDX-License-Identifier: GPL-2.0-or-later
"""Does a search take as many boots and builds as its forecast said?

    .venv/bin/python tools/bench_forecast.py --cells linear-1sd,flaky-50 --trials 100
    .venv/bin/python tools/bench_forecast.py       the table of what has run, and of what is kept

The forecast is the first one after the ends are seen to differ, where builds differ after other
layouts of the ends have booted; the search goes on from there to its end, without a proof. Trials
are kept one a line and never run twice. A search that its budget ends would have taken more.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from bench_search import cells, load
from rtbisect.search import engine
from rtbisect.search.end_layouts import end_layouts
from searchbench import tables
from searchbench.calibration import ample, spec_of
from searchbench.simulate import carry_on, until
from searchbench.strange import world_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.search.forecast import Expected, Forecast
    from rtbisect.search.search_state import SearchState
    from rtbisect.search.spec import SearchSpec
    from searchbench.world import Cell, World

KEPT = Path(__file__).resolve().parent / "data/trials/forecasts.jsonl.gz"
#: Boots and builds that hardly ever end a search of a flaky test.
FLAKY = 1000
Row = dict[str, Any]


def spec_for(world: World) -> SearchSpec:
    """With a budget that seldom ends the search."""
    limits = ample(world.cell)
    if world.cell.kind == "fails":
        limits = replace(limits, max_boots=FLAKY, max_builds=FLAKY)
    return spec_of(world, limits)


def begun(world: World) -> SearchState | None:
    """Where a search begins to look between the ends; None where it ends before that."""
    state, ended = until(
        engine.start(spec_for(world)),
        world,
        lambda state: bool(state.ends.reproduced) and not end_layouts(state, 1),
    )
    return None if ended else state


def play(asked: tuple[Cell, int]) -> Row:
    """One search: what was forecast (boots and builds as [low, middle, high]) and what it took."""
    cell, number = asked
    world = world_of(cell, tables.ancestry(cell.history), number)
    row: Row = {"cell": cell.name, "trial": number, "seen": False}
    state = begun(world)
    if state is None:
        return row
    start = time.process_time()
    told = engine.forecast(state)
    spent = time.process_time() - start
    ended, finish = carry_on(state, world)
    took = {
        "boots": ended.ledger.boots - state.ledger.boots,
        "builds": ended.ledger.builds - state.ledger.builds,
    }
    return {
        **row, "seen": True, "outcome": finish.outcome.value, "forecast_s": round(spent, 3),
        "chance": round(told.chance, 4), "forecast": numbers_of(told), "took": took,
        "budget_ended": ended.ledger.boots >= ended.spec.max_boots
        or ended.ledger.builds >= ended.spec.max_builds,
    }  # fmt: skip


def numbers_of(told: Forecast) -> dict[str, list[float]]:
    def three(number: Expected) -> list[float]:
        return [round(each, 1) for each in (number.low, number.middle, number.high)]

    return {"boots": three(told.boots), "builds": three(told.builds)}


def covered(row: Row, what: str) -> bool:
    """Whether it took what the interval says; one that the budget ended would have taken more."""
    low, _, high = row["forecast"][what]
    took = row["took"][what]
    return bool(low <= took <= high or (row["budget_ended"] and took <= high))


def ratio(row: Row, what: str) -> float:
    """What it took by the middle of the forecast."""
    return float(max(row["took"][what], 1) / max(row["forecast"][what][1], 1.0))


def table(rows: Sequence[Row]) -> str:
    """As Markdown, a line for each cell."""
    heads = (
        "cell", "searches", "boots: median", "forecast", "took to forecast, median",
        "in the interval", "builds: took to forecast", "in the interval",
        "CPU of a forecast, s: mean, most",
    )  # fmt: skip
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name in dict.fromkeys(row["cell"] for row in rows):
        seen = [row for row in rows if row["cell"] == name and row["seen"]]
        if seen:
            lines.append(f"| {name} | {' | '.join(columns(seen))} |")
    return "\n".join(lines)


def columns(seen: Sequence[Row]) -> list[str]:
    spent = [row["forecast_s"] for row in seen]
    found = [
        f"{len(seen)}",
        f"{median(row['took']['boots'] for row in seen):.0f}",
        f"{median(row['forecast']['boots'][1] for row in seen):.0f}",
    ]
    for what in ("boots", "builds"):
        hits = sum(covered(row, what) for row in seen)
        low, high = tables.wilson(hits, len(seen))
        found.append(f"{median(ratio(row, what) for row in seen):.2f}")
        found.append(f"{hits / len(seen):.2f} [{low:.2f}, {high:.2f}]")
    return [*found, f"{sum(spent) / len(spent):.1f}, {max(spent):.1f}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--cells", default="main", help="main, grid, strange, or names with commas")
    parser.add_argument("--trials", type=int, default=0)
    parser.add_argument("--first", type=int, default=12000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("bench-forecast.jsonl"))
    asked = parser.parse_args()
    rows = load(asked.out)
    done = {(row["cell"], row["trial"]) for row in rows}
    wanted = [
        (cell, number)
        for number in range(asked.first, asked.first + asked.trials)
        for cell in cells(asked.cells)
        if (cell.name, number) not in done
    ]
    with ProcessPoolExecutor(asked.jobs) as pool, asked.out.open("a", encoding="utf-8") as out:
        for row in pool.map(play, wanted):
            rows.append(row)
            out.write(json.dumps(row) + "\n")
            out.flush()
    print(table(rows or load(KEPT)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
