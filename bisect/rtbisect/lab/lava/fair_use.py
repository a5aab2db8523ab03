# SPDX-License-Identifier: GPL-2.0-or-later
"""What a queue says of a job that waits, and when a guest in somebody's lab holds back. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Labs

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


def hopeless(device_type: str, devices: Sequence[DeviceState]) -> Finding | None:
    """Why no device takes a job of this type, None when one does or will."""
    if not devices:
        return Finding.of(Labs.NO_DEVICE, device_type=device_type)
    whys = tuple(why for device in devices if (why := device.why_not))
    return Finding.of(Labs.NONE_FITS, whys=whys) if len(whys) == len(devices) else None


def standing_of(job: int, queue: Sequence[JobState], devices: Sequence[DeviceState]) -> Finding:
    """Where a job stands that waits for a device; those that take jobs first."""
    ahead = sum(other.job < job for other in queue)
    in_service = (
        Finding.of(Labs.IN_SERVICE, device=device.name, state=device.state.lower())
        for device in devices
        if device.why_not is None
    )
    unusable = (why for device in devices if (why := device.why_not))
    return Finding.of(Labs.AHEAD, ahead=ahead, devices=(*in_service, *unusable))


def hold_back(
    manners: FairUse, now: datetime, user: str, queue: Sequence[JobState], devices: int
) -> Finding | None:
    """Why a guest does not submit a job now, None when nothing is against it: at most one queued
    job of ours a device, others first, in our hours.
    """
    begin, end = manners.hours
    awake = begin == end or (
        begin <= now.hour < end if begin < end else now.hour >= begin or now.hour < end
    )
    if not awake:
        return Finding.of(Labs.HOURS, begin=begin, end=end)
    ours = sum(job.submitter == user for job in queue)
    if ours >= max(1, devices):
        return Finding.of(Labs.OURS_WAIT, jobs=ours)
    if manners.yields and (others := len(queue) - ours):
        return Finding.of(Labs.OTHERS_WAIT, jobs=others)
    return None
