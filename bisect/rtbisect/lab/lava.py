# SPDX-License-Identifier: GPL-2.0-or-later
"""A boot through LAVA, whatever runs its jobs: tried again where the lab failed, classified by one
set of rules, measured from one form of log.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.lab.classify import Verdict, classify
from rtbisect.lab.evidence import Evidence, InvalidBoot, evidence, symptom
from rtbisect.model.lab import Run, RunStatus

if TYPE_CHECKING:
    from rtbisect.lab.lavalog import LavaLog
    from rtbisect.model.lab import DeviceType, RunRequest
    from rtbisect.ports import Note


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a fault of the lab is tried again, and seconds before each try."""

    retries: int = 2
    pause_s: float = 2.0


@dataclass(frozen=True, slots=True)
class Ended:
    """A job that ended: its log, the artefact that keeps it, and how it ended, for a log without a
    verdict of LAVA. `device` is the host that ran it, for `seconds` where that is known.
    `starved` says what the dispatcher lacked meanwhile: a machine that was killed for it looks like
    a kernel that reset it.
    """

    log: LavaLog
    artefact: str
    how: str
    device: str = ""
    seconds: float | None = None
    starved: str = ""


class LavaLab(ABC):
    """`ports.Lab` over the jobs of one LAVA; how a job is run is left to the roads."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience

    @abstractmethod
    def _job(self, request: RunRequest, note: Note) -> Ended:
        """Run one job to its end."""

    @abstractmethod
    def width(self, device_type: DeviceType) -> int:
        """Boots that can run at a time."""

    @abstractmethod
    def _facts(self) -> tuple[tuple[str, str], ...]:
        """How the guest was run, beside what it told itself."""

    def _tell_of(self, device: str, fault: str) -> None:  # noqa: B027  (a road with one device has no choice)
        """A job on a device ended by a fault of the lab, or ("") by none."""

    def run(self, request: RunRequest, note: Note) -> Run:
        """One boot. Faults of the lab are tried again, then raised."""
        begin, load = time.monotonic(), os.getloadavg()[0]
        ended, verdict = self._believed(request, note)
        measured = None
        if verdict.status is RunStatus.COMPLETE:
            try:
                measured = evidence(request, ended.log)
            except InvalidBoot as error:
                verdict = Verdict(RunStatus.INVALID, error.reason)
        elif verdict.status is RunStatus.HUNG and (
            seen := symptom(request, verdict.signature, ended.log.console)
        ):
            measured = Evidence(seen, ())
            verdict = replace(verdict, status=RunStatus.COMPLETE)
        return Run(
            run_id=request.run_id,
            revision=request.revision,
            status=verdict.status,
            reason=verdict.reason,
            measurements=measured.measurements if measured else (),
            facts=(*measured.facts, *self._facts()) if measured else (),
            window_order=tuple(window.name for window in request.windows),
            log=ended.artefact,
            seconds=round(time.monotonic() - begin if ended.seconds is None else ended.seconds, 3),
            host_load=round(load, 2),
            signature=verdict.signature,
            sources=measured.sources if measured else (),
            device=ended.device,
        )

    def _believed(self, request: RunRequest, note: Note) -> tuple[Ended, Verdict]:
        """A job and its verdict. An ambiguous verdict is believed when it comes twice."""
        doubted = False
        faults = 0
        while True:
            device = ""
            try:
                ended = self._job(request, note)
                device = ended.device
                verdict = _verdict(ended, emulated=request.device_type.emulated)
            except InfrastructureError as error:
                self._tell_of(device, error.message)
                faults += 1
                if not error.retryable or faults > self._patience.retries:
                    raise
                time.sleep(self._patience.pause_s)
                continue
            self._tell_of(device, "")
            if not verdict.ambiguous or doubted:
                return ended, verdict
            doubted = True


def _verdict(ended: Ended, *, emulated: bool) -> Verdict:
    where = f"(log: artefact {ended.artefact[:12]})"
    try:
        verdict = classify(ended.log, ended=ended.how, emulated=emulated)
    except InfrastructureError as error:
        hint = f"{error.hint} {where}"
        raise InfrastructureError(error.message, hint, retryable=error.retryable) from None
    except ConfigError as error:
        raise ConfigError(error.message, f"{error.hint} {where}") from None
    if ended.starved and verdict.status is not RunStatus.COMPLETE:
        raise InfrastructureError(ended.starved, f"free memory or add some {where}")
    return verdict
