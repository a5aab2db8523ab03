# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a search stands: how far the candidates have narrowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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


def standing(state: SearchState) -> Standing | None:
    """None while the ends are not known to differ, and where no commit explains the runs."""
    if not state.ends.reproduced or not state.belief.possible:
        return None
    belief, commits = state.belief, state.spec.graph.commits
    largest = sorted(belief.commits.tolist(), reverse=True)
    missing, holding = HELD * sum(largest), 0
    while missing > 0 and holding < len(largest):
        missing -= largest[holding]
        holding += 1
    best = belief.best
    return Standing(len(commits), holding, commits[best].sha, float(belief.commits[best]))
