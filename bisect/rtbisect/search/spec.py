# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of the search: what it is asked, what it proposes, what it answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from rtbisect.judge.scale import shift_of
from rtbisect.search.calibrate import look
from rtbisect.search.ledger import Event, Ledger, ledger
from rtbisect.search.likelihood.features import WHOLE, Figure
from rtbisect.search.posterior import posterior
from rtbisect.search.two_culprits import Two, two

if TYPE_CHECKING:
    from rtbisect.model.campaign import Outcome, TestedRevision, Threshold
    from rtbisect.model.code import CommitGraph
    from rtbisect.search.ancestry import Ancestry, Bools
    from rtbisect.search.calibrate import Ends
    from rtbisect.search.posterior import Posterior


#: Purpose of a boot of an end that says whether anything can be measured at all.
AGAIN = "again"
#: A commit is named only below this probability of "no regression": a culprit that is none
#: costs a maintainer's time, the wrong one of two neighbours only a look.
NONE_AT_MOST = 0.01


@dataclass(frozen=True)
class SearchSpec:
    """What to search and how much it may cost; equal specs and events give equal proposals.

    `build_cost_s` is an incremental build, `cold_build_s` the first one, `layout_cost_s` a
    build of a known revision with another layout (None: there is no such build). Layouts are
    measured where the ends differ by less than `layout_below`, as a share of the good level.
    `confidence` is the posterior probability at which a culprit is named. `prior_none` is the
    probability of "no regression" before any boot. `alpha` is split between the looks at the ends.
    """

    graph: CommitGraph
    threshold: Threshold
    seed: int
    confidence: float = 0.95
    build_cost_s: float = 20.0
    cold_build_s: float = 300.0
    boot_cost_s: float = 20.0
    layout_cost_s: float | None = None
    layout_below: float = math.inf
    calibrate_min: int = 6
    calibrate_max: int = 10
    max_boots: int = 80
    max_builds: int = 60
    prior_none: float = 0.2
    alpha: float = 0.01


@dataclass(frozen=True, slots=True)
class Test:
    """Build `revision` if that has not been tried, then boot it once if `boot` says so.

    `purpose` is calibrate, search, control, layout or AGAIN. A revision that is not built yet is
    proposed without a boot: a kernel that equals a known one needs none. A caller that boots
    it all the same does no harm. `layout` 0 is the kernel as it is configured; 1, 2, ... are
    the same sources with functions at other addresses.
    """

    revision: str
    purpose: str
    boot: bool = True
    layout: int = 0


@dataclass(frozen=True, slots=True)
class Finish:
    """The search is over; always proposed alone. A culprit that is not `sure` stands out, and the
    search has no further test for it: the proof has to make sure of it.
    """

    outcome: Outcome
    reason: str
    sure: bool = True


Proposal: TypeAlias = Test | Finish


@dataclass(frozen=True, slots=True)
class Answer:
    """What the search says now; `candidates` by falling probability.

    For a culprit set `candidates` is that whole set, else the smallest set of at least
    90% of the mass on commits, at most 20. `confidence` is the probability of the
    culprit, or of the set, or of the most likely commit. `figure` is what the ends differ in;
    `between` with two culprits is a revision that has one of them, `unlike` are revisions, with
    p, that the culprit does not explain; the culprit among them has boots of its own further off.
    `sure` is as in Finish.
    """

    outcome: Outcome
    culprit: str | None
    candidates: tuple[tuple[str, float], ...]
    confidence: float
    prob_none: float
    tested: tuple[TestedRevision, ...]
    reasons: tuple[str, ...]
    figure: Figure = WHOLE
    between: str = ""
    unlike: tuple[tuple[str, float], ...] = ()
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is still to come: expected builds, boots and seconds on one host, and the chance
    that the search ends with an answer within its budget.
    """

    builds: float
    boots: float
    seconds: float
    chance: float


@dataclass(frozen=True)
class SearchState:
    """Specification and log; everything else is derived from these two, on demand."""

    spec: SearchSpec
    ancestry: Ancestry = field(compare=False, repr=False)
    events: tuple[Event, ...] = ()

    @cached_property
    def ledger(self) -> Ledger:
        return ledger(self.spec.threshold, self.events)

    def related(self, place: int) -> tuple[str, ...]:
        """A candidate and its parents."""
        commit = self.spec.graph.commits[place]
        return tuple(dict.fromkeys((commit.sha, *commit.parents)))

    def side(self, sha: str) -> Bools:
        """For each candidate: would `sha` be bad if that were the culprit? A revert has all that
        its tip has but the commit that it takes back.
        """
        revert = self.ledger.reverts.get(sha)
        if revert is None:
            return self.ancestry.side(sha)
        found = self.ancestry.side(revert.tip)
        found[self.ancestry.places([revert.commit])] = False
        return found

    @cached_property
    def ends(self) -> Ends:
        """What the calibration says so far."""
        return look(self)

    @cached_property
    def layouts(self) -> bool:
        """Whether other layouts are measured: there are such builds, and the ends differ by so
        little that the layout of the code may be the reason.
        """
        spec = self.spec
        if spec.layout_cost_s is None or not self.ends.reproduced:
            return False
        good = self.ledger.values.get(spec.graph.good, ())[: self.ends.used]
        return self.ends.shift < shift_of(spec.threshold, good, spec.layout_below)

    @cached_property
    def belief(self) -> Posterior:
        """The posterior; only after the calibration has reproduced the difference."""
        return posterior(self)

    @cached_property
    def two(self) -> Two:
        """Whether there are two culprits; only after the calibration, too."""
        return two(self, self.belief)
