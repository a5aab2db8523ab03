# SPDX-License-Identifier: GPL-2.0-or-later
"""What a campaign looks like while it runs: facts come in one by one, lines of a screen go out."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from rtbisect.judge.stats import mean, median
from rtbisect.model.campaign import Better, CampaignKind
from rtbisect.model.command import CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Attributions, Ends, Proofs, Searches, Work
from rtbisect.model.kinds.screen import Line, Shown
from rtbisect.model.result import CheckStatus, GateStatus
from rtbisect.report.marks import Mark, letter_of, mark_of
from rtbisect.search.standing import holding
from rtbisect.words.screen import LABELS
from rtbisect.words.speak import speak
from rtbisect.words.strip import cells, strip
from rtbisect.words.voice import voice_of_request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rtbisect.model.campaign import CampaignRequest
    from rtbisect.model.ports import Left

#: Facts that a line shows: nobody has to read their sentences, too.
_IN_LINES = frozenset((
    Work.BUILDING, Work.BUILT, Work.REUSED, Work.BOOTING, Work.FIGURE, Work.FIGURES,
    Searches.STANDS, Searches.SPREAD, Searches.OUTCOME,
))  # fmt: skip


class Tone(Enum):
    """How a part of a line looks."""

    PLAIN = "plain"
    #: For what matters less than the rest of the line.
    SOFT = "soft"
    STRONG = "strong"
    #: Like the older end and like the newer one; a check that holds and one that does not.
    OLDER = "older"
    NEWER = "newer"


#: Seconds behind the end of a run after which it is no longer shown as under way.
_PLANS_S = 1.0
_BLANK = (" ", Tone.PLAIN)
_TONES = {
    Mark.OLDER: Tone.OLDER, Mark.NEWER: Tone.NEWER, Mark.NAMED: Tone.STRONG,
    Mark.OPEN: Tone.SOFT, Mark.SKIPPED: Tone.SOFT,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """A line, None where it goes on with the one above it; texts with their tones in a row."""

    line: Line | None
    parts: tuple[tuple[str, Tone], ...]

    @property
    def label(self) -> str:
        """The label in front of the line."""
        return LABELS[self.line] if self.line else ""


def left_of(left: Left, since_s: float = 0.0) -> Finding:
    """What is left of the time `since_s` seconds after that was told."""
    low, middle, high = (
        max(0.0, each - since_s) for each in (left.low_s, left.middle_s, left.high_s)
    )
    if since_s and not high:
        return Finding.of(Shown.OVERDUE)
    kind = Shown.LEFT_OF_ENDS if left.search_may_follow else Shown.LEFT
    return Finding.of(kind, wall_s=middle, low_s=low, high_s=high)


@dataclass(frozen=True, slots=True)
class _Kept:
    """Rows of a search, and what they were drawn of."""

    told: Finding
    #: Columns, whether in ASCII alone, whether a proof refutes it, and what the answer names, with
    #: its confidence.
    asked: tuple[int, bool, bool, str | None, float]
    rows: list[Row]


@dataclass(kw_only=True)
class CampaignScreen:
    """The story of a campaign so far, in facts."""

    request: CampaignRequest
    clock: Callable[[], float] = time.monotonic
    #: Figures by revision and metric; with units by metric.
    _figures: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    _units: dict[str, str] = field(default_factory=dict)
    #: Metric that is searched; "" while it is not chosen.
    _metric: str = ""
    _sure: bool = False
    #: SPREAD as it was told last.
    _spread: Finding | None = None
    #: Full sha that the answer names; None where it names none, or there is none yet.
    _named: str | None = None
    _confidence: float = 0.0
    _last: Finding | None = None
    _now: Finding | None = None
    #: The clock's seconds when the run that is shown has ended; None while it is under way.
    _ended_s: float | None = None
    #: What the checks of the last proof say.
    _checks: dict[Finding, Finding] = field(default_factory=dict)
    _gates: Counter[str] = field(default_factory=Counter)
    #: Time that is left, and the clock's seconds when that was told.
    _left: tuple[Left, float] | None = None
    _kept: _Kept | None = None

    def __post_init__(self) -> None:
        self._begun_s = self.clock()
        self._voice = voice_of_request(self.request)
        #: Who takes up which fact.
        self._takers: Mapping[str, Callable[[Finding, Any], None]] = {
            Work.FIGURE: self._figure,
            Work.FIGURES: self._figures_of_all,
            Work.BUILDING: self._builds,
            Work.BOOTING: self._boots,
            Work.BOOT_ENDED: self._ends,
            Ends.SEARCHED_ON: self._searched,
            Searches.SPREAD: self._spreads,
            Searches.OUTCOME: self._answered,
            Proofs.CHECK: self._checked,
            Attributions.GATE: self._gate,
        }

    def hear(self, finding: Finding) -> bool:
        """Take a fact up; True where a line shows it."""
        data: Any = finding.data
        if finding.kind in self._takers:
            self._takers[finding.kind](finding, data)
        # A gate that fails is worth its whole sentence.
        if finding.kind == Attributions.GATE:
            return bool(data["status"] != GateStatus.FAIL)
        return finding.kind in _IN_LINES

    def _figure(self, finding: Finding, data: Any) -> None:
        # A build of another layout is no boot of the end itself.
        if not data["variant"]:
            self._add(data["revision"], data["metric"], data)
        self._metric, self._last = data["metric"], finding
        self._ends(finding, data)

    def _figures_of_all(self, finding: Finding, data: Any) -> None:
        for each in data["figures"]:
            self._add(data["revision"], _key(each), each.data)
        self._last = finding
        self._ends(finding, data)

    def _ends(self, _finding: Finding, data: Any) -> None:
        # A lab with several devices has others under way.
        if self._now is not None and self._now.data["revision"] == data["revision"]:
            self._ended_s = self.clock()

    def _searched(self, _finding: Finding, data: Any) -> None:
        self._metric, self._sure = data["metric"], True

    def _spreads(self, finding: Finding, _data: Any) -> None:
        self._spread, self._sure = finding, True
        # The search goes on with what the proof of another commit has told.
        self._checks.clear()

    def _builds(self, _finding: Finding, data: Any) -> None:
        named = {name: data[name] for name in ("revision", "variant")}
        self._now, self._ended_s = Finding.of(Shown.BUILD, **named), None

    def _boots(self, finding: Finding, _data: Any) -> None:
        self._now, self._ended_s = finding, None

    def _checked(self, _finding: Finding, data: Any) -> None:
        check = data["check"]
        self._checks[check] = Finding.of(Shown.PROOF, check=check, status=data["status"])

    def _gate(self, _finding: Finding, data: Any) -> None:
        self._gates[data["status"]] += 1

    def _answered(self, _finding: Finding, data: Any) -> None:
        self._named, self._confidence = data["culprit"], data["confidence"]
        self.end()

    def _add(self, revision: str, metric: str, data: Any) -> None:
        self._figures[revision, metric].append(data["value"])
        self._units[metric] = data["unit"]

    def step(self, total: int, left: Left | None) -> None:
        """The boot that was heard of last begins, of so many."""
        if self._now is not None and self._now.kind == Work.BOOTING:
            self._now = Finding.of(Shown.NEXT, total=total, **self._now.data)
        self._left = (left, self.clock()) if left else None

    def end(self) -> None:
        """The campaign does nothing any more."""
        self._now = self._left = None

    def rows(self, width: int, *, ascii_only: bool = False) -> Iterator[Row]:
        """The lines, from the top. Pictures have at most `width` columns; texts may have more."""
        if change := self.change():
            yield Row(Line.FIGURE, (self._said(change, Tone.STRONG),))
        if self._spread is not None:
            yield from self._drawn(self._spread, width, ascii_only=ascii_only)
        if last := self._last_said():
            yield Row(Line.LAST, (self._said(last),))
        if (now := self._shown_now()) is not None:
            yield Row(Line.NOW, (self._said(now, Tone.STRONG),))
            if now.kind == Shown.NEXT:
                why = Finding.of(Shown.WHY, purpose=now.data["purpose"])
                yield Row(Line.WHY, (self._said(why),))
        yield from self._proof_rows()
        yield Row(Line.TIME, tuple(self._time_parts()))

    def _shown_now(self) -> Finding | None:
        if self._ended_s is None or self.clock() - self._ended_s < _PLANS_S:
            return self._now
        return Finding.of(Shown.PLANS) if self._now else None

    def _said(self, finding: Finding, tone: Tone = Tone.PLAIN) -> tuple[str, Tone]:
        return str(speak(finding, self._voice)), tone

    def change(self) -> Finding | None:
        """What the searched figure is at the ends so far; None while one of them has none."""
        ends = self.request.older, self.request.newer
        before, after = (self._values(sha, self._metric) for sha in ends)
        if not (before and after):
            return None
        # Each boot has it, or has it not: what counts is how many have.
        share = {*before, *after} <= {0.0, 1.0}
        middle = mean if share else median
        unit = self._units.get(self._metric) or self._units.get(_bare(self._metric), "")
        return Finding.of(
            Shown.CHANGE,
            metric=self._metric,
            before=middle(before),
            after=middle(after),
            unit=unit,
            share=share,
            sure=self._sure and self._as_sought(middle(after) - middle(before)),
        )

    def _as_sought(self, change: float) -> bool:
        """Whether the ends differ the way that is asked for. All runs are in these medians, also
        those that are no evidence; of a kernel its thresholds know the way.
        """
        if self.request.kind != CampaignKind.RUN:
            return True
        threshold = CommandRequest.of(self.request).threshold().toward(self.request.sought)
        return change > 0 if threshold.better is Better.LOWER else change < 0

    def _values(self, revision: str, metric: str) -> Sequence[float]:
        """A comparison does not name the window of a figure that stands in one alone."""
        of_metric = self._figures.get((revision, metric), [])
        return of_metric + self._figures.get((revision, _bare(metric)), [])

    def _drawn(self, told: Finding, width: int, *, ascii_only: bool) -> list[Row]:
        """The rows of the search, drawn once: the screen asks twice a second, beside what is
        measured, and a range may have 200,000 commits.
        """
        asked = (width, ascii_only, self._refuted, self._named, self._confidence)
        if self._kept is None or self._kept.told is not told or self._kept.asked != asked:
            rows = list(self._search_rows(told.data, width, ascii_only=ascii_only))
            self._kept = _Kept(told, asked, rows)
        return self._kept.rows

    def _search_rows(self, told: Any, width: int, *, ascii_only: bool) -> Iterator[Row]:
        probabilities = told["probabilities"]
        within = holding(probabilities)
        ranged = Finding.of(Shown.RANGE, candidates=len(probabilities), holding=len(within))
        yield Row(Line.RANGE, (self._said(ranged, Tone.STRONG),))
        places = cells(len(probabilities), width)
        inside, outside = ("#", "-") if ascii_only else ("━", "─")
        bar = [
            (inside, Tone.STRONG) if within.intersection(cell) else (outside, Tone.SOFT)
            for cell in places
        ]
        yield Row(None, tuple(bar))
        picture = strip(probabilities, width, ascii_only=ascii_only)
        yield Row(Line.PROBABILITY, ((picture, Tone.STRONG),))
        marks = self._marks(told)
        # Of a place that is several columns wide the first one has the mark.
        firsts = [None, *places]
        tested = [
            next((marks[place] for place in cell if place in marks and cell != before), _BLANK)
            for before, cell in zip(firsts, places, strict=False)
        ]
        yield Row(Line.TESTED, tuple(tested))
        yield from self._likeliest(told)

    def _likeliest(self, told: Any) -> Iterator[Row]:
        """The likeliest commit with its probability: in the end that of the answer, which knows of
        the proof. An answer that names another commit shows it itself, and one that a proof refutes
        is no candidate.
        """
        if self._refuted:
            return
        probabilities = told["probabilities"]
        best = max(range(len(probabilities)), key=probabilities.__getitem__)
        sha, probability = told["commits"][best], probabilities[best]
        if self._named:
            if sha != self._named:
                return
            probability = self._confidence
        likeliest = Finding.of(
            Shown.LIKELIEST, revision=sha, probability=probability, subject=told["subject"]
        )
        yield Row(Line.LIKELIEST, (self._said(likeliest),))

    def _marks(self, told: Any) -> dict[int, tuple[str, Tone]]:
        """What is drawn at each tested candidate, keyed by its place in the range."""
        newer = dict(zip(told["tested"], told["newer"], strict=True))
        known = newer.keys() | set(told["skipped"])
        marks = {
            place: self._mark(told, sha, newer.get(sha, 0.5), named=True)
            for place, sha in enumerate(told["commits"])
            if sha in known
        }
        called = self._voice.older, self._voice.newer
        return {place: (letter_of(mark, *called), _TONES[mark]) for place, mark in marks.items()}

    def _mark(self, told: Any, sha: str, newer: float, *, named: bool = False) -> Mark:
        return mark_of(
            sha,
            newer,
            (self.request.older, self.request.newer),
            named=(self._named,) if named and self._named else (),
            skipped=sha in told["skipped"],
            in_doubt=self._refuted,
        )

    @property
    def _refuted(self) -> bool:
        """Whether a proof says that it is not the commit which the search has named."""
        return any(check.data["status"] == CheckStatus.FAIL for check in self._checks.values())

    def _last_said(self) -> Finding | None:
        last = self._last
        if last is None or last.kind == Work.FIGURES:
            return last
        data: Any = last.data
        ends, sha, like = (self.request.older, self.request.newer), data["revision"], ""
        if self._spread is not None and sha not in ends:
            told: Any = self._spread.data
            if sha in told["tested"]:
                like = self._mark(told, sha, told["newer"][told["tested"].index(sha)])
        named = {
            name: data[name]
            for name in ("purpose", "revision", "variant", "metric", "value", "unit")
        }
        return Finding.of(Shown.LAST, like=like, **named)

    def _proof_rows(self) -> Iterator[Row]:
        tones: Mapping[str, Tone] = {CheckStatus.PASS: Tone.OLDER, CheckStatus.FAIL: Tone.NEWER}
        line: Line | None = Line.PROOF
        for check in self._checks.values():
            tone = tones.get(str(check.data["status"]), Tone.PLAIN)
            yield Row(line, (self._said(check, tone),))
            line = None
        if self._gates:
            passed, absent = self._gates[GateStatus.PASS], self._gates[GateStatus.ABSENT]
            gates = Finding.of(Shown.GATES, passed=passed, absent=absent)
            yield Row(Line.GATES, (self._said(gates),))

    def _time_parts(self) -> Iterator[tuple[str, Tone]]:
        now = self.clock()
        yield self._said(Finding.of(Shown.SPENT, wall_s=now - self._begun_s))
        if self._left is not None:
            left, told_s = self._left
            yield ", ", Tone.PLAIN
            yield self._said(left_of(left, now - told_s))


def _key(figure: Finding) -> str:
    """The metric of a figure in a comparison."""
    data: Any = figure.data
    bare = f"{data['suite']}.{data['name']}"
    return f"{bare}@{data['window']}" if "window" in data else bare


def _bare(metric: str) -> str:
    return metric.partition("@")[0]
