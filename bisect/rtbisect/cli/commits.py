# SPDX-License-Identifier: GPL-2.0-or-later
"""The commits of an answer as a reader knows them: subject, author and date, as git prints them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from rtbisect.campaign import trees
from rtbisect.errors import RtbisectError
from rtbisect.model.campaign import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.cli.output import Output
    from rtbisect.model.campaign import CampaignRequest, Result
    from rtbisect.model.code import CommitHead

#: Of many commits so many are shown.
MOST = 8


def named_shas(result: Result) -> tuple[str, ...]:
    """Shas that an answer names: its culprit, else the first of its set."""
    if result.culprit:
        return (result.culprit,)
    if result.outcome in (Outcome.CULPRIT_SET, Outcome.MULTIPLE_CULPRITS):
        return tuple(sha for sha, _ in result.candidates[:MOST])
    return ()


def heads(output: Output, request: CampaignRequest, result: Result) -> tuple[CommitHead, ...]:
    """What git says of them; nothing where tree or site file are not what they were."""
    shas = named_shas(result)
    if not shas:
        return ()
    try:
        site = output.sites.of_campaign(request)
        if site is None:
            tree = trees.command_tree(output.state, request.repo)
        else:
            tree = trees.tree_of(output.state, site.target(request.tree))
        return tuple(tree.head(sha) for sha in shas)
    except RtbisectError:
        return ()


def rows(heads: Sequence[CommitHead]) -> list[dict[str, str]]:
    """The same for a program."""
    return [asdict(head) for head in heads]


def lines(heads: Sequence[CommitHead]) -> list[str]:
    """The same for a person: of one commit as git has it, of several a line each."""
    if len(heads) != 1:
        return [
            f"  {head.commit[:12]} {head.subject} ({head.author}, {head.date})" for head in heads
        ]
    (only,) = heads
    return [f"  Author: {only.author}", f"  Date:   {only.date}", f"      {only.subject}"]
