# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign in KCIDB's format (kcidb-io, schema v5.3): revisions, builds, figures with units, and,
where a commit is named, an issue with its incidents.

KCIDB knows one number a test: each figure of a kernel is a test, and its number is the middle of
its boots; range and number of boots stand in `misc`.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from rtbisect.errors import InternalError
from rtbisect.model.campaign import Cause, Level, MetricKey, Outcome, Sample, Sought
from rtbisect.model.result import KernelRole
from rtbisect.process import extras
from rtbisect.report.averages import by_mean, centre_of, threshold_of
from rtbisect.report.text import ascii_line
from rtbisect.words.numbers import stated
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbisect.model.report import ReportInput

VERSION = {"major": 5, "minor": 3}

#: Factors to units of the SI, as dashboards compare them.
_UNITS = {
    "us": (1e-6, "s"),
    "ms": (1e-3, "s"),
    "1/s": (1.0, "Hz"),
    "1/ms": (1e3, "Hz"),
    "us/s": (1e-6, "s/s"),
    "percent": (0.01, ""),
    "1": (1.0, ""),
}
_STATUS = {Level.PASS: "PASS", Level.REGRESSED: "FAIL", Level.UNDECIDED: "DONE"}


def kcidb(report: ReportInput, origin: str) -> dict[str, Any]:
    """The report as one object of KCIDB; `origin` is the name that KCIDB knows us by (a-z0-9_)."""
    if not re.fullmatch(r"[a-z0-9_]{1,64}", origin):
        raise InternalError(f"not an origin of KCIDB: {ascii_line(origin, 60)!r}")
    objects = _KcidbObjects(report, origin)
    # An empty figure is none; the boots of a proof are told rather than those of the ends.
    tests: dict[str, dict[str, Any]] = {}
    for row in _rows(report):
        if test := objects.test(row):
            tests.setdefault(test["id"], test)
    document: dict[str, Any] = {
        "version": VERSION,
        "checkouts": [objects.checkout(sha) for sha in objects.revisions],
        "builds": [objects.build(sha) for sha in objects.revisions],
        "tests": list(tests.values()),
    }
    if issue := objects.issue():
        document["issues"] = [issue]
        document["incidents"] = [
            objects.incident(issue, test)
            for test in tests.values()
            if test["status"] in ("PASS", "FAIL")
        ]
    return document


def kcidb_json(report: ReportInput, origin: str) -> str:
    """That object as text; held against the schema where kcidb-io is installed."""
    document = kcidb(report, origin)
    if extras.KCIDB.installed:
        from kcidb_io import schema  # noqa: PLC0415

        if not schema.LATEST.is_compatible(document) or not schema.LATEST.is_valid(document):
            raise InternalError("what was written for KCIDB is not valid", "this is a bug")
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=True) + "\n"


class _Row(NamedTuple):
    """A figure of a kernel."""

    sha: str
    key: MetricKey
    unit: str
    sample: Sample
    #: PASS, FAIL, or DONE where nobody judges it.
    status: str
    #: The middle of its boots is their mean, else the median.
    mean: bool


def _rows(report: ReportInput) -> Iterator[_Row]:
    """All that was measured of known revisions."""
    result = report.result
    # A repair is the good one of the two, and the newer end is.
    older, newer = report.sought.ends("PASS", "FAIL")
    known = {
        KernelRole.CULPRIT: (result.culprit, newer),
        KernelRole.PARENT: (_parent(report), older),
    }
    for row in result.table:
        sha, verdict = known.get(row.kernel, ("", ""))
        if sha:
            status = verdict if row.metric == result.metric else "DONE"
            yield _Row(sha, row.metric, row.unit, row.sample, status, row.mean)
    for judgement in result.judgements:
        if not judgement.figure:
            limit = threshold_of(report, judgement.key)
            unit, mean = limit.unit if limit else judgement.unit, by_mean(limit)
            old, new = report.sought.ends("PASS", _STATUS[judgement.level])
            yield _Row(report.older, judgement.key, unit, judgement.base, old, mean)
            yield _Row(report.newer, judgement.key, unit, judgement.new, new, mean)


def _parent(report: ReportInput) -> str:
    """The first parent of the culprit, "" where there is none in the graph."""
    return next(iter(report.graph.parents_of(report.result.culprit)), "")


class _KcidbObjects:
    """Makes the objects of one report; their ids follow from what they are about."""

    def __init__(self, report: ReportInput, origin: str) -> None:
        self.report, self.origin = report, origin
        shas = (report.older, report.newer, _parent(report), report.result.culprit or "")
        self.revisions = tuple(
            dict.fromkeys(sha for sha in shas if re.fullmatch("[0-9a-f]{40}", sha))
        )

    def _id(self, *parts: str) -> str:
        words = (self.report.campaign, self.report.message_id, *parts)
        digest = hashlib.sha256("\0".join(words).encode("utf-8", "replace")).hexdigest()
        return f"{self.origin}:{digest[:40]}"

    def checkout(self, sha: str) -> dict[str, Any]:
        return {
            "id": self._id("checkout", sha),
            "origin": self.origin,
            "tree_name": ascii_line(self.report.tree, 60),
            "git_commit_hash": sha,
            "patchset_hash": "",
            "start_time": self.report.date,
            "valid": True,
        }

    def build(self, sha: str) -> dict[str, Any]:
        return {
            "id": self._id("build", sha),
            "checkout_id": self._id("checkout", sha),
            "origin": self.origin,
            "start_time": self.report.date,
            "architecture": "x86_64",
            "compiler": ascii_line(self.report.compiler, 120),
            "config_name": ascii_line(self.report.config_name, 80),
            "status": "PASS",
            "misc": {"config_sha256": ascii_line(self.report.config_sha256, 64)},
        }

    def test(self, row: _Row) -> dict[str, Any] | None:
        values = sorted(value for value in row.sample.values if math.isfinite(value))
        if not values or row.sha not in self.revisions:
            return None
        factor, si = _UNITS.get(row.unit, (1.0, ascii_line(row.unit, 20)))
        middle = centre_of(Sample(tuple(values)), mean=row.mean)
        number: dict[str, Any] = {"value": middle * factor, "prefix": "metric"}
        if si:
            number["unit"] = si
        device, smt = self.report.host.device, self.report.host.smt
        machine = f"{ascii_line(device.name, 60)}{' (emulated)' if device.emulated else ''}"
        return {
            "id": self._id("test", row.sha, str(row.key)),
            "build_id": self._id("build", row.sha),
            "origin": self.origin,
            "path": ".".join(
                re.sub(r"[^A-Za-z0-9_-]", "_", part)
                for part in (row.key.suite, row.key.name, row.key.window)
            ),
            "status": row.status,
            "start_time": self.report.date,
            "number": number,
            "environment": {
                "comment": machine,
                "misc": {"platform": ascii_line(device.name, 60), "smt": smt},
            },
            "misc": {
                "boots": len(values),
                "least": values[0] * factor,
                "most": values[-1] * factor,
                "campaign": ascii_line(self.report.campaign, 60),
            },
        }

    def issue(self) -> dict[str, Any] | None:
        """What is wrong, where a commit is named and the kernel or a workload makes it."""
        result, commit = self.report.result, self.report.culprit
        if result.outcome is not Outcome.CULPRIT or commit is None:
            return None
        if result.cause is Cause.NONE or self.report.sought is Sought.REPAIR:
            return None
        tool = result.cause is Cause.TOOL_INDUCED
        return {
            "id": self._id("issue", commit.sha),
            "version": 1,
            "origin": self.origin,
            "report_subject": ascii_line(f"{commit.subject}: {result.metric}", 160),
            "culprit": {"code": not tool, "tool": tool, "harness": False},
            "comment": f"cause: {result.cause}",
            "misc": {
                "first_bad": commit.sha,
                "confidence": stated(result.confidence),
                "checks": {
                    ascii_line(str(speak(one.name)), 40): one.status for one in result.verifications
                },
                "gates": {gate.name: str(gate.status) for gate in result.gates},
            },
        }

    def incident(self, issue: dict[str, Any], test: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": self._id("incident", issue["id"], test["id"]),
            "origin": self.origin,
            "issue_id": issue["id"],
            "issue_version": issue["version"],
            "test_id": test["id"],
            "present": test["status"] == "FAIL",
        }
