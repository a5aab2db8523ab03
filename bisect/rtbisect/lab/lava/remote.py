# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab behind a LAVA server, ours or somebody else's: submit, wait, read.

Each job has a key of its own in its name, and the key is noted before the job is submitted. So a
job is never submitted twice for want of an answer, and one that outlived us is taken up again.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import quote

from rtbisect.errors import ConfigError, InfrastructureError, RtbisectError
from rtbisect.lab import job_definition
from rtbisect.lab.lava import fair_use, rest_types
from rtbisect.lab.lava.base import LavaLab, LavaSettings
from rtbisect.lab.lava.fair_use import FairUse
from rtbisect.lab.lava.rest import GoneError, LavaRest
from rtbisect.lab.lava.rest_types import DeviceState, JobState, NoAnswerError
from rtbisect.lab.lava.under_way import BootNote, JobUnderWay, UnderWay
from rtbisect.lab.lava.verdict import EndedJob
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Labs
from rtbisect.process import locks
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from rtbisect.lab.job_log import LavaLog
    from rtbisect.lab.lava.artefacts_http import Desk
    from rtbisect.lab.lava.quarantine import Quarantine, QuarantineEntry
    from rtbisect.model.lab import DeviceType, Run, RunRequest
    from rtbisect.model.ports import Note
    from rtbisect.store.artefacts import ArtefactStore

#: What a step notes: this, the key, and the id as soon as it is known.
_NOTE = "lava"

#: Seconds that a job on this machine has to end after it was cancelled.
_ENDS_S = 60.0

#: Faults of the lab on one device, without a job that ended well between them.
_MOST_FAULTS = 3

#: Tries to submit a job that a server neither takes nor refuses.
_MOST_TRIES = 5

#: Seconds that LAVA may take beyond the timeouts of a job before we end it.
_OVERTIME_S = 300.0


@dataclass(frozen=True, slots=True)
class PollIntervals:
    """Seconds."""

    #: Between looks at a job; the second where the server calls when one ends.
    look_s: float = 2.0
    called_s: float = 30.0
    #: Until a request without an answer shows in the queue.
    settle_s: float = 5.0
    #: Until a queue without a device is left, and until any queue is.
    hopeless_s: float = 120.0
    queue_s: float = 24 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LavaServerSettings(LavaSettings):
    """A lab behind a LAVA server."""

    #: Name of the lab in the site file.
    lab: str
    #: Priority of the jobs, and who reads them; see `job_definition.Job`, also for `tags`.
    priority: str = "medium"
    visibility: str | tuple[str, ...] = "personal"
    tags: tuple[str, ...] = ()
    manners: FairUse = FairUse()  # noqa: RUF009  (frozen)
    #: Lock on this machine; None where the devices are elsewhere.
    machine_lock: Path | None = None
    pace: PollIntervals = PollIntervals()
    #: Boots of devices on it are no evidence; one whose jobs end by faults of the lab again and
    #: again is put there.
    quarantine: Quarantine | None = None
    #: What is wrong with a device as its BMC tells; None when nothing is or nobody can tell.
    examine: Callable[[str], Finding | None] = lambda _device: None


class LavaServerLab(LavaLab):
    """`ports.Lab` over a LAVA server."""

    settings: LavaServerSettings

    def __init__(
        self,
        settings: LavaServerSettings,
        rest: LavaRest,
        desk: Desk,
        artefacts: ArtefactStore,
        tell: Callable[[str], None] = lambda _line: None,
    ) -> None:
        super().__init__(artefacts)
        self.settings = settings
        self.rest, self.desk = rest, desk
        self._tell = tell
        folder = settings.work_dir / "under-way" / quote(settings.lab, safe="")
        self._under_way = UnderWay(folder)
        #: Keys of jobs that have told what they will ever tell.
        self._done: set[str] = set()
        #: Jobs that we cancelled because they outlived their timeouts.
        self._overdue: set[int] = set()
        #: The last one that a person heard.
        self._last_reason: Finding | None = None
        self._faults: dict[str, int] = {}

    def run(self, request: RunRequest, note: Note) -> Run:
        """As every lab does. A job that a try leaves behind is taken up by the next one."""
        return super().run(request, BootNote(note))

    def width(self, device_type: DeviceType) -> int:
        """Devices that take jobs; one where they share this machine."""
        if self.settings.machine_lock is not None:
            return 1
        return max(1, sum(not device.why_not for device in self._devices(device_type.name)))

    def leave(self) -> None:
        """Nobody fetches an artefact of the campaign any more."""
        self.desk.close()

    def _facts(self) -> tuple[tuple[str, str], ...]:
        return (("lab", self.settings.lab),)

    def preflight(self, request: RunRequest) -> None:
        """Ask for the user and let the server validate the job of `request`, with a file that
        stands in for a kernel; ConfigError with a hint. Nothing is submitted. A device whose BMC
        tells of a fault is quarantined.
        """
        self.rest.whoami()
        for device in self._devices(request.device_type.name):
            if not device.why_not and (fault := self.settings.examine(device.name)):
                self._quarantine(device.name, Finding.of(Labs.FOUND_BEFORE, why=fault))
        try:
            self.rest.validate(self._job_text(self._with_stand_in(request), "0" * 16))
        finally:
            # Whoever boots next listens there.
            self.desk.close()

    def _job(self, request: RunRequest, note: Note) -> EndedJob:
        with self._alone():
            key, job = self._leftover(note.left)
            self._end_leftovers(but=key)
            with self._entry(key, kept=note.lasts) as entry:
                try:
                    state = self._finished_job(request, note, key, job)
                except BaseException:
                    self._let_go(entry, key)
                    raise
                if entry is not None:
                    entry.over()
        ended = self._read_finished(state)
        self._done.add(key)
        return ended

    def _finished_job(self, request: RunRequest, note: Note, key: str, job: int | None) -> JobState:
        """The job `key` when it has finished; submitted first, unless it has a number."""
        text = self._job_text(request, key)
        if job is None:
            self._hold_back(request)
            note(f"{_NOTE}:{key}")
            job = self._submit(key, text)
        note(f"{_NOTE}:{key}:{job}")
        state = self._wait(request, key, job)
        # A request that seemed lost may have arrived after we looked.
        for twin in self.rest.find(key):
            if twin.job != job and not twin.finished:
                self.rest.cancel(twin.job)
        return state

    def _read_finished(self, state: JobState) -> EndedJob:
        """What a job that has finished tells."""
        job = state.job
        artefact, log = self._keep_log(self.rest.log(job))
        how = f"job {job} of lab {self.settings.lab} ended as {state.health}"
        if state.cancelled and job in self._overdue:
            # LAVA's last word tells of our own doing: that there should have been another one is
            # the fault of the lab on this device, unless its console never fell silent.
            log = replace(log, job=None)
            how = f"job {job} of lab {self.settings.lab} did not end within its timeouts"
        elif state.cancelled:
            raise InfrastructureError(
                f"job {job} of lab {self.settings.lab} was cancelled there",
                f"ask why, then run `rtbisect resume` (log: artefact {artefact[:12]})",
                retryable=False,
            )
        else:
            log = self._with_verdict(log, job)
        return EndedJob(
            log=log,
            artefact=artefact,
            how=how,
            device=state.device,
            seconds=state.seconds,
        )

    def _alone(self) -> AbstractContextManager[object]:
        """Where the devices are on this machine, nothing else measures or builds meanwhile."""
        lock = self.settings.machine_lock
        if lock is None:
            return nullcontext()
        return locks.hold(lock, wait_s=self.settings.lock_wait_s, what="this machine", shared=True)

    def _leftover(self, noted: str) -> tuple[str, int | None]:
        """Key and id of the job that a try or a session before this one left; a new key when none
        is, or when that job was cancelled: it will never tell anything.
        """
        mark, _, rest = noted.partition(":")
        key, _, number = rest.partition(":")
        if mark != _NOTE or not key or key in self._done:
            return job_definition.new_key(), None
        try:
            jobs = (self.rest.job(int(number)),) if number.isdecimal() else self.rest.find(key)
        except GoneError:
            jobs = ()
        # A server that lost its database counts from one again.
        jobs = tuple(state for state in jobs if key in state.name)
        if not jobs:
            # Without a number it was perhaps never submitted: then the key is still good.
            return (job_definition.new_key(), None) if number else (key, None)
        return (job_definition.new_key(), None) if jobs[0].cancelled else (key, jobs[0].job)

    def _entry(self, key: str, *, kept: bool) -> AbstractContextManager[JobUnderWay | None]:
        """The entry of a job, held; None where it may outlive us: it disturbs nobody, and `resume`
        takes it up again.
        """
        if kept and self.settings.machine_lock is None:
            return nullcontext()
        return self._under_way.hold(key, kept=kept, wait_s=self.settings.lock_wait_s)

    def _end_leftovers(self, but: str) -> None:
        """End jobs that nobody waits for any more, before one is asked for; without `but`."""
        for entry in self._under_way.left():
            if entry.key == but:
                continue
            self._tell(f"a job of a session that was ended is cancelled ({entry.key})")
            if not self._cancel(self.rest, entry.key):
                raise InfrastructureError(
                    f"job {entry.key} of lab {self.settings.lab} was cancelled and does not end",
                    "see to the worker of its device, then try again",
                )
            entry.over()

    def _let_go(self, entry: JobUnderWay | None, key: str) -> None:
        """Something ended the wait for a job. One that would go on without anybody who takes it up,
        or beside what this machine does next, is ended; if that fails, who boots next does it.
        """
        if entry is None:
            return
        with suppress(RtbisectError):
            if self._cancel(self.rest.hasty(), key):
                self._done.add(key)
                entry.over()

    def _cancel(self, rest: LavaRest, key: str) -> bool:
        """Cancel the jobs with this key; False where they have to end, too, and do not."""
        for job in rest.find(key):
            if not job.finished:
                rest.cancel(job.job)
        if self.settings.machine_lock is None:
            return True
        until = time.monotonic() + _ENDS_S
        while any(not job.finished for job in rest.find(key)):
            if time.monotonic() > until:
                return False
            time.sleep(self.settings.pace.look_s)
        return True

    def _job_text(self, request: RunRequest, key: str) -> str:
        """The job; from now on its artefacts are served."""
        settings = self.settings
        job = replace(
            self._job_of(request, key, self.desk.offer),
            priority=settings.priority,
            visibility=settings.visibility,
            callback=self.desk.expect(key),
            tags=settings.tags,
        )
        return job_definition.render_job(settings.lava_jobs, job)

    def _count_fault(self, device: str, error: InfrastructureError | None) -> None:
        if not device:
            return
        if error is None:
            self._faults[device] = 0
            return
        self._faults[device] = self._faults.get(device, 0) + 1
        if self._faults[device] == _MOST_FAULTS:
            reason = Finding.of(Labs.FAULTS, faults=_MOST_FAULTS, error=error.message)
            self._quarantine(device, reason)

    def _device_fault(self, device: str) -> Finding | None:
        try:
            return self.settings.examine(device)
        except ConfigError as error:
            return Finding.of(Labs.NO_BMC, error=error.message)

    def _quarantine(self, device: str, reason: Finding) -> None:
        if self.settings.quarantine is not None:
            self.settings.quarantine.put(device, reason, datetime.now(UTC))
            self._tell(f"{device} is quarantined: {speak(reason)}; see `rtbisect host list`")

    def _submit(self, key: str, text: str) -> int:
        """The id of the job with this key, which there is once, whatever the server answers."""
        for _try in range(_MOST_TRIES):
            try:
                return self.rest.submit(text)
            except NoAnswerError as error:
                reason = error.message
                self._tell(f"{reason}; looking whether the job arrived")
            time.sleep(self.settings.pace.settle_s)
            if jobs := self.rest.find(key):
                return jobs[0].job
        raise InfrastructureError(
            f"lab {self.settings.lab} takes no job: {reason}",
            "see to the server, then run `rtbisect resume`",
            retryable=False,
        )

    def _with_verdict(self, log: LavaLog, job: int) -> LavaLog:
        """The log with LAVA's verdict on the job, also where that is in the results only."""
        if log.job is not None:
            return log
        for row in self.rest.cases(job):
            if str(row.get("name")) == "job" and (verdict := rest_types.verdict(row)) is not None:
                return replace(log, job=verdict)
        return log

    # --- what it waits for: a place in the queue, a device, the end of a job ---

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
            if reason is None:
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
            self._check_device(state, key)
            if state.finished:
                return state
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
        """InfrastructureError when a job landed on a device that is quarantined by now; the job
        ends, and one that has finished there is no evidence either.
        """
        entry = self._listed().get(state.device)
        if entry is None:
            return
        if state.finished:
            self._done.add(key)
        else:
            self._give_up(state.job, key)
        raise InfrastructureError(
            f"job {state.job} was given {state.device}, which is quarantined: {entry.told}",
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
        since = None if reason is None else hopeless or now
        if reason and since and now - since > self.settings.pace.hopeless_s:
            self._give_up(state.job, key)
            raise InfrastructureError(
                f"lab {self.settings.lab}: {speak(reason)}",
                "put a device back into service, then run `rtbisect resume`",
                retryable=False,
            )
        standing = reason or fair_use.standing_of(state.job, self.rest.queue(kind), devices)
        self._tell_reason(begin, Finding.of(Labs.WAITS, job=state.job, why=standing))
        return since

    def _tell_reason(self, begin: float, reason: Finding) -> None:
        """Tell a new reason once; InfrastructureError when we have waited for too long."""
        if reason != self._last_reason:
            self._last_reason = reason
            self._tell(f"lab {self.settings.lab}: {speak(reason)}")
        if time.monotonic() - begin > self.settings.pace.queue_s:
            raise InfrastructureError(
                f"lab {self.settings.lab}: {speak(reason)}",
                "run `rtbisect resume` later",
                retryable=False,
            )

    def _end_overdue(self, job: int, *, again: bool) -> None:
        if again:
            raise InfrastructureError(
                f"job {job} of lab {self.settings.lab} does not end, not even cancelled",
                "see to the worker of its device, then run `rtbisect resume`",
                retryable=False,
            )
        self._tell(f"job {job} has outlived its own timeouts; it is cancelled")
        self._overdue.add(job)
        self.rest.cancel(job)
