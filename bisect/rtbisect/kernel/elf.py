# SPDX-License-Identifier: GPL-2.0-or-later
"""Sections, relocations and symbols of ELF files that foreign code wrote.

A reader of our own, because general ones follow whatever a header says: strings without
an end, tables of 2^32 entries. Here every number is held against the size of the file,
and what is read adds up to no more than twice the file, however its sections overlap.
Little-endian only; relocations of 64-bit objects only, which is what x86_64 kernels have.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

ALLOC, EXECUTED, STRINGS = 2, 4, 0x20
NOBITS, NOTE = 8, 7
_SYMTAB, _RELA, _REL, _SYMTAB_SHNDX = 2, 4, 9, 18
_RELOCATABLE = 1
FUNCTION, SECTION = 2, 3
#: Numbers of sections from _RESERVED on have meanings; _ELSEWHERE is that the number does not fit
#: into its field (System V ABI, "Section Header Table").
_UNDEFINED, _RESERVED, _ELSEWHERE = 0, 0xFF00, 0xFFFF

#: File header (from e_type on) and section header, by the class byte.
_HEADERS = {1: struct.Struct("<HHIIIIIHHHHHH"), 2: struct.Struct("<HHIQQQIHHHHHH")}
_SECTIONS = {1: struct.Struct("<10I"), 2: struct.Struct("<IIQQQQIIQQ")}
_RELOCATION = struct.Struct("<QQq")
_SYMBOL = struct.Struct("<IBBHQQ")
_WORD = struct.Struct("<I")
_RELOCATION_MARK = struct.Struct("<QIq")

#: Bytes of one name and of a table, symbols of a file: far beyond any kernel's.
_NAME_LIMIT = 512
_TABLE_LIMIT = 64 << 20
_SYMBOL_LIMIT = 1 << 20
#: A multiple of what one relocation has, near 1 MiB.
_CHUNK = _RELOCATION.size * 43_690


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One section header."""

    name: bytes
    #: SHT_*, and SHF_* bits.
    kind: int
    flags: int
    #: Of its first byte at run time; then its place and bytes in the file.
    address: int
    offset: int
    size: int
    #: Numbers of other sections or symbols, by the meaning that the kind gives them.
    link: int
    info: int

    @property
    def runs(self) -> bool:
        """In memory at run time; notes (build id) are, and nobody looks at them."""
        return bool(self.flags & ALLOC) and self.kind != NOTE


class Symbol(NamedTuple):
    """A row of the table of symbols; `kind` is a number of FUNCTION and SECTION."""

    name: bytes
    info: int
    #: Its number in the file; 0 of what is undefined, and less than that of what has a reserved
    #: number, as an absolute value.
    section: int
    #: Where the symbol begins in the section, and how many bytes it has.
    value: int
    size: int

    @property
    def kind(self) -> int:
        return self.info & 0xF

    @property
    def is_here(self) -> bool:
        return self.section > _UNDEFINED


class Relocation(NamedTuple):
    """What the linker writes into a section."""

    #: Bytes from the begin of the section.
    offset: int
    #: R_X86_64_* of the psABI.
    kind: int
    #: Number of the symbol in the table of symbols.
    symbol: int
    addend: int


#: Errors that reading raises on a file that somebody forged.
_UNREADABLE = (ArithmeticError, LookupError, MemoryError, OSError, ValueError, struct.error)


#: Bytes of a build id (ld --build-id=sha1, as every kernel is linked), of the notes of a kernel.
_BUILD_ID_BYTES = 20
_NOTES_LIMIT = 1 << 20
_GNU_BUILD_ID = 3
_NOTE = struct.Struct("<III")


class NotElfError(ValueError):
    """A file that should be an ELF object is none, is cut off, or lies about itself."""


class Elf:
    """An open file. A file that lies raises ValueError, LookupError or struct.error."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._size = os.fstat(stream.fileno()).st_size
        # Twice: a table of strings may serve sections and symbols.
        self._left = 2 * self._size
        ident = self._bytes(0, 16)
        if ident[:4] != b"\x7fELF" or ident[4] not in _HEADERS or ident[5] != 1:
            raise ValueError("not a little-endian ELF file")
        self._is_64 = ident[4] == 2
        head = _HEADERS[ident[4]]
        fields = head.unpack(self._bytes(16, head.size))
        self.is_relocatable = fields[0] == _RELOCATABLE
        self.sections = self._headers(_SECTIONS[ident[4]], fields[5], *fields[-3:])
        #: Where the file tells of its sections: their headers, and what the file header has of
        #: these; first byte and the one behind the last.
        self.index = (((40, 48), (58, 64)) if self._is_64 else ((32, 36), (46, 52))) + (
            (fields[5], fields[5] + fields[-3] * len(self.sections)),
        )
        running = [index for index, section in enumerate(self.sections) if section.runs]
        # Numbers among what runs: debug sections in between do not shift them.
        self._number = {index: number for number, index in enumerate(running)}
        self._patching: dict[int, list[Section]] = {}
        for section in self.sections:
            if section.kind == _RELA:
                self._patching.setdefault(section.info, []).append(section)

    def chunks(self, section: Section) -> Iterator[bytes]:
        """The bytes of a section; none when it has no place in the file."""
        if section.kind != NOBITS:
            for at in range(0, section.size, _CHUNK):
                yield self._bytes(section.offset + at, min(_CHUNK, section.size - at))

    def relocations(self) -> Iterator[tuple[int, bytes]]:
        """What the loader of modules will patch: the number of a section that runs, and
        patches of it (in pieces). A patch is its offset, type and addend, and a sha256 of
        what its symbol stands for: a name from elsewhere, or a place in this file.
        """
        symbols: dict[int, list[bytes]] = {}
        for section in self.sections:
            if section.kind not in (_RELA, _REL) or not self.sections[section.info].runs:
                continue
            if section.kind == _REL or not self._is_64:
                raise ValueError("relocations of another architecture")
            if section.link not in symbols:
                symbols[section.link] = self._symbol_hashes(self.sections[section.link])
            meanings = symbols[section.link]
            for chunk in self.chunks(section):
                patches = [
                    _RELOCATION_MARK.pack(offset, info & 0xFFFFFFFF, addend) + meanings[info >> 32]
                    for offset, info, addend in _RELOCATION.iter_unpack(chunk)
                ]
                yield self._number[section.info], b"".join(patches)

    def symbols(self) -> list[Symbol]:
        """All symbols of a relocatable object, by their number."""
        table = next((section for section in self.sections if section.kind == _SYMTAB), None)
        if table is None or not self._is_64:
            raise ValueError("no table of symbols, or one of another architecture")
        return list(self._symbol_rows(table))

    def relocations_of(self, number: int) -> list[Relocation]:
        """The relocations of the section with this number, in the order of their places."""
        relocations: list[Relocation] = []
        for section in self._patching.get(number, ()):
            for chunk in self.chunks(section):
                relocations += (
                    Relocation(offset, info & 0xFFFFFFFF, info >> 32, addend)
                    for offset, info, addend in _RELOCATION.iter_unpack(chunk)
                )
        return sorted(relocations)

    def _symbol_hashes(self, table: Section) -> list[bytes]:
        """32 bytes a symbol, by its number."""
        hashes = []
        for symbol in self._symbol_rows(table):
            meaning: tuple[object, ...]
            index = symbol.section
            if index == _UNDEFINED:
                meaning = ("elsewhere", symbol.info >> 4, symbol.name)
            elif symbol.is_here:
                meaning = ("here", self.sections[index].name, self._number.get(index), symbol.value)
            else:
                meaning = ("nowhere", index & _ELSEWHERE, symbol.name, symbol.value)
            hashes.append(hashlib.sha256(repr(meaning).encode()).digest())
        return hashes

    def _symbol_rows(self, table: Section) -> Iterator[Symbol]:
        if table.kind != _SYMTAB or table.size > _SYMBOL_LIMIT * _SYMBOL.size:
            raise ValueError("no table of symbols, or an absurd one")
        strings = self.sections[table.link]
        names = self._table(strings.offset, strings.size)
        rows = _SYMBOL.iter_unpack(self._table(table.offset, table.size))
        large = self._large_numbers(table)
        for row, (name, info, _, index, value, size) in enumerate(rows):
            if index == _ELSEWHERE:
                (section,) = _WORD.unpack_from(large, row * _WORD.size)
            else:
                section = index if index < _RESERVED else index - (_ELSEWHERE + 1)
            yield Symbol(_name(names, name), info, section, value, size)

    def _large_numbers(self, table: Section) -> bytes:
        """Numbers of the sections of symbols, a word each, where they do not fit into the table."""
        for section in self.sections:
            if section.kind == _SYMTAB_SHNDX and self.sections[section.link] is table:
                return self._table(section.offset, section.size)
        return b""

    def _headers(
        self, form: struct.Struct, start: int, size: int, count: int, names_index: int
    ) -> tuple[Section, ...]:
        """`count` headers of `size` bytes each, the first one at `start` of the file. Their names
        are in the section with the number `names_index`. The first header has what does not fit.
        """
        if size != form.size:
            raise ValueError("section headers of a foreign size")
        if start and (not count or names_index == _ELSEWHERE):
            first = form.unpack(self._bytes(start, size))
            count = count or first[5]
            names_index = first[6] if names_index == _ELSEWHERE else names_index
        rows = list(form.iter_unpack(self._bytes(start, size * count)))
        names = self._table(*rows[names_index][4:6])
        return tuple(
            Section(
                name=_name(names, row[0]),
                kind=row[1],
                flags=row[2],
                address=row[3],
                offset=row[4],
                size=row[5],
                link=row[6],
                info=row[7],
            )
            for row in rows
        )

    def _table(self, offset: int, size: int) -> bytes:
        if size > _TABLE_LIMIT:
            raise ValueError("an absurd table")
        return self._bytes(offset, size)

    def _bytes(self, offset: int, size: int) -> bytes:
        self._left -= size
        if offset + size > self._size or self._left < 0:
            raise ValueError("a section ends behind the file, or overlaps too many others")
        self._stream.seek(offset)
        data = self._stream.read(size)
        if len(data) != size:
            raise ValueError("the file became shorter")
        return data


@contextmanager
def opened(path: Path) -> Iterator[Elf]:
    """A file as ELF; NotElfError where it, or what is read of it meanwhile, cannot be."""
    try:
        with path.open("rb") as stream:
            yield Elf(stream)
    except _UNREADABLE as error:
        raise NotElfError(f"{path.name} is not a readable ELF file") from error


def build_id(path: Path) -> str:
    """The GNU build id of a linked file in hex, which a running kernel shows in /sys/kernel/notes;
    "" where it has none. NotElfError for a file that cannot be read as ELF.
    """
    with opened(path) as elf:
        for section in elf.sections:
            small = section.kind == NOTE and section.size <= _NOTES_LIMIT
            if small and (identifier := _build_id(b"".join(elf.chunks(section)))):
                return identifier
    return ""


def _build_id(notes: bytes) -> str:
    """Notes follow each other, their name and what they tell filled up to four bytes."""
    at = 0
    while at + _NOTE.size <= len(notes):
        name_size, size, kind = _NOTE.unpack_from(notes, at)
        name_at = at + _NOTE.size
        content_at = name_at + (name_size + 3 & ~3)
        name, content = notes[name_at : name_at + name_size], notes[content_at : content_at + size]
        if (name, kind, len(content)) == (b"GNU\0", _GNU_BUILD_ID, _BUILD_ID_BYTES):
            return content.hex()
        at = content_at + (size + 3 & ~3)
    return ""


def _name(table: bytes, start: int) -> bytes:
    end = table.find(b"\0", start, start + _NAME_LIMIT)
    if end < 0:
        raise ValueError("a name without an end")
    return table[start:end]
