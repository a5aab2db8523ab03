# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer of a campaign: what was tested, what checks and gates say, what it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

# pydantic reads the annotations.
from rtbisect.model.campaign import Cause, Judgement, MetricKey, Outcome, Sample
from rtbisect.model.finding import Finding
from rtbisect.model.formats import kept_as
from rtbisect.model.kinds.pipeline import Proofs
from rtbisect.model.kinds.search import Checks
from rtbisect.model.old_sentences import with_findings, with_parents

#: What a result says of a commit that its proof has not borne out.
_DOUBTS = {Proofs.REFUTED.value, Proofs.NOT_CONFIRMED.value, Proofs.UNLIKELY.value}


class KernelRole(StrEnum):
    """What a kernel of a table is there for; tables show the word."""

    #: The ends of a comparison.
    BASE = "base"
    TIP = "tip"
    PARENT = "parent"
    CULPRIT = "culprit"
    #: The tip without the culprit.
    REVERTED = "tip+revert"
    PARENT_WITHOUT_RT = "parent, no RT"
    CULPRIT_WITHOUT_RT = "culprit, no RT"


#: Roles of the ends of a comparison, the older one first.
ENDS = KernelRole.BASE, KernelRole.TIP


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """A row of the factor table: one kernel under one level of the workload, or of the tool."""

    kernel: KernelRole
    window: str
    #: What runs beside the measurement in the window, as `Window.level`.
    workload: str
    metric: MetricKey
    unit: str
    sample: Sample
    #: Boots are compared by their mean, else by their median.
    mean: bool = False


@dataclass(frozen=True, slots=True)
class TestedRevision:
    """What the search knows of a tested revision at the end."""

    sha: str
    subject: str
    #: Number of valid boots of its kernel, with the fresh ones of the verification.
    boots: int
    #: Posterior probability that it shows the bad behaviour.
    probability_bad: float
    #: Why it could not be tested; None where it was.
    skipped: Finding | None = None


class CheckStatus(StrEnum):
    """How a check ended; ABSENT: it could not be made."""

    PASS = "pass"  # noqa: S105  (a status, not a password)
    FAIL = "fail"
    UNDECIDED = "undecided"
    ABSENT = "n/a"


class CheckName(StrEnum):
    """The checks after a search."""

    #: Builds of both sides that the search has not booted, each build one observation.
    BUILDS = "other builds"
    #: Culprit and parent in kernels with another code layout: campaigns of before.
    LAYOUT = "layout"
    REVERT = "revert on tip"
    #: Nothing after the culprit takes a part of it back.
    KEPT = "kept until the bad end"
    #: All tested revisions agree with the answer.
    PREDICTION = "prediction"
    #: The culprit is worse than one of its parents, which `Verification.parent` names.
    PARENT = "culprit vs parent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """One check after the search."""

    check: CheckName
    status: CheckStatus
    #: None where nothing was compared.
    judgement: Judgement | None
    #: What the check has found; None where the status says all.
    note: Finding | None = None
    #: The shift between its sides as a share of the ends' shift; None where that makes no sense.
    recovery: float | None = None
    #: The recovery is less than all of it, by more than luck.
    short: bool = False
    #: The parent that the culprit is compared with, by 12 digits; "" for any other check.
    parent: str = ""

    @property
    def name(self) -> Finding:
        """What a reader calls the check."""
        if self.check is CheckName.PARENT:
            return Finding.of(Checks.PARENT, parent=self.parent)
        return Finding.of(Checks.NAMED, check=self.check)


class GateStatus(StrEnum):
    """How a trust gate ended; ABSENT: there was nothing that it could look at."""

    PASS = "pass"  # noqa: S105  (a status, not a password)
    FAIL = "fail"
    ABSENT = "n/a"


class GateName(StrEnum):
    """Gates of docs/trust.md, by the names that stand there."""

    INSTRUMENTS = "G4 instruments"
    SOURCES = "G4 sources"
    DUPLICATES = "G5 duplicates"
    VARIANCE = "G5 variance"
    #: A machine that stands still comes before any noise.
    HANGS = "G9 hangs"
    SAME_KERNEL = "G10 A/A"
    REACHABILITY = "G11 reachability"
    #: Where the data come from decides who may get them.
    ORIGIN = "G15 origin"
    DOSE = "G16 dose"
    LOOP = "G16 loop"
    ISOLATION = "G17 isolation"
    MEANING = "meaning"
    #: Looks at guards that only some kernels can tell.
    GUARDS = "guards"
    MACHINE = "machine"


@dataclass(frozen=True, slots=True)
class Gate:
    """One trust gate of docs/trust.md."""

    #: A `GateName`, or G11 and the suite that asks.
    name: str
    status: GateStatus
    #: What the gate has seen.
    reason: Finding

    @property
    def ok(self) -> bool:
        return self.status is not GateStatus.FAIL


@dataclass(frozen=True, slots=True)
class Origin:
    """One source of a change."""

    #: Kind and name of the source, as in `FigureSource`.
    kind: str
    name: str
    #: Its mean on the two kernels, a second and on all watched CPUs together.
    parent: float
    culprit: float
    #: The share of the change that this source makes, 0 to 1.
    share: float


class DiffersBy(StrEnum):
    """What makes a figure differ between builds or runs."""

    #: One side executes something else, or differs in all its layouts from those of the other.
    CODE = "code"
    #: Builds of the same code differ as much.
    LAYOUT = "layout"
    #: Runs of one build differ as much at different times.
    MACHINE = "machine"
    #: The causes above are not told apart.
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Difference:
    """What makes the figure of a campaign differ, and the figures that say so."""

    by: DiffersBy
    #: One of `Differs`.
    why: Finding


@kept_as("Summary")
@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Counts derived from the journal; the same numbers everywhere."""

    #: Number of builds that ran make, or the command of `run --build`.
    builds: int
    #: Number of boots, however they ended.
    boots: int
    #: Revisions that did not build, or of which no boot reached the suite: fewer than those that
    #: `TestedRevision.skipped` tells of, where boots that came so far were no evidence. Of a
    #: command also those of which no run had a figure.
    skipped: int
    #: Seconds of all sessions, then the sums over single builds and over single boots.
    wall_s: float
    build_s: float
    boot_s: float


def with_difference(told: Any) -> Any:
    """A kept value of before `Result.difference`: nothing is known of it."""
    return told


@kept_as("Result", with_parents, with_findings, with_difference)
@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The answer of a campaign."""

    outcome: Outcome
    cause: Cause
    #: Full sha; None where no single commit is named.
    culprit: str | None
    #: Full shas of the commits that may be it, with their probabilities; the likeliest first.
    candidates: tuple[tuple[str, float], ...]
    #: Confidence in the answer, 0 to 1.
    confidence: float
    #: The metric that was searched on; None where nothing was searched.
    metric: MetricKey | None
    #: The judgement of that metric; None where nothing was compared.
    judgement: Judgement | None
    tested: tuple[TestedRevision, ...] = ()
    verifications: tuple[Verification, ...] = ()
    table: tuple[TableRow, ...] = ()
    #: What the answer rests on, or why there is none.
    reasons: tuple[Finding, ...] = ()
    #: The judgements of all metrics of a check.
    judgements: tuple[Judgement, ...] = ()
    gates: tuple[Gate, ...] = ()
    origins: tuple[Origin, ...] = ()
    #: None where nothing differs, nobody asks, or nothing says it.
    difference: Difference | None = None

    @property
    def named(self) -> tuple[str, ...]:
        """Full shas of the commits that it names: the culprit, all of several, or of a set."""
        if self.outcome in (Outcome.CULPRIT_SET, Outcome.MULTIPLE_CULPRITS):
            return tuple(sha for sha, _ in self.candidates)
        return (self.culprit,) if self.culprit else ()

    @property
    def proved(self) -> str | None:
        """Full sha of the commit that its checks are of; None where there was no proof."""
        doubted = (str(each.data["culprit"]) for each in self.reasons if each.kind in _DOUBTS)
        return self.culprit or next(doubted, None)

    @property
    def culprits(self) -> tuple[str, ...]:
        """Full shas of the commits that it says make the change: of a set nobody knows which."""
        return self.named if self.culprit else ()
