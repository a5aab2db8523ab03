# SPDX-License-Identifier: GPL-2.0-or-later
"""Two stories without a search: a tip against its base, and one revision against a limit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.judge.boots import Boots
from rtbisect.judge.scale import by_mean, centre
from rtbisect.model.campaign import (
    Better,
    Cause,
    Judgement,
    Level,
    Outcome,
    Role,
    Sample,
    Threshold,
)
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Ends, Limits, Reasons
from rtbisect.model.result import Result
from rtbisect.pipeline.boot_queue import BootRequest
from rtbisect.pipeline.compare import MAX_BARREN, PASS_CONFIDENCE, Comparison, compare, worst
from rtbisect.pipeline.search_loop import unanswered
from rtbisect.pipeline.steps import Steps
from rtbisect.search.spec import BootPurpose

if TYPE_CHECKING:
    from rtbisect.model.ports import Ports
    from rtbisect.model.setup import Setup


def check(setup: Setup, ports: Ports) -> Result:
    """Compare the newer end (the tip) with the older one (the base) on all suites."""
    steps = Steps(setup=setup, ports=ports)
    ends = compare(steps, setup.request.older, setup.request.newer)
    result, judgement = result_of_ends(ends), worst(setup, ends.judgements)
    if ends.level is Level.REGRESSED:
        result = replace(result, reasons=(*result.reasons, Finding.of(Ends.NOT_SEARCHED)))
    key = judgement.key if judgement else None
    return replace(result, metric=key, judgement=judgement, table=ends.table)


def result_of_ends(ends: Comparison) -> Result:
    """What a comparison of two revisions says, as an answer without a search."""
    passed = ends.level is Level.PASS
    return Result(
        outcome={
            Level.PASS: Outcome.NOOP if ends.same else Outcome.NO_REGRESSION,
            Level.REGRESSED: Outcome.CULPRIT_SET,
            Level.UNDECIDED: Outcome.INCONCLUSIVE,
        }[ends.level],
        cause=Cause.NONE,
        culprit=None,
        candidates=(),
        confidence=(1.0 if ends.same else PASS_CONFIDENCE) if passed else 0.0,
        metric=None,
        judgement=None,
        reasons=(ends.reason, *map(_judged, ends.judgements)),
        judgements=ends.judgements,
    )


def _judged(judgement: Judgement) -> Finding:
    metric, level = str(judgement.key), judgement.level
    return Finding.of(Reasons.JUDGED, metric=metric, level=level, why=judgement.reason)


def try_revision(setup: Setup, ports: Ports, limit: float, boots: int) -> Result:
    """Judge one revision against a limit, by the median over boots."""
    steps = Steps(setup=setup, ports=ports)
    threshold = chosen_threshold(setup)
    sha = setup.request.newer
    build = steps.build(sha)
    if not build.ok:
        return unanswered(threshold, Finding.of(Limits.NOT_BUILT, error=build.first_error))
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
        return unanswered(threshold, few)
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
    return replace(
        unanswered(threshold, Finding.of(Limits.OF_METRIC, metric=str(threshold.key), why=reason)),
        outcome=Outcome.CULPRIT_SET if beyond else Outcome.NO_REGRESSION,
        judgement=judgement,
        judgements=(judgement,),
    )


def chosen_threshold(setup: Setup) -> Threshold:
    """The threshold that the request names; wiring has checked that it exists."""
    request = setup.request
    of_suite = [t for t in setup.judged if t.key.suite == request.suite]
    named = [t for t in of_suite if request.metric in (t.key.name, f"{t.key.name}@{t.key.window}")]
    primary = [t for t in of_suite if t.role is Role.PRIMARY]
    return (named or primary or of_suite)[0]
