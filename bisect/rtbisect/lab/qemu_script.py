# SPDX-License-Identifier: GPL-2.0-or-later
"""A boot by QEMU alone: a ramdisk that runs its windows by itself, the script that starts it, and
what its console says. For who has the kernels of a report and no LAVA.
"""

from __future__ import annotations

import gzip
import io
import re
import stat
import tarfile
from pathlib import Path

from rtbisect.errors import InternalError
from rtbisect.lab.initramfs import PREFIX, Member, newc
from rtbisect.lab.job_definition import command_of, environment_of, timeouts_of
from rtbisect.lab.job_log import CaseResult, LavaLog
from rtbisect.model.lab import QEMU, RunRequest

#: Program that init runs instead of a shell (lava-jobs/initramfs/init).
ONCE = f"{PREFIX}/once"

#: As lava-jobs/devices/qemu-smt.jinja2 has it for a guest whose type names none.
CPU = "Haswell-noTSX,-pcid,-x2apic,-tsc-deadline,-invpcid"

#: A guest is no server: its kernel and one window fit in less than this.
MOST_MEMORY_MIB = 4096

#: Line that lava-jobs/suites/lib.sh prints for a case where there is no LAVA.
_CASE = re.compile(r"CASE ([A-Za-z0-9_.-]{1,100}) (pass|fail)(?: (\S{1,40}) (\S{1,40}))?")


def ramdisk(base: bytes, modules: bytes, request: RunRequest) -> bytes:
    """The base ramdisk, and behind it the modules of a kernel (tar.gz, b"" for none) and the
    command that runs the windows of `request`. The kernel unpacks archives one after the other.
    """
    # Who runs it by hand may name other CPUs: of an option that is given twice the last one counts.
    once = f'#!/bin/sh\n{command_of(request)} "$@"\n'.encode()
    members = [Member(ONCE, stat.S_IFREG | 0o755, once)]
    if modules:
        with tarfile.open(fileobj=io.BytesIO(modules), mode="r:gz") as tar:
            for member in tar.getmembers():
                file = tar.extractfile(member)
                if file is None or not member.name.startswith(f"{PREFIX}/"):
                    raise InternalError(f"modules with a member {member.name[:80]!r}")
                members.append(Member(member.name, stat.S_IFREG | 0o644, file.read()))
    return base + gzip.compress(newc(members), mtime=0)


def script(lava_jobs: Path, request: RunRequest) -> str:
    """The shell script that boots kernels by their names, with one QEMU line. The topology is that
    of the device type, also where that is a real machine: then the figures are an emulator's.
    """
    device = request.device_type
    template = environment_of(lava_jobs / "boot").get_template("standalone.sh.j2")
    return template.render(
        # The CPU model of a real machine describes it, and QEMU does not know it.
        cpu=(device.cpu_model if device.boot == QEMU else "") or CPU,
        smp=f"{device.cpus},sockets={device.sockets},cores={device.cores},threads={device.threads}",
        memory_mib=min(device.memory_mib, MOST_MEMORY_MIB),
        boot_line=" ".join([*request.profile.boot_line.split(), "panic=-1"]),
        seconds=2 * timeouts_of(request).job_s,
        device=device.name,
        emulated=device.emulated,
    )


def log_of(console: str) -> LavaLog:
    """A console as a log of LAVA would tell it; never raises for what is in it."""
    lines = tuple(line.rstrip("\r") for line in console.split("\n"))
    matches = (_CASE.fullmatch(line) for line in lines)
    results = tuple(
        CaseResult(
            suite="rtbisect",
            case=match[1],
            result=match[2],
            measurement=match[3] or "",
            units=match[4] or "",
        )
        for match in matches
        if match
    )
    return LavaLog(results=results, console=lines, errors=(), stray=(), job=None)
