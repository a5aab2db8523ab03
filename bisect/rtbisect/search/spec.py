# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of the search: what it is asked, what it proposes, what it answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from rtbisect.model.campaign import Statistic
from rtbisect.search.likelihood.features import WHOLE, Aspect
from rtbisect.search.parts import WHOLE_MODEL, Parts
from rtbisect.search.prior import BASE_NONE

if TYPE_CHECKING:
    from rtbisect.model.campaign import Outcome, Threshold
    from rtbisect.model.code import CommitGraph
    from rtbisect.model.finding import Finding
    from rtbisect.model.result import TestedRevision


#: Largest probability of "no regression" at which a commit is named. Stricter than 1 - confidence:
#: blaming a commit for nothing costs more than naming its neighbour.
NONE_AT_MOST = 0.01


class BootPurpose(StrEnum):
    """Purpose of a boot, as shown in progress and logs: of a search, a proof or a comparison."""

    CALIBRATE = "calibrate"
    SEARCH = "search"
    #: A control: a known kernel is measured again to see whether the machine has changed.
    CONTROL = "control"
    LAYOUT = "layout"
    #: An end is measured again to see whether the measurement works at all.
    RECHECK_END = "again"
    VERIFY = "verify"
    #: A boot of another build with the culprit, or without it.
    BUILDS = "other build"
    REVERT = "revert"
    CAUSE = "cause"
    WITHOUT_RT = "without PREEMPT_RT"
    #: A person asked for this boot.
    ASKED = "asked for"
    #: A boot of the end that the merge base replaces.
    GIVEN = "given"
    BASE = "base"
    TIP = "tip"
    TRY = "try"


@dataclass(frozen=True, kw_only=True)
class SearchSpec:
    """What to search and how much it may cost; equal specs and events give equal proposals."""

    graph: CommitGraph
    threshold: Threshold
    #: Seed of the sampled permutation tests.
    seed: int
    #: Posterior probability at which a culprit is named, 0.5..1.
    confidence: float = 0.95
    #: Seconds of an incremental build.
    build_cost_s: float = 20.0
    boot_cost_s: float = 20.0
    #: Seconds of a build with another code layout; None: there are no such builds.
    layout_cost_s: float | None = None
    #: Layouts are measured where the ends differ by less, as a share of the good level.
    layout_below: float = math.inf
    #: Boots of each end at the first and at the last look at them.
    calibrate_min: int = 6
    calibrate_max: int = 10
    #: Looks go on to so many boots of each end while they promise to show a difference, and end
    #: before where they do not; 0: they go to `calibrate_max`, whatever they promise.
    looks_max: int = 0
    #: The whole search with its calibration; builds that failed and other layouts count.
    max_boots: int = 80
    max_builds: int = 60
    #: Probability of "no regression" before any boot, 0..1.
    prior_none: float = BASE_NONE
    #: Error rate (alpha) of all looks at the ends together.
    alpha: float = 0.01
    #: Which parts of the model are on (benchmarks turn some off).
    parts: Parts = WHOLE_MODEL
    #: Revisions in the order in which a search that is carried out again has built them: where
    #: parts.ties is off, and tests are worth the same, it has taken the first of them.
    built_before: tuple[str, ...] = ()

    @property
    def of_shares(self) -> bool:
        """Whether runs pass or fail, and all looks at the ends have one p value."""
        return self.parts.share_looks and self.threshold.statistic is Statistic.FRACTION

    @property
    def controls(self) -> bool:
        """Whether ends are booted again when boots tell little. Of runs that pass or fail the looks
        have seen more than these could add.
        """
        return self.parts.controls and not self.of_shares


@dataclass(frozen=True, slots=True)
class Trial:
    """Build `revision` if that has not been tried, then boot it once if `boot` says so."""

    revision: str
    purpose: BootPurpose
    #: A revision that is not built yet is proposed without a boot: a kernel that equals a known one
    #: needs none. A caller that boots it all the same does no harm.
    boot: bool = True
    #: 0 is the kernel as it is configured; 1, 2, ... are the same sources with functions at other
    #: addresses.
    layout: int = 0


@dataclass(frozen=True, slots=True)
class Finish:
    """The search is over. It is the only proposal then."""

    outcome: Outcome
    reason: Finding
    #: A culprit that is not sure stands out, and the search has no further test for it: the proof
    #: has to make sure of it.
    sure: bool = True


Proposal: TypeAlias = Trial | Finish


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """The answer of the search so far."""

    outcome: Outcome
    #: Sha of the commit; None unless the outcome is CULPRIT.
    culprit: str | None = None
    #: Revisions with their probabilities, falling. For a culprit set that whole set, else the
    #: smallest set of at least 90% of the mass on commits, at most 20.
    candidates: tuple[tuple[str, float], ...] = ()
    #: Probability of the culprit or of the set, 0..1; 0 where neither is named.
    confidence: float = 0.0
    tested: tuple[TestedRevision, ...] = ()
    reasons: tuple[Finding, ...]
    #: Part of the figure in which the ends differ: the whole, one CPU, the spread or the mean.
    figure: Aspect = WHOLE
    #: With two culprits a revision that has one of them; else empty.
    between: str = ""
    #: Revisions, with p, that the culprit does not explain; the culprit among them has boots of its
    #: own that lie further off.
    unlike: tuple[tuple[str, float], ...] = ()
    #: Whether the culprit is sure, as in Finish.
    sure: bool = True
