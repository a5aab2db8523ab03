# SPDX-License-Identifier: GPL-2.0-or-later
"""Two stories without a search: a tip against its base, and one revision against a limit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.judge.samples import sample
from rtbisect.judge.scale import by_mean, centre
from rtbisect.model.campaign import (
    Better,
    Cause,
    Judgement,
    Level,
    Outcome,
    Result,
    Role,
    Sample,
    Threshold,
)
from rtbisect.pipeline.boot_queue import BootRequest
from rtbisect.pipeline.compare import MAX_BARREN, PASS_CONFIDENCE, Comparison, compare, worst
from rtbisect.pipeline.search_loop import unanswered
from rtbisect.pipeline.steps import Steps
from rtbisect.pipeline.wording import worded
from rtbisect.search.spec import BootPurpose

if TYPE_CHECKING:
    from rtbisect.model.lab import Run
    from rtbisect.model.ports import Ports
    from rtbisect.model.setup import Setup


def check(setup: Setup, ports: Ports) -> Result:
    """Compare the newer end (the tip) with the older one (the base) on all suites."""
    steps = Steps(setup=setup, ports=ports)
    ends = compare(steps, setup.request.older, setup.request.newer)
    result, judgement = result_of_ends(ends), worst(setup, ends.judgements)
    if ends.level is Level.REGRESSED:
        search_hint = "the range was not searched: `rtbisect bisect` finds the commit"
        result = replace(result, reasons=(*result.reasons, search_hint))
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
        reasons=(ends.reason, *(f"{j.key}: {j.level.value}: {j.reason}" for j in ends.judgements)),
        judgements=ends.judgements,
    )


def try_revision(setup: Setup, ports: Ports, limit: float, boots: int) -> Result:
    """Judge one revision against a limit, by the median over boots."""
    steps = Steps(setup=setup, ports=ports)
    threshold = chosen_threshold(setup)
    sha = setup.request.newer
    build = steps.build(sha)
    if not build.ok:
        return unanswered(threshold, f"does not build: {build.first_error}")
    runs: list[Run] = []
    valid = barren = 0
    while valid < boots and barren < MAX_BARREN:
        asks = [
            BootRequest(sha=sha, purpose=BootPurpose.TRY, left=left)
            for left in reversed(range(boots - valid))
        ]
        run = steps.boot(asks[0], asks[1:])
        runs.append(run)
        valid += run.complete
        barren = 0 if run.complete else barren + 1
    values = sample(runs, threshold.key)
    if values.n < boots:
        because = f": {runs[-1].reason}" if runs[-1].reason else ""
        return unanswered(threshold, f"only {values.n} of {boots} boots are evidence{because}")
    middle = centre(threshold, values.values)
    word = "mean" if by_mean(threshold) else "median"
    beyond = middle > limit if threshold.better is Better.LOWER else middle < limit
    counted = "1 boot" if boots == 1 else f"{boots} boots"
    reason = f"{word} of {counted} {worded(threshold, middle)}, limit {limit:.4g}"
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
        unanswered(threshold, f"{threshold.key}: {reason}"),
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
