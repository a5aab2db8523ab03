# SPDX-License-Identifier: GPL-2.0-or-later
"""The picture of an answer of `run`: all runs by the place of their revision in the history, below
them the probability of each commit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rtbisect.judge.boots import Boots
from rtbisect.judge.stats import mean, median
from rtbisect.model.campaign import Statistic
from rtbisect.model.command import CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.page import Pictured
from rtbisect.report.draft import Templates
from rtbisect.report.page_axis import Axis, axis_of
from rtbisect.report.page_pictures import ABOVE, RIGHT, Dot, Label, Line, Picture, anchor
from rtbisect.report.page_text import axis_label, floor_of
from rtbisect.report.picture_style import picture_style
from rtbisect.report.text import unit_text
from rtbisect.words.metrics import name_of
from rtbisect.words.numbers import tick
from rtbisect.words.speak import speak
from rtbisect.words.voice import voice_of_request

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from rtbisect.model.campaign import CampaignRequest, Threshold
    from rtbisect.model.code import CommitGraph
    from rtbisect.model.lab import Run
    from rtbisect.model.result import Result
    from rtbisect.words.voice import Voice

#: In pixels: all of the picture, the bottom of the runs, and of the probabilities below them, which
#: are this high at 1.
_HEIGHT, _RUNS, _BARS, _BAR = 380, 230, 350, 80
#: In percent: beside the labels of the axes, and dots of one revision beside each other.
_BESIDE = 15.0
_ASIDES = (0.0, -0.6, 0.6)
#: Bars that nobody would see are not drawn.
_SEEN = 0.005


def run_plot(
    request: CampaignRequest,
    result: Result,
    graph: CommitGraph,
    runs: Sequence[Run],
    unit: str,
) -> Picture | None:
    """None where no run of the range has a figure."""
    threshold, voice = CommandRequest.of(request).threshold(), voice_of_request(request)
    values = _values(request, graph, runs, threshold)
    if not values:
        return None
    plot = _Plot(graph, [each for _, some in values.items() for each in some], threshold)
    bad = {each.sha: each.probability_bad for each in result.tested}
    shares = threshold.statistic is Statistic.FRACTION
    middles = {sha: mean(some) if shares else median(some) for sha, some in values.items()}
    dotted = {sha: (middle,) for sha, middle in middles.items()} if shares else values
    dots = [
        Dot(
            round(plot.across(sha) + _ASIDES[n % len(_ASIDES)], 2),
            plot.up(value),
            _kernel(bad, sha),
        )
        for sha, some in dotted.items()
        for n, value in enumerate(some)
    ]
    lines = [] if shares else [plot.middle(sha, middle) for sha, middle in middles.items()]
    shares_of = dict(result.candidates)
    if result.culprit:
        # With the runs of the proof.
        shares_of[result.culprit] = result.confidence
        lines.append(plot.mark(result.culprit))
    lines += [plot.bar(sha, share) for sha, share in shares_of.items() if share >= _SEEN]
    name = name_of(str(threshold.key))
    found = Finding.of(
        Pictured.HISTORY, metric=name, boots=sum(map(len, values.values())),
        revisions=len(values), low=plot.axis.low, high=plot.axis.high, unit=unit_text(unit),
    )  # fmt: skip
    labels = (
        Label(0, 12, axis_label(name, "share of runs" if shares else unit, log=plot.axis.log)),
        Label(0, _RUNS + 24, "probability"),
        *plot.scale(),
        *plot.ends(request, result.culprit, voice),
    )
    return Picture(
        name="run", description=str(speak(found, voice)), height=_HEIGHT,
        grid=tuple(plot.grid()), dots=tuple(dots), lines=tuple(lines), labels=labels,
    )  # fmt: skip


def svg_of(picture: Picture, templates: Path, title: str) -> str:
    """The picture as a file of its own, without a script, and with nothing from elsewhere."""
    values = {"picture": picture, "title": title, "style": picture_style(templates)}
    return Templates(templates, markup=True).rendered("plot.svg.j2", values)


def _values(
    request: CampaignRequest, graph: CommitGraph, runs: Sequence[Run], threshold: Threshold
) -> dict[str, tuple[float, ...]]:
    """The figures of each revision of the range, oldest revision first."""
    found = {}
    for sha in (request.older, *(commit.sha for commit in graph.commits)):
        mine = Boots(tuple(run for run in runs if run.revision == sha)).sample(threshold.key)
        if values := tuple(filter(math.isfinite, mine.values)):
            found[sha] = values
    return found


def _kernel(bad: Mapping[str, float], sha: str) -> str:
    if sha not in bad:
        return "other"
    return "with" if bad[sha] >= 0.5 else "without"


class _Plot:
    """Places in the picture."""

    def __init__(self, graph: CommitGraph, values: Sequence[float], threshold: Threshold) -> None:
        self._place = {graph.older: 0}
        self._place |= {commit.sha: n for n, commit in enumerate(graph.commits, 1)}
        self._last = len(graph)
        self.axis: Axis = axis_of(values, floor_of(threshold))

    def across(self, sha: str) -> float:
        return round(_BESIDE + (RIGHT - _BESIDE) * self._place[sha] / max(1, self._last), 2)

    def up(self, value: float) -> float:
        return round(ABOVE + (_RUNS - ABOVE) * (1 - self.axis.place(value)), 1)

    def middle(self, sha: str, value: float) -> Line:
        at, y = self.across(sha), self.up(value)
        return Line(round(at - 1.2, 2), y, round(at + 1.2, 2), y, "middle")

    def bar(self, sha: str, share: float) -> Line:
        at = self.across(sha)
        return Line(at, _BARS, at, round(_BARS - _BAR * min(1.0, share), 1), "bar")

    def mark(self, sha: str) -> Line:
        at = self.across(sha)
        return Line(at, ABOVE, at, _RUNS, "mark")

    def grid(self) -> Iterator[Line]:
        heights = [self.up(each) for each in self.axis.ticks()]
        for y in (*heights, _BARS, _BARS - _BAR):
            yield Line(_BESIDE, y, 100, y, "grid")

    def scale(self) -> Iterator[Label]:
        for each in self.axis.ticks():
            yield Label(_BESIDE - 2, self.up(each) + 4, tick(each), "end")
        for share in (0, 1):
            yield Label(_BESIDE - 2, _BARS - share * _BAR + 4, tick(share), "end")

    def ends(self, request: CampaignRequest, culprit: str | None, voice: Voice) -> Iterator[Label]:
        """Names below the bars: of the ends, and of the commit that is named."""
        at = self.across(culprit) if culprit else None
        for sha, name in ((request.older, voice.older), (request.newer, voice.newer)):
            x = self.across(sha)
            # Where the label of an end has no room beside it the end is known anyway.
            if at is None or abs(x - at) > 24:
                yield Label(x, _BARS + 18, f"{name} end", anchor(x, left=_BESIDE + 8))
        if culprit and at is not None:
            yield Label(at, _BARS + 18, culprit[:12], anchor(at, left=_BESIDE + 8))
