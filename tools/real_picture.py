# SPDX-License-Identifier: GPL-2.0-or-later
"""The picture of real histories: what was measured near the steps of each, and who named them."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.report.page_axis import axis_of
from rtbisect.report.page_pictures import ABOVE, Dot, Label, Line, Picture
from rtbisect.report.page_text import axis_label
from rtbisect.words.numbers import tick

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: In pixels: of a history with its labels, and the bottom of its dots.
_PANEL, _BOTTOM = 200, 140
#: In percent: where the columns of revisions begin and end, and half the line of a median.
_LEFT, _RIGHT, _HALF = 12.0, 99.0, 1.6


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A history as it is drawn."""

    name: str
    #: Full shas, oldest first, and the runs of each, in ms; of a test 1 for each that fails.
    runs: dict[str, list[float]]
    #: Those of them that change the figure, and their parents or the last ones before them.
    steps: frozenset[str]
    before: frozenset[str]
    #: Arms that named each revision.
    named_by: dict[str, list[str]]
    pass_fail: bool


def picture(panels: Sequence[Panel]) -> Picture:
    """All histories below each other, a column of dots for each revision."""
    drawn = [_Drawn(panel, number * _PANEL) for number, panel in enumerate(panels)]
    return Picture(
        name="histories",
        description=" ".join(each.told() for each in drawn),
        height=len(drawn) * _PANEL,
        grid=tuple(line for each in drawn for line in each.grid()),
        dots=tuple(dot for each in drawn for dot in each.dots()),
        lines=tuple(line for each in drawn for line in each.lines()),
        labels=tuple(label for each in drawn for label in each.labels()),
    )


class _Drawn:
    """Places of one history, from `top` pixels on."""

    def __init__(self, panel: Panel, top: int) -> None:
        self._panel = panel
        self._top = top
        # A test passes or fails: the share that fails is what a column shows.
        self._dotted = {
            sha: [statistics.mean(runs)] if panel.pass_fail else runs
            for sha, runs in panel.runs.items()
        }
        every = [value for values in self._dotted.values() for value in values]
        self._axis = axis_of([0.0, 1.0] if panel.pass_fail else every, None)

    def told(self) -> str:
        of = f"{self._panel.name}: {len(self._panel.runs)} revisions"
        return f"{of}, {len(self._panel.steps)} of which change the figure."

    def grid(self) -> Iterator[Line]:
        for each in self._axis.ticks():
            yield Line(_LEFT, self._up(each), 100, self._up(each), "grid")

    def dots(self) -> Iterator[Dot]:
        for place, (sha, values) in enumerate(self._dotted.items()):
            for value in values:
                yield Dot(self._across(place), self._up(value), self._kernel(sha))

    def lines(self) -> Iterator[Line]:
        for place, (sha, values) in enumerate(self._dotted.items()):
            at, y = self._across(place), self._up(statistics.median(values))
            yield Line(round(at - _HALF, 2), y, round(at + _HALF, 2), y, "middle")
            if sha in self._panel.steps:
                before = round((at + self._across(place - 1)) / 2, 2)
                yield Line(before, self._top + ABOVE, before, self._top + _BOTTOM, "mark")

    def labels(self) -> Iterator[Label]:
        unit = "failed" if self._panel.pass_fail else "ms"
        yield Label(0, self._top + 12, axis_label(self._panel.name, unit, log=self._axis.log))
        for each in self._axis.ticks():
            yield Label(_LEFT - 2, self._up(each) + 4, tick(each), "end")
        under = self._top + _BOTTOM + 18
        for place, sha in enumerate(self._panel.runs):
            yield Label(self._across(place), under, sha[:7], "middle")
            arms = ", ".join(self._panel.named_by.get(sha, ()))
            if arms:
                yield Label(self._across(place), under + 16, arms, "middle")

    def _kernel(self, sha: str) -> str:
        if sha in self._panel.steps:
            return "with"
        return "without" if sha in self._panel.before else "other"

    def _across(self, place: int) -> float:
        step = (_RIGHT - _LEFT) / len(self._panel.runs)
        return round(_LEFT + step * (place + 0.5), 2)

    def _up(self, value: float) -> float:
        top = self._top + ABOVE
        return round(top + (_BOTTOM - ABOVE) * (1 - self._axis.place(value)), 1)
