# SPDX-License-Identifier: GPL-2.0-or-later
"""The signature of a kernel: equal signatures, the same kernel.

Hashed are the allocated sections of vmlinux and of the modules, and the boot line.
Not hashed: notes (build id), debug information, symbol tables. A comment above a WARN
moves its line number, which the image carries in __bug_table: a true difference.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_CHUNK = 1 << 20

#: What pyelftools raises on bytes that somebody made up.
_UNREADABLE = (
    ELFError,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    OSError,
    TypeError,
    ValueError,
)


class NotElfError(ValueError):
    """A file that should be an ELF object is none, or is cut off."""


def signature(vmlinux: Path, modules: Iterable[Path], boot_line: str) -> str:
    """sha256 (hex) of what runs. Modules count by name, in any order of the argument.

    Raises NotElfError for a file that cannot be read as ELF.
    """
    digest = hashlib.sha256()
    for path in (vmlinux, *sorted(modules, key=lambda module: module.name)):
        digest.update(f"\0file {path.name}\n".encode("utf-8", "surrogateescape"))
        digest.update(image_hash(path).encode())
    digest.update(f"\0boot {boot_line}".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def image_hash(path: Path) -> str:
    """sha256 (hex) over the allocated sections of one ELF file."""
    digest = hashlib.sha256()
    size = path.stat().st_size
    with path.open("rb") as stream:
        try:
            for section in ELFFile(stream).iter_sections():
                if section["sh_flags"] & SH_FLAGS.SHF_ALLOC and section["sh_type"] != "SHT_NOTE":
                    _add(digest, section, stream, size)
        except _UNREADABLE as error:
            raise NotElfError(f"{path.name} is not a readable ELF file") from error
    return digest.hexdigest()


def _add(digest: Any, section: Any, stream: Any, size: int) -> None:
    """Name, type, flags, address, size, and the bytes unless the section has none."""
    head = (section.name, section["sh_type"], section["sh_flags"], section["sh_addr"])
    digest.update(f"\0section {head} {section['sh_size']}\n".encode("utf-8", "surrogateescape"))
    if section["sh_type"] == "SHT_NOBITS":
        return
    left: int = section["sh_size"]
    if section["sh_offset"] + left > size:
        raise ValueError("a section ends behind the file")
    stream.seek(section["sh_offset"])
    while left:
        data = stream.read(min(left, _CHUNK))
        if not data:
            raise ValueError("the file became shorter")
        digest.update(data)
        left -= len(data)
