# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a search stands: how far the candidates have narrowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.search.search_state import SearchState

#: The commits that are counted hold this much of the probability of all commits.
HELD = 0.95
#: It is told anew when the likeliest commit has become this much more or less probable, or the
#: number of commits has changed by this part.
MOVED, PART = 0.1, 0.25


@dataclass(frozen=True, slots=True)
class Standing:
    """What the runs so far say of the candidates."""

    candidates: int
    #: The fewest commits that hold HELD of the probability of all candidates.
    holding: int
    #: Full sha of the likeliest commit, and its probability, 0..1.
    likeliest: str
    probability: float

    def differs(self, told: Standing | None) -> bool:
        """Whether it is worth telling after what was told last."""
        return (
            told is None
            or (self.likeliest != told.likeliest and self.probability >= MOVED)
            or abs(self.probability - told.probability) >= MOVED
            or abs(self.holding - told.holding) >= PART * told.holding
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The same of each candidate, for a picture of them."""

    #: Full shas, oldest first, and the probability of each.
    commits: tuple[str, ...]
    probabilities: tuple[float, ...]
    #: Full shas of what was booted, and how probable it is that each is like the newer end.
    tested: tuple[str, ...]
    newer: tuple[float, ...]
    #: Full shas of what cannot be tested.
    skipped: tuple[str, ...]
    #: Subject of the likeliest commit; foreign text.
    subject: str


def spread(state: SearchState) -> Spread | None:
    """None where `standing` is None."""
    if not state.ends.reproduced or not state.belief.possible:
        return None
    belief, commits, ancestry = state.belief, state.spec.graph.commits, state.ancestry
    mass = ancestry.mass(belief.commits)
    tested = [sha for sha in ancestry.index if (sha, 0) in state.ledger.observations]
    return Spread(
        commits=tuple(commit.sha for commit in commits),
        probabilities=tuple(belief.commits.tolist()),
        tested=tuple(tested),
        newer=tuple(min(1.0, float(mass[ancestry.index[sha]])) for sha in tested),
        skipped=tuple(sorted(state.ledger.untestable_shas)),
        subject=commits[belief.best].subject,
    )


def standing(state: SearchState) -> Standing | None:
    """None while the ends are not known to differ, and where no commit explains the runs."""
    if not state.ends.reproduced or not state.belief.possible:
        return None
    belief, commits = state.belief, state.spec.graph.commits
    within = holding(belief.commits.tolist())
    best = belief.best
    return Standing(len(commits), len(within), commits[best].sha, float(belief.commits[best]))


def holding(probabilities: Sequence[float]) -> frozenset[int]:
    """The places of the fewest commits that hold HELD of the probability of all."""
    order = sorted(range(len(probabilities)), key=probabilities.__getitem__, reverse=True)
    missing, places = HELD * sum(probabilities), 0
    while missing > 0 and places < len(order):
        missing -= probabilities[order[places]]
        places += 1
    return frozenset(order[:places])
