# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab on this machine: LAVA's own lava-run with a QEMU device, one job at a time.

A machine-wide lock is held while a job runs, and lava-run inherits it: when we are
killed the lock lives on until the job has ended. The process group is noted first, so
that `resume` can end it. QEMU hangs on lava-run's terminal and ends with it.
"""

from __future__ import annotations

import gzip
import os
import re
import secrets
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect import command, locks
from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.lab import host, initramfs, jobs, lavalog
from rtbisect.lab.classify import Verdict, classify
from rtbisect.lab.evidence import Evidence, InvalidBoot, evidence, symptom
from rtbisect.model.lab import Run, RunStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbisect.artefacts import ArtefactStore
    from rtbisect.lab.lavalog import LavaLog
    from rtbisect.model.lab import RunRequest

#: Where LAVA itself works; it removes a job's folder unless it is killed.
LAVA_SCRATCH = Path("/var/lib/lava/dispatcher/tmp")

#: Host programs that a job needs, and the Debian packages that bring them.
PROGRAMS = {"qemu-system-x86_64": "qemu-system-x86", "cpio": "cpio", "gcc": "gcc", "tar": "tar"}

#: As another user, lava-run gets a root of its own and a /var/lib of its own.
_AS_ROOT = ("unshare", "-rm", "sh", "-c", 'mount -t tmpfs tmpfs /var/lib && exec "$@"', "sh")


@dataclass(frozen=True, slots=True)
class LavaRunSettings:
    """Where things are.

    `lava_root` is what `make setup` makes: `root` with the unpacked packages of LAVA,
    `venv` with the Python modules that it needs, `stubs` for those that we do not use, and
    `dispatcher.yaml`. `machine_lock` is shared with everything that would disturb a boot.
    Without `timeouts` they follow from what a boot is asked to measure. `accelerators` are
    QEMU's; none means that the host is asked. `workload` is the site's own.
    """

    lava_root: Path
    work_dir: Path
    machine_lock: Path
    lava_jobs: Path
    busybox: Path = Path("/bin/busybox")
    timeouts: jobs.Timeouts | None = None
    accelerators: tuple[str, ...] = ()
    lock_wait_s: float = 900.0
    retries: int = 2
    retry_pause_s: float = 2.0
    workload: Path | None = None

    @property
    def device_types(self) -> Path:
        return self.lava_root / "root/usr/share/lava-server/device-types"

    @property
    def packages(self) -> Path:
        return self.lava_root / "root/usr/lib/python3/dist-packages"

    @property
    def lava_run(self) -> Path:
        return self.lava_root / "root/usr/bin/lava-run"

    @property
    def python(self) -> Path:
        return self.lava_root / "venv/bin/python"

    @property
    def dispatcher(self) -> Path:
        return self.lava_root / "dispatcher.yaml"


@dataclass(frozen=True, slots=True)
class _Ended:
    """A job that ended: its log as LAVA wrote it and as the artefact that keeps it.

    `oom_kills` counts processes that the host killed meanwhile for want of memory.
    """

    log: LavaLog
    artefact: str
    returncode: int
    timed_out: bool
    oom_kills: int


class LavaRunLab:
    """`ports.Lab` over lava-run."""

    def __init__(self, settings: LavaRunSettings, artefacts: ArtefactStore) -> None:
        self.settings = settings
        self.artefacts = artefacts

    def run(self, request: RunRequest, note: Callable[[str], None]) -> Run:
        """One boot. Faults of the lab are retried `retries` times, then raised."""
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
            facts=self._facts(measured),
            window_order=tuple(window.name for window in request.windows),
            log=ended.artefact,
            seconds=round(time.monotonic() - begin, 3),
            host_load=round(load, 2),
            signature=verdict.signature,
            sources=measured.sources if measured else (),
        )

    def _facts(self, measured: Evidence | None) -> tuple[tuple[str, str], ...]:
        """What the guest told, and how it was run: numbers under KVM and TCG do not mix."""
        if measured is None:
            return ()
        return (*measured.facts, ("accelerators", " ".join(self._accelerators())))

    def _accelerators(self) -> tuple[str, ...]:
        return self.settings.accelerators or host.accelerators()

    def preflight(self, request: RunRequest) -> None:
        """Let LAVA validate the job of `request` with files of ours; ConfigError with a hint.

        `request` needs no kernel: a file stands in for it. Nothing is booted.
        """
        self._check_host()
        job_id = f"rtbisect-{secrets.token_hex(6)}"
        with self._folder(job_id) as folder:
            stand_in = self.artefacts.put_bytes(b"stands in for a kernel\n")
            self._write(request, folder, kernel=stand_in, modules="")
            done = command.run(
                [*self._argv(job_id, folder), "--validate", "job.yaml"],
                cwd=folder,
                timeout_s=120,
                env=self._environment(),
            )
        shutil.rmtree(LAVA_SCRATCH / job_id, ignore_errors=True)
        log = lavalog.parse(f"{done.stdout}\n{done.stderr}")
        if done.ok:
            return
        said = log.job.error_msg if log.job else command.failure(done)
        raise ConfigError(
            f"lava-run refuses a job: {command.printable(said)}", "run `make setup`, then try again"
        )

    def _believed(self, request: RunRequest, note: Callable[[str], None]) -> tuple[_Ended, Verdict]:
        """A job and its verdict. An ambiguous verdict is believed when it comes twice."""
        doubted = False
        faults = 0
        while True:
            try:
                ended = self._job(request, note)
                verdict = self._classify(ended, emulated=request.device_type.emulated)
            except InfrastructureError as error:
                faults += 1
                if not error.retryable or faults > self.settings.retries:
                    raise
                time.sleep(self.settings.retry_pause_s)
                continue
            if not verdict.ambiguous or doubted:
                return ended, verdict
            doubted = True

    def _classify(self, ended: _Ended, *, emulated: bool) -> Verdict:
        try:
            verdict = classify(
                ended.log,
                returncode=ended.returncode,
                timed_out=ended.timed_out,
                emulated=emulated,
            )
        except InfrastructureError as error:
            hint = f"{error.hint} (log: artefact {ended.artefact[:12]})"
            raise InfrastructureError(error.message, hint, retryable=error.retryable) from None
        except ConfigError as error:
            hint = f"{error.hint} (log: artefact {ended.artefact[:12]})"
            raise ConfigError(error.message, hint) from None
        if ended.oom_kills and verdict.status is not RunStatus.COMPLETE:
            # A QEMU that was killed looks like a kernel that reset the machine.
            raise InfrastructureError(
                "this host ran out of memory while the job ran",
                f"free memory or add some (log: artefact {ended.artefact[:12]})",
            )
        return verdict

    def _job(self, request: RunRequest, note: Callable[[str], None]) -> _Ended:
        job_id = f"rtbisect-{secrets.token_hex(6)}"
        settings = self.settings
        with (
            locks.hold(
                settings.machine_lock,
                wait_s=settings.lock_wait_s,
                what="this machine",
                shared=True,
            ) as lock,
            self._folder(job_id) as folder,
        ):
            self._write(request, folder, kernel=request.kernel, modules=request.modules)
            log = folder / "log.yaml"
            oom_kills = host.oom_kills()
            try:
                done = command.run(
                    [*self._argv(job_id, folder), "job.yaml"],
                    cwd=folder,
                    timeout_s=self._timeouts(request).job_s + 60,
                    env=self._environment(),
                    log=log,
                    pass_fds=(lock,),
                    on_start=lambda pgid: note(f"pgid:{pgid}"),
                )
            finally:
                shutil.rmtree(LAVA_SCRATCH / job_id, ignore_errors=True)
            oom_kills = host.oom_kills() - oom_kills
            data = log.read_bytes()
        kept = self.artefacts.put_bytes(gzip.compress(data, mtime=0))
        return _Ended(
            lavalog.parse(command.decode(data)), kept, done.returncode, done.timed_out, oom_kills
        )

    def _timeouts(self, request: RunRequest) -> jobs.Timeouts:
        return self.settings.timeouts or jobs.timeouts_of(request)

    def _write(self, request: RunRequest, folder: Path, *, kernel: str, modules: str) -> None:
        """Job, device and links to the artefacts; the links have names that a log can show."""
        settings = self.settings
        index = settings.work_dir / "initramfs"
        suites = {suite for window in request.windows for suite in window.suites}
        parts = initramfs.Inputs(
            settings.lava_jobs,
            settings.busybox,
            suites=tuple(sorted(suites)),
            workload=settings.workload,
        )
        ramdisk = initramfs.base(parts, self.artefacts, index)
        job = jobs.Job(
            request=request,
            kernel=self._resource(folder / "kernel", kernel),
            ramdisk=self._resource(folder / "ramdisk.cpio.gz", ramdisk),
            modules=self._resource(folder / "modules.tar.gz", modules) if modules else None,
            timeouts=self._timeouts(request),
        )
        device = jobs.render_device(
            settings.lava_jobs,
            settings.device_types,
            request.device_type,
            self._accelerators(),
        )
        (folder / "job.yaml").write_text(jobs.render_job(settings.lava_jobs, job), "utf-8")
        (folder / "device.yaml").write_text(device, "utf-8")

    def _resource(self, link: Path, sha256: str) -> jobs.Resource:
        link.symlink_to(self.artefacts.path(sha256).absolute())
        return jobs.Resource(link.absolute().as_uri(), sha256)

    def _argv(self, job_id: str, folder: Path) -> list[str]:
        settings = self.settings
        argv = [str(settings.python), str(settings.lava_run), "--job-id", job_id]
        argv += ["--output-dir", str(folder / "out"), "--device", "device.yaml"]
        argv += ["--dispatcher", str(settings.dispatcher)]
        return argv if os.geteuid() == 0 else [*_AS_ROOT, *argv]

    def _environment(self) -> dict[str, str]:
        settings = self.settings
        # lava-jobs/host goes first: its qemu-system-x86_64 favours the guest on this host.
        first = settings.lava_jobs.absolute() / "host"
        return {
            "PYTHONPATH": f"{settings.packages}:{settings.lava_root / 'stubs'}",
            "PATH": f"{first}:{os.environ.get('PATH', os.defpath)}",
        }

    def _folder(self, name: str) -> _JobFolder:
        return _JobFolder(self.settings.work_dir / "jobs" / name)

    def _check_host(self) -> None:
        settings = self.settings
        for path in (settings.lava_run, settings.python, settings.dispatcher):
            if not path.exists():
                raise ConfigError(f"{path} is not there", "run `make setup`")
        for program, package in PROGRAMS.items():
            if shutil.which(program) is None:
                raise ConfigError(f"{program} is not installed", f"install the package {package}")
        for path in (settings.lava_root, settings.work_dir, self.artefacts.root):
            if os.geteuid() != 0 and path.absolute().is_relative_to("/var/lib"):
                raise ConfigError(
                    f"{path} is out of reach of lava-run, which gets a /var/lib of its own",
                    "choose a state folder elsewhere, or run rtbisect as root",
                )
        if re.search(r"\s|[\"'\\{}]", str(settings.work_dir)):
            raise ConfigError(
                f"{settings.work_dir} has characters that LAVA cannot pass on",
                "choose a state folder without spaces and quotes",
            )


class _JobFolder:
    """A fresh folder for one job; removed at the end, also when the job failed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Path:
        shutil.rmtree(self.path, ignore_errors=True)
        try:
            self.path.mkdir(parents=True)
        except OSError as error:
            raise InfrastructureError(
                f"cannot make {self.path}: {error.strerror}", "free disk space"
            ) from error
        return self.path

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
