# SPDX-License-Identifier: GPL-2.0-or-later
"""The story of a search: compare, search, prove, draft.

Straight-line code over the ports: every effect is a step of the journal, so running a
story again from the top resumes it.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.judge.blocks import host_parts
from rtbisect.judge.boots import Boots
from rtbisect.judge.verdict import improved
from rtbisect.model.campaign import Cause, Judgement, Outcome, Sought
from rtbisect.model.code import AS_COMMITTED, Build, BuildStatus
from rtbisect.model.command import Extra, command_line, narrowing_of
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Ends, Proofs, Searches
from rtbisect.model.lab import RunStatus
from rtbisect.model.report import HostPart, Report, ReportInput
from rtbisect.pipeline import first_look, known, merge_base, multiple_culprits, short_boots
from rtbisect.pipeline.check import answer_of_ends, chosen_threshold
from rtbisect.pipeline.compare import Comparison, compare, worst
from rtbisect.pipeline.count_search import counted, search_counts
from rtbisect.pipeline.counts_beside import beside
from rtbisect.pipeline.difference import difference_of
from rtbisect.pipeline.search_and_proof import search_and_prove
from rtbisect.pipeline.steps import Steps
from rtbisect.search import verification

if TYPE_CHECKING:
    from rtbisect.model.campaign import Threshold
    from rtbisect.model.code import CommitGraph
    from rtbisect.model.ports import Ports
    from rtbisect.model.result import Result
    from rtbisect.model.setup import Setup
    from rtbisect.pipeline.answer import Answer
    from rtbisect.pipeline.further import FurtherBudgets

#: Outcomes after which the bot stays silent: there is nothing to tell a maintainer. Nor is there
#: when the tool that measures makes what it sees.
SILENT = (Outcome.NO_REGRESSION, Outcome.NOT_REPRODUCED, Outcome.NOOP)

#: Built revisions whose products are all different, from which on that is worth a line.
FEW_PRODUCTS = 6


def bisect(
    setup: Setup, ports: Ports, further: FurtherBudgets | None = None
) -> tuple[Result, Report | None]:
    """Find the commit that makes the sought change, prove it, and draft the report. `further` is
    what was said of its budget since it began.
    """
    steps = Steps.of(setup, ports, further)
    request = setup.request
    graph = steps.graph(request.older, request.newer)
    _tell_range(steps, graph)
    judgements: tuple[Judgement, ...] = ()
    if request.suite is None:
        ends = compare(steps, request.older, request.newer, searched=True)
        judgements = ends.judgements
        worst_judgement = worst(setup, judgements)
        if worst_judgement is None:
            return _without_search(steps, graph, merge_base.compare_given_end(steps, ends))
        threshold = next(t for t in setup.judged if t.key == worst_judgement.key)
        steps.tell(Ends.SEARCHED_ON, metric=str(worst_judgement.key), why=worst_judgement.reason)
    else:
        first_look.learn_unit(steps, request.older)
        threshold = chosen_threshold(steps.setup)
    short_boots.shorten(steps, graph, threshold)
    answer = _search_and_prove(steps, graph, threshold, judgements)
    graph, result = answer.graph or graph, answer.result()
    steps.tell(
        Searches.OUTCOME,
        outcome=result.outcome,
        culprit=result.culprit,
        confidence=result.confidence,
        cause=result.cause if steps.traits.host else None,
        why=None if result.culprit else _why(result),
    )
    if result.outcome in SILENT or result.cause is Cause.TOOL_INDUCED:
        return result, None
    return result, _draft_report(steps, graph, result)


def _search_and_prove(
    steps: Steps, graph: CommitGraph, threshold: Threshold, judgements: tuple[Judgement, ...]
) -> Answer:
    """What is found of a change by one metric; `judgements` are those of the ends, if any."""
    none = known.prior_none(steps, threshold)
    by_counts = search_counts(steps, graph, threshold) if counted(steps) else None
    answer = by_counts or search_and_prove(steps, graph, threshold, prior_none=none)
    answer.judgements = judgements
    said, graph = answer.said, answer.graph or graph
    if said.outcome in (Outcome.NOT_REPRODUCED, Outcome.INCONCLUSIVE):
        answer.after += first_look.all_failed(steps, threshold)
    if said.outcome in (Outcome.NOT_REPRODUCED, Outcome.NOOP):
        if elsewhere := merge_base.judge_given_end(steps, threshold):
            answer.left_open = True
            answer.before.append(elsewhere)
    elif said.outcome is Outcome.INCONCLUSIVE:
        answer.after += _last_fault(steps)
    elif said.outcome is Outcome.CULPRIT and not by_counts:
        if answer.culprit and steps.setup.request.sought is Sought.REPAIR:
            answer.before.append(Finding.of(Proofs.REPAIRS))
        multiple_culprits.check_prediction(answer)
        if verification.incomplete(answer.checks):
            multiple_culprits.find_beside(steps, graph, threshold, answer)
    elif said.between:
        answer = multiple_culprits.find_on_both_sides(steps, graph, threshold, answer)
    answer.after += (*beside(steps, threshold, answer), *_products(steps))
    answer.difference = difference_of(steps, threshold, answer)
    # The graph of the whole range: a search of a part has left its own.
    answer.graph = graph
    return answer


def _products(steps: Steps) -> tuple[Finding, ...]:
    """How many different products the built revisions have, where that says something."""
    signatures = [build.signature for build in steps.builds.values() if build.ok]
    built, products = len(signatures), len(set(signatures))
    if not steps.traits.products or built < (FEW_PRODUCTS if products == built else 3):
        return ()
    return (steps.tell(Searches.PRODUCTS, revisions=built, products=products),)


def _without_search(
    steps: Steps, graph: CommitGraph, ends: Comparison
) -> tuple[Result, Report | None]:
    """Nothing to search: silence, but a line to the operator where figures got better."""
    result, setup = answer_of_ends(ends).result(), steps.setup
    better = improved(ends.judgements, setup.thresholds, setup.request.sought)
    if result.outcome is not Outcome.NO_REGRESSION or not better:
        return result, None
    return result, _draft_report(steps, graph, result)


def _tell_range(steps: Steps, graph: CommitGraph) -> None:
    request = steps.setup.request
    steps.tell(Ends.RANGE, commits=len(graph), older=request.older, newer=request.newer)
    if paths := narrowing_of(request).paths:
        steps.tell(Ends.PATHS, paths=paths)
    limits = steps.setup.limits
    leading = limits.kept_with(limits.max_boots)
    kept = Finding.of(
        Searches.KEEPS, most=limits.max_boots, kept=limits.kept_boots, leading=leading
    )
    steps.ports.progress.tell(kept)
    extra = Extra.of(request)
    if extra.given:
        steps.tell(Ends.MERGE_BASE, given=extra.given)
    if extra.goods:
        # The end that a merge base stands for is told already.
        others = len(set(extra.goods) - {extra.given})
        steps.tell(Ends.SEVERAL, older=request.older, others=others)


def _why(result: Result) -> Finding | None:
    """The first reason that is not of a commit which was given up before."""
    known = (each for each in result.reasons if each.kind != Proofs.SEARCHED_ON)
    return next(known, None)


def _last_fault(steps: Steps) -> tuple[Finding, ...]:
    """Why the last boot is no evidence; () where it is."""
    last = steps.runs[-1:]
    return tuple(run.reason for run in last if run.status is RunStatus.INVALID and run.reason)


def _draft_report(steps: Steps, graph: CommitGraph, result: Result) -> Report:
    """The draft; a step of its own, so that its Message-ID and its file are made once."""
    setup, ports = steps.setup, steps.ports
    build = _newest(steps)
    last = next((run for run in reversed(steps.runs) if run.complete), None)
    host, windows = steps.traits.host, steps.traits.windows
    used = [w for w in windows if result.metric and w.name == result.metric.window]
    facts = ReportInput(
        campaign=ports.journal.campaign,
        tree=setup.tree,
        repo=setup.repo,
        older=setup.request.older,
        newer=setup.request.newer,
        graph=graph,
        result=result,
        summary=ports.journal.summary(),
        culprit=ports.tree.describe(result.culprit) if result.culprit else None,
        device=host.device if host else None,
        profile=host.profile if host else None,
        config_name=build.config_name,
        config_sha256=build.config,
        compiler=build.compiler,
        release=build.release,
        facts=last.facts if last and host else (),
        operator=setup.operator,
        date=ports.clock.now_iso(),
        message_id="",
        synthetic_workload=any(window.synthetic for window in used),
        thresholds=setup.thresholds,
        # The path of the repository on this machine is no part of the command.
        command=command_line(replace(setup.request, repo=""), result.metric),
        sought=setup.request.sought,
        measured=steps.traits.measured,
        repaired=ports.journal.repaired_by(result.culprit) if result.culprit else (),
        hosts=_host_parts(steps, result),
        excerpt=_console_excerpt(steps, graph, result),
    )
    story = ports.journal.story()

    def draft(_note: object) -> Report:
        # Campaigns are numbered in each store, so that their names alone would not do.
        name = f"{ports.journal.campaign}.{secrets.token_hex(8)}"
        # Only now: of a campaign that older programs ended, nobody asks the tree any more.
        repair = facts.culprit if facts.sought is Sought.REPAIR else None
        series = steps.series(repair) if repair else ()
        parents = graph.parents_of(result.culprit) if result.culprit else ()
        names = ports.tree.tag_names((facts.older, facts.newer, *parents))
        told = replace(facts, message_id=name, series=series, names=tuple(names.items()))
        return ports.mailer.draft(told, story)

    return ports.journal.step("report", Report, draft)


def _newest(steps: Steps) -> Build:
    """The build of the newer end; one of nothing where the time was over before it."""
    newer = steps.setup.request.newer
    if steps.may_build(newer):
        return steps.build(newer)
    return Build(revision=newer, config_name=AS_COMMITTED, status=BuildStatus.FAILED)


def _console_excerpt(steps: Steps, graph: CommitGraph, result: Result) -> tuple[str, ...]:
    """What a console says of boots that stand still: of the culprit, before a repair of its
    parents; the first one that says most.
    """
    parents = graph.parents_of(result.culprit)
    _, faulty = steps.setup.request.sought.ends(parents, (result.culprit,))
    runs = (run for run in steps.runs if run.revision in faulty)
    excerpts = [run.excerpt for run in runs if run.complete and run.hung]
    return max(excerpts, key=len, default=())


def _host_parts(steps: Steps, result: Result) -> tuple[HostPart, ...]:
    threshold = next((t for t in steps.setup.judged if t.key == result.metric), None)
    if threshold is None:
        return ()
    boots = [
        (f"{run.revision} {run.layout}", seen.host, seen.value)
        for run in steps.alike
        for seen in Boots((run,)).figure(threshold.key)
    ]
    return host_parts(threshold, boots)
