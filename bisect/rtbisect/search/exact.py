# SPDX-License-Identifier: GPL-2.0-or-later
"""The search by a figure without noise: halving, and nothing is measured twice.

Whatever noise there is has been looked at before; here a figure above the middle of both ends is
bad, and one below it is good.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.search.ancestry import Ancestry, Bools


@dataclass(frozen=True)
class Exact:
    """What is known of a range whose newer end is bad, and its older one good."""

    ancestry: Ancestry
    #: Badness of revisions, by sha.
    figures: Mapping[str, float]
    #: Revisions that cannot be measured.
    untestable: frozenset[str]
    #: The middle between the badness of both ends.
    middle: float

    @cached_property
    def suspect(self) -> str:
        """The bad revision below which the fewest commits are left. One with a bad parent, that is
        measured, is none, as long as there are others: a branch that left the history before its
        older end lacks what made that good.
        """
        ancestry = self.ancestry
        bad = [i for sha, i in ancestry.index.items() if self._is_bad(sha)]
        commits = ancestry.graph.commits
        known = {commits[i].sha for i in bad}
        first = [i for i in bad if not known.intersection(commits[i].parents)]
        first = [i for i in first if not any(map(self._is_bad, commits[i].parents))] or first
        # The last one is the newer end, if all the others are on a par.
        return commits[min(first, key=lambda i: (self._left(i).sum(), -i))].sha

    @cached_property
    def left(self) -> tuple[str, ...]:
        """The commits that may have made the suspect bad, older ones first; itself too."""
        commits = self.ancestry.graph.commits
        mask = self._left(self.ancestry.index[self.suspect])
        return tuple(commits[i].sha for i in np.flatnonzero(mask))

    def next(self) -> str | None:
        """The revision to be measured now; None where no other tells more."""
        suspect, ancestry = self.suspect, self.ancestry
        tried = {*self.figures, *self.untestable}
        testable = [sha for sha in self.left if sha not in tried]
        if testable:
            mask = self._left(ancestry.index[suspect])
            below = ancestry.mass(mask.astype(np.float64))
            broken = len(self.untestable.intersection(self.left))
            goal = mask.sum() * _fraction(broken + 1)
            return min(testable, key=lambda sha: abs(below[ancestry.index[sha]] - goal))
        if len(self.left) > 1:
            return None
        parents = ancestry.graph.commits[ancestry.index[suspect]].parents
        return next((sha for sha in parents if sha not in tried), None)

    def _is_bad(self, sha: str) -> bool:
        return sha in self.figures and self.figures[sha] > self.middle

    def _left(self, suspect: int) -> Bools:
        """Shape (n,): without what good revisions are made of, that do not descend from it."""
        ancestry = self.ancestry
        left, later = ancestry.ancestors_or_self(suspect), ancestry.descendants_or_self(suspect)
        for sha in self.figures:
            place = ancestry.index.get(sha)
            if place is not None and not self._is_bad(sha) and not later[place]:
                left &= ~ancestry.ancestors_or_self(place)
        return left


def _fraction(number: int) -> float:
    """1/2, 1/4, 3/4, 1/8, 5/8, ... (van der Corput): each far from those before it, so that a
    stretch that cannot be measured is left.
    """
    value, part = 0.0, 0.5
    while number:
        value += part * (number & 1)
        number >>= 1
        part /= 2
    return value
