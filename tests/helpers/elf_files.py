# SPDX-License-Identifier: GPL-2.0-or-later
"""ELF files written by hand, so that each byte of them is known."""

import struct
from dataclasses import dataclass

PROGBITS, SYMTAB, STRTAB, RELA, NOTE, NOBITS = 1, 2, 3, 4, 7, 8
ALLOC = 2
EXECUTABLE, RELOCATABLE = 2, 1
LOCAL, GLOBAL, WEAK = 0, 1, 2


@dataclass(frozen=True)
class Section:
    name: str
    data: bytes = b""
    kind: int = PROGBITS
    flags: int = ALLOC
    address: int = 0
    size: int | None = None
    link: int = 0
    info: int = 0


def elf(*sections: Section, kind: int = EXECUTABLE) -> bytes:
    names = b"\0" + b"".join(s.name.encode() + b"\0" for s in sections) + b".shstrtab\0"
    every = (*sections, Section(".shstrtab", names, STRTAB, 0))
    body, headers, at, name_at = b"", b"\0" * 64, 64, 1
    for section in every:
        size = len(section.data) if section.size is None else section.size
        headers += struct.pack(
            "<IIQQQQIIQQ",
            name_at,
            section.kind,
            section.flags,
            section.address,
            at,
            size,
            *(section.link, section.info, 1, 24 if section.kind in (SYMTAB, RELA) else 0),
        )
        body += section.data
        at += len(section.data)
        name_at += len(section.name) + 1
    ident = b"\x7fELF\x02\x01\x01" + b"\0" * 9
    count = len(every) + 1
    header = struct.pack("<HHIQQQIHHHHHH", kind, 62, 1, 0, 0, at, 0, 64, 0, 0, 64, count, count - 1)
    return ident + header + body + headers


TEXT = Section(".text", b"\x90\x90\xc3", address=0x1000)
