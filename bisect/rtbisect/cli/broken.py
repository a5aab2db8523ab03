# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a search of `rtbisect run` ended because nothing works where it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.model.campaign import Outcome
from rtbisect.model.command import CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.answer import Broken
from rtbisect.model.kinds.boot import Commands
from rtbisect.model.lab import NOT_RUN_CODE, Run, RunStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rtbisect.model.campaign import CampaignRequest
    from rtbisect.model.code import Build

#: Outcomes of a search that may have measured nothing; the same exit code in every run is one.
_EMPTY = (Outcome.INCONCLUSIVE, Outcome.NOT_REPRODUCED)
#: Why a revision has nothing to start.
_ABSENT = (
    Commands.NOT_THERE, Commands.NOT_EXECUTABLE, Commands.NO_INTERPRETER, Commands.NOT_STARTED,
)  # fmt: skip


def broken_of(
    campaign: str,
    request: CampaignRequest,
    outcome: Outcome,
    runs: Sequence[Run],
    builds: Iterable[Build],
) -> Finding | None:
    """Why nothing was measured, and at which ends: neither could be built, or no run of all had a
    figure. None where something was, or the command asked to be skipped, which says that it works.
    """
    if outcome not in _EMPTY:
        return None
    if not runs:
        failed = {build.revision: build for build in builds if not build.ok}
        if not {request.older, request.newer} <= failed.keys():
            return None
        error = failed[request.older].first_error
        return Finding.of(
            Broken.NOT_BUILT, ends=(request.older, request.newer), error=error, campaign=campaign
        )
    if any(run.complete and not _not_run(run) for run in runs):
        return None
    return _of_runs(campaign, request, runs)


def _of_runs(campaign: str, request: CampaignRequest, runs: Sequence[Run]) -> Finding | None:
    """What all runs have in common, of which none has a figure."""
    last, many, ends = runs[-1], len(runs), _ends_of(request, runs)
    if codes := [code for run in runs if (code := _not_run(run))]:
        return Finding.of(Broken.NOT_RUN, ends=ends, runs=many, code=int(codes[-1]))
    if all(run.status is RunStatus.HUNG for run in runs):
        limit_s = last.reason.data.get("limit_s", 0.0) if last.reason else 0.0
        return Finding.of(Broken.LATE, ends=ends, runs=many, limit_s=limit_s)
    skipped = [run for run in runs if run.status is RunStatus.SKIPPED]
    if any(run.reason is None or run.reason.kind not in _ABSENT for run in skipped):
        return None
    if len(skipped) == many:
        return Finding.of(Broken.NOT_THERE, ends=ends, why=last.reason)
    moved = CommandRequest.of(request).relayout
    return Finding.of(
        Broken.NO_FIGURE, ends=ends, runs=many, why=last.reason, campaign=campaign, moved=moved
    )


def _ends_of(request: CampaignRequest, runs: Iterable[Run]) -> tuple[str, ...]:
    """The ends that were run."""
    tried = {run.revision for run in runs}
    return tuple(end for end in (request.older, request.newer) if end in tried)


def _not_run(run: Run) -> str:
    """The exit code by which a shell said that it could not start a program; "" for any other."""
    return dict(run.facts).get(NOT_RUN_CODE, "")
