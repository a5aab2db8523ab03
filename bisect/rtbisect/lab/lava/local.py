# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab on this machine: LAVA's own lava-run with a QEMU device, one job at a time.

A machine-wide lock is held while a job runs, and lava-run inherits it: when we are
killed the lock lives on until the job has ended. The process group is noted first, so
that `resume` can end it. QEMU hangs on lava-run's terminal and ends with it.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.lab import job_definition, job_log, qemu_host
from rtbisect.lab.lava.base import LavaLab, LavaSettings
from rtbisect.lab.lava.verdict import EndedJob
from rtbisect.process import command, locks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbisect.model.lab import DeviceType, RunRequest
    from rtbisect.model.ports import Note
    from rtbisect.store.artefacts import ArtefactStore

#: Where LAVA itself works; it removes a job's folder unless it is killed.
LAVA_SCRATCH = Path("/var/lib/lava/dispatcher/tmp")

#: Host programs that a job needs, and the Debian packages that bring them.
PROGRAMS = {"qemu-system-x86_64": "qemu-system-x86", "cpio": "cpio", "gcc": "gcc", "tar": "tar"}

#: As another user, lava-run gets a root of its own and a /var/lib of its own.
_AS_ROOT = ("unshare", "-rm", "sh", "-c", 'mount -t tmpfs tmpfs /var/lib && exec "$@"', "sh")


@dataclass(frozen=True, slots=True, kw_only=True)
class LavaRunSettings(LavaSettings):
    """Where things are on this machine."""

    #: What `make setup` makes: `root` with the unpacked packages of LAVA, `venv` with the Python
    #: modules that it needs, `stubs` for those that we do not use, and `dispatcher.yaml`.
    lava_root: Path
    #: Shared with everything that would disturb a boot.
    machine_lock: Path

    @property
    def device_types(self) -> Path:
        return self.lava_root / "root/usr/share/lava-server/device-types"

    @property
    def lava_run(self) -> Path:
        return self.lava_root / "root/usr/bin/lava-run"

    @property
    def python(self) -> Path:
        return self.lava_root / "venv/bin/python"

    @property
    def dispatcher(self) -> Path:
        return self.lava_root / "dispatcher.yaml"


class LavaRunLab(LavaLab):
    """`ports.Lab` over lava-run."""

    settings: LavaRunSettings

    def __init__(self, settings: LavaRunSettings, artefacts: ArtefactStore) -> None:
        super().__init__(artefacts)
        self.settings = settings

    def width(self, device_type: DeviceType) -> int:  # noqa: ARG002
        """This machine runs nothing beside what it measures."""
        return 1

    def _facts(self) -> tuple[tuple[str, str], ...]:
        """Numbers under KVM and TCG do not mix."""
        return (("accelerators", " ".join(qemu_host.accelerators())),)

    def preflight(self, request: RunRequest) -> None:
        """Let LAVA validate the job of `request` with files of ours; ConfigError with a hint.

        `request` needs no kernel: a file stands in for it. Nothing is booted.
        """
        self._check_host()
        key = job_definition.new_key()
        job_id = f"rtbisect-{key}"
        with self._folder(job_id) as folder:
            self._write_job(self._with_stand_in(request), folder, key)
            done = command.run(
                [*self._argv(job_id, folder), "--validate", "job.yaml"],
                cwd=folder,
                timeout_s=120,
                env=self._environment(),
            )
        shutil.rmtree(LAVA_SCRATCH / job_id, ignore_errors=True)
        log = job_log.parse(f"{done.stdout}\n{done.stderr}")
        if done.ok:
            return
        reason = log.job.error_msg if log.job else command.failure(done)
        raise ConfigError(
            f"lava-run refuses a job: {command.printable(reason)}",
            "run `make setup`, then try again",
        )

    def _job(self, request: RunRequest, note: Note) -> EndedJob:
        key = job_definition.new_key()
        job_id = f"rtbisect-{key}"
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
            self._write_job(request, folder, key)
            log = folder / "log.yaml"
            oom_kills = qemu_host.oom_kills()
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
            oom_kills = qemu_host.oom_kills() - oom_kills
            data = job_log.read(log)
        artefact, parsed = self._keep_log(data)
        how = f"lava-run ended with {done.returncode}"
        if done.timed_out:
            how = "lava-run did not end within its own timeouts"
        return EndedJob(log=parsed, artefact=artefact, how=how, oom_kills=oom_kills)

    def _write_job(self, request: RunRequest, folder: Path, key: str) -> None:
        """Job, device and links to the artefacts; the links have names that a log can show."""
        settings = self.settings

        def offer(sha256: str, name: str) -> job_definition.Resource:
            link = folder / name
            link.symlink_to(self.artefacts.path(sha256).absolute())
            return job_definition.Resource(link.absolute().as_uri(), sha256)

        job = self._job_of(request, key, offer)
        device = job_definition.render_device(
            settings.lava_jobs,
            settings.device_types,
            request.device_type,
            qemu_host.accelerators(),
        )
        (folder / "job.yaml").write_text(
            job_definition.render_job(settings.lava_jobs, job), "utf-8"
        )
        (folder / "device.yaml").write_text(device, "utf-8")

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
        packages = settings.lava_root / "root/usr/lib/python3/dist-packages"
        return {
            "PYTHONPATH": f"{packages}:{settings.lava_root / 'stubs'}",
            "PATH": f"{first}:{os.environ.get('PATH', os.defpath)}",
        }

    @contextmanager
    def _folder(self, name: str) -> Iterator[Path]:
        """A fresh folder for one job; removed at the end, also when the job failed."""
        path = self.settings.work_dir / "jobs" / name
        shutil.rmtree(path, ignore_errors=True)
        try:
            path.mkdir(parents=True)
        except OSError as error:
            raise InfrastructureError(
                f"cannot make {path}: {error.strerror}", "free disk space"
            ) from error
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

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
