# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of figures below each other, each with its values in columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from rtbisect.report.page_pictures import ABOVE, Dot, Label, Line, Picture
from rtbisect.words.numbers import tick

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rtbisect.report.page_axis import Axis

#: Half the line of a middle, in percent.
_HALF = 1.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Places of the values of one figure. Pixels from above, percent from the left."""

    #: Of each column.
    values: Sequence[Sequence[float]]
    axis: Axis
    #: Where the figure begins, and the lower end of its axis.
    top: int
    bottom: int
    left: float
    right: float

    def grid(self) -> Iterator[Line]:
        for each in self.axis.ticks():
            yield Line(self.left, self.up(each), 100, self.up(each), "grid")

    def scale(self) -> Iterator[Label]:
        for each in self.axis.ticks():
            yield Label(self.left - 2, self.up(each) + 4, tick(each), "end")

    def dots(self, kernels: Iterable[str]) -> Iterator[Dot]:
        """All values; `kernels` as of a `Dot`, one a column."""
        for number, (values, kernel) in enumerate(zip(self.values, kernels, strict=True)):
            for value in values:
                yield Dot(self.across(number), self.up(value), kernel)

    def middle(self, number: int, value: float) -> Line:
        at, y = self.across(number), self.up(value)
        return Line(round(at - _HALF, 2), y, round(at + _HALF, 2), y, "middle")

    def across(self, number: int) -> float:
        step = (self.right - self.left) / len(self.values)
        return round(self.left + step * (number + 0.5), 2)

    def up(self, value: float) -> float:
        top = self.top + ABOVE
        return round(top + (self.bottom - top) * (1 - self.axis.place(value)), 1)


class Panel(Protocol):
    """One figure of a picture."""

    def told(self) -> str:
        """Text for readers who do not see it."""

    def grid(self) -> Iterable[Line]:
        """Lines below the dots."""

    def dots(self) -> Iterable[Dot]:
        """Its values."""

    def lines(self) -> Iterable[Line]:
        """Lines above the dots."""

    def labels(self) -> Iterable[Label]:
        """Its texts."""


def stacked(name: str, panels: Sequence[Panel], panel_height: int) -> Picture:
    """Figures of this height, in pixels, below each other."""
    return Picture(
        name=name,
        description=" ".join(each.told() for each in panels),
        height=len(panels) * panel_height,
        grid=tuple(line for each in panels for line in each.grid()),
        dots=tuple(dot for each in panels for dot in each.dots()),
        lines=tuple(line for each in panels for line in each.lines()),
        labels=tuple(label for each in panels for label in each.labels()),
    )
