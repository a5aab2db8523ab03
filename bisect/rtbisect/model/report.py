# SPDX-License-Identifier: GPL-2.0-or-later
"""A report and the facts that it is written from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from rtbisect.errors import InternalError
from rtbisect.model.campaign import MetricKey, Sample, Sought, Threshold, untoward
from rtbisect.model.code import CommitGraph, with_ends
from rtbisect.model.finding import Finding  # noqa: TC001  (pydantic reads the annotations)
from rtbisect.model.formats import kept_as
from rtbisect.model.lab import DeviceType, HostProfile  # noqa: TC001
from rtbisect.model.old_sentences import figure_of, with_findings, with_parents
from rtbisect.model.result import Result, Summary, with_difference
from rtbisect.model.subject import Measured


class ReportState(StrEnum):
    """Life of a report; nothing leaves the machine before APPROVED."""

    DRAFT = "draft"
    APPROVED = "approved"
    SENT = "sent"
    ANSWERED = "answered"
    RETESTED = "retested"
    FIXED = "fixed"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitText:
    """Foreign text of one commit, for the mail; never trusted as headers or markup."""

    sha: str
    subject: str
    author: str
    author_email: str
    #: ISO 8601, of the author.
    date: str
    files: tuple[str, ...]
    #: What its Fixes: tags say; so below the Signed-off-by: and Link: tags.
    fixes: tuple[str, ...] = ()
    committer: str = ""
    committer_email: str = ""
    signed_off: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    #: Full sha of the mainline commit that a backport names; "" for any other.
    upstream: str = ""
    #: The first tag of a version that has it; "" where no known one has.
    release: str = ""


class Standing(StrEnum):
    """How a stable series stands to a repair: it lacks it if REVERTED, APPLIES or CONFLICTS."""

    #: The series has the repair itself, or a commit that names it as its mainline commit.
    HAS = "has"
    #: It has none of the commits that the Fixes: tags of the repair name.
    UNAFFECTED = "unaffected"
    #: No commit of the series names the repair, and yet it has all that the repair changes.
    ALREADY_THERE = "already_there"
    #: The series had the repair, and has taken it back.
    REVERTED = "reverted"
    APPLIES = "applies"
    CONFLICTS = "conflicts"
    #: Git did not tell in time, or the repair is a merge.
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesState:
    """A stable series and a repair, as the tree had it when the report was drafted."""

    #: linux-X.Y.y, whatever its branch is called in the tree.
    name: str
    #: Full sha of its last commit, the date of that (ISO 8601) and its tag, "" where it has none.
    tip: str
    date: str
    release: str
    standing: Standing
    #: Of HAS and REVERTED, the commit that is the repair there; "" of the others.
    commit: str = ""
    #: Of CONFLICTS, the files that do; some of them where they are many.
    files: tuple[str, ...] = ()
    #: An end of the campaign is a commit of this series: what was measured was seen there.
    tested: bool = False

    @property
    def lacks(self) -> bool:
        return self.standing in (Standing.REVERTED, Standing.APPLIES, Standing.CONFLICTS)


@kept_as("SeriesStates")
@dataclass(frozen=True, slots=True)
class SeriesStates:
    """How the stable series stand to a repair, as a step of the journal keeps it."""

    states: tuple[SeriesState, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What a campaign has proved a commit to repair."""

    campaign: str
    metric: MetricKey
    without: Sample
    with_it: Sample
    #: What of the metric was judged, with its own unit; None for the metric itself.
    figure: Finding | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class HostPart:
    """A host in a comparison over several."""

    name: str
    #: Number of its boots that tell the judged figure.
    boots: int
    #: What it adds to that figure: a ratio (threshold on LOG) or a difference in its unit (LINEAR).
    #: None where nobody can tell: no kernel ran on two hosts, or means were compared.
    adds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierFigure:
    """What an earlier campaign measured of a figure, on a device of the same type and set-up."""

    campaign: str
    #: When that campaign was made: ISO 8601.
    date: str
    #: Full sha.
    revision: str
    sample: Sample


def _with_parents(report: dict[str, Any]) -> dict[str, Any]:
    return report | {"result": with_parents(report["result"])}


def _with_sought(report: dict[str, Any]) -> dict[str, Any]:
    sought = "repair" if report.get("repair") else "regression"
    kept = {name: part for name, part in report.items() if name != "repair"}
    return with_ends(kept) | {
        "graph": with_ends(report["graph"]),
        "sought": sought,
        "thresholds": untoward(report.get("thresholds", []), sought),
    }


def _with_findings(report: dict[str, Any]) -> dict[str, Any]:
    repaired = [
        each | {"figure": figure_of(each.get("figure", ""))} for each in report.get("repaired", ())
    ]
    return report | {"result": with_findings(report["result"]), "repaired": repaired}


def _with_series(report: dict[str, Any]) -> dict[str, Any]:
    return report | {"series": []}


def _with_names(report: dict[str, Any]) -> dict[str, Any]:
    return report | {"names": []}


def _with_measured(report: dict[str, Any]) -> dict[str, Any]:
    # Kernels alone had a device.
    return report | {"measured": "kernel" if report["device"] else "command"}


class HostSetup(NamedTuple):
    """On what kernels booted, and how it was set up."""

    device: DeviceType
    profile: HostProfile

    @property
    def smt(self) -> bool:
        """Whether a core ran more than one thread."""
        return self.device.threads > 1 and self.profile.smt


@kept_as(
    "ReportInput",
    _with_parents,
    _with_sought,
    _with_findings,
    _with_series,
    _with_names,
    _with_measured,
    with_difference,
)
@dataclass(frozen=True, slots=True, kw_only=True)
class ReportInput:
    """Everything a mail may say. Templates print nothing that is not in here."""

    campaign: str
    tree: str
    repo: str
    #: Full shas of the ends; between them is the change that was `sought`.
    older: str
    newer: str
    graph: CommitGraph
    result: Result
    summary: Summary
    #: None where no single commit is named.
    culprit: CommitText | None
    #: None where a command was measured, and so is the profile.
    device: DeviceType | None
    profile: HostProfile | None
    config_name: str
    config_sha256: str
    compiler: str
    release: str
    #: What a boot told of its machine, see `Run.facts`.
    facts: tuple[tuple[str, str], ...]
    #: A person, as `Name <address>`.
    operator: str
    #: ISO 8601, UTC.
    date: str
    message_id: str
    synthetic_workload: bool
    #: Unit and scale of each metric in `result`; without the primary one a mail names no ratio.
    thresholds: tuple[Threshold, ...] = ()
    #: The command line that repeats the campaign.
    command: str = ""
    sought: Sought = Sought.REGRESSION
    #: What other campaigns know the culprit to repair.
    repaired: tuple[Repaired, ...] = ()
    #: The hosts of the boots, where there are several.
    hosts: tuple[HostPart, ...] = ()
    #: What the console of a boot said that stood still, of the kernel that is accused of that.
    excerpt: tuple[str, ...] = ()
    #: Where a repair was found: how the stable series of the tree stand to it, the highest number
    #: first; () where the tree has none, and where nobody looked.
    series: tuple[SeriesState, ...] = ()
    #: Full shas of the ends and of the parents of the culprit, and how `git describe --contains`
    #: calls them; those that no tag of a version has are left out.
    names: tuple[tuple[str, str], ...] = ()
    #: What was built and run.
    measured: Measured = Measured.KERNEL

    @property
    def host(self) -> HostSetup:
        """On what its kernels booted. InternalError for a command, of which nobody is mailed."""
        if self.device is None or self.profile is None:
            raise InternalError(f"{self.campaign} booted nothing")
        return HostSetup(self.device, self.profile)


@kept_as("Report")
@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A rendered report, held until a person approves."""

    campaign: str
    state: ReportState
    message_id: str
    #: The mail; "" where there is none.
    eml: str
    #: Where the mail or the answer lies.
    path: str
    bisect_log: str
    story: str
    #: The state before the last change of `state`.
    before: ReportState | None = None

    @property
    def folder(self) -> Path:
        """Where the mail lies, with all that was written beside it."""
        return Path(self.path).parent
