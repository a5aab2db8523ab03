# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics, thresholds, judgements, observations, outcomes: the words of a campaign."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

from rtbisect.model.code import with_ends
from rtbisect.model.finding import Finding  # noqa: TC001  (pydantic reads the annotations)
from rtbisect.model.formats import kept_as

T = TypeVar("T")


class Outcome(StrEnum):
    """Every way in which a campaign can end; the one list used everywhere."""

    CULPRIT = "culprit"
    CULPRIT_SET = "culprit_set"
    MULTIPLE_CULPRITS = "multiple_culprits"
    MERGE_CULPRIT = "merge_culprit"
    NO_REGRESSION = "no_regression"
    NOT_REPRODUCED = "not_reproduced"
    INCONCLUSIVE = "inconclusive"
    NOOP = "noop"
    LAYOUT_SENSITIVE = "layout_sensitive"
    #: The change came in many small steps, of which none can be named.
    GRADUAL = "gradual"


class Cause(StrEnum):
    """What makes the effect, by the workload factor."""

    KERNEL = "kernel"
    WORKLOAD_DEPENDENT = "workload-dependent"
    TOOL_INDUCED = "tool-induced"
    NONE = "none"


class Better(StrEnum):
    """Direction in which a metric improves."""

    LOWER = "lower"
    HIGHER = "higher"


class CampaignKind(StrEnum):
    """What a campaign is, by the command that asks; plug-ins have kinds of their own beside these
    (`process/plugins.py`), which search as `bisect` does.
    """

    BISECT = "bisect"
    #: Two ends are compared.
    CHECK = "check"
    #: One revision is judged.
    TRY = "try"
    #: A search that measures any command.
    RUN = "run"


class CampaignState(StrEnum):
    """Where a campaign stands."""

    #: A campaign is also kept so while no process works on it.
    RUNNING = "running"
    #: What RUNNING is called where no process works on it; never kept.
    PAUSED = "paused"
    DONE = "done"


class Sought(StrEnum):
    """The change that a campaign searches between its older and its newer end."""

    #: The newer end is worse.
    REGRESSION = "regression"
    #: The newer end is better.
    REPAIR = "repair"

    def ends(self, one: T, two: T) -> tuple[T, T]:
        """What goes with the older and what with the newer end, of what goes with the good and the
        bad one; and the other way round.
        """
        return (two, one) if self is Sought.REPAIR else (one, two)

    @property
    def options(self) -> tuple[str, ...]:
        """How a command line asks for it."""
        return ("--find-fix",) if self is Sought.REPAIR else ()

    @property
    def opposite(self) -> Sought:
        return self.ends(Sought.REPAIR, Sought.REGRESSION)[0]


class Scale(StrEnum):
    """Scale on which a metric is compared: ratios on LOG, differences on LINEAR."""

    LOG = "log"
    LINEAR = "linear"


class Statistic(StrEnum):
    """What one boot says of a metric."""

    MEDIAN = "median"
    #: The share of runs that fail.
    FRACTION = "fraction"
    #: A rate of events: tails as numbers of values beyond a limit.
    COUNT = "count"
    #: A location by the mean, where the medians of both sides are the same number; in no file.
    MEAN = "mean"


class Role(StrEnum):
    """What a metric is for."""

    #: The metric may start a search.
    PRIMARY = "primary"
    #: The metric is judged beside the primary ones.
    GUARD = "guard"
    SHOWN = "shown"


class Level(StrEnum):
    """Verdict of a judgement."""

    PASS = "pass"  # noqa: S105  (a verdict, not a password)
    REGRESSED = "regressed"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class MetricKey:
    """Name of a figure."""

    suite: str
    name: str
    #: Name of the window in which it is taken.
    window: str

    def __str__(self) -> str:
        return f"{self.suite}.{self.name}@{self.window}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """How one metric is judged; the numbers come from `thresholds/<suite>.yaml`."""

    key: MetricKey
    unit: str
    better: Better
    #: Ratios are compared on LOG, differences on LINEAR.
    scale: Scale
    statistic: Statistic
    #: The smallest change that counts: a ratio on LOG (1.5 = 50% worse), a difference in `unit` on
    #: LINEAR.
    min_effect: float
    #: An absolute bound in `unit` for one boot summary; None where there is no such bound.
    limit: float | None
    #: Added before the logarithm, so that zero counts stay finite; in `unit`.
    floor: float
    role: Role
    #: The same figure without the workload; None where the metric is not taken under one.
    control: MetricKey | None
    #: Why these numbers, for a person.
    reason: str
    #: The figure that says how long events of a count were waited for, in seconds of all watched
    #: CPUs together; None: equally long in every boot.
    exposure: MetricKey | None = None
    #: What is counted or measured, by what, and over which CPUs; "" where the name says it.
    title: str = ""

    def toward(self, sought: Sought) -> Threshold:
        """As a search judges it: the sought change is the worse one. In a repair that is what is
        better; limits are no question there.
        """
        if sought is Sought.REGRESSION:
            return self
        turned = Better.HIGHER if self.better is Better.LOWER else Better.LOWER
        return replace(self, better=turned, limit=None)


@dataclass(frozen=True, slots=True)
class Sample:
    """The boot summaries of one side."""

    #: One a boot, in the unit of the metric.
    values: tuple[float, ...]
    #: The host of each boot, as long as `values`; () where hosts are not known or there is one.
    hosts: tuple[str, ...] = ()

    @classmethod
    def of(cls, boots: Sequence[Observation]) -> Sample:
        """The summaries of a figure in boots, in their order."""
        hosts = tuple(boot.host for boot in boots)
        return cls(tuple(boot.value for boot in boots), hosts if all(hosts) else ())

    @property
    def n(self) -> int:
        return len(self.values)

    def part(self, begin: int, end: int | None) -> Sample:
        """Some of the boots, as of a slice."""
        return Sample(self.values[begin:end], self.hosts[begin:end])


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """pass, regressed or undecided, with the numbers that say so."""

    key: MetricKey
    level: Level
    base: Sample
    new: Sample
    #: new/base on LOG, new-base on LINEAR: of medians over boots, or of means.
    effect: float
    #: The 95% interval of the effect, by a bootstrap over boots.
    interval: tuple[float, float]
    #: An exact or sampled permutation p value.
    p: float
    #: Why that level.
    reason: Finding
    #: What of the figure was judged; None for the figure itself.
    figure: Finding | None = None
    #: Unit of all numbers here where there is a `figure`; else that of the metric counts.
    unit: str = ""
    #: Means were compared and no medians.
    mean: bool = False

    @property
    def two_sided(self) -> bool:
        """Whether both sides have boots that tell the figure."""
        return bool(self.base.values and self.new.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What one boot says of a figure."""

    #: The boot summary in the unit of the metric, not yet transformed.
    value: float
    #: The same figure of each watched CPU; () where there is none.
    per_cpu: tuple[float, ...] = ()
    #: The factor that makes a number of events from a rate.
    exposure: float = 1.0
    #: The host of the boot where there are several; else "".
    host: str = ""


#: A search leaves at most this part of all boots to its proof.
KEPT_AT_MOST = 0.4
#: Boots of a campaign at most. A larger budget makes no other answer, and each plan of the search
#: takes longer with it.
MOST_BOOTS = 1_000_000
#: What the boots of a campaign grow to at most where its site says no budget: these name nearly all
#: changes of one standard deviation of a boot (docs/benchmarks.md, "Figures").
GROWN_BOOTS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Budget and decision limits of a campaign, from the site file."""

    #: Probability at which a search names a culprit: 0.5 to 1.
    confidence: float = 0.95
    #: Boots of each end, at least and at most.
    calibrate_min: int = 6
    calibrate_max: int = 10
    #: Budget of boots of the whole campaign, with its proof.
    max_boots: int = 200
    #: Where a forecast asks for more than `max_boots`, these grow to that, but to so many at most;
    #: 0: never.
    grows_to: int = 0
    #: Budget of builds of all searches of the campaign.
    max_builds: int = 120
    #: Fresh boots of culprit and of parent in a proof, at least.
    verify_boots: int = 6
    #: Boots of the tip, and of the revert on it, at the first look at them.
    revert_boots: int = 3
    #: A change of less than this share of the good level is also measured in kernels with another
    #: code layout; 0: never.
    layout_below: float = 0.2
    #: With so many boots each, culprit and parent are also compared in kernels without PREEMPT_RT;
    #: 0: not at all.
    without_rt_boots: int = 0
    #: The boots of a proof count for the confidence. In campaigns that began before they did so
    #: they do not: a campaign is judged by the rules that it began with.
    proof_counts: bool = True
    #: Proofs of one search, at most: a commit that one does not bear out is searched on for. One in
    #: campaigns that began before there could be more.
    proofs: int = 3
    #: A revert denies at the alpha of its looks, and boots of one kernel that were taken apart are
    #: compared (G10). Not so in campaigns that began before.
    strict_proof: bool = True
    #: Boots of each end of a search at most, as long as they are promising; 0, as in campaigns that
    #: began before there was such a limit: `calibrate_max` always.
    looks_max: int = 0
    #: What is known before the first boot counts (`Prior`). In campaigns that began before it did,
    #: "no regression" always has the same probability.
    prior_known: bool = True
    #: A build whose level is known is not booted for ever. In campaigns that began before it was.
    spent_builds: bool = True
    #: A change in many steps is an answer. In campaigns that began before it was one it is not.
    gradual: bool = True
    #: Where builds may differ as much as the ends, other layouts of these come first. Not in
    #: campaigns that began before they did.
    end_layouts: bool = True
    #: Where builds may differ as much, a range is split at a revision that lies between its ends in
    #: two builds; the parts take over the boots of all builds. Not in campaigns that began before.
    split_builds: bool = True
    #: Boots of a search measure what the searched figure needs, and its proof what else a report
    #: tells, behind that. In campaigns that began before they did each boot measures all.
    short_boots: bool = True
    #: Runs of one layout tell why ends are alike over many. Not in campaigns that ended before.
    repeats_layouts: bool = True
    #: A boot to come takes what the windows take that it still has. In campaigns that began before
    #: it took the middle of all boots.
    short_costs: bool = True
    # Not in campaigns that began before, either:
    #: Of tests that are worth the same the first one is taken, not what is best by the last bit.
    ties: bool = True
    #: Where no other builds are left to decide, culprit and parent are booted on.
    pair_decides: bool = True
    #: A commit that a proof left undecided, and that is likely enough with its boots, is proved
    #: once more on others.
    proves_again: bool = True
    #: Where a part ends at a merge that is not worse than a parent of it, that branch is searched.
    merged_branches: bool = True
    #: A proof takes boots as they are where the machine drifts, boots no revert that is the kernel
    #: of a parent, and counts its last boots, too; where only builds are spent it decides about a
    #: likely commit.
    whole_proof: bool = True
    #: Looks at shares of failures have one p value together.
    share_looks: bool = True
    #: Shares differ by the smallest effect where their interval reaches it, not where what was
    #: measured does.
    share_reach: bool = True
    #: Boots that something else on the machine slowed are made again.
    disturbed: bool = True
    #: Other builds of a proof are taken first where revisions have built.
    failing_last: bool = True
    #: Candidates whose build is likely a known kernel are worth less.
    other_kernels: bool = True
    #: A kernel of which more boots hang or die passes no comparison.
    deaths: bool = True
    #: Ends that are compared on all figures are booted beyond `calibrate_max` where that decides.
    looks_beyond: bool = True
    #: Values may be rounded: a boot that lies a step above the others was not disturbed, and builds
    #: differ in how often they meet a state.
    rounded: bool = True
    #: A machine may have two speeds.
    speeds: bool = True
    #: Which of them a boot has may come by lot.
    speeds_by_lot: bool = True
    #: A machine may drift.
    drift: bool = True

    def with_boots(self, most: int) -> Limits:
        """With so many boots, and as many builds at least."""
        return replace(self, max_boots=most, max_builds=max(self.max_builds, most))

    @property
    def grows(self) -> bool:
        """Whether `max_boots` may grow."""
        return self.grows_to > self.max_boots

    def grown(self, wanted: int) -> int:
        """`max_boots` after a forecast has asked for so many boots."""
        return max(self.max_boots, min(wanted, self.grows_to))

    @property
    def proof_boots(self) -> int:
        """What a proof takes at least: culprit and parent, and the first look at tip and revert."""
        return 2 * (self.verify_boots + self.revert_boots)

    @property
    def kept_boots(self) -> int:
        """What a search leaves for the proof, as far as the budget covers the first look."""
        return max(0, min(self.proof_boots, self.max_boots - 2 * self.calibrate_min))

    def kept_with(self, beside: int) -> int:
        """The same with so many boots beside these, as far as the search can do without them."""
        if self.proofs == 1:
            return self.kept_boots
        most = round(KEPT_AT_MOST * self.max_boots)
        return max(self.kept_boots, min(self.kept_boots + beside, most))


#: Limits that are no one's choice but rules of the program, as they were before they had a name.
FIRST_RULES: Mapping[str, Any] = {
    "proof_counts": False,
    "proofs": 1,
    "looks_max": 0,
    "prior_known": False,
    "strict_proof": False,
    "spent_builds": False,
    "gradual": False,
    "end_layouts": False,
    "split_builds": False,
    "share_looks": False,
    "share_reach": False,
    "disturbed": False,
    "short_boots": False,
    "repeats_layouts": False,
    "short_costs": False,
    "failing_last": False,
    "ties": False,
    "pair_decides": False,
    "proves_again": False,
    "merged_branches": False,
    "whole_proof": False,
    "other_kernels": False,
    "deaths": False,
    "looks_beyond": False,
    "rounded": False,
    "speeds": False,
    "speeds_by_lot": False,
    "grows_to": 0,
    "drift": False,
}


def first_rules(limits: Mapping[str, Any]) -> dict[str, Any]:
    """Of kept limits the rules that they do not name, as they were then."""
    return {name: rule for name, rule in FIRST_RULES.items() if name not in limits}


@kept_as("Prior")
@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """What a search knows before its first boot."""

    #: The probability that there is no regression.
    none: float
    #: Number of figures of which the searched one is the worst.
    figures: int
    #: The p, adjusted for its figures, of a check that found it worse before; None: no check has.
    check_p: float | None = None


def with_sought(request: dict[str, Any]) -> dict[str, Any]:
    """A kept request of version 1, where `extra`, or the command in it, told of a repair."""
    repair, extra = False, []
    for name, value in request.get("extra", ()):
        if name == "find_fix":
            repair = True
            continue
        if name == "command":
            # What is damaged stays so, for who reads it.
            with suppress(ValueError, AttributeError):
                command = json.loads(value)
                repair |= bool(command.pop("find_fix", False))
                value = json.dumps(command)  # noqa: PLW2901
        extra.append([name, value])
    sought = "repair" if repair else "regression"
    return with_ends(request) | {"extra": extra, "sought": sought}


def untoward(thresholds: list[dict[str, Any]], sought: str) -> list[dict[str, Any]]:
    """Kept thresholds as they are in a file, of those that a search had turned toward a repair."""
    if sought != "repair":
        return thresholds
    other = {"lower": "higher", "higher": "lower"}
    return [each | {"better": other[each["better"]]} for each in thresholds]


@kept_as("CampaignRequest", with_sought)
@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignRequest:
    """What was asked, complete enough to resume it: kept with the campaign as JSON."""

    #: A `CampaignKind`, or a kind of a plug-in.
    kind: str
    #: Path of the site file; "" where a command is measured.
    site: str
    #: Name of a build_config of the site file.
    tree: str
    #: Full shas of the ends, between which a change is `sought`.
    older: str
    newer: str
    #: None: check all suites first, search on what changed so.
    suite: str | None = None
    #: The metric as `name` or `name@window`; None is the primary one of the suite.
    metric: str | None = None
    seed: int = 0
    #: What only the asking command needs, pairs of name and value: see `model/command.py`.
    extra: tuple[tuple[str, str], ...] = ()
    #: Path or URL of the tree when the campaign was made.
    repo: str = ""
    sought: Sought = Sought.REGRESSION

    @property
    def searches(self) -> bool:
        """A range is searched; else two ends are compared, or one revision is judged."""
        return self.kind not in (CampaignKind.CHECK, CampaignKind.TRY)
