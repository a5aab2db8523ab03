# SPDX-License-Identifier: GPL-2.0-or-later
"""The picture of real histories: what was measured near the steps of each, and who named them."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.report.column_plot import Columns, stacked
from rtbisect.report.page_axis import axis_of
from rtbisect.report.page_pictures import ABOVE, Dot, Label, Line, Picture
from rtbisect.report.page_text import axis_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: In pixels: of a history with its labels, and the bottom of its dots.
_PANEL, _BOTTOM = 200, 140
#: In percent: where the columns of revisions begin and end.
_LEFT, _RIGHT = 12.0, 99.0


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
    return stacked("histories", drawn, _PANEL)


class _Drawn:
    """Places of one history, from `top` pixels on."""

    def __init__(self, panel: Panel, top: int) -> None:
        self._panel = panel
        self._top = top
        # A test passes or fails: the share that fails is what a column shows.
        columns = [
            [statistics.mean(runs)] if panel.pass_fail else runs for runs in panel.runs.values()
        ]
        every = [value for values in columns for value in values]
        self._at = Columns(
            values=columns,
            axis=axis_of([0.0, 1.0] if panel.pass_fail else every),
            top=top,
            bottom=top + _BOTTOM,
            left=_LEFT,
            right=_RIGHT,
        )

    def told(self) -> str:
        of = f"{self._panel.name}: {len(self._panel.runs)} revisions"
        return f"{of}, {len(self._panel.steps)} of which change the figure."

    def grid(self) -> Iterator[Line]:
        return self._at.grid()

    def dots(self) -> Iterator[Dot]:
        return self._at.dots(map(self._kernel, self._panel.runs))

    def lines(self) -> Iterator[Line]:
        for place, (sha, values) in enumerate(zip(self._panel.runs, self._at.values, strict=True)):
            yield self._at.middle(place, statistics.median(values))
            if sha in self._panel.steps:
                before = round((self._at.across(place) + self._at.across(place - 1)) / 2, 2)
                yield Line(before, self._top + ABOVE, before, self._top + _BOTTOM, "mark")

    def labels(self) -> Iterator[Label]:
        unit = "failed" if self._panel.pass_fail else "ms"
        yield Label(0, self._top + 12, axis_label(self._panel.name, unit, log=False))
        yield from self._at.scale()
        under = self._top + _BOTTOM + 18
        for place, sha in enumerate(self._panel.runs):
            yield Label(self._at.across(place), under, sha[:7], "middle")
            arms = ", ".join(self._panel.named_by.get(sha, ()))
            if arms:
                yield Label(self._at.across(place), under + 16, arms, "middle")

    def _kernel(self, sha: str) -> str:
        if sha in self._panel.steps:
            return "with"
        return "without" if sha in self._panel.before else "other"
