# SPDX-License-Identifier: GPL-2.0-or-later
"""Does this boot count? From a job that ended to the status of a run and what it measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.lab import console_block
from rtbisect.lab.classify import Verdict, classify
from rtbisect.lab.measurements import Evidence, InvalidBoot, evidence, symptom
from rtbisect.model.lab import RunStatus

if TYPE_CHECKING:
    from rtbisect.lab.job_log import LavaLog
    from rtbisect.model.lab import RunRequest


@dataclass(frozen=True, slots=True, kw_only=True)
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


def verdict_on(request: RunRequest, ended: Ended) -> Verdict:
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
    if ended.starved and verdict.status is not RunStatus.COMPLETE:
        raise InfrastructureError(ended.starved, f"free memory or add some {where}")
    return verdict


def counted(request: RunRequest, ended: Ended, verdict: Verdict) -> tuple[Verdict, Evidence | None]:
    """The verdict with its measurements looked at: a job that ran to its end counts where these are
    whole, and one that hung where a suite measures just that. None where it does not count.
    """
    if verdict.status is RunStatus.COMPLETE:
        try:
            return verdict, evidence(request, ended.log)
        except InvalidBoot as error:
            return Verdict(RunStatus.INVALID, str(error)), None
    if verdict.status is RunStatus.HUNG:
        seen = symptom(request, verdict.signature, ended.log.console)
        if seen:
            return replace(verdict, status=RunStatus.COMPLETE), Evidence(seen, ())
    return verdict, None


def _check_kernel(request: RunRequest, ended: Ended, where: str) -> None:
    """InfrastructureError for a boot of another kernel than the one that was asked for: one that a
    server went on serving, or the firmware took from a disk. Where either of them has no build id,
    nothing can be said.
    """
    told = console_block.build_id(ended.log.console)
    if told and request.build_id and told != request.build_id:
        host = ended.device or "the device"
        raise InfrastructureError(
            f"{host} runs another kernel than the one of {request.revision[:12]}"
            f" (build id {told[:12]}, not {request.build_id[:12]})",
            f"see what TFTP and boot order of {host} start {where}",
        )
