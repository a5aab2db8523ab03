# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether two programs of user space are one: by all of their files that does not only describe."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from rtbisect.kernel.elf import ALLOC, NOBITS, opened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

#: Sections that no program reads of itself while it is measured.
_DESCRIBES = re.compile(
    rb"\.z?debug_.*|\.gnu\.build\.attributes(\..*)?"
    rb"|\.(symtab|strtab|shstrtab|comment|gdb_index|gnu_debug(link|altlink|data)"
    rb"|note\.gnu\.build-id)"
)
_BUILD_ID = b".note.gnu.build-id"
#: Bytes that such a section, and the section headers, are aligned to at most.
_ALIGNED = 16


def program_hash(path: Path) -> str:
    """sha256 (hex) of a linked ELF file without its build id, debug information and symbols. What
    is appended to it counts, as does all of an object that is not linked. NotElfError where it
    cannot be read as ELF.
    """
    with opened(path) as elf:
        left_out = [] if elf.is_relocatable else [*elf.index]
        in_file = [each for each in elf.sections if each.kind != NOBITS and not elf.is_relocatable]
        for section in in_file:
            # The program reads a loaded section, whatever the name of it.
            idle = not section.flags & ALLOC or section.name == _BUILD_ID
            if idle and _DESCRIBES.fullmatch(section.name):
                left_out.append((section.offset, section.offset + section.size))
    data, at, digest = path.read_bytes(), 0, hashlib.sha256()
    begins = sorted([*(begin for begin, _ in left_out), *(each.offset for each in in_file)])
    for begin, end in sorted((*left_out, *_gaps(data, left_out, begins))):
        digest.update(data[at : max(at, begin)])
        at = max(at, end)
    digest.update(data[at:])
    return digest.hexdigest()


def _gaps(
    data: bytes, left_out: Iterable[tuple[int, int]], begins: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """The zero bytes behind what is left out, up to the next of `begins` (in order): how many
    there are depends on its size.
    """
    for _, end in left_out:
        place = bisect_left(begins, end)
        begin = begins[place] if place < len(begins) else end
        if begin - end < _ALIGNED and not any(data[end:begin]):
            yield end, begin
