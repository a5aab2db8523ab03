# SPDX-License-Identifier: GPL-2.0-or-later
"""The picture of boots in several code layouts: a column of dots for each layout, and beside them
the standard deviations of boots and of layouts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.judge.stats import mean
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.layouts import Layouts
from rtbisect.report.column_plot import Columns, stacked
from rtbisect.report.page_axis import axis_of
from rtbisect.report.page_pictures import Dot, Label, Line, Picture
from rtbisect.report.page_text import axis_label, floor_of
from rtbisect.report.text import unit_text
from rtbisect.words.speak import speak
from rtbisect.words.voice import PLAIN, Voice

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbisect.model.layouts import LayoutFigure

#: In pixels: of a figure with its labels, and the bottom of its dots.
_PANEL, _BOTTOM = 220, 170
#: In percent: where columns begin and end, and where the bars stand.
_LEFT, _RIGHT = 14.0, 80.0
_BARS = (86.0, 94.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutPanel:
    """A figure as it is drawn."""

    name: str
    unit: str
    #: Figures of each layout, in the unit.
    values: tuple[tuple[float, ...], ...]
    #: Added before the logarithm where the standard deviations are of logarithms; else None.
    floor: float | None
    boots_sd: float
    layouts_sd: float

    @classmethod
    def of(cls, figure: LayoutFigure) -> LayoutPanel | None:
        """None where too few boots have the figure."""
        if figure.spread is None:
            return None
        threshold = figure.threshold
        return cls(
            name=str(threshold.key),
            unit=threshold.unit,
            values=figure.values,
            floor=floor_of(threshold),
            boots_sd=figure.spread.boots_sd,
            layouts_sd=figure.spread.layouts_sd,
        )


def layout_picture(panels: Sequence[LayoutPanel], voice: Voice = PLAIN) -> Picture | None:
    """All figures below each other; None for none."""
    drawn = [_Panel(panel, number * _PANEL, voice) for number, panel in enumerate(panels)]
    return stacked("layouts", drawn, _PANEL) if drawn else None


class _Panel:
    """Places of one figure, from `top` pixels on."""

    def __init__(self, panel: LayoutPanel, top: int, voice: Voice) -> None:
        self._panel = panel
        self._top = top
        self._voice = voice
        self._all = [value for values in panel.values for value in values]
        self._bars = [self._around(sd) for sd in (panel.boots_sd, panel.layouts_sd)]
        ends = [end for bar in self._bars for end in bar]
        self._at = Columns(
            values=panel.values,
            axis=axis_of([*self._all, *ends], panel.floor),
            top=top,
            bottom=top + _BOTTOM,
            left=_LEFT,
            right=_RIGHT,
        )

    def told(self) -> str:
        found = Finding.of(
            Layouts.PICTURE, metric=self._panel.name, layouts=len(self._panel.values),
            boots=len(self._all), low=min(self._all), high=max(self._all),
            unit=unit_text(self._panel.unit),
        )  # fmt: skip
        return str(speak(found, self._voice))

    def grid(self) -> Iterator[Line]:
        return self._at.grid()

    def dots(self) -> Iterator[Dot]:
        return self._at.dots(["other"] * len(self._panel.values))

    def lines(self) -> Iterator[Line]:
        for number, values in enumerate(self._panel.values):
            if values:
                yield self._at.middle(number, self._middle(values))
        for at, (low, high) in zip(_BARS, self._bars, strict=True):
            yield Line(at, self._at.up(low), at, self._at.up(high), "bar")

    def labels(self) -> Iterator[Label]:
        # The name of a rate says it.
        unit = "" if self._panel.unit.startswith("1/") else self._panel.unit
        name = axis_label(self._panel.name, unit, log=self._at.axis.log)
        yield Label(0, self._top + 12, name)
        yield from self._at.scale()
        under = self._top + _BOTTOM + 20
        for number in range(len(self._panel.values)):
            yield Label(self._at.across(number), under, str(number + 1), "middle")
        for at, text in zip(_BARS, (f"{self._voice.run}s", "layouts"), strict=True):
            yield Label(at, under, text, "middle")

    def _middle(self, values: Sequence[float]) -> float:
        return self._back(mean([self._scaled(value) for value in values]))

    def _around(self, deviation: float) -> tuple[float, float]:
        """A standard deviation to both sides of the middle."""
        middle = self._scaled(self._middle(self._all))
        return self._back(middle - deviation), self._back(middle + deviation)

    def _scaled(self, value: float) -> float:
        floor = self._panel.floor
        return value if floor is None else math.log(value + floor)

    def _back(self, scaled: float) -> float:
        floor = self._panel.floor
        return scaled if floor is None else math.exp(scaled) - floor
