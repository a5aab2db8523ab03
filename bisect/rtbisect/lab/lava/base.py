# SPDX-License-Identifier: GPL-2.0-or-later
"""A boot through LAVA, whatever runs its jobs: tried again where the lab failed, classified by one
set of rules, measured from one form of log.
"""

from __future__ import annotations

import gzip
import os
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.lab import initramfs, job_definition, job_log
from rtbisect.lab.classify import Verdict, excerpt
from rtbisect.lab.lava.verdict import EndedJob, verdict_on, with_evidence
from rtbisect.model.lab import DeviceType, Run, RunRequest, RunStatus
from rtbisect.model.ports import NoNote, Note
from rtbisect.process import command
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbisect.lab.job_log import LavaLog
    from rtbisect.lab.lava.known_good import KnownGood
    from rtbisect.model.finding import Finding
    from rtbisect.store.artefacts import ArtefactStore


@dataclass(frozen=True, slots=True)
class Patience:
    """What is done about a fault of the lab."""

    #: Tries after the first one, and seconds before each.
    retries: int = 2
    pause_s: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LavaSettings:
    """What a lab is told, whatever runs its jobs."""

    #: Folder of jobs and ramdisks.
    work_dir: Path
    lava_jobs: Path
    #: A statically linked busybox.
    busybox: Path = Path("/bin/busybox")
    #: The site's own program.
    workload: Path | None = None
    #: None: they follow from what a boot is asked to measure.
    timeouts: job_definition.Timeouts | None = None
    #: Seconds to wait for the lock on this machine.
    lock_wait_s: float = 900.0
    patience: Patience = Patience()
    known_good: KnownGood | None = None


#: Bytes of the header of a kernel image, up to the end of what is read; "HdrS" stands at 0x202.
_HEADER = 0x206
_MAGIC = b"HdrS"
#: Units: of the part in real mode, and of `syssize`, which is rounded up.
_SECTOR, _PARAGRAPH = 512, 16

#: Jobs of a known-good kernel until one lands on the device that it has to answer for.
_MOST_ANSWERS = 3
#: Silent jobs on one device, for which no such kernel answers, until the campaign pauses.
_MOST_SILENT = 3


class LavaLab(ABC):
    """`ports.Lab` over the jobs of one LAVA; how a job is run is left to the roads."""

    settings: LavaSettings

    def __init__(self, artefacts: ArtefactStore) -> None:
        self.artefacts = artefacts
        #: Kernels whose silence was found to be their own, with the way in which they end.
        self._blamed: set[tuple[str, str]] = set()

    @abstractmethod
    def _job(self, request: RunRequest, note: Note) -> EndedJob:
        """Run one job to its end."""

    @abstractmethod
    def width(self, device_type: DeviceType) -> int:
        """Boots that can run at a time."""

    def leave(self) -> None:  # noqa: B027  (a road on this machine serves nothing)
        """A campaign has ended: nobody fetches anything of it any more."""

    @abstractmethod
    def _facts(self) -> tuple[tuple[str, str], ...]:
        """How the guest was run, beside what it told itself."""

    def _count_fault(self, device: str, error: InfrastructureError | None) -> None:  # noqa: B027  (a road with one device has no choice)
        """A job on a device ended by a fault of the lab, or (None) by none."""

    def _device_fault(self, device: str) -> Finding | None:  # noqa: ARG002  (a road may know)
        """What is wrong with a device as far as something else than LAVA tells."""
        return None

    def _timeouts(self, request: RunRequest) -> job_definition.Timeouts:
        return self.settings.timeouts or job_definition.timeouts_of(request)

    def _job_of(
        self, request: RunRequest, key: str, offer: Callable[[str, str], job_definition.Resource]
    ) -> job_definition.Job:
        """The job of a boot; `offer` puts an artefact (sha256, name) where LAVA fetches it."""
        settings = self.settings
        parts = initramfs.Inputs(settings.lava_jobs, settings.busybox, workload=settings.workload)
        ramdisk = initramfs.of_request(
            request, parts, self.artefacts, settings.work_dir / "initramfs"
        )
        return job_definition.Job(
            request=request,
            key=key,
            kernel=offer(request.kernel, "kernel"),
            ramdisk=offer(ramdisk, "ramdisk.cpio.gz"),
            modules=offer(request.modules, "modules.tar.gz") if request.modules else None,
            timeouts=self._timeouts(request),
        )

    def _keep_log(self, data: bytes) -> tuple[str, LavaLog]:
        """Name of the artefact that keeps the log of a job, and what it says."""
        artefact = self.artefacts.put_bytes(gzip.compress(data, mtime=0))
        return artefact, job_log.parse(command.decode(data))

    def _with_stand_in(self, request: RunRequest) -> RunRequest:
        """A request that is only validated, with a file in the place of its kernel."""
        stand_in = self.artefacts.put_bytes(b"stands in for a kernel\n")
        return replace(request, kernel=stand_in, modules="")

    def run(self, request: RunRequest, note: Note) -> Run:
        """One boot. Faults of the lab are tried again, then raised."""
        begin, load = time.monotonic(), os.getloadavg()[0]
        self._check_image_complete(request)
        ended, verdict = self._job_with_verdict(request, note)
        verdict, measured = with_evidence(request, ended, verdict)
        return Run(
            run_id=request.run_id,
            revision=request.revision,
            status=verdict.status,
            reason=verdict.reason,
            measurements=measured.measurements if measured else (),
            facts=(*measured.facts, *self._facts()) if measured else (),
            window_order=tuple(window.name for window in request.windows),
            window_s=measured.window_s if measured else (),
            log=ended.artefact,
            seconds=round(time.monotonic() - begin if ended.seconds is None else ended.seconds, 3),
            host_load=round(load, 2),
            signature=verdict.signature,
            excerpt=excerpt(ended.log.console) if verdict.signature else (),
            sources=measured.sources if measured else (),
            device=ended.device,
        )

    def _check_image_complete(self, request: RunRequest) -> None:
        """ConfigError for a kernel image that was cut off: it would look like a broken kernel."""
        if lacks := missing_bytes(self.artefacts.path(request.kernel)):
            raise ConfigError(
                f"the kernel image {request.kernel[:12]} of {request.revision[:12]} is cut off:"
                f" {lacks} bytes are missing",
                "free disk space and build it again",
            )

    def _job_with_verdict(self, request: RunRequest, note: Note) -> tuple[EndedJob, Verdict]:
        """A job and its verdict. An end without a word is believed when it comes twice, and a
        kernel that is known to boot does not end so on that device.
        """
        silent: list[str] = []
        faults = 0
        while True:
            device = ""
            try:
                ended = self._job(request, note)
                device = ended.device
                verdict = verdict_on(request, ended)
                if verdict.ambiguous:
                    silent.append(device)
                    if not self._silence_is_kernels(request, verdict, silent):
                        continue
            except InfrastructureError as error:
                fault = self._with_device_fault(error, device)
                self._count_fault(device, fault)
                faults += 1
                if not fault.retryable or faults > self.settings.patience.retries:
                    raise fault from error
                time.sleep(self.settings.patience.pause_s)
                continue
            self._count_fault(device, None)
            if verdict.status is RunStatus.COMPLETE and self.settings.known_good:
                self.settings.known_good.put(request)
            return ended, verdict

    def _silence_is_kernels(self, request: RunRequest, verdict: Verdict, silent: list[str]) -> bool:
        """Whether ending without a word is the kernel's own doing, after it did so on the devices
        `silent`; False asks for another try, InfrastructureError says that it is the lab's.
        """
        blamed = (request.kernel, verdict.signature)
        if blamed in self._blamed:
            return True
        if len(silent) < 2:
            return False
        if not self._known_good_answers(request, verdict, silent) and len(set(silent)) == 1:
            # The kernel and the device were never seen apart.
            if len(silent) < _MOST_SILENT:
                return False
            assert verdict.reason is not None  # it is not COMPLETE
            raise InfrastructureError(
                f"{speak(verdict.reason)}, {len(silent)} times on {silent[0]}; a kernel that booted"
                " before was given other devices, so it may be the kernel or the device",
                f"see to power, console and network of {silent[0]}",
                retryable=False,
            )
        self._blamed.add(blamed)
        return True

    def _known_good_answers(self, request: RunRequest, verdict: Verdict, silent: list[str]) -> bool:
        """Boot a kernel that is known to boot, if there is one: False where it was given none of
        the devices `silent`. InfrastructureError when it fails, too.
        """
        known_good = self.settings.known_good
        good = known_good.instead_of(request) if known_good else None
        if good is None:
            return True
        for _try in range(_MOST_ANSWERS):
            ended = self._job(good, NoNote())
            good_verdict = verdict_on(good, ended)
            if good_verdict.status in (RunStatus.BOOT_FAILED, RunStatus.HUNG):
                found, good_found = verdict.reason, good_verdict.reason
                assert found is not None  # it is not COMPLETE, nor the other one
                assert good_found is not None
                raise InfrastructureError(
                    f"{speak(found)}; so does {good.revision[:12]}, which booted before"
                    f" ({speak(good_found)})",
                    f"see to power, console and network of {ended.device or 'the device'}",
                )
            if ended.device in silent:
                return True
        return False

    def _with_device_fault(self, error: InfrastructureError, device: str) -> InfrastructureError:
        """A fault with what else is known of its device."""
        why = self._device_fault(device) if device else None
        if why is None:
            return error
        message = f"{error.message}; {speak(why)}"
        return InfrastructureError(message, error.hint, retryable=error.retryable)


def missing_bytes(image: Path) -> int:
    """Bytes that an x86 kernel image lacks, as its header tells (Documentation/arch/x86/boot.rst);
    0 for a whole one and for what is no such image.
    """
    with image.open("rb") as stream:
        head = stream.read(_HEADER)
        size = image.stat().st_size
    if len(head) < _HEADER or head[0x202:0x206] != _MAGIC:
        return 0
    sectors = head[0x1F1] or 4
    paragraphs = int.from_bytes(head[0x1F4:0x1F8], "little")
    whole_size = (sectors + 1) * _SECTOR + paragraphs * _PARAGRAPH
    return max(0, whole_size - size - (_PARAGRAPH - 1))
