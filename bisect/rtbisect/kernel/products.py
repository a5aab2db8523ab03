# SPDX-License-Identifier: GPL-2.0-or-later
"""Take what a build left: image, modules and configuration go to the artefact store."""

from __future__ import annotations

import gzip
import io
import re
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.kernel import functions
from rtbisect.kernel.elf import NotElfError, build_id
from rtbisect.kernel.signature import signature
from rtbisect.kernel.source_files import closure
from rtbisect.kernel.workspace import TEXT_LIMIT, NotPlainError, Workspace
from rtbisect.process.command import printable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rtbisect.store.artefacts import ArtefactStore

#: Where modules lie on the device; the job unpacks the archive over the root folder.
MODULE_FOLDER = "opt/rtbisect/modules"

#: Bytes of an image, and of all modules: they are copied, and lie in the device's memory.
_IMAGE_LIMIT = 512 << 20
_MODULES_LIMIT = 512 << 20

#: Bytes of a vmlinux that is kept; with debug information there are some hundred MiB.
_VMLINUX_LIMIT = 128 << 20

#: All objects of the kernel in one, before their addresses are known.
_ALL_OBJECTS = "vmlinux.o"

_BOOT = "arch/x86/boot"
_BOOT_OBJECT = re.compile(rf"(?<=\s){_BOOT}/(?:[\w-]+/)*(?!piggy\.)[\w-]+\.o(?=\s)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Products:
    """What a build left, called as in `Build`."""

    kernel: str
    modules: str
    config: str
    signature: str
    release: str
    files: str
    functions: str
    vmlinux: str
    build_id: str


def collect(
    space: Workspace, store: ArtefactStore, boot_line: str, *, with_modules: bool
) -> Products:
    """Raises NotPlainError and NotElfError when the tree made something else."""
    modules = space.kernel_modules() if with_modules else []
    total = sum(path.stat().st_size for path in modules)
    if total > _MODULES_LIMIT:
        raise NotPlainError(f"the modules have {total} bytes, more than {_MODULES_LIMIT}")
    mark = signature(space.plain_file("vmlinux"), modules, boot_line, boot_code(space))
    return Products(
        kernel=store.put_file(space.plain_file(f"{_BOOT}/bzImage", _IMAGE_LIMIT)),
        modules=store.put_bytes(archive(modules)) if modules else "",
        config=store.put_file(space.plain_file(".config", TEXT_LIMIT)),
        signature=mark,
        release=printable(space.text("include/config/kernel.release"), 80),
        files=store.put_bytes(
            "\n".join(sorted(closure(space.out))).encode("utf-8", "surrogateescape")
        ),
        functions=_functions(space, store),
        vmlinux=_vmlinux(space, store),
        build_id=build_id(space.plain_file("vmlinux")),
    )


def _vmlinux(space: Workspace, store: ArtefactStore) -> str:
    """The kernel with its symbols, packed; "" for one that is too large to keep of every build."""
    path = space.plain_file("vmlinux")
    if path.stat().st_size > _VMLINUX_LIMIT:
        return ""
    return store.put_bytes(gzip.compress(path.read_bytes(), compresslevel=6, mtime=0))


def _functions(space: Workspace, store: ArtefactStore) -> str:
    """Marks of all functions; "" where the objects are not what we can read (LTO keeps none)."""
    try:
        return store.put_bytes(functions.table(space.plain_file(_ALL_OBJECTS)))
    except (NotPlainError, NotElfError):
        return ""


def boot_code(space: Workspace) -> list[Path]:
    """What runs before vmlinux: the setup code, and the objects that unpack it.

    Objects, because linking them puts the packed vmlinux (piggy.o) between their parts, and
    its length moves with the build id. Named by the command that linked them: make deletes
    none that a later revision stops building. Archives (the EFI stub) are not looked into.
    """
    names = [f"{_BOOT}/setup.elf"]
    recipe = f"{_BOOT}/compressed/.vmlinux.cmd"
    if space.has(recipe):
        names += sorted(set(_BOOT_OBJECT.findall(space.text(recipe))))
    return [space.plain_file(name) for name in names if space.has(name)]


def archive(modules: Iterable[Path]) -> bytes:
    """tar.gz that depends on names and bytes alone."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(modules, key=lambda module: module.name):
            data = path.read_bytes()
            member = tarfile.TarInfo(f"{MODULE_FOLDER}/{path.name}")
            member.size = len(data)
            member.mode = 0o644
            tar.addfile(member, io.BytesIO(data))
    return gzip.compress(plain.getvalue(), mtime=0)
