# SPDX-License-Identifier: GPL-2.0-or-later
"""What a named commit leaves of the change between the ends, and the search that finds it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbisect.judge.verdict import FULL_RECOVERY, judge
from rtbisect.model.campaign import Level, Outcome, Scale
from rtbisect.model.command import CommandRequest, command_line
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.answer import Answered
from rtbisect.model.result import CheckStatus
from rtbisect.report.run_answer import sample_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.campaign import CampaignRequest, Judgement, Threshold
    from rtbisect.model.lab import Run
    from rtbisect.model.result import Result, Verification


@dataclass(frozen=True, slots=True)
class Rest:
    """A part of the range that makes some of the change, too."""

    #: Of the change between the ends, what the named commit makes: 0..1.
    share: float
    #: The command line that searches there.
    command: str

    @property
    def found(self) -> Finding:
        """The rest of the change, told as a finding."""
        return Finding.of(Answered.REST, share=self.share, command=self.command)


def rest_of(request: CampaignRequest, result: Result, runs: Sequence[Run]) -> Rest | None:
    """None where the commit makes all of the change, where no part of the range surely makes
    another one, or where the search has looked for it already (`verification.incomplete`).
    """
    proof = _proof_of(result)
    if proof is None or proof.judgement is None or not proof.recovery:
        return None
    culprit, judged = str(result.culprit), proof.judgement
    threshold = CommandRequest.of(request).threshold().toward(request.sought)
    older, newer = (sample_of(runs, sha, threshold) for sha in (request.older, request.newer))
    parts = [
        (judge(threshold, older, judged.base), (request.older, proof.parent)),
        (judge(threshold, judged.new, newer), (culprit, request.newer)),
    ]
    worse = [
        (_size(found, threshold), ends) for found, ends in parts if found.level is Level.REGRESSED
    ]
    if not worse:
        return None
    _, (begin, end) = max(worse)
    line = command_line(replace(request, older=begin, newer=end), None)
    return Rest(share=proof.recovery, command=line)


def _proof_of(result: Result) -> Verification | None:
    """The comparison with a parent that shows least of the change; None where that is all of it,
    as far as is known, or by more than luck not, which the search itself has followed.
    """
    passed = [
        check
        for check in result.verifications
        if check.parent and check.status is CheckStatus.PASS and check.recovery is not None
    ]
    if result.outcome is not Outcome.CULPRIT or any(check.short for check in passed):
        return None
    least = min(passed, key=lambda check: check.recovery or 0.0, default=None)
    return least if least and (least.recovery or 0.0) < FULL_RECOVERY else None


def _size(found: Judgement, threshold: Threshold) -> float:
    """How large a change is, on the scale of its figure."""
    return abs(math.log(found.effect) if threshold.scale is Scale.LOG else found.effect)
