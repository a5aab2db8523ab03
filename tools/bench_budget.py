# SPDX-License-Identifier: GPL-2.0-or-later
"""What a budget of runs buys: how often `rtbisect run` names the right commit, by the size of the
change and `--max-runs`.

    .venv/bin/python tools/bench_budget.py --trials 20    runs what has not run yet
    .venv/bin/python tools/bench_budget.py                the table, and docs/budgets.svg

A trial is a line of 100 commits, one of which changes the figure by so many standard deviations of
one run (Student's t with 3 degrees of freedom, so that a few runs lie far off). A run costs as
much as a build. Trials are kept one a line in tools/data/budgets.jsonl. The same trial has the same
commit and the same figures under every budget.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.campaign.plan import LOOKS_SHARE
from rtbisect.model.campaign import Limits
from searchbench import arms, tables
from searchbench.world import Cell, world

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "tools/data/budgets.jsonl"
PICTURE = ROOT / "docs/budgets.svg"
#: In standard deviations of one run.
EFFECTS = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0)
BUDGETS = (60, 100, 200, 300, 600)
HISTORY = "linear-100"
SECONDS = 10.0


@dataclass(frozen=True)
class Trial:
    """One search: `right` where it named the commit, `wrong` where it named another one."""

    effect: float
    budget: int
    trial: int
    outcome: str
    right: bool
    wrong: bool
    runs: int


def limits_of(budget: int) -> Limits:
    """Those of `rtbisect run --max-runs`."""
    looks = budget // LOOKS_SHARE
    return Limits(calibrate_max=40, looks_max=looks, max_boots=budget, max_builds=budget)


def play(asked: tuple[float, int, int]) -> Trial:
    effect, budget, number = asked
    cell = Cell(f"budget-{effect:g}sd", HISTORY, effect, build_s=SECONDS, boot_s=0, run_s=SECONDS)
    place = world(cell, tables.ancestry(HISTORY), number)
    row = arms.run(place, "ours-proved", number, limits_of(budget))
    wrong = row.size > 0 and not row.right
    return Trial(effect, budget, number, row.outcome, row.right, wrong, row.boots)


def load(path: Path = KEPT) -> list[Trial]:
    """Trials that have run."""
    if not path.exists():
        return []
    return [Trial(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def cell_of(trials: Iterable[Trial], effect: float, budget: int) -> list[Trial]:
    return [each for each in trials if (each.effect, each.budget) == (effect, budget)]


def table(trials: Sequence[Trial]) -> str:
    """As Markdown: in how many trials the commit was named, and another one; the median of runs."""
    lines = [
        "| change | " + " | ".join(f"{budget} runs" for budget in BUDGETS) + " |",
        "|---|" + "---|" * len(BUDGETS),
    ]
    for effect in EFFECTS:
        cells = [told(cell_of(trials, effect, budget)) for budget in BUDGETS]
        lines.append(f"| {effect:g} | {' | '.join(cells)} |")
    return "\n".join(lines)


def told(trials: Sequence[Trial]) -> str:
    if not trials:
        return "-"
    right, wrong = sum(t.right for t in trials), sum(t.wrong for t in trials)
    runs = statistics.median_high(t.runs for t in trials)
    also = f", {wrong} wrong" if wrong else ""
    return f"{right} of {len(trials)}{also}; {runs}"


HEAD = "Searches that name the right commit, by --max-runs"
STYLE = (
    "text{font:13px sans-serif;fill:#222}.grid{stroke:#ddd}"
    ".line{fill:none;stroke-width:2}.head{font-weight:bold}"
)
LEFT, TOP, WIDE, HIGH = 60, 46, 440, 220
#: Of a color-blind safe set (Okabe and Ito 2008), from the smallest change to the largest.
COLOURS = ("#999999", "#56b4e9", "#0072b2", "#009e73", "#e69f00", "#d55e00")


def svg(trials: Sequence[Trial]) -> str:
    """Share of the trials that named the commit over the budget, a line for each size."""
    most = BUDGETS[-1]
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 320" role="img">',
        "<!-- SPDX-License-Identifier: GPL-2.0-or-later; by tools/bench_budget.py -->",
        "<title>What a budget of runs buys</title>",
        f"<desc>{escape(_described(trials))}</desc>",
        f"<style>{STYLE}</style>",
        '<rect width="640" height="320" fill="#fff"/>',
        f'<text x="{LEFT}" y="24" class="head">{HEAD}</text>',
    ]
    for percent in (0, 25, 50, 75, 100):
        y = TOP + HIGH * (1 - percent / 100)
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{y:g}" x2="{LEFT + WIDE}" y2="{y:g}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:g}" text-anchor="end">{percent}%</text>')
    for budget in BUDGETS:
        x = LEFT + WIDE * budget / most
        parts.append(
            f'<text x="{x:.0f}" y="{TOP + HIGH + 20}" text-anchor="middle">{budget}</text>'
        )
    parts.append(
        f'<text x="{LEFT + WIDE / 2:g}" y="{TOP + HIGH + 42}" text-anchor="middle">runs</text>'
    )
    for number, (effect, colour) in enumerate(zip(EFFECTS, COLOURS, strict=True)):
        points = []
        for budget in BUDGETS:
            share = _share(cell_of(trials, effect, budget))
            points.append(f"{LEFT + WIDE * budget / most:.0f},{TOP + HIGH * (1 - share):.0f}")
        parts.append(f'<polyline class="line" stroke="{colour}" points="{" ".join(points)}"/>')
        y = TOP + 16 + 22 * (len(EFFECTS) - 1 - number)
        parts.append(f'<line class="line" stroke="{colour}" x1="520" y1="{y}" x2="544" y2="{y}"/>')
        parts.append(f'<text x="550" y="{y + 4}">{effect:g} sd</text>')
    return "\n".join([*parts, "</svg>", ""])


def _share(trials: Sequence[Trial]) -> float:
    return sum(t.right for t in trials) / len(trials) if trials else 0.0


def _described(trials: Sequence[Trial]) -> str:
    counts = {len(cell_of(trials, e, b)) for e in EFFECTS for b in BUDGETS}
    return (
        f"{min(counts)} simulated searches of 100 commits for each point; a line for each size of"
        " the change, in standard deviations of one run."
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--trials", type=int, default=0, help="searches of each cell")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    done = {(t.effect, t.budget, t.trial) for t in load()}
    todo = [
        key
        for number in range(asked.trials)
        for effect in EFFECTS
        for budget in BUDGETS
        if (key := (effect, budget, number)) not in done
    ]
    with ProcessPoolExecutor(asked.jobs) as pool, KEPT.open("a", encoding="utf-8") as kept:
        for trial in pool.map(play, todo):
            kept.write(json.dumps(asdict(trial)) + "\n")
            kept.flush()
    trials = load()
    print(table(trials))
    PICTURE.write_text(svg(trials), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
