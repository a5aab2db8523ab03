# SPDX-License-Identifier: GPL-2.0-or-later
"""Walks a search of 16 commits, step by step: what is believed, what the next boot would say, and
what each test would tell for its time. Symbols and formulas: docs/mathematics.md.

    .venv/bin/python tools/walk_search.py                       in the terminal
    .venv/bin/python tools/walk_search.py --seed 7 --out walk   and as pictures, walk/step-024.svg

Culprit and boots are drawn from the seed: boots scatter by a standard deviation of 1, builds of one
code are equal (which the search does not know), and the culprit adds 2.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.model.code import Commit, CommitGraph
from rtbisect.search import engine, plan
from rtbisect.search.ancestry import Ancestry
from rtbisect.search.parts import Parts
from rtbisect.search.spec import BootPurpose, Finish
from rtbisect.words.speak import speak
from searchbench.calibration import spec_of
from searchbench.simulate import events
from searchbench.world import Cell, World, world

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbisect.search.ancestry import Floats
    from rtbisect.search.search_state import SearchState
    from rtbisect.search.spec import Trial

#: By their numbers; 0 is the good end, the last one the bad end.
COMMITS = 16
CELL = Cell("walk", "", 2.0, boot=0.3, tail="normal", build_s=600.0)
#: Boots at most, those of the ends among them.
MOST_BOOTS = 120
#: Levels of a curve in the terminal, and of a bar its width.
SHADES, WIDTH = " .:-=+*#%@", 32
#: Of the pictures.
GOOD, BAD, NONE, NEXT, PLAIN = "#1b7f5c", "#c0392b", "#777777", "#1f6fb2", "#b9c4cc"
WHY = {
    BootPurpose.CALIBRATE: "the ends in turns, until a look tells them apart",
    BootPurpose.CONTROL: "boots tell little: an end once more keeps its distribution true",
    BootPurpose.SEARCH: "tells most for its time",
}
DUE = "due before a commit is named, or what still tells of none and of a second culprit"


@dataclass(frozen=True)
class Step:
    """A search at one point, and what comes next."""

    state: SearchState
    play: World
    next: Trial | Finish

    @property
    def boots(self) -> int:
        return self.state.ledger.boots

    @property
    def ahead(self) -> str:
        """What comes next, and why."""
        if isinstance(self.next, Finish):
            return f"the end: {speak(self.next.reason)}"
        what = "boot" if self.next.boot else "build"
        why = WHY.get(self.next.purpose, DUE)
        if self.next.purpose is BootPurpose.SEARCH and self.next.revision != self.best_worth:
            why = DUE
        return f"{what} {self.next.revision}: {why}"

    @cached_property
    def worths(self) -> tuple[plan.Worth, ...]:
        return plan.worths(self.state)

    @property
    def best_worth(self) -> str:
        """The revision that tells most for its time."""
        best = max(self.worths, key=lambda worth: worth.bits / worth.cost_s)
        return self.state.ledger.equal.stand_in(best.revision)

    def predictions(self) -> list[tuple[str, str, float, Floats]]:
        """A new good kernel, a new bad one, and one where nothing regressed: name, colour, the
        probability that there is such a one, and the probabilities of its next boot on `grid.y`.
        """
        belief = self.state.belief
        regressed = float(belief.commits.sum())
        found = [("good", GOOD, regressed, belief.good), ("bad", BAD, regressed, belief.bad)]
        if belief.none_grid is not None:
            shared = belief.predict(belief.none_grid.shared, belief.shared)
            found.append(("nothing regressed", NONE, belief.none, shared))
        return found

    @property
    def seen(self) -> list[tuple[str, tuple[float, ...]]]:
        """Boots by revision, in the order of the graph."""
        graph, values = self.state.spec.graph, self.state.ledger.values
        shas = (graph.older, *(commit.sha for commit in graph.commits))
        return [(sha, values[sha]) for sha in shas if values.get(sha)]


def walk(seed: int) -> Iterator[Step]:
    """A search from its first build to its end."""
    numbers = range(1, COMMITS + 1)
    commits = tuple(Commit(str(number), (str(number - 1),)) for number in numbers)
    play = world(CELL, Ancestry(CommitGraph("0", str(COMMITS), commits)), seed)
    # Other layouts would be seven more tests of each commit.
    spec = replace(spec_of(play), max_boots=MOST_BOOTS, parts=Parts(layouts=False))
    state = engine.start(spec)
    while True:
        step = Step(state, play, engine.propose(state)[0])
        yield step
        if isinstance(step.next, Finish):
            return
        for event in events(state, play, step.next):
            state = engine.apply(state, event)


def bar(share: float) -> str:
    return "#" * round(WIDTH * min(1.0, share))


def told(step: Step) -> Iterator[str]:
    """A step in lines of text."""
    yield f"-- after {step.boots} boots, {step.state.ledger.builds} builds --> {step.ahead}"
    if not step.state.ends.reproduced:
        ends = step.state.ends
        if ends.used and step.boots == 2 * ends.used:
            yield f"   look at {ends.used} boots a side: p {ends.p:.3g}, shift {ends.shift:.2f}"
        return
    belief = step.state.belief
    top = max(worth.bits / worth.cost_s for worth in step.worths) or 1.0
    yield f"   {'commit':>6} {'boots':>5} {'P':>6} {'':{WIDTH}} {'bits':>6} {'hours':>5} bits/hour"
    yield f"   {'none':>6} {'':>5} {belief.none:6.3f} {bar(belief.none)}"
    for p, worth in zip(belief.commits.tolist(), step.worths, strict=True):
        boots = len(step.state.ledger.values.get(worth.revision, ()))
        mark = "<- did it" if worth.revision in step.play.truth else ""
        rate = "+" * round(12 * worth.bits / worth.cost_s / top)
        row = f"   {worth.revision:>6} {boots:>5} {p:6.3f} {bar(p):{WIDTH}}"
        yield f"{row} {worth.bits:6.3f} {worth.cost_s / 3600:5.2f} {rate:12} {mark}".rstrip()
    grid = belief.grid
    assert grid is not None
    yield f"   the next boot of a new kernel, from {grid.y[0]:.1f} to {grid.y[-1]:.1f}:"
    for name, _colour, p, density in step.predictions():
        yield f"   {name:>17} {p:.3f} |{shaded(density / grid.width)}|"


def shaded(density: Floats) -> str:
    level = np.round(density / density.max() * (len(SHADES) - 1)).astype(int)
    return "".join(SHADES[i] for i in level.tolist())


class Picture:
    """One step as SVG: posterior, predictive densities with the boots, worth of each test."""

    def __init__(self, title: str) -> None:
        self.parts = [
            '<svg xmlns="http://www.w3.org/2000/svg" width="760" height="560">',
            "<style>text { font-family: sans-serif }</style>",
            '<rect width="760" height="560" fill="white"/>',
        ]
        self.text(20, 24, title, size=14)

    def text(self, x: float, y: float, words: str, *, size: int = 12, colour: str = "#222") -> None:
        style = f'font-size="{size}" fill="{colour}"'
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>')

    def bars(
        self, top: float, head: str, rows: Sequence[tuple[str, float, str]], most: float
    ) -> None:
        """Columns of 110 points at most; (name, value, colour) each."""
        self.text(20, top, head)
        for i, (name, value, colour) in enumerate(rows):
            x, height = 24 + 42 * i, 110 * min(1.0, value / most)
            self.parts.append(
                f'<rect x="{x}" y="{top + 126 - height:.1f}" width="30" height="{height:.1f}" '
                f'fill="{colour}"/>'
            )
            self.text(x + 4, top + 140, name)

    def curve(self, points: Sequence[tuple[float, float]], colour: str) -> None:
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )

    def dot(self, x: float, y: float, colour: str) -> None:
        self.parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}" fill-opacity="0.6"/>'
        )

    def svg(self) -> str:
        return "\n".join((*self.parts, "</svg>\n"))


def drawn(step: Step) -> str:
    """A step after the looks at the ends as SVG."""
    belief = step.state.belief
    picture = Picture(f"after {step.boots} boots; next: {step.ahead}")
    rows = [("none", belief.none, NONE)]
    for p, worth in zip(belief.commits.tolist(), step.worths, strict=True):
        did_it = worth.revision in step.play.truth
        rows.append((worth.revision, p, BAD if did_it else PLAIN))
    picture.bars(54, "P(commit did it | boots); red: the one that did", rows, 1.0)
    _draw_predictions(picture, step)
    rates = [(worth.revision, 3600 * worth.bits / worth.cost_s) for worth in step.worths]
    ahead = "" if isinstance(step.next, Finish) else step.next.revision
    most = max(rate for _sha, rate in rates)
    worth_rows = [("", 0.0, PLAIN)] + [
        (sha, rate, NEXT if sha == ahead else PLAIN) for sha, rate in rates
    ]
    head = f"bits an hour of a boot of each commit, at most {most:.3f}; blue: what comes next"
    picture.bars(394, head, worth_rows, most or 1.0)
    return picture.svg()


def _draw_predictions(picture: Picture, step: Step) -> None:
    """Densities of a boot of a new kernel of each side, and the boots so far below them."""
    grid = step.state.belief.grid
    assert grid is not None
    predictions = step.predictions()
    densities = [mass / grid.width for *_named, mass in predictions]
    top = max(float(density.max()) for density in densities)
    low, high = float(grid.y[0]), float(grid.y[-1])

    def across(value: float) -> float:
        return 24 + 700 * min(1.0, max(0.0, (value - low) / (high - low)))

    picture.text(20, 224, "the next boot of a new kernel:")
    for i, ((name, colour, p, _mass), density) in enumerate(
        zip(predictions, densities, strict=True)
    ):
        picture.text(210 + 130 * i, 224, f"{name} ({p:.3f})", colour=colour)
        heights = 330 - 90 * density / top
        picture.curve([*zip(map(across, grid.y.tolist()), heights.tolist(), strict=True)], colour)
    for sha, values in step.seen:
        end = {step.state.spec.graph.older: GOOD, step.state.spec.graph.newer: BAD}
        for value in values:
            picture.dot(across(value), 340 if sha in end else 352, end.get(sha, NEXT))
    picture.text(24, 372, f"{low:.1f}; boots of the ends, below them those of commits between")
    picture.text(700, 372, f"{high:.1f}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, default=1, help="of culprit and boots")
    parser.add_argument("--out", type=Path, help="a folder for pictures, one a step")
    asked = parser.parse_args(arguments)
    if asked.out is not None:
        asked.out.mkdir(parents=True, exist_ok=True)
    for number, step in enumerate(walk(asked.seed)):
        print("\n".join(told(step)))
        if asked.out is not None and step.state.ends.reproduced:
            (asked.out / f"step-{number:03}.svg").write_text(drawn(step), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
