# SPDX-License-Identifier: GPL-2.0-or-later
"""What a named commit leaves of the change between the ends, and the search that finds it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from rtbisect.judge.boots import Boots
from rtbisect.judge.stats import mean, median
from rtbisect.judge.verdict import FULL_RECOVERY
from rtbisect.model.campaign import Outcome, Scale, Statistic
from rtbisect.model.command import CommandRequest, command_line
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.answer import Answered
from rtbisect.model.kinds.search import Checks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.campaign import CampaignRequest, Threshold
    from rtbisect.model.lab import Run
    from rtbisect.model.result import Result


#: What a part of the range makes at least to be searched. Luck of both ends, which looks like a
#: rest, lies on both sides of the commit.
_PART = 1 - FULL_RECOVERY


@dataclass(frozen=True, slots=True)
class Rest:
    """A part of the range that makes much of the change, too."""

    #: Of the change between the ends, what the named commit makes: 0..1.
    share: float
    #: The command line that searches there.
    command: str

    @property
    def found(self) -> Finding:
        """As a finding."""
        return Finding.of(Answered.REST, share=self.share, command=self.command)


def rest_of(request: CampaignRequest, result: Result, runs: Sequence[Run]) -> Rest | None:
    """None where the commit makes all of it, as far as is known, or where the search has looked for
    the rest already.
    """
    levels = _levels(request, result, runs)
    if not levels or levels[3] == levels[0]:
        return None
    before, made, behind = (
        (new - base) / (levels[3] - levels[0]) for base, new in pairwise(levels)
    )
    if not 0 < made < FULL_RECOVERY or max(before, behind) < _PART:
        return None
    culprit = str(result.culprit)
    part = replace(request, older=culprit)
    if before > behind:
        part = replace(request, newer=f"{culprit}^")
    return Rest(share=made, command=command_line(part, None))


def _levels(request: CampaignRequest, result: Result, runs: Sequence[Run]) -> list[float]:
    """Of the older end, the parent, the commit and the newer end; [] where nothing is left to be
    searched, or one of them has no level.
    """
    judged, notes = result.judgement, [check.note for check in result.verifications]
    searched = any(note is not None and note.kind == Checks.EXPLAINS_PART for note in notes)
    if result.outcome is not Outcome.CULPRIT or judged is None or searched:
        return []
    if judged.figure is not None or not judged.two_sided:
        # A wider spread is no part of a change of level.
        return []
    threshold = CommandRequest.of(request).threshold()
    older, newer = (_values(runs, sha, threshold) for sha in (request.older, request.newer))
    sides = older, judged.base.values, judged.new.values, newer
    levels = [_level(values, threshold) for values in sides if values]
    whole = len(levels) == len(sides) and all(map(math.isfinite, levels))
    return levels if whole else []


def _values(runs: Sequence[Run], sha: str, threshold: Threshold) -> tuple[float, ...]:
    of_revision = Boots(tuple(run for run in runs if run.revision == sha))
    return of_revision.sample(threshold.key).values


def _level(values: Sequence[float], threshold: Threshold) -> float:
    """On the scale that changes are compared on; NaN where a figure has no logarithm."""
    middle = (mean if threshold.statistic is Statistic.FRACTION else median)(values)
    if threshold.scale is not Scale.LOG:
        return middle
    return math.log(middle) if middle > 0 else math.nan
