# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernels of a report as anybody boots them: image, symbols, modules, configuration, a ramdisk
that measures by itself, and one QEMU line.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.campaign.plan import probe
from rtbisect.config.paths import data
from rtbisect.errors import ConfigError
from rtbisect.lab import initramfs, qemu_script
from rtbisect.lab.classify import panic_of, stall_of
from rtbisect.lab.job_definition import check_request
from rtbisect.lab.measurements import InvalidBoot, evidence, symptom
from rtbisect.report.text import short
from rtbisect.store.artefacts import ArtefactStore, write_whole
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbisect.model.code import Build
    from rtbisect.model.lab import Measurement, RunRequest
    from rtbisect.model.setup import Setup

SCRIPT = "boot.sh"

BUSYBOX = Path("/bin/busybox")


def write_kernels(
    place: Path, store: ArtefactStore, state: Path, setup: Setup, builds: Iterable[Build]
) -> None:
    """Fill `place`/kernels and write `place`/boot.sh; nothing where none of `builds` is kept any
    more.
    """
    stored = [build for build in builds if build.ok and build.kernel and store.has(build.kernel)]
    if not stored:
        return
    request = request_of(setup)
    parts = initramfs.Inputs(data("lava-jobs"), BUSYBOX, workload=_workload(store, request))
    base = initramfs.of_request(request, parts, store, state / "lab/initramfs")
    for build in stored:
        # By the name that a mail calls it.
        folder = place / "kernels" / short(build.revision)
        folder.mkdir(parents=True, exist_ok=True)
        for name, sha256 in (
            ("bzImage", build.kernel), ("vmlinux.gz", build.vmlinux),
            ("modules.tar.gz", build.modules), ("config", build.config),
        ):  # fmt: skip
            if sha256 and store.has(sha256):
                shutil.copyfile(store.path(sha256), folder / name)
        modules = store.path(build.modules).read_bytes() if build.modules else b""
        image = qemu_script.ramdisk(store.path(base).read_bytes(), modules, request)
        write_whole(folder / "initramfs.cpio.gz", image)
    write_whole(place / SCRIPT, qemu_script.script(data("lava-jobs"), request).encode())


def request_of(setup: Setup) -> RunRequest:
    """A boot with every window of a campaign once."""
    request = probe(setup, "", "standalone")
    check_request(request)
    return request


def _workload(store: ArtefactStore, request: RunRequest) -> Path | None:
    """The site's own program, by the digest that windows carry."""
    names = {window.site_workload for window in request.windows}
    for digest in {name.rpartition("@")[2] for name in names if name}:
        paths = sorted((store.root / digest[:2]).glob(f"{digest}*"))
        if paths:
            return paths[0]
        raise ConfigError(f"the workload {digest} is not in {store.root}", "it was cleaned up")
    return None


def figures_of(setup: Setup, console: str) -> tuple[Measurement, ...]:
    """What a boot by the script measured, of all CPUs together, also where that is how it hung;
    ConfigError with the reason where its console holds no valid boot.
    """
    request, log = request_of(setup), qemu_script.log_of(console)
    try:
        measured = evidence(request, log)
    except InvalidBoot as error:
        broken = panic_of(log.console) or stall_of(log.console)
        if broken and (hung := symptom(request, broken.symptom, log.console)):
            return hung
        raise ConfigError(
            f"no valid boot: {speak(error.found)}", "keep the whole console of `sh boot.sh KERNEL`"
        ) from error
    return tuple(each for each in measured.measurements if each.cpu is None)
