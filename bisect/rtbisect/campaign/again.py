# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether more runs at one commit of a search can change its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.campaign import trees
from rtbisect.errors import ConfigError
from rtbisect.model.campaign import Outcome
from rtbisect.model.code import Build, CommitGraph
from rtbisect.model.command import CommandRequest, Extra
from rtbisect.model.kinds.pipeline import Parts
from rtbisect.model.kinds.search import Endings
from rtbisect.store.journal import recorded, story_of

if TYPE_CHECKING:
    from rtbisect.store.campaigns import CampaignRecord, CampaignStore

#: Runs of a commit that a person wants again, where no number is given, and at most.
FEW_AGAIN, MOST_AGAIN = 6, 1000
#: Answers that rest on all runs of their commits.
_OF_RUNS = (
    Outcome.CULPRIT, Outcome.MERGE_CULPRIT, Outcome.CULPRIT_SET, Outcome.GRADUAL,
    Outcome.INCONCLUSIVE,
)  # fmt: skip


def asked_again(
    store: CampaignStore, record: CampaignRecord, asked: tuple[str, int]
) -> tuple[str, int]:
    """What was asked with a full sha; ConfigError where the runs would change nothing."""
    revision, runs = asked
    if why := _no_use(store, record):
        raise ConfigError(f"--again: {record.id} {why}", "start a new campaign with more runs")
    graphs = recorded(store.database, record.id, CommitGraph)
    sha = trees.command_tree(store.state, record.request.repo).resolve(revision)
    # A commit's own parent comes into the last one.
    if not graphs or sha not in {graphs[-1].older, *(commit.sha for commit in graphs[-1].commits)}:
        raise ConfigError(
            f"--again: {revision} is none of the commits that {record.id} searches",
            "give one of its ends or candidates",
        )
    builds = {build.revision: build for build in recorded(store.database, record.id, Build)}
    if sha in builds and not builds[sha].ok:
        raise ConfigError(
            f"--again: {revision} cannot be tested: {builds[sha].first_error}", "give another one"
        )
    return sha, runs


def _no_use(store: CampaignStore, record: CampaignRecord) -> str:
    """Why runs change nothing; "" where they do."""
    told = {line.kind for line in story_of(store.database, record.id)}
    reasons = (
        (
            CommandRequest.of(record.request).counted,
            "counts instructions, which are the same in all runs",
        ),
        (
            not told.isdisjoint((Parts.BESIDE.value, Parts.BETWEEN.value, Parts.FORKED.value)),
            "was searched in parts",
        ),
        (bool(Extra.of(record.request).given), "has a merge base in the place of an end"),
    )
    if why := next((why for holds, why in reasons if holds), ""):
        return why
    result = record.result
    if result is None:
        return ""
    if result.outcome not in _OF_RUNS:
        return f"has found {result.outcome}, and looks at its ends no more"
    if any(reason.kind == Endings.MAY_DIFFER for reason in result.reasons):
        return "looks at its ends no more"
    return ""
