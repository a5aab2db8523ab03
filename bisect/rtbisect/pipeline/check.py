# SPDX-License-Identifier: GPL-2.0-or-later
"""Two stories without a search: a tip against its base, and one revision against a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.judge.boots import Boots
from rtbisect.judge.scale import by_mean, centre
from rtbisect.model.campaign import (
    Better,
    Judgement,
    Level,
    Outcome,
    Role,
    Sample,
    Threshold,
)
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Ends, Limits, Reasons
from rtbisect.pipeline.answer import Answer, unanswered
from rtbisect.pipeline.boot_queue import BootRequest
from rtbisect.pipeline.compare import MAX_BARREN, PASS_CONFIDENCE, Comparison, compare, worst
from rtbisect.pipeline.steps import Steps
from rtbisect.search.spec import BootPurpose, SearchAnswer

if TYPE_CHECKING:
    from rtbisect.model.ports import Ports
    from rtbisect.model.result import Result
    from rtbisect.model.setup import Setup
    from rtbisect.pipeline.further import FurtherBudgets


def check(setup: Setup, ports: Ports, further: FurtherBudgets | None = None) -> Result:
    """Compare the newer end (the tip) with the older one (the base) on all suites."""
    steps = Steps.of(setup, ports, further)
    ends = compare(steps, setup.request.older, setup.request.newer)
    answer, judgement = answer_of_ends(ends), worst(setup, ends.judgements)
    answer.metric, answer.table = judgement.key if judgement else None, ends.table
    if ends.level is Level.REGRESSED:
        answer.after.append(Finding.of(Ends.NOT_SEARCHED))
    return answer.result()


def answer_of_ends(ends: Comparison) -> Answer:
    """What a comparison of two revisions says, as an answer without a search."""
    passed = ends.level is Level.PASS
    said = SearchAnswer(
        outcome={
            Level.PASS: Outcome.NOOP if ends.same else Outcome.NO_REGRESSION,
            Level.REGRESSED: Outcome.CULPRIT_SET,
            Level.UNDECIDED: Outcome.INCONCLUSIVE,
        }[ends.level],
        confidence=(1.0 if ends.same else PASS_CONFIDENCE) if passed else 0.0,
        reasons=(ends.reason, *map(_judged, ends.judgements)),
    )
    return Answer(metric=None, said=said, judgements=ends.judgements)


def _judged(judgement: Judgement) -> Finding:
    metric, level = str(judgement.key), judgement.level
    return Finding.of(Reasons.JUDGED, metric=metric, level=level, why=judgement.reason)


def try_revision(
    setup: Setup, ports: Ports, limit: float, boots: int, further: FurtherBudgets | None = None
) -> Result:
    """Judge one revision against a limit, by the median over boots."""
    steps = Steps.of(setup, ports, further)
    return _answer_of_limit(steps, chosen_threshold(setup), limit, boots).result()


def _answer_of_limit(steps: Steps, threshold: Threshold, limit: float, boots: int) -> Answer:
    sha = steps.setup.request.newer
    build = steps.build(sha)
    if not build.ok:
        return unanswered(threshold.key, Finding.of(Limits.NOT_BUILT, error=build.first_error))
    tested = Boots()
    barren = 0
    while (valid := len(tested.evidence)) < boots and barren < MAX_BARREN:
        asks = [
            BootRequest(sha=sha, purpose=BootPurpose.TRY, left=left)
            for left in reversed(range(boots - valid))
        ]
        run = steps.boot(asks[0], asks[1:])
        tested = tested.with_run(run)
        barren = 0 if run.complete else barren + 1
    values = tested.sample(threshold.key)
    if values.n < boots:
        few = Finding.of(Limits.FEW_BOOTS, valid=values.n, asked=boots, why=tested.runs[-1].reason)
        return unanswered(threshold.key, few)
    middle = centre(threshold, values.values)
    beyond = middle > limit if threshold.better is Better.LOWER else middle < limit
    reason = Finding.of(
        Limits.JUDGED,
        mean=by_mean(threshold),
        boots=boots,
        value=middle,
        unit=threshold.unit,
        limit=limit,
    )
    judgement = Judgement(
        key=threshold.key,
        level=Level.REGRESSED if beyond else Level.PASS,
        base=Sample(()),
        new=values,
        effect=middle,
        interval=(min(values.values), max(values.values)),
        p=1.0,
        reason=reason,
    )
    said = SearchAnswer(
        outcome=Outcome.CULPRIT_SET if beyond else Outcome.NO_REGRESSION,
        reasons=(Finding.of(Limits.OF_METRIC, metric=str(threshold.key), why=reason),),
    )
    return Answer(metric=threshold.key, said=said, judgements=(judgement,))


def chosen_threshold(setup: Setup) -> Threshold:
    """The threshold that the request names; wiring has checked that it exists."""
    request = setup.request
    of_suite = [t for t in setup.judged if t.key.suite == request.suite]
    named = [t for t in of_suite if request.metric in (t.key.name, f"{t.key.name}@{t.key.window}")]
    primary = [t for t in of_suite if t.role is Role.PRIMARY]
    return (named or primary or of_suite)[0]
