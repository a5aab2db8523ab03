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

from rtbisect.judge.boots import Boots
from rtbisect.model.campaign import Sample
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.page import Pictured
from rtbisect.model.result import CheckName
from rtbisect.report.averages import (
    boots_with,
    centre,
    has_share,
    judged_unit,
    limit_of,
    middle_word,
    of_boots,
    threshold_of,
    unit_of,
)
from rtbisect.report.headline_figure import headline
from rtbisect.report.page_axis import Axis, axis_of
from rtbisect.report.page_text import figure_name, floor_of, told, unit_word
from rtbisect.report.text import many, number, short, unit_text
from rtbisect.report.wording import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbisect.model.campaign import Judgement, MetricKey
    from rtbisect.model.lab import Run
    from rtbisect.model.report import ReportInput

#: Of a picture of rows: a row with its label, and the line of the axis below.
_ROW, _AXIS = 66, 44
#: Of a picture with the figure upward: all of it, above the plot, and below it.
_HEIGHT, _ABOVE, _BELOW = 260, 12, 46
#: From left to right, in percent; beside the labels of an upward axis.
_LEFT, _RIGHT = 2.0, 98.0
_BESIDE = 15.0
#: Dots that would cover each other lie above and below, then beside each other.
_SHIFTS = (0, -8, 8, -16, 16)
_CLOSE, _ASIDE = 2.2, 1.8
#: Of boots of one revision in the history, in percent.
_ASIDES = (0.0, -0.8, 0.8)
#: Nearer to the edge of the picture than this a label begins or ends at its place.
_EDGE = 8.0


@dataclass(frozen=True, slots=True)
class Dot:
    """A boot. `kernel` says which kernel it is of: `without` the change, `with` it, or `other`."""

    x: float
    y: float
    kernel: str


@dataclass(frozen=True, slots=True)
class Line:
    """From place to place; `kind` says how it is drawn: `middle`, `grid` or `mark`."""

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
    """What the template draws."""

    #: Of the page, for links within it.
    name: str
    #: For who does not see it.
    description: str
    height: float
    #: Below the dots, and above them.
    grid: tuple[Line, ...]
    dots: tuple[Dot, ...]
    lines: tuple[Line, ...]
    labels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class SideRow:
    """The boots of one kernel."""

    name: str
    sample: Sample
    #: As of a `Dot`.
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
    CheckName.LAYOUT: ("parent, other layout", "commit, other layout"),
}


def boots_picture(report: ReportInput, rows: Sequence[SideRow]) -> Picture | None:
    """Each boot of the kernels that are compared, a row a kernel; None where none was measured."""
    opening = headline(report)
    values = [value for row in rows for value in _finite(row.sample.values)]
    if opening is None or not values:
        return None
    judged = opening[0]
    limit, unit = limit_of(report, judged), judged_unit(report, judged)
    axis = axis_of(values, floor_of(limit))
    dots: list[Dot] = []
    grid, lines, labels = [], [], []
    for number_of, row in enumerate(rows):
        top = number_of * _ROW
        numbers = _finite(row.sample.values)
        dots += _row_dots(axis, numbers, top + 42, row.kernel)
        label = f"{row.name}: {boots_with(judged.key, row.sample)}"
        if not has_share(judged.key, row.sample):
            middle = centre(row.sample, limit)
            label = f"{row.name}: {many(row.sample.n, 'boot')}, "
            label += f"{middle_word(limit)} {number(middle, unit)}"
            if numbers and math.isfinite(middle):
                at = _across(axis.place(middle))
                lines.append(Line(at, top + 22, at, top + 62, "middle"))
        labels.append(Label(0, top + 14, label))
    bottom = len(rows) * _ROW + 4
    for tick in _ticks(axis, judged.key):
        at = _across(axis.place(tick))
        grid.append(Line(at, 0, at, bottom, "grid"))
        labels.append(Label(at, bottom + 15, number(tick), _anchor(at)))
    name = figure_name(report, judged.key, judged.figure)
    scale = ", logarithmic" if axis.log else ""
    labels.append(Label(50, bottom + 34, f"{unit_word(unit)}{scale}", "middle"))
    return Picture(
        name="boots",
        description=_told_sides(report, judged, rows, name, log=axis.log),
        height=bottom + _AXIS,
        grid=tuple(grid),
        dots=tuple(dots),
        lines=tuple(lines),
        labels=tuple(labels),
    )


def _told_sides(
    report: ReportInput, judged: Judgement, rows: Sequence[SideRow], name: str, *, log: bool
) -> str:
    limit, unit = limit_of(report, judged), judged_unit(report, judged)
    sides = tuple(
        Finding.of(
            Pictured.SIDE,
            name=row.name,
            boots=row.sample.n,
            middle=middle_word(limit),
            value=centre(row.sample, limit),
            low=min(row.sample.values),
            high=max(row.sample.values),
            unit=unit_text(unit),
        )
        for row in rows
    )
    found = Finding.of(Pictured.BOOTS, metric=name, unit=unit_word(unit), log=log, sides=sides)
    return told(report, found)


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


def history_picture(report: ReportInput, runs: Sequence[Run]) -> Picture | None:
    """The figure of each boot by the place of its revision in the range, of a figure of boots the
    share of each revision; None where fewer than three revisions of it tell the figure.
    """
    key, order = report.result.metric, {report.older: 0}
    order |= {commit.sha: n for n, commit in enumerate(report.graph.commits, 1)}
    by_place: dict[int, list[float]] = {}
    kernels = {}
    for run, value in _boots(report, runs):
        if run.revision in order:
            by_place.setdefault(order[run.revision], []).append(value)
            kernels[order[run.revision]] = _kernel(report, run)
    if key is None or len(by_place) < 3:
        return None
    middles = {n: centre(Sample(tuple(v)), threshold_of(report, key)) for n, v in by_place.items()}
    shares = of_boots(key)
    dotted = {place: [value] for place, value in middles.items()} if shares else by_place
    everything = [value for values in by_place.values() for value in values]
    plot = _Plot(report, everything, (0, len(report.graph)))
    dots = [
        plot.dot(place, value, kernels[place], _ASIDES[n % len(_ASIDES)])
        for place, values in dotted.items()
        for n, value in enumerate(values)
    ]
    lines = [] if shares else [plot.middle(place, value) for place, value in middles.items()]
    ends = words_of(report).ends
    labels = [
        plot.below(0, f"{ends[0]} end"),
        plot.below(len(report.graph), f"{ends[1]} end"),
    ]
    culprit = order.get(report.result.culprit or "")
    if culprit:
        at = plot.across(culprit)
        lines.append(Line(at, _ABOVE, at, _HEIGHT - _BELOW, "mark"))
        # Where the label of an end has no room beside it the end is known anyway.
        labels = [each for each in labels if abs(each.x - at) > 24]
        labels.append(plot.below(culprit, short(report.result.culprit or "")))
    found = plot.found(Pictured.HISTORY, revisions=len(by_place))
    return plot.drawn("history", found, dots, lines, labels)


def order_picture(report: ReportInput, runs: Sequence[Run]) -> Picture | None:
    """The figure of each boot in the order of the campaign, which shows a machine that drifts; None
    where fewer than three boots tell it.
    """
    boots = _boots(report, runs)
    if len(boots) < 3:
        return None
    plot = _Plot(report, [value for _, value in boots], (1, len(boots)))
    dots = [plot.dot(n, value, _kernel(report, run)) for n, (run, value) in enumerate(boots, 1)]
    labels = [plot.below(1, "first boot"), plot.below(len(boots), f"boot {len(boots)}")]
    return plot.drawn("order", plot.found(Pictured.ORDER), dots, [], labels)


class _Plot:
    """A picture with the figure upward."""

    def __init__(self, report: ReportInput, values: Sequence[float], ends: tuple[int, int]) -> None:
        self._report, self._values, self._ends = report, values, ends
        key = report.result.metric
        limit = threshold_of(report, key) if key else None
        self._unit = unit_of(report, key) if key else ""
        self._axis = axis_of(values, floor_of(limit))
        self._ticks = _ticks(self._axis, key)

    def across(self, place: float) -> float:
        first, last = self._ends
        return round(_BESIDE + (_RIGHT - _BESIDE) * (place - first) / max(1, last - first), 2)

    def dot(self, place: float, value: float, kernel: str, aside: float = 0.0) -> Dot:
        return Dot(round(self.across(place) + aside, 2), self._up(value), kernel)

    def middle(self, place: float, value: float) -> Line:
        at, y = self.across(place), self._up(value)
        return Line(round(at - 1.5, 2), y, round(at + 1.5, 2), y, "middle")

    def below(self, place: float, text: str) -> Label:
        """A label below the plot."""
        at = self.across(place)
        return Label(at, _HEIGHT - _BELOW + 20, text, _anchor(at, left=_BESIDE + _EDGE))

    def found(self, kind: Pictured, **more: int) -> Finding:
        key = self._report.result.metric
        return Finding.of(
            kind,
            metric=figure_name(self._report, key) if key else "",
            boots=len(self._values),
            low=min(self._values),
            high=max(self._values),
            unit=unit_text(self._unit),
            **more,
        )

    def drawn(
        self,
        name: str,
        found: Finding,
        dots: Sequence[Dot],
        lines: Sequence[Line],
        labels: Sequence[Label],
    ) -> Picture:
        grid, marks = [], []
        for tick in self._ticks:
            y = self._up(tick)
            grid.append(Line(_BESIDE, y, 100, y, "grid"))
            marks.append(Label(_BESIDE - 2, y + 4, number(tick), "end"))
        scale = ", logarithmic" if self._axis.log else ""
        marks.append(Label(0, _HEIGHT - 4, f"{unit_word(self._unit)}{scale}"))
        return Picture(
            name=name,
            description=told(self._report, found),
            height=_HEIGHT,
            grid=tuple(grid),
            dots=tuple(dots),
            lines=tuple(lines),
            labels=(*marks, *labels),
        )

    def _up(self, value: float) -> float:
        height = _HEIGHT - _ABOVE - _BELOW
        return round(_ABOVE + height * (1 - self._axis.place(value)), 1)


def _boots(report: ReportInput, runs: Sequence[Run]) -> list[tuple[Run, float]]:
    """Those that tell the searched figure, with it."""
    key = report.result.metric
    if key is None:
        return []
    told = ((run, seen.value) for run in runs for seen in Boots((run,)).figure(key))
    return [(run, value) for run, value in told if math.isfinite(value)]


def _kernel(report: ReportInput, run: Run) -> str:
    """Whether the search says of its kernel in the end that it has the change."""
    for each in report.result.tested:
        if each.sha == run.revision:
            return "with" if each.probability_bad >= 0.5 else "without"
    return "other"


def _ticks(axis: Axis, key: MetricKey | None) -> tuple[float, ...]:
    """Of a figure of boots nothing and all; there is nothing between for a boot."""
    ticks = axis.ticks()
    return tuple(each for each in ticks if each in (0.0, 1.0)) if key and of_boots(key) else ticks


def _finite(values: Sequence[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]


def _across(place: float) -> float:
    return round(_LEFT + (_RIGHT - _LEFT) * place, 2)


def _anchor(at: float, left: float = _EDGE) -> str:
    if at < left:
        return "start"
    return "end" if at > 100 - _EDGE else "middle"
