# SPDX-License-Identifier: GPL-2.0-or-later
"""A report and the facts that it is written from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from rtbisect.errors import InternalError
from rtbisect.model.campaign import (
    MetricKey,
    Result,
    Sample,
    Sought,
    Summary,
    Threshold,
    untoward,
    with_parents,
)
from rtbisect.model.code import CommitGraph, with_ends
from rtbisect.model.formats import kept_as
from rtbisect.model.lab import DeviceType, HostProfile  # noqa: TC001


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
    """Foreign text of one commit, for the mail; never trusted as headers or markup. `fixes`,
    `links` and `signed_off` are what its Fixes:, Link: and Signed-off-by: tags say; `upstream` is
    the mainline commit that a backport names, "" for any other; `release` is the first tag
    of a version that has it, "" where no known one has.
    """

    sha: str
    subject: str
    author: str
    author_email: str
    date: str
    files: tuple[str, ...]
    fixes: tuple[str, ...] = ()
    committer: str = ""
    committer_email: str = ""
    signed_off: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    upstream: str = ""
    release: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What a campaign has proved a commit to repair: the figure without and with it, or what of it
    was judged (`figure`, with its own unit).
    """

    campaign: str
    metric: MetricKey
    without: Sample
    with_it: Sample
    figure: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class HostPart:
    """A host with its boots that tell the judged figure, and what it adds to that figure: a ratio
    where its threshold is on LOG, a difference in its unit on LINEAR. None where nobody can tell:
    no kernel ran on two hosts, or means were compared.
    """

    name: str
    boots: int
    adds: float | None


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


class Host(NamedTuple):
    """On what kernels booted, and how it was set up."""

    device: DeviceType
    profile: HostProfile


@kept_as("ReportInput", _with_parents, _with_sought)
@dataclass(frozen=True, slots=True, kw_only=True)
class ReportInput:
    """Everything a mail may say. Templates print nothing that is not in here.

    `thresholds` give unit and scale of each metric in `result` (without the primary one
    a mail names no ratio); `command` is the command line that repeats the campaign. `sought` is the
    change from `older` to `newer`; `repaired` is what other campaigns know the culprit to repair.
    `device` and `profile` are None where a command was measured. `hosts` are those of the boots
    where there are several; `excerpt` is what the console of a boot said that stood still, of the
    kernel that is accused of that.
    """

    campaign: str
    tree: str
    repo: str
    older: str
    newer: str
    graph: CommitGraph
    result: Result
    summary: Summary
    culprit: CommitText | None
    device: DeviceType | None
    profile: HostProfile | None
    config_name: str
    config_sha256: str
    compiler: str
    release: str
    facts: tuple[tuple[str, str], ...]
    operator: str
    date: str
    message_id: str
    synthetic_workload: bool
    thresholds: tuple[Threshold, ...] = ()
    command: str = ""
    sought: Sought = Sought.REGRESSION
    repaired: tuple[Repaired, ...] = ()
    hosts: tuple[HostPart, ...] = ()
    excerpt: tuple[str, ...] = ()

    @property
    def host(self) -> Host:
        """On what its kernels booted. InternalError for a command, of which nobody is mailed."""
        if self.device is None or self.profile is None:
            raise InternalError(f"{self.campaign} booted nothing")
        return Host(self.device, self.profile)


@kept_as("Report")
@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A rendered report: the mail as bytes in `eml`, held until a person approves. `before` is
    where it stood before its last move.
    """

    campaign: str
    state: ReportState
    message_id: str
    eml: str
    path: str
    bisect_log: str
    story: str
    before: ReportState | None = None

    @property
    def folder(self) -> Path:
        """Where the mail lies, with all that was written beside it."""
        return Path(self.path).parent
