# SPDX-License-Identifier: GPL-2.0-or-later
"""The signature of a kernel: equal signatures, the same kernel.

Hashed are the allocated sections of vmlinux, of the modules and of the code that unpacks
vmlinux, and the boot line; of objects that are not linked to their end also relocations:
their bytes hold zeros where the loader writes the address of what is called.
Not hashed: notes (build id), debug information, the names of symbols that are defined
where they are used. A comment above a WARN moves its line number, which the image carries
in __bug_table: a true difference.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from rtbisect.kernel.elf import opened

#: Sections with the length of the compressed vmlinux in them, which moves with its build
#: id, and so with debug information (the fields init_size and payload_length, PE header).
_MOVING = {"setup.elf": frozenset({b".bstext", b".header"})}


def signature(
    vmlinux: Path, modules: Iterable[Path], boot_line: str, boot_code: Iterable[Path] = ()
) -> str:
    """sha256 (hex) of what runs. Files count by name, in any order of the arguments.

    Raises NotElfError for a file that cannot be read as ELF.
    """
    digest = hashlib.sha256()
    for role, paths in (("file", (vmlinux,)), ("file", modules), ("unpacks", boot_code)):
        for path in sorted(paths, key=lambda path: path.name):
            digest.update(f"\0{role} {path.name}\n".encode("utf-8", "surrogateescape"))
            digest.update(image_hash(path).encode())
    digest.update(f"\0boot {boot_line}".encode("utf-8", "surrogateescape"))
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
