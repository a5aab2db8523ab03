# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of the search: what it is asked, what it proposes, what it answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from rtbisect.search.likelihood.features import WHOLE, Aspect
from rtbisect.search.wording import GIT, Words

if TYPE_CHECKING:
    from rtbisect.model.campaign import Outcome, TestedRevision, Threshold
    from rtbisect.model.code import CommitGraph


#: Purpose of a boot of an end that says whether anything can be measured at all.
RECHECK_END = "again"
#: A commit is named only below this probability of "no regression": a culprit that is none
#: costs a maintainer's time, the wrong one of two neighbours only a look.
NONE_AT_MOST = 0.01


@dataclass(frozen=True, kw_only=True)
class SearchSpec:
    """What to search and how much it may cost; equal specs and events give equal proposals.

    `build_cost_s` is an incremental build, `cold_build_s` the first one, `layout_cost_s` a
    build of a known revision with another layout (None: there is no such build). Layouts are
    measured where the ends differ by less than `layout_below`, as a share of the good level.
    `confidence` is the posterior probability at which a culprit is named. `prior_none` is the
    probability of "no regression" before any boot. `alpha` is split between the looks at the ends.
    `words` are those of its reasons.
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
    words: Words = GIT


@dataclass(frozen=True, slots=True)
class Trial:
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


Proposal: TypeAlias = Trial | Finish


@dataclass(frozen=True, slots=True, kw_only=True)
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
    tested: tuple[TestedRevision, ...]
    reasons: tuple[str, ...]
    figure: Aspect = WHOLE
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
