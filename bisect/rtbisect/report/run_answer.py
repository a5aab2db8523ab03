# SPDX-License-Identifier: GPL-2.0-or-later
"""What the answer of `rtbisect run` shows of the figure: before and after, and each revision."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.judge.boots import Boots
from rtbisect.judge.stats import mean, median, median_interval, share_interval
from rtbisect.model.campaign import Scale, Statistic
from rtbisect.model.command import CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.answer import Answered
from rtbisect.model.kinds.pipeline import Parts, Proofs
from rtbisect.model.result import CheckStatus
from rtbisect.report.marks import Mark, mark_of
from rtbisect.report.revision_chart import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.campaign import CampaignRequest, Judgement, Sample, Threshold
    from rtbisect.model.lab import Run
    from rtbisect.model.result import Result, TestedRevision


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A revision: the middle of its runs, with a 95% interval."""

    value: float
    low: float
    high: float
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What the figure was and what it is: of the commit on fresh runs, else of the ends."""

    metric: str
    #: "" where there is none.
    unit: str
    #: The figure is a share of failing runs, 0 to 1.
    share: bool
    #: `effect` is a ratio, else a difference.
    ratio: bool
    before: Side
    after: Side
    #: The effect and its 95% interval; None where only the ends are known, without a test of both.
    effect: tuple[float, float, float] | None

    @property
    def found(self) -> Finding:
        """The change told as a finding."""
        sides = {"before": self._side(self.before), "after": self._side(self.after)}
        if self.share:
            return Finding.of(Answered.SHARES, **sides)
        if self.effect is None:
            return Finding.of(Answered.SIDES, metric=self.metric, **sides)
        effect, low, high = self.effect
        changed = {"effect": effect, "low": low, "high": high}
        if self.ratio:
            return Finding.of(Answered.RATIO, metric=self.metric, **changed, **sides)
        return Finding.of(
            Answered.DIFFERENCE, metric=self.metric, unit=self.unit, **changed, **sides
        )

    def _side(self, side: Side) -> Finding:
        numbers = {"value": side.value, "low": side.low, "high": side.high}
        if self.share:
            return Finding.of(Answered.SHARE, **numbers, runs=side.runs)
        return Finding.of(Answered.SIDE, **numbers, runs=side.runs, unit=self.unit)


def change_of(request: CampaignRequest, result: Result, runs: Sequence[Run]) -> Change | None:
    """None where an end has no run with a figure."""
    threshold = CommandRequest.of(request).threshold()
    judged = result.judgement if result.culprit else None
    if judged is not None and judged.two_sided:
        values = judged.base.values, judged.new.values
    else:
        judged = None
        ends = (sample_of(runs, sha, threshold).values for sha in (request.older, request.newer))
        values = next(ends), next(ends)
    if not all(values):
        return None
    share = threshold.statistic is Statistic.FRACTION
    by_mean = judged is not None and judged.mean
    before, after = (_side(each, share=share, by_mean=by_mean) for each in values)
    return Change(
        metric=str(threshold.key),
        unit=unit_of(threshold, runs),
        share=share,
        ratio=threshold.scale is Scale.LOG,
        before=before,
        after=after,
        effect=_effect(judged),
    )


def _effect(judged: Judgement | None) -> tuple[float, float, float] | None:
    """Effect and interval of the figure itself; None where a number of them is not finite."""
    if judged is None or judged.figure is not None:
        return None
    numbers = (judged.effect, *judged.interval)
    return numbers if all(map(math.isfinite, numbers)) else None


def unit_of(threshold: Threshold, runs: Sequence[Run]) -> str:
    """The unit of the figure; "" where neither a word nor the output says one."""
    # Runs that count instructions beside the figure have another one.
    name = threshold.key.name
    seen = (each.unit for run in runs for each in run.measurements if each.name == name)
    return threshold.unit or next(filter(None, seen), "")


def _side(values: Sequence[float], *, share: bool, by_mean: bool) -> Side:
    n = len(values)
    if share:
        low, high = share_interval(round(sum(values)), n)
        return Side(value=mean(values), low=low, high=high, runs=n)
    low, high = median_interval(values)
    middle = mean(values) if by_mean else median(values)
    return Side(value=middle, low=min(low, middle), high=max(high, middle), runs=n)


def sample_of(runs: Sequence[Run], sha: str, threshold: Threshold) -> Sample:
    """The figure of a revision, in its runs."""
    mine = Boots(tuple(run for run in runs if run.revision == sha))
    return mine.sample(threshold.key)


def columns_of(request: CampaignRequest, result: Result, runs: Sequence[Run]) -> tuple[Column, ...]:
    """The tested revisions, oldest first."""
    refuted = any(check.status is CheckStatus.FAIL for check in result.verifications)
    threshold = CommandRequest.of(request).threshold()
    by_mean = threshold.statistic is Statistic.FRACTION
    columns = []
    for revision in result.tested:
        values = sample_of(runs, revision.sha, threshold).values
        middle = (mean(values) if by_mean else median(values)) if values else None
        columns.append(Column(middle, _mark(request, result, revision, refuted=refuted)))
    return tuple(columns)


def _mark(
    request: CampaignRequest, result: Result, revision: TestedRevision, *, refuted: bool
) -> Mark:
    why = revision.skipped.kind if revision.skipped else None
    return mark_of(
        revision.sha,
        revision.probability_bad,
        (request.older, request.newer),
        named=result.culprits,
        # The others were tested.
        skipped=why not in (None, Proofs.DOUBTED, Parts.TESTED_FOR),
        # What was tested for another commit says nothing of this one.
        in_doubt=why == Parts.TESTED_FOR or (why == Proofs.DOUBTED and refuted),
    )


def caption_of(shown: Sequence[Column], tested: int, unit: str) -> Finding:
    """What stands below the chart of these columns."""
    values = [column.value for column in shown if column.value is not None]
    marks = {column.mark for column in shown}
    return Finding.of(
        Answered.CHART,
        shown=len(shown),
        tested=tested,
        low=min(values, default=None),
        high=max(values, default=None),
        unit=unit,
        skipped=Mark.SKIPPED in marks,
        open=Mark.OPEN in marks,
        named=Mark.NAMED in marks,
    )
