# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of a page with the figure upward: along the history, in earlier campaigns, and in the
order of the boots.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rtbisect.judge.boots import Boots
from rtbisect.model.campaign import Sample
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.page import Pictured
from rtbisect.model.report import EarlierFigure
from rtbisect.report.averages import centre, of_boot, of_boots, threshold_of, unit_of
from rtbisect.report.page_axis import axis_of
from rtbisect.report.page_pictures import (
    ABOVE,
    EDGE,
    RIGHT,
    Dot,
    Label,
    Line,
    Picture,
    anchor,
    finite,
    ticks_of,
)
from rtbisect.report.page_text import axis_label, figure_name, floor_of, told
from rtbisect.report.text import short, unit_text
from rtbisect.report.wording import words_of
from rtbisect.words.metrics import name_of
from rtbisect.words.numbers import tick as tick_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.lab import Run
    from rtbisect.model.report import ReportInput

#: Heights in pixels: of the whole picture, and of what lies below the plot.
_HEIGHT, _BELOW = 260, 28
#: In percent: beside the labels of the axis, and dots of one revision beside each other.
_BESIDE = 15.0
_ASIDES = (0.0, -0.8, 0.8)


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
        lines.append(Line(at, ABOVE, at, _HEIGHT - _BELOW, "mark"))
        # Where the label of an end has no room beside it the end is known anyway.
        labels = [each for each in labels if abs(each.x - at) > 24]
        labels.append(plot.below(culprit, short(report.result.culprit or "")))
    found = plot.found(Pictured.HISTORY, boots=len(everything), revisions=len(by_place))
    return plot.drawn("history", found, dots, lines, labels)


def order_picture(report: ReportInput, runs: Sequence[Run]) -> Picture | None:
    """The figure of each boot in the order of the campaign, which shows a machine that drifts; None
    where fewer than three boots tell it.
    """
    boots = _boots(report, runs)
    if len(boots) < 3:
        return None
    # By the numbers that the table of boots has: one that tells nothing leaves a gap.
    place = {id(run): number for number, run in enumerate(runs, 1)}
    plot = _Plot(report, [value for _, value in boots], (1, len(runs)))
    dots = [plot.dot(place[id(run)], value, _kernel(report, run)) for run, value in boots]
    labels = [plot.below(1, "first boot"), plot.below(len(runs), f"boot {len(runs)}")]
    return plot.drawn("order", plot.found(Pictured.ORDER, boots=len(boots)), dots, [], labels)


def with_own(report: ReportInput, earlier: Sequence[EarlierFigure]) -> tuple[EarlierFigure, ...]:
    """What earlier campaigns measured, and behind it the ends of this one."""
    found = report.result.judgement
    if found is None or found.key != report.result.metric or found.figure:
        return tuple(earlier)
    own = (
        EarlierFigure(campaign=report.campaign, date=report.date, revision=end, sample=side)
        for end, side in ((report.older, found.base), (report.newer, found.new))
        if side.values
    )
    return (*earlier, *own)


def earlier_picture(report: ReportInput, figures: Sequence[EarlierFigure]) -> Picture | None:
    """The middle of the boots of each end of each campaign in their order, and their range; None
    where there is nothing to tell.
    """
    key = report.result.metric
    limit = threshold_of(report, key) if key else None
    shown = [
        (each, centre(each.sample, limit)) for each in figures if len(finite(each.sample.values))
    ]
    shown = [(each, middle) for each, middle in shown if math.isfinite(middle)]
    if not shown:
        return None
    every = [each for figure, _ in shown for each in finite(figure.sample.values)]
    plot = _Plot(report, every, (1, len(shown)))
    ends = {report.older: "without", report.newer: "with"}
    dots, lines = [], []
    for place, (each, middle) in enumerate(shown, 1):
        own = each.campaign == report.campaign
        dots.append(plot.dot(place, middle, ends[each.revision] if own else "other"))
        lines.append(plot.span(place, finite(each.sample.values)))
    labels = [plot.below(1, shown[0][0].date[:10]), plot.below(len(shown), shown[-1][0].date[:10])]
    campaigns = len({each.campaign for each, _ in shown})
    found = plot.found(Pictured.EARLIER, campaigns=campaigns)
    return plot.drawn("earlier", found, dots, lines, labels)


class _Plot:
    """A picture with the figure upward."""

    def __init__(self, report: ReportInput, values: Sequence[float], ends: tuple[int, int]) -> None:
        self._report, self._values, self._ends = report, values, ends
        key = report.result.metric
        limit = threshold_of(report, key) if key else None
        self._unit = unit_of(report, key) if key else ""
        self._axis = axis_of(values, floor_of(limit))
        self._ticks = ticks_of(self._axis, key)

    def across(self, place: float) -> float:
        first, last = self._ends
        return round(_BESIDE + (RIGHT - _BESIDE) * (place - first) / max(1, last - first), 2)

    def dot(self, place: float, value: float, kernel: str, aside: float = 0.0) -> Dot:
        return Dot(round(self.across(place) + aside, 2), self._up(value), kernel)

    def middle(self, place: float, value: float) -> Line:
        at, y = self.across(place), self._up(value)
        return Line(round(at - 1.5, 2), y, round(at + 1.5, 2), y, "middle")

    def span(self, place: float, values: Sequence[float]) -> Line:
        """From the least to the greatest value."""
        at = self.across(place)
        return Line(at, self._up(min(values)), at, self._up(max(values)), "span")

    def below(self, place: float, text: str) -> Label:
        """A label below the plot."""
        at = self.across(place)
        return Label(at, _HEIGHT - _BELOW + 18, text, anchor(at, left=_BESIDE + EDGE))

    def found(self, kind: Pictured, **more: int) -> Finding:
        key = self._report.result.metric
        return Finding.of(
            kind,
            metric=figure_name(self._report, key) if key else "",
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
        one_boot = found.kind == Pictured.ORDER
        grid, marks = [], [Label(0, 12, self._label(one_boot=one_boot))]
        for tick in self._ticks:
            y = self._up(tick)
            grid.append(Line(_BESIDE, y, 100, y, "grid"))
            marks.append(Label(_BESIDE - 2, y + 4, self._tick(tick, one_boot=one_boot), "end"))
        return Picture(
            name=name,
            description=told(self._report, found),
            height=_HEIGHT,
            grid=tuple(grid),
            dots=tuple(dots),
            lines=tuple(lines),
            labels=(*marks, *labels),
        )

    def _tick(self, tick: float, *, one_boot: bool) -> str:
        key = self._report.result.metric
        return (of_boot(key, tick) if key and one_boot else "") or tick_text(tick)

    def _label(self, *, one_boot: bool) -> str:
        key = self._report.result.metric
        if key is None:
            return ""
        name = name_of(str(key))
        if of_boots(key):
            return axis_label(name if one_boot else f"{name}, share of boots", "")
        return axis_label(name, self._unit, log=self._axis.log)

    def _up(self, value: float) -> float:
        height = _HEIGHT - ABOVE - _BELOW
        return round(ABOVE + height * (1 - self._axis.place(value)), 1)


def _boots(report: ReportInput, runs: Sequence[Run]) -> list[tuple[Run, float]]:
    """The runs that have the searched figure, each with its value."""
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
