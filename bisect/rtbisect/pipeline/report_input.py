# SPDX-License-Identifier: GPL-2.0-or-later
"""What the report of a campaign is written from, and its draft as a step."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.judge.blocks import host_parts
from rtbisect.judge.samples import figure
from rtbisect.model.report import HostPart, Report, ReportInput
from rtbisect.pipeline.wording import command_line

if TYPE_CHECKING:
    from rtbisect.model.campaign import Result
    from rtbisect.model.code import CommitGraph
    from rtbisect.pipeline.steps import Steps


def draft_report(effects: Steps, graph: CommitGraph, result: Result) -> Report:
    """The draft; a step of its own, so that its Message-ID and its file are made once."""
    setup, ports = effects.setup, effects.ports
    build = effects.build(setup.request.newer)
    last = next((run for run in reversed(effects.runs) if run.complete), None)
    host, windows = effects.traits.host, effects.traits.windows
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
        facts=last.facts if last else (),
        operator=setup.operator,
        date=ports.clock.now_iso(),
        message_id="",
        synthetic_workload=any(window.synthetic for window in used),
        thresholds=setup.thresholds,
        # Where a repository lies on this machine is no part of it.
        command=command_line(replace(setup.request, repo=""), result.metric),
        sought=setup.request.sought,
        repaired=ports.journal.repaired_by(result.culprit) if result.culprit else (),
        hosts=_host_parts(effects, result),
        excerpt=_console_excerpt(effects, graph, result),
    )
    story = "\n".join(ports.journal.story())

    def draft(_note: object) -> Report:
        # Campaigns are numbered in each store, so that their names alone would not do.
        name = f"{ports.journal.campaign}.{secrets.token_hex(8)}"
        return ports.mailer.draft(replace(facts, message_id=name), story)

    return ports.journal.step("report", Report, draft)


def _console_excerpt(effects: Steps, graph: CommitGraph, result: Result) -> tuple[str, ...]:
    """What a console says of boots that stand still: of the culprit, before a repair of its
    parents; the first one that says most.
    """
    parents = graph.parents_of(result.culprit)
    _, faulty = effects.setup.request.sought.ends(parents, (result.culprit,))
    runs = (run for run in effects.runs if run.revision in faulty)
    excerpts = [run.excerpt for run in runs if run.complete and run.hung]
    return max(excerpts, key=len, default=())


def _host_parts(effects: Steps, result: Result) -> tuple[HostPart, ...]:
    threshold = next((t for t in effects.setup.judged if t.key == result.metric), None)
    if threshold is None:
        return ()
    boots = [
        (f"{run.revision} {run.layout}", run.device, value)
        for run in effects.runs
        if (value := figure(run, threshold.key)) is not None
    ]
    return host_parts(threshold, boots)
