# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs and devices as a LAVA server shows them (lava_rest_app/base/serializers.py), typed."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rtbisect.errors import InfrastructureError
from rtbisect.lab.job_log import CaseResult, text, yaml_value
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Labs
from rtbisect.process.command import printable

#: Characters of the metadata of LAVA's verdict.
_LONGEST_METADATA = 64 * 1024

NOT_LAVA = "is this a LAVA server?"


class NoAnswerError(InfrastructureError):
    """The server did not answer, or a proxy said so for it: nobody knows what it has done."""


class StrangeError(NoAnswerError):
    """Something else than LAVA answered at its address: a page, or a status that LAVA does not
    use. Where there is a server, a proxy before it said so, and that passes.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """A job as its server shows it."""

    #: Id of the job on its server.
    job: int
    #: Name of the job, with our key in it.
    name: str
    #: In LAVA's words: Submitted, Running, Finished, ...; Complete, Incomplete, Canceled, Unknown.
    state: str
    health: str
    device_type: str
    #: Device that the job was given; "" while it waits.
    device: str
    #: User who submitted the job.
    submitter: str
    #: ISO 8601; "" before the job has started or ended.
    start_time: str
    end_time: str

    @property
    def finished(self) -> bool:
        return self.state == "Finished"

    @property
    def cancelled(self) -> bool:
        """Somebody ended it, or it is about to end so."""
        return self.state == "Canceling" or (self.finished and self.health == "Canceled")

    @property
    def queued(self) -> bool:
        return self.state in ("Submitted", "Scheduling", "Scheduled")

    @property
    def seconds(self) -> float | None:
        """How long the job ran on its device: time in the queue is no part of what a boot costs."""
        try:
            times = [datetime.fromisoformat(moment) for moment in (self.start_time, self.end_time)]
            return max(0.0, (times[1] - times[0]).total_seconds())
        except (ValueError, TypeError):
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceState:
    """A device as its server shows it."""

    name: str
    device_type: str
    #: In LAVA's words: Good, Maintenance, ...; Idle, Running, ...
    health: str
    state: str
    #: The dispatcher that it hangs on.
    worker: str
    #: The worker is out of reach.
    offline: bool
    #: Why we do not take its boots for evidence; "" where we do.
    shunned: Finding | str = ""

    @property
    def why_not(self) -> Finding | None:
        """Why it takes no job; None when it does, at once or after the one that it runs."""
        if self.health not in ("Good", "Unknown", "Looping"):
            return Finding.of(Labs.NOT_GOOD, device=self.name, health=self.health.lower())
        if self.offline:
            return Finding.of(Labs.OFFLINE, device=self.name, worker=self.worker)
        if self.shunned:
            return Finding.of(Labs.QUARANTINED, device=self.name, why=self.shunned)
        return None


def job(row: Mapping[str, Any]) -> JobState:
    """A row of jobs/."""
    number = row.get("id")
    if not isinstance(number, int) or isinstance(number, bool):
        raise StrangeError("a job of the server has no id", NOT_LAVA)
    return JobState(
        job=number,
        name=text(row, "description"),
        state=text(row, "state"),
        health=text(row, "health"),
        device_type=text(row, "requested_device_type"),
        device=printable(text(row, "actual_device"), 100),
        submitter=printable(text(row, "submitter"), 100),
        start_time=text(row, "start_time"),
        end_time=text(row, "end_time"),
    )


def device(row: Mapping[str, Any], offline_workers: Collection[str]) -> DeviceState:
    """A row of devices/; `gone` are workers that are offline."""
    return DeviceState(
        name=printable(text(row, "hostname"), 100),
        device_type=text(row, "device_type"),
        health=text(row, "health"),
        state=text(row, "state"),
        worker=printable(text(row, "worker_host"), 100),
        offline=text(row, "worker_host") in offline_workers,
    )


def verdict(row: object) -> CaseResult | None:
    """LAVA's verdict as it stands in the results of a job: its metadata are YAML text."""
    assert isinstance(row, dict)
    metadata_text = str(row.get("metadata") or "")
    if len(metadata_text) > _LONGEST_METADATA:
        return None
    case_metadata = yaml_value(metadata_text)
    if not isinstance(case_metadata, dict) or case_metadata.get("definition") != "lava":
        return None
    words = {name: _scalar(case_metadata.get(name)) for name in ("error_type", "error_msg")}
    return CaseResult(suite="lava", case="job", result=_scalar(row.get("result")), **words)


def _scalar(value: object) -> str:
    """A plain value; lists of aliases of lists are more text than memory holds."""
    return "" if value is None or isinstance(value, (list, dict, set, tuple)) else str(value)


def json_object(data: bytes) -> dict[str, Any]:
    """An answer, which has to be a JSON object."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise StrangeError("an answer is no JSON object", NOT_LAVA)
    return document


def is_object(data: bytes) -> bool:
    """Whether an answer is in the form of LAVA's."""
    try:
        return bool(json_object(data))
    except StrangeError:
        return False


def refusal_text(data: bytes) -> str:
    """What a refusal says: `message` or `detail` of its JSON, else its first words."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return data[:200].decode("utf-8", "replace")
    if isinstance(document, dict):
        for key in ("message", "detail"):
            if key in document:
                return str(document[key])
    return str(document)
