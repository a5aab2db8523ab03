# SPDX-License-Identifier: GPL-2.0-or-later
"""The story of a campaign, one function a story: check, bisect, try.

Straight-line code over the ports: every effect is a step of the journal, so running a
story again from the top resumes it.
"""

from __future__ import annotations

import secrets
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.judge import host_effects
from rtbisect.judge.improvements import improved
from rtbisect.judge.samples import figure, sample
from rtbisect.judge.scale import by_mean, centre
from rtbisect.model.campaign import (
    Better,
    Cause,
    Judgement,
    Level,
    Outcome,
    Result,
    Sample,
    Threshold,
)
from rtbisect.model.command import GIVEN, RUN, CommandRequest, repairs
from rtbisect.model.lab import RunStatus
from rtbisect.model.report import HostPart, Report, ReportInput
from rtbisect.pipeline import merge_base, multiple_culprits, proof
from rtbisect.pipeline.boot_queue import Ask
from rtbisect.pipeline.compare import MAX_BARREN, PASS_CONFIDENCE, Ends, compare, worst
from rtbisect.pipeline.search_loop import result_of, search, unanswered
from rtbisect.pipeline.steps import Effects, worded
from rtbisect.search import verification

if TYPE_CHECKING:
    from rtbisect.model.code import CommitGraph
    from rtbisect.model.lab import Run
    from rtbisect.model.ports import Parts
    from rtbisect.model.setup import Setup

#: Outcomes after which the bot stays silent: there is nothing to tell a maintainer. Nor is there
#: when the tool that measures makes what it sees.
SILENT = (Outcome.NO_REGRESSION, Outcome.NOT_REPRODUCED, Outcome.NOOP)


def check(setup: Setup, parts: Parts) -> Result:
    """Compare `bad` (the tip) with `good` (the base) on all suites."""
    effects = Effects(setup, parts)
    ends = compare(effects, setup.request.good, setup.request.bad)
    outcome = {
        Level.PASS: Outcome.NOOP if ends.same else Outcome.NO_REGRESSION,
        Level.REGRESSED: Outcome.CULPRIT_SET,
        Level.UNDECIDED: Outcome.INCONCLUSIVE,
    }[ends.level]
    reasons = (ends.reason, *(f"{j.key}: {j.level.value}: {j.reason}" for j in ends.judgements))
    if ends.level is Level.REGRESSED:
        reasons = (*reasons, "the range was not searched: `rtbisect bisect` finds the commit")
    found = worst(setup, ends.judgements)
    return Result(
        outcome=outcome,
        cause=Cause.NONE,
        culprit=None,
        candidates=(),
        confidence=_passed(ends),
        metric=found.key if found else None,
        judgement=found,
        reasons=reasons,
        judgements=ends.judgements,
        table=ends.table,
    )


def try_revision(setup: Setup, parts: Parts, limit: float, boots: int) -> Result:
    """Judge one revision against a limit, by the median over boots."""
    effects = Effects(setup, parts)
    threshold = _chosen(setup)
    sha = setup.request.bad
    build = effects.build(sha)
    if not build.ok:
        return unanswered(threshold, f"does not build: {build.first_error}")
    runs: list[Run] = []
    valid = barren = 0
    while valid < boots and barren < MAX_BARREN:
        asks = [Ask(sha, "try", left) for left in reversed(range(boots - valid))]
        run = effects.boot(asks[0], asks[1:])
        runs.append(run)
        valid += run.complete
        barren = 0 if run.complete else barren + 1
    found = sample(runs, threshold.key)
    if found.n < boots:
        why = f": {runs[-1].reason}" if runs[-1].reason else ""
        return unanswered(threshold, f"only {found.n} of {boots} boots are evidence{why}")
    middle = centre(threshold, found.values)
    word = "mean" if by_mean(threshold) else "median"
    beyond = middle > limit if threshold.better is Better.LOWER else middle < limit
    level = Level.REGRESSED if beyond else Level.PASS
    counted = "1 boot" if boots == 1 else f"{boots} boots"
    reason = f"{word} of {counted} {worded(threshold, middle)}, limit {limit:.4g}"
    judgement = Judgement(
        threshold.key,
        level,
        Sample(()),
        found,
        middle,
        (min(found.values), max(found.values)),
        1.0,
        reason,
    )
    return Result(
        outcome=Outcome.NO_REGRESSION if level is Level.PASS else Outcome.CULPRIT_SET,
        cause=Cause.NONE,
        culprit=None,
        candidates=(),
        confidence=0.0,
        metric=threshold.key,
        judgement=judgement,
        reasons=(f"{threshold.key}: {reason}",),
        judgements=(judgement,),
    )


def bisect(setup: Setup, parts: Parts) -> tuple[Result, Report | None]:
    """Find the commit between good and bad, prove it, and draft the report."""
    effects = Effects(setup, parts)
    request = setup.request
    graph = effects.graph(request.good, request.bad)
    _tell_range(effects, graph)
    judgements: tuple[Judgement, ...] = ()
    spare: dict[str, list[Run]] = {}
    if request.suite is None:
        ends = compare(effects, request.good, request.bad)
        judgements = ends.judgements
        found = worst(setup, judgements)
        if found is None:
            return _nothing(effects, graph, merge_base.on_all_suites(effects, ends))
        threshold = next(t for t in setup.thresholds if t.key == found.key)
        what = "better again" if repairs(request) else "regressed"
        effects.tell(f"{what}: {found.key}: {found.reason}; searching on it")
        # Failed boots are told already; the search asks what the valid ones say.
        spare = effects.evidence()
    else:
        threshold = _chosen(setup)
    searched = search(effects, graph, threshold, spare)
    answer = searched.answer
    result = result_of(answer, threshold, judgements)
    if answer.outcome in (Outcome.NOT_REPRODUCED, Outcome.NOOP):
        result = merge_base.on_one(effects, threshold, result)
    if answer.outcome is Outcome.INCONCLUSIVE:
        reasons = (*result.reasons, *_kept(effects), *_broken(effects))
        result = replace(result, reasons=reasons)
    if answer.outcome is Outcome.CULPRIT and answer.culprit is not None:
        result = proof.prove(effects, graph, threshold, result, searched)
        if result.culprit and repairs(request):
            result = replace(result, reasons=("this commit repairs it", *result.reasons))
        result = multiple_culprits.unlike(result, answer)
        if verification.incomplete(result.verifications):
            result = multiple_culprits.others(effects, graph, threshold, result)
    elif answer.between:
        result = multiple_culprits.split(effects, graph, threshold, result, answer.between)
    result = _in_words(setup, result)
    effects.tell(_closing(setup, result))
    if result.outcome in SILENT or result.cause is Cause.TOOL_INDUCED:
        return result, None
    return result, _report(effects, graph, result)


def _nothing(effects: Effects, graph: CommitGraph, ends: Ends) -> tuple[Result, Report | None]:
    """Nothing to search: silence, but a line to the operator where figures got better."""
    result, setup = _silent(ends, ends.judgements), effects.setup
    better = () if repairs(setup.request) else improved(ends.judgements, setup.thresholds)
    if result.outcome is not Outcome.NO_REGRESSION or not better:
        return result, None
    return result, _report(effects, graph, result)


def _tell_range(effects: Effects, graph: CommitGraph) -> None:
    setup, request = effects.setup, effects.setup.request
    ends = f"{request.good[:12]} (good) and {request.bad[:12]} (bad)"
    effects.tell(setup.in_words(f"{len(graph)} candidates between {ends}"))
    if given := dict(request.extra).get(GIVEN):
        said = f"good {given[:12]} is no ancestor of bad; their merge base takes its place"
        effects.tell(setup.in_words(said))


def _kept(effects: Effects) -> tuple[str, ...]:
    """What is left of a budget that a search has spent: it may not take that."""
    left, limits = effects.boots_left, effects.setup.limits
    if effects.search_boots_left or not left:
        return ()
    name = "--max-runs" if effects.setup.command else "max_boots of the site"
    return (f"{left} of {limits.max_boots} boots are kept for the proof; {name} allows more",)


def _broken(effects: Effects) -> tuple[str, ...]:
    """What was wrong with the last boot, when it was no evidence."""
    last = effects.runs[-1:]
    return tuple(run.reason for run in last if run.status is RunStatus.INVALID and run.reason)


def _in_words(setup: Setup, result: Result) -> Result:
    """The result in the words of its campaign: a command runs and does not boot."""
    return replace(
        result,
        reasons=tuple(setup.in_words(said) for said in result.reasons),
        verifications=tuple(
            replace(check, note=setup.in_words(check.note)) for check in result.verifications
        ),
    )


def _silent(ends: Ends, judgements: tuple[Judgement, ...]) -> Result:
    """Nothing regressed, or nothing could be decided: no search."""
    outcome = Outcome.INCONCLUSIVE
    if ends.level is Level.PASS:
        outcome = Outcome.NOOP if ends.same else Outcome.NO_REGRESSION
    return Result(
        outcome=outcome,
        cause=Cause.NONE,
        culprit=None,
        candidates=(),
        confidence=_passed(ends),
        metric=None,
        judgement=None,
        reasons=(ends.reason, *(f"{j.key}: {j.level.value}: {j.reason}" for j in judgements)),
        judgements=judgements,
    )


def _passed(ends: Ends) -> float:
    """How sure it is that nothing regressed; 0 where that is not the answer."""
    if ends.level is not Level.PASS:
        return 0.0
    return 1.0 if ends.same else PASS_CONFIDENCE


def _report(effects: Effects, graph: CommitGraph, result: Result) -> Report:
    """The draft; a step of its own, so that its Message-ID and its file are made once."""
    setup, parts = effects.setup, effects.parts
    build = effects.build(setup.request.bad)
    last = next((run for run in reversed(effects.runs) if run.complete), None)
    used = [w for w in setup.windows if result.metric and w.name == result.metric.window]
    facts = ReportInput(
        campaign=parts.journal.campaign,
        tree=setup.tree,
        repo=setup.repo,
        good=setup.request.good,
        bad=setup.request.bad,
        graph=graph,
        result=result,
        summary=parts.journal.summary(),
        culprit=parts.tree.describe(result.culprit) if result.culprit else None,
        device=setup.device,
        profile=setup.profile,
        config_name=setup.build.config_name,
        config_sha256=build.config,
        compiler=build.compiler,
        release=build.release,
        facts=last.facts if last else (),
        operator=setup.operator,
        date=parts.clock.now_iso(),
        message_id="",
        synthetic_workload=any(window.synthetic for window in used),
        thresholds=setup.thresholds,
        command=_command(setup, result),
        repair=repairs(setup.request),
        repaired=parts.journal.repaired_by(result.culprit) if result.culprit else (),
        hosts=_hosts(effects, result),
        excerpt=_excerpt(effects, graph, result),
    )
    story = "\n".join(parts.journal.story())

    def draft(_note: object) -> Report:
        # Campaigns are numbered in each store, so that their names alone would not do.
        name = f"{parts.journal.campaign}.{secrets.token_hex(8)}"
        return parts.mailer.draft(replace(facts, message_id=name), story)

    return parts.journal.step("report", Report, draft)


def _excerpt(effects: Effects, graph: CommitGraph, result: Result) -> tuple[str, ...]:
    """What a console says of boots that stand still: of the culprit, before a repair of its
    parents; the first one that says most.
    """
    sides: set[str | None] = {result.culprit}
    if repairs(effects.setup.request):
        sides = {*graph.parents_of(result.culprit)}
    runs = (run for run in effects.runs if run.revision in sides)
    found = [run.excerpt for run in runs if run.complete and run.hung]
    return max(found, key=len, default=())


def _hosts(effects: Effects, result: Result) -> tuple[HostPart, ...]:
    found = next((t for t in effects.setup.thresholds if t.key == result.metric), None)
    if found is None:
        return ()
    seen = ((run, figure(run, found.key)) for run in effects.runs if run.complete)
    boots = [
        (f"{run.revision} {run.layout}", run.device, value)
        for run, value in seen
        if value is not None
    ]
    return host_effects.parts(found, boots)


def _command(setup: Setup, result: Result) -> str:
    """The command line that repeats the campaign; the site by its name only."""
    asked = setup.request
    if asked.kind == RUN:
        command = CommandRequest.of(asked)
        good, bad = (asked.bad, asked.good) if command.find_fix else (asked.good, asked.bad)
        words = ["rtbisect", "run", "--good", good, "--bad", bad]
        return shlex.join([*words, *command.words()])
    good, bad = (asked.bad, asked.good) if repairs(asked) else (asked.good, asked.bad)
    words = ["rtbisect", "bisect", asked.tree, "--good", good, "--bad", bad]
    if repairs(asked):
        words.append("--find-fix")
    return shlex.join([*words, *merge_base.asked_of(setup, result.metric)])


def _closing(setup: Setup, result: Result) -> str:
    who = f" {result.culprit[:12]}" if result.culprit else ""
    sure = f", confidence {result.confidence:.3f}" if result.confidence else ""
    cause = "" if setup.command else f", cause {result.cause.value}"
    return f"outcome: {result.outcome.value}{who}{sure}{cause}"


def _chosen(setup: Setup) -> Threshold:
    """The threshold that the request names; wiring has checked that it exists."""
    wanted = setup.request
    mine = [t for t in setup.thresholds if t.key.suite == wanted.suite]
    named = [t for t in mine if wanted.metric in (t.key.name, f"{t.key.name}@{t.key.window}")]
    primary = [t for t in mine if t.role == "primary"]
    return (named or primary or mine)[0]
