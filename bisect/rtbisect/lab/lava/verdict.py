# SPDX-License-Identifier: GPL-2.0-or-later
"""Does this boot count? From a job that ended to the status of a run and what it measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.lab import console_block
from rtbisect.lab.classify import Verdict, classify
from rtbisect.lab.measurements import BootEvidence, InvalidBoot, evidence, symptom
from rtbisect.model.lab import RunRequest, RunStatus

if TYPE_CHECKING:
    from rtbisect.lab.job_log import LavaLog


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedJob:
    """A job that ended."""

    log: LavaLog
    #: Artefact that keeps the log.
    artefact: str
    #: For a log without a verdict of LAVA, as "lava-run ended with -9".
    how: str
    #: The host that ran it; "" where there is one.
    device: str = ""
    #: Seconds that the job ran on its device; None where that is not known.
    seconds: float | None = None
    #: Processes that its dispatcher lost meanwhile for want of memory: a machine that was one of
    #: them looks like a kernel that reset it.
    oom_kills: int = 0


def verdict_on(request: RunRequest, ended: EndedJob) -> Verdict:
    """How the kernel ended that was asked for; InfrastructureError or ConfigError, with where the
    log is, when the lab or the configuration is to blame.
    """
    where = f"(log: artefact {ended.artefact[:12]})"
    _check_kernel(request, ended, where)
    try:
        emulated = request.device_type.emulated
        verdict = classify(ended.log, ended=ended.how, emulated=emulated)
    except InfrastructureError as error:
        hint = f"{error.hint} {where}"
        raise InfrastructureError(error.message, hint, retryable=error.retryable) from None
    except ConfigError as error:
        raise ConfigError(error.message, f"{error.hint} {where}") from None
    if ended.oom_kills and verdict.status is not RunStatus.COMPLETE:
        raise InfrastructureError(
            f"this host ran out of memory while the job ran ({ended.oom_kills} processes killed)",
            f"free memory or add some {where}",
        )
    return verdict


def with_evidence(
    request: RunRequest, ended: EndedJob, verdict: Verdict
) -> tuple[Verdict, BootEvidence | None]:
    """The verdict with its measurements looked at: a job that ran to its end counts where these are
    whole, and one that hung where a suite measures just that. None where it does not count.
    """
    if verdict.status is RunStatus.COMPLETE:
        try:
            return verdict, evidence(request, ended.log)
        except InvalidBoot as error:
            return Verdict(RunStatus.INVALID, error.found), None
    if verdict.status is RunStatus.HUNG:
        measurements = symptom(request, verdict.symptom, ended.log.console)
        if measurements:
            return replace(verdict, status=RunStatus.COMPLETE), BootEvidence(measurements, ())
    return verdict, None


def _check_kernel(request: RunRequest, ended: EndedJob, where: str) -> None:
    """InfrastructureError for a boot of another kernel than the one that was asked for: one that a
    server went on serving, or the firmware took from a disk. Where either of them has no build id,
    nothing can be said.
    """
    running = console_block.build_id(ended.log.console)
    if running and request.build_id and running != request.build_id:
        host = ended.device or "the device"
        raise InfrastructureError(
            f"{host} runs another kernel than the one of {request.revision[:12]}"
            f" (build id {running[:12]}, not {request.build_id[:12]})",
            f"see what TFTP and boot order of {host} start {where}",
        )
