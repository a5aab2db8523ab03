# SPDX-License-Identifier: GPL-2.0-or-later
"""Take what a build left: image, modules and configuration go to the artefact store, with a
signature of what runs and the names of the files that it was made from.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.kernel import functions
from rtbisect.kernel.elf import NotElfError, build_id, opened
from rtbisect.kernel.sandbox import SRC
from rtbisect.kernel.workspace import TEXT_LIMIT, NotPlainError, Workspace
from rtbisect.process.command import decode, encode, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbisect.store.artefacts import ArtefactStore

#: Where modules lie on the device; the job unpacks the archive over the root folder.
MODULE_FOLDER = "opt/rtbisect/modules"

#: Bytes of an image, and of all modules: they are copied, and lie in the device's memory.
_IMAGE_LIMIT = 512 << 20
_MODULES_LIMIT = 512 << 20

#: Bytes of a vmlinux that is kept; with debug information there are some hundred MiB.
_VMLINUX_LIMIT = 128 << 20

#: All objects of the kernel in one, before their addresses are known.
ALL_OBJECTS = "vmlinux.o"

_BOOT = "arch/x86/boot"
_BOOT_OBJECT = re.compile(rf"(?<=\s){_BOOT}/(?:[\w-]+/)*(?!piggy\.)[\w-]+\.o(?=\s)")

#: Sections with the length of the compressed vmlinux in them, which moves with its build
#: id, and so with debug information (the fields init_size and payload_length, PE header).
_MOVING = {"setup.elf": frozenset({b".bstext", b".header"})}

#: Bytes of one record; that of vmlinux.o lists every object.
RECORD_LIMIT = 4 << 20

#: Bytes of all records, and files that they name: some times what a kernel with all options has.
_MOST_BYTES = 4 << 30
_MOST_NAMES = 500_000

_WORD = re.compile(r"[^\s\\'\"();|&<>]+")


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
    kernel, id_of_kernel = image_of(space, store)
    return Products(
        kernel=kernel,
        modules=store.put_bytes(archive(modules)) if modules else "",
        config=store.put_file(space.plain_file(".config", TEXT_LIMIT)),
        signature=signature(space.plain_file("vmlinux"), modules, boot_line, boot_code(space)),
        release=printable(space.text("include/config/kernel.release"), 80),
        files=store.put_bytes(encode("\n".join(sorted(closure(space.out))))),
        functions=_functions(space, store),
        vmlinux=_vmlinux(space, store),
        build_id=id_of_kernel,
    )


def image_of(space: Workspace, store: ArtefactStore) -> tuple[str, str]:
    """The image that boots, in the store, and the build id of its kernel."""
    image = space.plain_file(f"{_BOOT}/bzImage", _IMAGE_LIMIT)
    return store.put_file(image), build_id(space.plain_file("vmlinux"))


def _vmlinux(space: Workspace, store: ArtefactStore) -> str:
    """The kernel with its symbols, packed; "" for one that is too large to keep of every build."""
    path = space.plain_file("vmlinux")
    if path.stat().st_size > _VMLINUX_LIMIT:
        return ""
    return store.put_bytes(gzip.compress(path.read_bytes(), compresslevel=6, mtime=0))


def _functions(space: Workspace, store: ArtefactStore) -> str:
    """Marks of all functions; "" where the objects are not what we can read (LTO keeps none)."""
    try:
        return store.put_bytes(functions.table(space.plain_file(ALL_OBJECTS)))
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


def signature(
    vmlinux: Path, modules: Iterable[Path], boot_line: str, boot_code: Iterable[Path] = ()
) -> str:
    """sha256 (hex) of what runs: equal signatures, the same kernel. Files count by name, in any
    order of the arguments. NotElfError for a file that cannot be read as ELF.

    Hashed are the allocated sections of vmlinux, of the modules and of the code that unpacks
    vmlinux, and the boot line; of objects that are not linked to their end also relocations:
    their bytes hold zeros where the loader writes the address of what is called.
    Not hashed: notes (build id), debug information, the names of symbols that are defined
    where they are used. A comment above a WARN moves its line number, which the image carries
    in __bug_table: a true difference.
    """
    digest = hashlib.sha256()
    for role, paths in (("file", (vmlinux,)), ("file", modules), ("unpacks", boot_code)):
        for path in sorted(paths, key=lambda path: path.name):
            digest.update(encode(f"\0{role} {path.name}\n"))
            digest.update(image_hash(path).encode())
    digest.update(encode(f"\0boot {boot_line}"))
    return digest.hexdigest()


def image_hash(path: Path) -> str:
    """sha256 (hex) over what runs of one ELF file; NotElfError when it is none."""
    digest = hashlib.sha256()
    moving = _MOVING.get(path.name, frozenset())
    with opened(path) as elf:
        for part in elf.sections:
            if not part.runs or part.name in moving:
                continue
            head = (part.name, part.kind, part.flags, part.address, part.size)
            digest.update(f"\0section {head}\n".encode())
            for chunk in elf.chunks(part):
                digest.update(chunk)
        if elf.is_relocatable:
            for number, patches in elf.relocations():
                digest.update(f"\0patches {number} {len(patches)}\n".encode())
                digest.update(patches)
    return digest.hexdigest()


def closure(objects: Path) -> frozenset[str]:
    """Files of the source tree, relative to it, that the objects of an O= folder name.

    kbuild keeps a `.target.cmd` beside every target: its command line, its source and every file
    that the compiler opened (scripts/basic/fixdep.c). Every word of such a record that lies in the
    source tree counts, so that scripts and the input of generators are in it too. NotPlainError
    when the records are too many or name too much.
    """
    files: set[str] = set()
    prefix = f"{SRC}/"
    for record in _records(objects):
        for word in _WORD.findall(record):
            at = word.find(prefix)
            if at >= 0:
                path = os.path.normpath(word[at + len(prefix) :])
                # The tree itself, and what lies beside it, are no files of the tree.
                if path != "." and not path.startswith(".."):
                    files.add(path)
        if len(files) > _MOST_NAMES:
            raise NotPlainError(f"the build's records name more than {_MOST_NAMES} files")
    return frozenset(files)


def _records(objects: Path) -> Iterable[str]:
    """Texts of all records; foreign code may have left anything under such a name."""
    left = _MOST_BYTES
    for folder, _folders, names in os.walk(objects, followlinks=False):
        for name in names:
            if not (name.startswith(".") and name.endswith(".cmd")):
                continue
            try:
                handle = os.open(Path(folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except OSError:
                continue
            with os.fdopen(handle, "rb") as stream:
                data = stream.read(RECORD_LIMIT)
            left -= len(data)
            if left < 0:
                raise NotPlainError(f"the build's records have more than {_MOST_BYTES} bytes")
            yield decode(data)
