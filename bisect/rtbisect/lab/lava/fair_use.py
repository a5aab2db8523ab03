# SPDX-License-Identifier: GPL-2.0-or-later
"""What a queue says of a job that waits, and when a guest in somebody's lab holds back. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from rtbisect.lab.lava.rest_types import DeviceState, JobState


@dataclass(frozen=True, slots=True)
class FairUse:
    """How we behave in a lab that others use, too."""

    #: From, to: hours of the day (UTC) in which jobs are submitted; twice the same is the whole
    #: day.
    hours: tuple[int, int] = (0, 0)
    #: Jobs of others go first.
    yields: bool = False


def hopeless(device_type: str, devices: Sequence[DeviceState]) -> str:
    """Why no device takes a job of this type, "" when one does or will."""
    if not devices:
        return f"the lab shows no device of type {device_type}"
    reasons = [device.why_not for device in devices]
    return f"no device fits, because {', '.join(reasons)}" if all(reasons) else ""


def standing_of(job: int, queue: Sequence[JobState], devices: Sequence[DeviceState]) -> str:
    """Where a job stands that waits for a device, in one line."""
    ahead = sum(other.job < job for other in queue)
    busy = [f"{device.name} {device.state.lower()}" for device in devices if not device.why_not]
    unusable = [device.why_not for device in devices if device.why_not]
    return f"{ahead} jobs ahead; {', '.join(busy + unusable) or 'no device'}"


def hold_back(
    manners: FairUse, now: datetime, user: str, queue: Sequence[JobState], devices: int
) -> str:
    """Why a guest does not submit a job now, "" when nothing is against it: at most one queued job
    of ours a device, others first, in our hours.
    """
    begin, end = manners.hours
    awake = begin == end or (
        begin <= now.hour < end if begin < end else now.hour >= begin or now.hour < end
    )
    if not awake:
        return f"the lab takes our jobs from {begin:02}:00 to {end:02}:00 UTC"
    ours = sum(job.submitter == user for job in queue)
    if ours >= max(1, devices):
        return f"{ours} jobs of ours wait there already"
    if manners.yields and (others := len(queue) - ours):
        return f"{others} jobs of others wait there"
    return ""
