# SPDX-License-Identifier: GPL-2.0-or-later
"""A good end that is no ancestor of the bad one: their merge base is searched in its place. Where
that is like the bad end, the end that was asked is looked at.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.judge.boots import Boots
from rtbisect.judge.verdict import judge
from rtbisect.model.campaign import Level, MetricKey, Threshold
from rtbisect.model.command import Extra, command_line
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Ends, Joined
from rtbisect.pipeline.compare import Comparison, compare, worst
from rtbisect.search.spec import BootPurpose

if TYPE_CHECKING:
    from rtbisect.pipeline.steps import Steps


def compare_given_end(steps: Steps, ends: Comparison) -> Comparison:
    """Where a merge base took the place of the good end and nothing regressed since: the end that
    was asked compared with the bad one, on all suites. What changed there is to be found elsewhere.
    """
    given_end = Extra.of(steps.setup.request).given
    if not given_end or ends.level is not Level.PASS:
        return ends
    if steps.budget.boots_left < 2 * steps.setup.limits.calibrate_min:
        rest = Finding.of(Ends.NO_BOOTS_LEFT, given=given_end)
    else:
        steps.tell(Ends.IS_GIVEN, given=given_end)
        comparison = compare(steps, given_end, steps.setup.request.newer)
        if comparison.level is Level.PASS:
            return ends
        if judgement := worst(steps.setup, comparison.judgements):
            reason = _other_branch(steps, given_end, judgement.key)
            return replace(comparison, level=Level.UNDECIDED, reason=reason)
        rest = Finding.of(Ends.GIVEN_OPEN, given=given_end, why=comparison.reason)
    return replace(ends, reason=Finding.of(Joined.AND, findings=(ends.reason, rest)))


def judge_given_end(steps: Steps, threshold: Threshold) -> Finding | None:
    """The same for one metric, where a search has found no change: why that is no answer, if it is
    none.
    """
    given_end = Extra.of(steps.setup.request).given
    if not given_end or not steps.may_build(given_end) or not steps.build(given_end).ok:
        return None
    newer, limits = steps.setup.request.newer, steps.setup.limits
    # In turns: the host may have changed since the newer end was booted. In campaigns that began
    # before it was so, that end is booted only where it never was.
    in_turns = limits.whole_proof or not steps.evidence().get(newer)
    pair = (given_end, newer if in_turns else given_end)
    boots = min(limits.verify_boots * len(set(pair)), steps.budget.boots_left)
    taken = tuple(steps.in_turn(pair, BootPurpose.GIVEN, boots))
    evidence = steps.evidence()
    if limits.whole_proof:
        evidence = {sha: Boots(tuple(run for run in taken if run.revision == sha)) for sha in pair}
    sides = (evidence.get(sha, Boots()).sample(threshold.key) for sha in (given_end, newer))
    if judge(threshold, *sides).level is not Level.REGRESSED:
        return None
    return _other_branch(steps, given_end, threshold.key)


def _other_branch(steps: Steps, given_end: str, metric: MetricKey) -> Finding:
    """The merge base is like the bad end, and the good end that it stands for is not: the change
    came on the side of the good end. The command that finds it there.
    """
    request = steps.setup.request
    base, (_, called) = request.older[:12], request.sought.ends("good", "bad")
    # From the merge base to that end it is the other way round, and only of these two.
    extra = replace(Extra.of(request), given="", goods=())
    opposite = replace(
        request, older=base, newer=given_end[:12], sought=request.sought.opposite, extra=extra.pairs
    )
    return Finding.of(
        Ends.OTHER_BRANCH,
        base=request.older,
        called=called,
        given=given_end,
        command=command_line(opposite, metric),
    )
