# SPDX-License-Identifier: GPL-2.0-or-later
"""The base ramdisk: busybox, init, the suites' scripts with the values that they share with this
program, and their C programs.

It is the same for all kernels; what belongs to one kernel (modules) comes as a LAVA
overlay. The archive is written here in the kernel's "newc" format, so that the same
inputs give the same bytes: no times, no owners, members in order.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shlex
import shutil
import stat
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InfrastructureError, InternalError
from rtbisect.lab import windows
from rtbisect.lab.job_definition import ISOLATION_CASES, PREFLIGHT_CASES
from rtbisect.process import command
from rtbisect.suites.base import every

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbisect.model.lab import RunRequest
    from rtbisect.store.artefacts import ArtefactStore

#: Folder of our files on the device.
PREFIX = "opt/rtbisect"
#: Name of the site's own workload there.
SITE_WORKLOAD = "site-workload"
#: The values that the scripts share with this program, below the folder of our files.
VALUES_FILE = "values.sh"

_DIRECTORIES = ("bin", "sbin", "usr/bin", "usr/sbin", "proc", "sys", "dev", "tmp", "root", "etc")
_CFLAGS = ("-O2", "-Wall", "-static", "-pthread", "-s", "-Wl,--build-id=none")
_COMPILE_S = 120.0


@dataclass(frozen=True, slots=True)
class Member:
    """A file, directory or link of the archive."""

    #: Path in the archive, without a slash at its begin.
    path: str
    #: Mode, with the bits of the file type.
    mode: int
    #: Contents of a file; of a link, its target.
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Where the parts come from."""

    #: The folder of that name.
    lava_jobs: Path
    #: A statically linked busybox.
    busybox: Path
    compiler: str = "gcc"
    #: Those whose programs of this machine come along (`host-programs` in their folders).
    suites: tuple[str, ...] = ()
    #: A program of the site's own.
    workload: Path | None = None


def base(inputs: Inputs, artefacts: ArtefactStore, index: Path) -> str:
    """Sha256 name of the ramdisk (gzip of newc) in the store; built when an input changed.

    `index` is a folder that remembers which inputs gave which ramdisk.
    """
    applets = _applets(inputs.busybox)
    key = _key(inputs, applets)
    remembered = index / key
    if remembered.is_file():
        sha256 = remembered.read_text("ascii").strip()
        if (artefacts.root / sha256[:2] / sha256).is_file():
            return sha256
    image = gzip.compress(newc(_members(inputs, applets)), compresslevel=6, mtime=0)
    sha256 = artefacts.put_bytes(image)
    index.mkdir(parents=True, exist_ok=True)
    # Write by rename: a killed process must not leave half a sum behind.
    part = index / f"{key}.part"
    part.write_text(sha256, "ascii")
    part.replace(remembered)
    return sha256


def of_request(request: RunRequest, inputs: Inputs, artefacts: ArtefactStore, index: Path) -> str:
    """The ramdisk with the programs of all suites of a boot."""
    suites = {suite for window in request.windows for suite in window.suites} | {*request.aboard}
    return base(replace(inputs, suites=tuple(sorted(suites))), artefacts, index)


def newc(members: Iterable[Member]) -> bytes:
    """A cpio archive in the format that the kernel unpacks ("070701"), with its trailer."""
    out = bytearray()
    for number, member in enumerate(members, start=1):
        out += _entry(number, member)
    out += _entry(0, Member("TRAILER!!!", 0))
    out += bytes(-len(out) % 512)
    return bytes(out)


def _entry(number: int, member: Member) -> bytes:
    name = member.path.encode() + b"\0"
    links = 2 if stat.S_ISDIR(member.mode) else 1
    # ino mode uid gid nlink mtime filesize devmajor devminor rdevmajor rdevminor namesize check
    fields = (number, member.mode, 0, 0, links, 0, len(member.data), 0, 0, 0, 0, len(name), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name
    head += bytes(-len(head) % 4)
    return head + member.data + bytes(-len(member.data) % 4)


def scripts(lava_jobs: Path) -> dict[str, Path]:
    """Scripts of the suites by their name on the device; they lie in one folder there."""
    suites = lava_jobs / "suites"
    return _by_name(sorted([*suites.glob("*.sh"), *suites.glob("*/*.sh")]), "script")


def programs(lava_jobs: Path) -> dict[str, Path]:
    """C sources by program name. A folder with a Kbuild holds kernel modules instead."""
    sources = [*(lava_jobs / "suites").glob("*/*.c"), *(lava_jobs / "workloads").glob("*/*.c")]
    return {
        name.removesuffix(".c"): path
        for name, path in _by_name(
            sorted(path for path in sources if not (path.parent / "Kbuild").exists()), "program"
        ).items()
    }


def _by_name(paths: list[Path], kind: str) -> dict[str, Path]:
    by_name: dict[str, Path] = {}
    for path in paths:
        if path.name in by_name:
            raise ConfigError(f"two files of lava-jobs are the {kind} {path.name}", "rename one")
        by_name[path.name] = path
    return by_name


def device_values() -> str:
    """What the program and the scripts on the device both know, in lines `NAME=value` for a shell
    (lava-jobs/suites/run-windows.sh reads them); InternalError when two suites use one name.
    """
    cases = (
        ("PREFLIGHT_CASES", " ".join(PREFLIGHT_CASES)),
        ("ISOLATION_CASES", " ".join(ISOLATION_CASES)),
    )
    lines: dict[str, str] = {}
    own = (pair for suite in every() for pair in suite.on_device.items())
    for name, value in (*cases, *windows.ON_DEVICE.items(), *own):
        if name in lines or not re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
            raise InternalError(f"{name!r} cannot be a value for the device, or is one twice")
        lines[name] = f"{name}={shlex.quote(str(value))}\n"
    head = "# SPDX-License-Identifier: GPL-2.0-or-later\n# Written by rtbisect.\n"
    return head + "".join(lines.values())


def _members(inputs: Inputs, applets: tuple[str, ...]) -> list[Member]:
    suites = [f"{PREFIX}/{folder}" for folder in ("bin", "suites", "modules")]
    folders = ["opt", PREFIX, "usr", *_DIRECTORIES, *suites]
    members = [Member(name, stat.S_IFDIR | 0o755) for name in sorted(set(folders))]
    members.append(_executable("init", inputs.lava_jobs / "initramfs" / "init"))
    members.append(_executable("bin/busybox", inputs.busybox))
    members += [Member(f"bin/{name}", stat.S_IFLNK | 0o777, b"busybox") for name in applets]
    for name, path in scripts(inputs.lava_jobs).items():
        members.append(_executable(f"{PREFIX}/suites/{name}", path))
    values = device_values().encode()
    members.append(Member(f"{PREFIX}/{VALUES_FILE}", stat.S_IFREG | 0o644, values))
    for name, path in programs(inputs.lava_jobs).items():
        data = _compile(inputs.compiler, path)
        members.append(Member(f"{PREFIX}/bin/{name}", stat.S_IFREG | 0o755, data))
    if inputs.workload is not None:
        members.append(_executable(f"{PREFIX}/bin/{SITE_WORKLOAD}", inputs.workload))
    borrowed = host_programs(inputs)
    folders = sorted({str(parent) for path in borrowed for parent in Path(path).parents} - {"."})
    known = {member.path for member in members}
    members += [Member(name, stat.S_IFDIR | 0o755) for name in folders if name not in known]
    return [*members, *(_executable(name, path) for name, path in borrowed.items())]


def host_programs(inputs: Inputs) -> dict[str, Path]:
    """Programs of this machine that the suites ask for, with their shared libraries: place on the
    device to file here. ConfigError when one is not installed.
    """
    files: dict[str, Path] = {}
    for suite in inputs.suites:
        wanted = inputs.lava_jobs / "suites" / suite / "host-programs"
        for name in wanted.read_text("utf-8").split() if wanted.is_file() else ():
            path = shutil.which(name)
            if path is None:
                raise ConfigError(
                    f"the suite {suite} needs {name}", f"run `apt-get install {name}`"
                )
            files[f"usr/bin/{name}"] = Path(path)
            files |= {str(library).lstrip("/"): library for library in _libraries(path)}
    return files


def _libraries(program: str) -> list[Path]:
    """Shared libraries of a program, its loader too, as `ldd` finds them."""
    done = command.run(["ldd", program], cwd=Path("/"), timeout_s=20, check=True)
    lines = [line.split(" => ")[-1].strip() for line in done.stdout.splitlines()]
    return [Path(line.split(" (")[0]) for line in lines if line.startswith("/")]


def _executable(name: str, path: Path) -> Member:
    return Member(name, stat.S_IFREG | 0o755, _read(path))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"{path} is needed for the ramdisk: {error.strerror}", "run `make setup`"
        ) from error


def _applets(busybox: Path) -> tuple[str, ...]:
    done = command.run([str(busybox), "--list"], cwd=Path("/"), timeout_s=20)
    names = tuple(sorted(set(done.stdout.split()) - {"busybox"}))
    if not done.ok or "sh" not in names:
        raise ConfigError(f"{busybox} is no busybox with a shell", "install busybox-static")
    if not all(re.fullmatch(r"[A-Za-z0-9_.\[-]+", name) for name in names):
        raise ConfigError(f"{busybox} --list has names that are no applets", "see its output")
    return names


def _compile(compiler: str, source: Path) -> bytes:
    with tempfile.TemporaryDirectory(prefix="rtbisect-cc-") as folder:
        # A fixed name in a fresh folder: no path of this machine gets into the binary.
        (Path(folder) / "program.c").write_bytes(_read(source))
        argv = [compiler, *_CFLAGS, "-o", "program", "program.c"]
        done = command.run(argv, cwd=Path(folder), timeout_s=_COMPILE_S)
        if done.timed_out:
            raise InfrastructureError(f"compiling {source.name} took over {_COMPILE_S:.0f} s")
        if not done.ok:
            raise ConfigError(
                f"{source.name}: {command.failure(done)}",
                "install gcc and libc6-dev (static libraries), or repair the source",
            )
        return (Path(folder) / "program").read_bytes()


def _key(inputs: Inputs, applets: tuple[str, ...]) -> str:
    """Hash over everything that goes in: sources, busybox, compiler version, and this file."""
    version = command.run([inputs.compiler, "--version"], cwd=Path("/"), timeout_s=20).stdout
    files = {
        "init": inputs.lava_jobs / "initramfs" / "init",
        "busybox": inputs.busybox,
        "writer": Path(__file__),
        **{f"script {name}": path for name, path in scripts(inputs.lava_jobs).items()},
        **{f"program {name}": path for name, path in programs(inputs.lava_jobs).items()},
        **{f"borrowed {name}": path for name, path in host_programs(inputs).items()},
        **({SITE_WORKLOAD: inputs.workload} if inputs.workload else {}),
    }
    hashes = {name: hashlib.sha256(_read(path)).hexdigest() for name, path in files.items()}
    parts = [sorted(hashes.items()), device_values(), list(applets), version, list(_CFLAGS)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
