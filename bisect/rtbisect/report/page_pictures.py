# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of a page, as places of dots and labels: the template draws them.

Across, a place is a percentage of the width, so that a picture is as wide as its page while its
labels keep their size; down, it is in pixels.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.model.finding import Finding
from rtbisect.model.kinds.page import Pictured
from rtbisect.model.result import CheckName
from rtbisect.report.averages import (
    boots_with,
    centre,
    has_share,
    judged_name,
    judged_unit,
    limit_of,
    middle_word,
    of_boot,
    of_boots,
)
from rtbisect.report.headline_figure import headline
from rtbisect.report.page_axis import Axis, axis_of
from rtbisect.report.page_text import axis_label, figure_name, floor_of, told
from rtbisect.report.text import many, number, unit_text
from rtbisect.words.numbers import tick as tick_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbisect.model.campaign import Judgement, MetricKey, Sample, Threshold
    from rtbisect.model.report import ReportInput

#: In pixels: above each plot, where the name of its axis stands; of a picture of rows, a row with
#: its label, where in it its dots lie and how far they reach, and below the rows the axis' values.
ABOVE = 28
_ROW, _DOTS, _REACH, _AXIS = 62, 38, 20, 20
#: Where the plot begins on the left and ends on the right, in percent of the picture.
_LEFT, RIGHT = 2.0, 98.0
#: Dots that would cover each other lie above and below, then beside each other.
_SHIFTS = (0, -8, 8, -16, 16)
_CLOSE, _ASIDE = 2.2, 1.8
#: Nearer to the edge of the picture than this a label begins or ends at its place.
EDGE = 8.0


@dataclass(frozen=True, slots=True)
class Dot:
    """A boot. `kernel` says which kernel it is of: `without` the change, `with` it, or `other`."""

    x: float
    y: float
    kernel: str


@dataclass(frozen=True, slots=True)
class Line:
    """From place to place; `kind` says how it is drawn: `middle`, `span`, `grid` or
    `mark`.
    """

    x1: float
    y1: float
    x2: float
    y2: float
    kind: str


@dataclass(frozen=True, slots=True)
class Label:
    x: float
    y: float
    text: str
    anchor: str = "start"


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture as the template draws it."""

    #: Name within the page, for links to the picture.
    name: str
    #: Text for readers who do not see the picture.
    description: str
    height: float
    #: Below the dots, and above them.
    grid: tuple[Line, ...]
    dots: tuple[Dot, ...]
    lines: tuple[Line, ...]
    labels: tuple[Label, ...]

    @property
    def kernels(self) -> frozenset[str]:
        """Kernels that have dots in the picture."""
        return frozenset(dot.kernel for dot in self.dots)


@dataclass(frozen=True, slots=True)
class SideRow:
    """The boots of one kernel."""

    name: str
    sample: Sample
    #: `without`, `with` or `other`, as of a `Dot`.
    kernel: str


def side_rows(report: ReportInput) -> tuple[SideRow, ...]:
    """The kernels that the headline and the checks beside it compare, those with boots."""
    opening = headline(report)
    if opening is None:
        return ()
    first, without, with_it = opening
    rows = [SideRow(without, first.base, "without"), SideRow(with_it, first.new, "with")]
    for check in report.result.verifications:
        found = check.judgement
        if found is None or (found.key, found.figure) != (first.key, first.figure):
            continue
        if check.parent and found is not first:
            # The commit is the same.
            rows.append(SideRow(f"parent {check.parent[:12]}", found.base, "without"))
        elif check.check in _CHECKED:
            names = _CHECKED[check.check]
            rows += [SideRow(names[0], found.base, "without"), SideRow(names[1], found.new, "with")]
    return tuple(row for row in rows if row.sample.values)


_CHECKED = {
    CheckName.REVERT: ("tip without the commit", "tip"),
    # A dot is a build here.
    CheckName.BUILDS: ("builds before it", "builds with it"),
    CheckName.LAYOUT: ("parent, other layout", "commit, other layout"),
}


def boots_picture(report: ReportInput, rows: Sequence[SideRow]) -> Picture | None:
    """Each boot of the kernels that are compared, a row a kernel; None where none was measured."""
    opening = headline(report)
    values = [value for row in rows for value in finite(row.sample.values)]
    if opening is None or not values:
        return None
    judged = opening[0]
    limit, unit = limit_of(report, judged), judged_unit(report, judged)
    axis = axis_of(values, floor_of(limit))
    ticks = [(_across(axis.place(tick)), tick) for tick in ticks_of(axis, judged.key)]
    name = axis_label(judged_name(report, judged), unit, log=axis.log)
    dots: list[Dot] = []
    grid, lines, labels = [], [], [Label(0, 12, name)]
    for number_of, row in enumerate(rows):
        top = ABOVE + number_of * _ROW
        at_dots = top + _DOTS
        low, high = at_dots - _REACH, at_dots + _REACH
        numbers = finite(row.sample.values)
        dots += _row_dots(axis, numbers, at_dots, row.kernel)
        # Between the labels of the rows.
        grid += [Line(at, low, at, high, "grid") for at, _ in ticks]
        label = f"{row.name}: {boots_with(judged.key, row.sample)}"
        if not has_share(judged.key, row.sample):
            middle = centre(row.sample, limit)
            label = f"{row.name}: {many(row.sample.n, 'boot')}, "
            label += f"{middle_word(limit)} {number(middle, unit)}"
            if numbers and math.isfinite(middle):
                at = _across(axis.place(middle))
                lines.append(Line(at, low, at, high, "middle"))
        labels.append(Label(0, top + 12, label))
    bottom = ABOVE + len(rows) * _ROW
    for at, tick in ticks:
        text = of_boot(judged.key, tick) or tick_text(tick)
        labels.append(Label(at, bottom + 14, text, anchor(at)))
    return Picture(
        name="boots",
        description=_told_sides(report, judged, rows, log=axis.log),
        height=bottom + _AXIS,
        grid=tuple(grid),
        dots=tuple(dots),
        lines=tuple(lines),
        labels=tuple(labels),
    )


def _told_sides(
    report: ReportInput, judged: Judgement, rows: Sequence[SideRow], *, log: bool
) -> str:
    unit = unit_text(judged_unit(report, judged))
    name = figure_name(report, judged.key, judged.figure)
    sides = tuple(_told_side(judged.key, row, limit_of(report, judged), unit) for row in rows)
    return told(report, Finding.of(Pictured.BOOTS, metric=name, unit=unit, log=log, sides=sides))


def _told_side(key: MetricKey, row: SideRow, limit: Threshold | None, unit: str) -> Finding:
    sample = row.sample
    if has_share(key, sample):
        seen = round(sum(sample.values))
        return Finding.of(Pictured.SIDE_OF_BOOTS, name=row.name, seen=seen, boots=sample.n)
    return Finding.of(
        Pictured.SIDE,
        name=row.name,
        boots=sample.n,
        middle=middle_word(limit),
        value=centre(sample, limit),
        low=min(sample.values),
        high=max(sample.values),
        unit=unit,
    )


def _row_dots(axis: Axis, values: Sequence[float], y: float, kernel: str) -> Iterator[Dot]:
    """Dots beside each other where they are close, by their order and the same every time."""
    close: Counter[int] = Counter()
    for value in values:
        at = _across(axis.place(value))
        slot = round(at / _CLOSE)
        aside, step = divmod(close[slot], len(_SHIFTS))
        close[slot] += 1
        toward = 1 if at < 50 else -1
        yield Dot(round(at + toward * aside * _ASIDE, 2), y + _SHIFTS[step], kernel)


def ticks_of(axis: Axis, key: MetricKey | None) -> tuple[float, ...]:
    """Of a figure of boots nothing and all; there is nothing between for a boot."""
    ticks = axis.ticks()
    return tuple(each for each in ticks if each in (0.0, 1.0)) if key and of_boots(key) else ticks


def finite(values: Sequence[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]


def _across(place: float) -> float:
    return round(_LEFT + (RIGHT - _LEFT) * place, 2)


def anchor(at: float, left: float = EDGE) -> str:
    if at < left:
        return "start"
    return "end" if at > 100 - EDGE else "middle"
