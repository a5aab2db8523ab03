# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics, thresholds, judgements, observations, outcomes: the words of a campaign."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

from rtbisect.model.code import with_ends
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


class Level(StrEnum):
    """Verdict of a judgement."""

    PASS = "pass"  # noqa: S105  (a verdict, not a password)
    REGRESSED = "regressed"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class MetricKey:
    """Name of a figure: suite, name and the window that it is taken in."""

    suite: str
    name: str
    window: str

    def __str__(self) -> str:
        return f"{self.suite}.{self.name}@{self.window}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """How one metric is judged; the numbers come from `thresholds/<suite>.yaml`.

    `min_effect` is the smallest change that counts: a ratio on LOG (1.5 = 50% worse), a
    difference in `unit` on LINEAR. `limit` is an absolute bound in `unit` for one boot
    summary, None where there is no such bound. `floor` is added before the logarithm,
    so that zero counts stay finite. `role` is primary, guard or shown. `control` names
    the same figure without the workload (None: the metric is not taken under one). A metric of
    the statistic `count` is a rate of events; `exposure` names the figure that says how long they
    were waited for, in seconds of all watched CPUs together (None: equally long in every boot).
    `title` says for a reader what is counted or measured, by what, and over which CPUs.
    """

    key: MetricKey
    unit: str
    better: Better
    scale: Scale
    statistic: str
    min_effect: float
    limit: float | None
    floor: float
    role: str
    control: MetricKey | None
    reason: str
    exposure: MetricKey | None = None
    title: str = ""

    def toward(self, sought: Sought) -> Threshold:
        """As a search judges, to which the sought change is the worse. In a repair that is what is
        better; limits are no question there.
        """
        if sought is Sought.REGRESSION:
            return self
        turned = Better.HIGHER if self.better is Better.LOWER else Better.LOWER
        return replace(self, better=turned, limit=None)


@dataclass(frozen=True, slots=True)
class Sample:
    """The boot summaries of one side, in `unit` of the metric; one value a boot. `hosts` are the
    hosts of the boots, empty where that is not known or is one.
    """

    values: tuple[float, ...]
    hosts: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        return len(self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """pass, regressed or undecided, with the numbers that say so.

    `effect` is new/base on LOG, new-base on LINEAR (medians over boots); the interval
    is a bootstrap over boots; `p` is an exact or sampled permutation p value. Where not the figure
    itself was judged `figure` says what of it, `unit` is that of all numbers here, and `mean` says
    that means were compared and no medians.
    """

    key: MetricKey
    level: Level
    base: Sample
    new: Sample
    effect: float
    interval: tuple[float, float]
    p: float
    reason: str
    figure: str = ""
    unit: str = ""
    mean: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One boot as the search sees it: `value` is the boot summary of the searched metric
    (unit of the metric, not yet transformed); `per_cpu` the same figure per watched CPU;
    `exposure` is by what a rate has to be multiplied to be a number of events; `host` is the host
    of the boot where there are several.
    """

    revision: str
    run_id: str
    value: float
    per_cpu: tuple[float, ...] = ()
    exposure: float = 1.0
    host: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """A row of the factor table: one kernel under one level of the workload (or of the tool). With
    `mean` boots are compared by their mean, else by their median.
    """

    kernel: str
    window: str
    workload: str
    metric: MetricKey
    unit: str
    sample: Sample
    mean: bool = False


@dataclass(frozen=True, slots=True)
class TestedRevision:
    """What the search knows of a tested revision at the end.

    `boots` are valid boots of its kernel, fresh ones of the verification too.
    `probability_bad` is the posterior probability that it shows the bad behaviour.
    """

    sha: str
    subject: str
    boots: int
    probability_bad: float
    skipped: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """One check after the search: parents, revert, ... `recovery` is its shift as a share of that
    of the ends; `short` says that it is less than all of it, by more than luck. `parent` is the one
    that the culprit is compared with, by 12 digits; "" for any other check.
    """

    name: str
    status: str
    judgement: Judgement | None
    note: str = ""
    recovery: float | None = None
    short: bool = False
    parent: str = ""


class GateStatus(StrEnum):
    """How a trust gate ended; ABSENT: there was nothing that it could look at."""

    PASS = "pass"  # noqa: S105  (a status, not a password)
    FAIL = "fail"
    ABSENT = "n/a"


@dataclass(frozen=True, slots=True)
class Gate:
    """One trust gate of docs/trust.md: `name` begins with its number there."""

    name: str
    status: GateStatus
    reason: str

    @property
    def ok(self) -> bool:
        return self.status is not GateStatus.FAIL


@dataclass(frozen=True, slots=True)
class Origin:
    """One source of a change: its mean on the parent and on the culprit, a second and on all
    watched CPUs together, and its share of the change (0 to 1).
    """

    kind: str
    name: str
    parent: float
    culprit: float
    share: float


@kept_as("Summary")
@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Counts derived from the journal; the same numbers everywhere."""

    builds: int
    boots: int
    skipped: int
    wall_s: float
    build_s: float
    boot_s: float


def with_parents(result: dict[str, Any]) -> dict[str, Any]:
    """A kept result of version 1, where only the name of a check told its parent."""
    checks = [
        check | {"parent": check["name"].partition("culprit vs parent ")[2]}
        for check in result.get("verifications", ())
    ]
    return result | {"verifications": checks}


@kept_as("Result", with_parents)
@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The answer of a campaign."""

    outcome: Outcome
    cause: Cause
    culprit: str | None
    candidates: tuple[tuple[str, float], ...]
    confidence: float
    metric: MetricKey | None
    judgement: Judgement | None
    tested: tuple[TestedRevision, ...] = ()
    verifications: tuple[Verification, ...] = ()
    table: tuple[TableRow, ...] = ()
    reasons: tuple[str, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    gates: tuple[Gate, ...] = ()
    origins: tuple[Origin, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Budget and decision limits of a campaign, from the site file. The budget of boots is for all
    of it, the proof as well; that of builds is for its searches.

    A change of less than `layout_below` (a share of the good level) is also measured in kernels
    with another code layout. With `without_rt_boots` a culprit and its parent are also compared in
    kernels without PREEMPT_RT, each with so many boots.
    """

    confidence: float = 0.95
    calibrate_min: int = 6
    calibrate_max: int = 10
    max_boots: int = 80
    max_builds: int = 60
    verify_boots: int = 6
    revert_boots: int = 3
    layout_below: float = 0.2
    without_rt_boots: int = 0

    @property
    def proof_boots(self) -> int:
        """What a proof takes at least: culprit and parent, and the first look at tip and revert."""
        return 2 * (self.verify_boots + self.revert_boots)

    @property
    def kept_boots(self) -> int:
        """What a search leaves for the proof, as far as the budget covers the first look."""
        return max(0, min(self.proof_boots, self.max_boots - 2 * self.calibrate_min))


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
    """What was asked, complete enough to resume it: kept with the campaign as JSON.

    `site` is the path of the site file, `tree` a build_config of it. `older` and `newer` are the
    full shas of the ends, between which a change is `sought`. `suite` None means: check all suites
    first, search on what changed so.
    `extra` holds what only the asking command needs (the demo's seed). `repo` is the path or
    URL of the tree when the campaign was made.
    """

    kind: str
    site: str
    tree: str
    older: str
    newer: str
    suite: str | None = None
    metric: str | None = None
    seed: int = 0
    extra: tuple[tuple[str, str], ...] = ()
    repo: str = ""
    sought: Sought = Sought.REGRESSION
