# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernels of a report as anybody boots them: image, symbols, modules, configuration, a ramdisk
that measures by itself, and scripts that build them anew, boot them in QEMU, and measure on the
machine that runs one.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.campaign.plan import probe
from rtbisect.config.paths import data
from rtbisect.errors import ConfigError
from rtbisect.kernel.kbuild import module_sources
from rtbisect.lab import console_block, initramfs, qemu_script
from rtbisect.lab.classify import panic_of, stall_of
from rtbisect.lab.job_definition import check_request
from rtbisect.lab.measurements import InvalidBoot, evidence, facts_of, symptom
from rtbisect.lab.profile import parse_cpus
from rtbisect.report.text import short
from rtbisect.store.artefacts import ArtefactStore, write_whole
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbisect.lab.job_log import LavaLog
    from rtbisect.model.code import Build
    from rtbisect.model.lab import Measurement, RunRequest
    from rtbisect.model.setup import Setup

#: Boots the kernels in QEMU; it knows the device. The others are the same for every campaign.
SCRIPT = "boot.sh"
BUILD, MEASURE = "build.sh", "measure.sh"
_SCRIPTS = (BUILD, MEASURE, "consoles.sh")
#: The boot line of the campaign on a machine.
_BOOT_LINE = "cmdline"
#: First line that measure.sh writes: this is no boot of the device.
BY_HAND = "rtbisect: measured by hand"

BUSYBOX = Path("/bin/busybox")


def write_kernels(
    place: Path, store: ArtefactStore, state: Path, setup: Setup, builds: Iterable[Build]
) -> None:
    """Fill `place`/kernels and write the scripts beside it; nothing where none of `builds` is kept
    any more.
    """
    stored = [build for build in builds if build.ok and build.kernel and store.has(build.kernel)]
    if not stored:
        return
    request = request_of(setup)
    parts = initramfs.Inputs(data("lava-jobs"), BUSYBOX, workload=_workload(store, request))
    base = initramfs.of_request(request, parts, store, state / "lab/initramfs")
    for build in stored:
        # The folder has the name that a mail gives the kernel.
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
    for name in _SCRIPTS:
        shutil.copyfile(data("lava-jobs") / "boot" / name, place / name)
    kernel = setup.booted
    write_whole(place / _BOOT_LINE, f"{kernel.profile.line_on(kernel.device)}\n".encode())
    for name, text in module_sources(kernel.build):
        (place / "modules").mkdir(exist_ok=True)
        write_whole(place / "modules" / name, text.encode())


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
    """What a boot by the scripts measured, of all CPUs together, also where that is how it hung;
    ConfigError with the reason where its console holds no valid boot.
    """
    request, log = request_of(setup), qemu_script.log_of(console)
    try:
        if BY_HAND in log.console:
            request = _on_its_machine(request, log)
        measured = evidence(request, log)
    except InvalidBoot as error:
        broken = panic_of(log.console) or stall_of(log.console)
        if broken and (hung := symptom(request, broken.symptom, log.console)):
            return hung
        raise ConfigError(
            f"no valid boot: {speak(error.found)}", "keep the whole console of the boot"
        ) from error
    return tuple(each for each in measured.measurements if each.cpu is None)


def _on_its_machine(request: RunRequest, log: LavaLog) -> RunRequest:
    """The same boot on somebody's own machine, as its facts tell of that; whether CPUs are isolated
    was looked at there (lava-jobs/suites/preflight.sh). InvalidBoot where they do not tell.
    """
    try:
        facts = facts_of(console_block.files_of(log.console))
    except console_block.BlockError as error:
        raise InvalidBoot(error.found) from None
    threads = 2 if facts.get("smt_active") == "1" else 1
    cpus = len(parse_cpus(facts.get("online", "")))
    return replace(
        request,
        device_type=replace(request.device_type, sockets=1, cores=cpus // threads, threads=threads),
        profile=replace(
            request.profile,
            housekeeping=facts.get("housekeeping_asked", ""),
            isolated=facts.get("isolated_asked", ""),
            watch=facts.get("watch_asked", ""),
            boot_line="",
            smt=True,
        ),
    )
