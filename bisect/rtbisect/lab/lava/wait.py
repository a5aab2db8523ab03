# SPDX-License-Identifier: GPL-2.0-or-later
"""What a lab behind a LAVA server waits for: a place in the queue, a device, the end of a job."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rtbisect.errors import InfrastructureError
from rtbisect.lab import job_definition
from rtbisect.lab.lava import fair_use
from rtbisect.lab.lava.base import LavaLab

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rtbisect.lab.lava.artefacts_http import Desk
    from rtbisect.lab.lava.quarantine import QuarantineEntry
    from rtbisect.lab.lava.rest import LavaRest
    from rtbisect.lab.lava.rest_types import DeviceState, JobState
    from rtbisect.lab.lava.settings import LavaServerSettings
    from rtbisect.model.lab import RunRequest

#: Seconds that LAVA may take beyond the timeouts of a job before we end it.
_OVERTIME_S = 300.0


class Waiting(LavaLab):
    """The waits of `LavaServerLab`. `_done` has the keys of jobs that have told what they will ever
    tell, `_last_reason` the last reason that a person heard.
    """

    settings: LavaServerSettings
    rest: LavaRest
    desk: Desk
    _tell: Callable[[str], None]
    _last_reason: str
    _done: set[str]

    def _timeouts(self, request: RunRequest) -> job_definition.Timeouts:
        return self.settings.timeouts or job_definition.timeouts_of(request)

    def _devices(self, kind: str) -> tuple[DeviceState, ...]:
        """Devices of a type, with what we ourselves have against them."""
        listed = self._listed()
        return tuple(
            replace(device, shunned=listed[device.name].reason) if device.name in listed else device
            for device in self.rest.devices(kind)
        )

    def _listed(self) -> Mapping[str, QuarantineEntry]:
        return self.settings.quarantine.all() if self.settings.quarantine else {}

    def _hold_back(self, request: RunRequest) -> None:
        """Wait until manners allow a job more."""
        begin, user = time.monotonic(), self.rest.whoami()
        kind = request.device_type.name
        while True:
            devices, queue = self._devices(kind), self.rest.queue(kind)
            reason = fair_use.hold_back(
                self.settings.manners, datetime.now(UTC), user, queue, len(devices)
            )
            if not reason:
                return
            self._tell_reason(begin, reason)
            time.sleep(self.settings.pace.called_s)

    def _wait(self, request: RunRequest, key: str, job: int) -> JobState:
        """The job when it has finished."""
        pace, begin = self.settings.pace, time.monotonic()
        deadline: float | None = None
        hopeless: float | None = None
        called = overdue = False
        while True:
            state = self.rest.job(job)
            if state.finished:
                return state
            self._check_device(state, key)
            now = time.monotonic()
            if state.queued:
                hopeless = self._check_queue(request, state, begin, hopeless, key)
            elif deadline is None:
                deadline = now + self._timeouts(request).job_s + _OVERTIME_S
            elif now > deadline:
                self._end_overdue(job, again=overdue)
                deadline, overdue = now + _OVERTIME_S, True
            # After a call the server still has to finish the job.
            listens = self.desk.settings.bind is not None and not called
            called = self.desk.wait(key, pace.called_s if listens else pace.look_s)

    def _give_up(self, job: int, key: str) -> None:
        """Cancel a job that nobody is to take up again."""
        self.rest.cancel(job)
        self._done.add(key)

    def _check_device(self, state: JobState, key: str) -> None:
        """InfrastructureError when a job landed on a device that is quarantined; the job ends."""
        entry = self._listed().get(state.device)
        if entry is None:
            return
        self._give_up(state.job, key)
        raise InfrastructureError(
            f"job {state.job} was given {state.device}, which is quarantined: {entry.reason}",
            f"put {state.device} into maintenance in lab {self.settings.lab}, or release it:"
            " `rtbisect host quarantine`",
        )

    def _check_queue(
        self, request: RunRequest, state: JobState, begin: float, hopeless: float | None, key: str
    ) -> float | None:
        """Tell where the job stands; since when nothing will run it, and InfrastructureError when
        that is too long ago.
        """
        kind, now = request.device_type.name, time.monotonic()
        devices = self._devices(kind)
        reason = fair_use.hopeless(kind, devices)
        since = (hopeless or now) if reason else None
        if since and now - since > self.settings.pace.hopeless_s:
            self._give_up(state.job, key)
            raise InfrastructureError(
                f"lab {self.settings.lab}: {reason}",
                "put a device back into service, then run `rtbisect resume`",
                retryable=False,
            )
        standing = reason or fair_use.standing_of(state.job, self.rest.queue(kind), devices)
        self._tell_reason(begin, f"job {state.job} waits: {standing}")
        return since

    def _tell_reason(self, begin: float, reason: str) -> None:
        """Tell a new reason once; InfrastructureError when we have waited for too long."""
        if reason != self._last_reason:
            self._last_reason = reason
            self._tell(f"lab {self.settings.lab}: {reason}")
        if time.monotonic() - begin > self.settings.pace.queue_s:
            raise InfrastructureError(
                f"lab {self.settings.lab}: {reason}", "run `rtbisect resume` later", retryable=False
            )

    def _end_overdue(self, job: int, *, again: bool) -> None:
        if again:
            raise InfrastructureError(
                f"job {job} of lab {self.settings.lab} does not end, not even cancelled",
                "see to the worker of its device, then run `rtbisect resume`",
                retryable=False,
            )
        self._tell(f"job {job} has outlived its own timeouts; it is cancelled")
        self.rest.cancel(job)
