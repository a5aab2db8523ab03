# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether two programs of user space are one: by all of their files that does not only describe."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from rtbisect.kernel.elf import ALLOC, NOBITS, opened

if TYPE_CHECKING:
    from pathlib import Path

#: Sections that no program reads of itself while it is measured.
_DESCRIBES = re.compile(
    rb"\.z?debug_.*|\.(symtab|strtab|shstrtab|comment|gnu_debuglink|note\.gnu\.build-id)"
)
_BUILD_ID = b".note.gnu.build-id"


def program_hash(path: Path) -> str:
    """sha256 (hex) of a linked ELF file without its build id, debug information and symbols. What
    is appended to it counts, as does all of an object that is not linked. NotElfError where it
    cannot be read as ELF.
    """
    with opened(path) as elf:
        left_out = [] if elf.is_relocatable else [*elf.index]
        for section in elf.sections:
            of_file = section.kind != NOBITS and not elf.is_relocatable
            # The program reads a loaded section, whatever the name of it.
            idle = not section.flags & ALLOC or section.name == _BUILD_ID
            if of_file and idle and _DESCRIBES.fullmatch(section.name):
                left_out.append((section.offset, section.offset + section.size))
    data, at, digest = path.read_bytes(), 0, hashlib.sha256()
    for begin, end in sorted(left_out):
        digest.update(data[at : max(at, begin)])
        at = max(at, end)
    digest.update(data[at:])
    return digest.hexdigest()
