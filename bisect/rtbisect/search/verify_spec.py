# SPDX-License-Identifier: GPL-2.0-or-later
"""What a verification is asked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rtbisect.judge import shares
from rtbisect.model.campaign import Sample, Statistic
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.search import Checks
from rtbisect.search.calibrate import GROWTH, looks
from rtbisect.search.likelihood.features import WHOLE, Aspect

if TYPE_CHECKING:
    from rtbisect.judge.verdict import Pair
    from rtbisect.model.campaign import Threshold
    from rtbisect.search.build_groups import BuildPlan
    from rtbisect.search.speeds import Before

_NO_REVERT = Finding.of(Checks.NO_REVERT)


@dataclass(frozen=True, kw_only=True)
class VerifySpec:
    """What to verify."""

    culprit: str
    #: At least one; each is compared with the culprit.
    parents: tuple[str, ...]
    #: The searched metric, and what of it is compared.
    threshold: Threshold
    figure: Aspect = WHOLE
    #: Seed of the order of the boots.
    seed: int
    #: The commit that takes the culprit back on `tip`; None with the reason in `no_revert`.
    revert: str | None
    tip: str
    no_revert: Finding | None = _NO_REVERT
    #: Boots a side at the first look at a parent; and at the first look at the revert, which may be
    #: too few for a pass.
    boots: int = 6
    revert_boots: int = 3
    #: Error rate (alpha) of all looks of a check together.
    alpha: float = 0.01
    #: The boots of good and bad from the calibration, to say how much of their shift the culprit
    #: explains, and whether a share that is not seen is none; empty where that is not asked.
    endpoints: Pair = (Sample(()), Sample(()))
    #: Builds that the search has not booted, and that decide; None where builds of one code are not
    #: taken to differ by as much as the ends do.
    builds: BuildPlan | None = None
    #: Boots a side at the last look.
    boots_max: int = 10
    #: The badness above which a boot was disturbed: it is made again.
    calm: float = math.inf
    #: The search, where its machine has two speeds: the fresh boots go on where it has ended.
    before: Before | None = None
    #: A revert contradicts at the alpha of its looks; builds decide only where they are enough.
    strict: bool = True
    #: Shares of failures have one p value for all looks at a parent, and more looks.
    share_looks: bool = True
    #: They differ by the smallest effect where their interval reaches it, not where what was
    #: measured does.
    share_reach: bool = True
    #: Culprit and parent decide where other builds should and there are too few.
    pair_decides: bool = True

    @cached_property
    def judged(self) -> Threshold:
        """How the compared figure is judged."""
        return self.figure.threshold(self.threshold)

    def told(self, effect: float) -> Finding:
        """An effect that was judged on the compared figure, in what a reader knows."""
        return self.figure.effect_for_reader(self.threshold, effect)

    @property
    def looks(self) -> tuple[int, ...]:
        """Boots a side at every look at a culprit and its parent. More boots of two builds say no
        more of their code: where other builds decide, there is one look.
        """
        if self.builds:
            return (self.boots,)
        growth = shares.GROWTH if self.of_shares else GROWTH
        return looks(self.boots, self.boots_max, growth=growth)

    @property
    def looks_alone(self) -> tuple[int, ...]:
        """The same where other builds should decide and none are left: one more look, which has the
        other half of alpha (see `look_alpha`).
        """
        return tuple(dict.fromkeys((*self.looks, self.boots_max)))

    @property
    def of_shares(self) -> bool:
        """Whether runs pass or fail, and all looks at a parent have one p value."""
        return self.share_looks and self.judged.statistic is Statistic.FRACTION

    @property
    def look_alpha(self) -> float:
        """Alpha is split evenly between the looks, where these have no p value together."""
        apart = self.looks if self.builds else looks(self.boots, self.boots_max)
        return self.alpha / max(2, len(apart))
