# SPDX-License-Identifier: GPL-2.0-or-later
"""What an arm says of a range, and whether that is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.model.campaign import Outcome

if TYPE_CHECKING:
    from searchbench.world import World

#: Outcomes that say that there is no culprit.
NOTHING = ("not_reproduced", "layout_sensitive")


@dataclass(frozen=True, slots=True)
class Said:
    """An answer: what it names, the likeliest first, and how sure it says it is (0..1)."""

    outcome: str
    named: tuple[str, ...] = ()
    confidence: float = 0.0


def said(outcome: Outcome) -> Said:
    """An answer that names nothing."""
    return Said(outcome.value)


def right(world: World, answer: Said) -> bool:
    """Whether an answer is true. A set is when it holds a culprit, and beside it only what no
    build tells apart from it; "several culprits" when there are several and all that are named are
    culprits.
    """
    truth, named = world.truth, answer.named
    if not truth:
        return answer.outcome in world.right_without_culprit
    if answer.outcome == Outcome.MULTIPLE_CULPRITS.value:
        return len(truth) > 1 and bool(named) and truth.issuperset(named)
    if len(named) == 1:
        return named[0] in truth
    return any(alike(world, sha).issuperset(named) for sha in truth.intersection(named))


def strict(world: World, answer: Said) -> bool:
    """Whether it names a culprit itself, and nothing else."""
    return len(answer.named) == 1 and answer.named[0] in world.truth


def nameable(world: World) -> bool:
    """Whether anybody could name a culprit alone: buildable revisions tell it from all others. Most
    that cannot be named lie in unbuildable stretches or come right after one.
    """
    return any(len(alike(world, sha)) == 1 for sha in world.truth)


def alike(world: World, sha: str) -> frozenset[str]:
    """The commits that no revision that builds tells apart from `sha`, itself included: the same
    buildable revisions descend from them.
    """
    ancestry, commits = world.ancestry, world.graph.commits
    builds = np.array([commit.sha not in world.broken for commit in commits])
    descend = ancestry.descendants_or_self(ancestry.index[sha]) & builds
    # Of such commits one builds at most, and that one comes before all others that do.
    first = np.flatnonzero(descend)[:1].tolist()
    places = {ancestry.index[sha], *first, *ancestry.places(world.broken)}
    return frozenset(
        commits[i].sha
        for i in places
        if bool((ancestry.descendants_or_self(i) & builds == descend).all())
    )
