# SPDX-License-Identifier: GPL-2.0-or-later
"""A mark for the code of each function of a kernel, from vmlinux.o: which ones does a commit
change?

A mark depends on the function alone, not on where it or what it refers to lies: places that the
linker fills in count by the name of what they mean, and so do the calls and jumps between functions
of one section, which the assembler has filled in itself. What a function refers to may have other
contents; that is no change of its code. One thing may make a function look changed that is not: a
jump to a neighbour that gets out of the reach of its short form.

Functions that run before anybody can count them are told apart: those that code calls which the
kernel frees after booting (section .init.text), and that code itself.

x86_64 only (relocations: System V psABI, table 4.9).
"""

from __future__ import annotations

import bisect
import gzip
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from rtbisect.kernel.elf import (
    EXECUTED,
    FUNCTION,
    NOBITS,
    SECTION,
    STRINGS,
    Elf,
    Relocation,
    Section,
    Symbol,
    opened,
)
from rtbisect.model.code import Function

#: Bytes that a relocation fills in, and those that are relative to their place.
_WIDTHS = {1: 8, 24: 8, 12: 2, 13: 2, 14: 1, 15: 1}
_WIDTH = 4
_RELATIVE = frozenset((2, 4, 9, 13, 15, 24, 41, 42))
#: The processor counts from the end of its instruction: behind the field, and behind a constant.
_AHEAD = (4, 5, 6, 8)
#: What a call or a jump to another section has (R_X86_64_PC32, _PLT32).
_CALLED = frozenset((2, 4))

#: Calls and jumps with 32 and with 8 bits. The short ones reach so far.
_FAR = re.compile(rb"[\xe8\xe9]|\x0f[\x80-\x8f]")
_SHORT = re.compile(rb"[\xeb\x70-\x7f]")
_SHORT_REACH = 130

#: Numbers that a compiler gives to what it makes of a function, in the order in which it meets
#: them.
_NUMBERS = re.compile(rb"\.[0-9]+")
#: Room before a function, which is none.
_PADDING = (b"__pfx_", b"__cfi_")
#: Code that the kernel frees after booting.
_INIT = re.compile(rb"\.init\.text(\..*)?", re.DOTALL)
#: Names that every tool of the kernel takes.
_NAME = re.compile(rb"[A-Za-z_][A-Za-z0-9_.]{0,120}")
_STRING_LIMIT = 512
#: The bytes of all functions together have at most so many times the bytes of the file.
_OVERLAP = 2


class Place(NamedTuple):
    """A symbol of a section."""

    #: Bytes from the begin of the section, and bytes of it.
    start: int
    size: int
    name: bytes


def table(vmlinux: Path) -> bytes:
    """Lines of `name mark`, with a third word for code that runs at boot, packed; NotElfError for a
    file that cannot be read as an object.
    """
    with opened(vmlinux) as elf:
        rows = sorted(_functions(elf))
    return gzip.compress(b"".join(b" ".join(row) + b"\n" for row in rows), mtime=0)


def changed(parent: bytes, culprit: bytes) -> tuple[Function, ...]:
    """The functions, by name, of `culprit` whose code is in no function of that name of `parent`,
    by two tables. Several functions may have one name.
    """
    old: dict[bytes, Counter[bytes]] = {}
    for name, mark, _ in _table_rows(parent):
        old.setdefault(_without_numbers(name), Counter())[mark] += 1
    at_boot_by_name: dict[str, bool] = {}
    for name, mark, at_boot in _table_rows(culprit):
        left = old.get(_without_numbers(name), Counter())
        if left[mark]:
            left[mark] -= 1
        else:
            text = name.decode("ascii")
            at_boot_by_name[text] = at_boot_by_name.get(text, False) or at_boot
    return tuple(Function(*item) for item in sorted(at_boot_by_name.items()))


def _table_rows(packed: bytes) -> Iterator[tuple[bytes, bytes, bool]]:
    for line in gzip.decompress(packed).splitlines():
        name, mark, *boot = line.split(b" ")
        yield name, mark, bool(boot)


def _functions(elf: Elf) -> Iterator[tuple[bytes, ...]]:
    """The words of each line."""
    rows: list[tuple[bytes, bytes, bool]] = []
    called: set[bytes] = set()
    if not elf.is_relocatable:
        raise ValueError("no relocatable object")
    symbols = elf.symbols()
    places = _symbols_by_section(symbols)
    meant = _Meanings(elf, symbols, places)
    own = _functions_by_section(symbols)
    left = _OVERLAP * sum(section.size for section in elf.sections if section.kind != NOBITS)
    for number, section in enumerate(elf.sections):
        if not section.flags & EXECUTED or section.kind == NOBITS or number not in own:
            continue
        code = b"".join(elf.chunks(section))
        patches, is_init = elf.relocations_of(number), _INIT.fullmatch(section.name) is not None
        if is_init:
            called.update(_callees(code, patches, meant))
        marks = _Marks(code, patches, places[number], meant)
        for (start, size), name in own[number].items():
            left -= size
            if left < 0:
                raise ValueError("functions that lie in each other")
            if _NAME.fullmatch(name) and not name.startswith(_PADDING):
                rows.append((name, marks.mark(start, size), is_init))
    for name, mark, is_init in rows:
        yield (name, mark, b"boot") if is_init or _base(name) in called else (name, mark)


def _functions_by_section(symbols: list[Symbol]) -> dict[int, dict[tuple[int, int], bytes]]:
    """Names of functions by their place and size, by the number of their section."""
    by_section: dict[int, dict[tuple[int, int], bytes]] = {}
    # Of several names of one place the one that sorts last counts, in every build.
    for symbol in sorted(symbols, key=lambda symbol: (symbol.info, symbol.name)):
        if symbol.kind == FUNCTION and symbol.size and symbol.is_here:
            by_section.setdefault(symbol.section, {})[symbol.value, symbol.size] = symbol.name
    return by_section


def _callees(code: bytes, patches: Iterable[Relocation], meant: _Meanings) -> Iterator[bytes]:
    """Base names of what the code of a section calls in others, or jumps to."""
    for patch in patches:
        before = code[max(0, patch.offset - 2) : patch.offset]
        if patch.kind in _CALLED and any(_FAR.fullmatch(before[-n:]) for n in (1, 2)):
            yield _base(meant.callee(patch))


def _base(name: bytes) -> bytes:
    """Of a function and of all parts that a compiler makes of it: f of f.part.0 and f.cold."""
    return name.partition(b".")[0]


def _without_numbers(name: bytes) -> bytes:
    return _NUMBERS.sub(b"", name)


def _symbols_by_section(symbols: list[Symbol]) -> Mapping[int, list[Place]]:
    """Symbols with a size by the number of their section, in order."""
    by_section: dict[int, list[Place]] = {}
    for symbol in symbols:
        if symbol.is_here and symbol.kind != SECTION and symbol.size:
            place = Place(symbol.value, symbol.size, _without_numbers(symbol.name))
            by_section.setdefault(symbol.section, []).append(place)
    return {number: sorted(places) for number, places in by_section.items()}


def _symbol_at(places: list[Place], at: int) -> Place | None:
    """The symbol that holds an address."""
    index = bisect.bisect_right(places, at, key=lambda place: place.start) - 1
    if index < 0 or not at < places[index].start + places[index].size:
        return None
    return places[index]


class _Meanings:
    """What a relocation stands for, without a number that moves."""

    def __init__(self, elf: Elf, symbols: list[Symbol], places: Mapping[int, list[Place]]) -> None:
        self._elf = elf
        self._symbols = symbols
        self._symbols_by_section = places
        self._texts: dict[int, bytes] = {}

    def meaning(self, patch: Relocation) -> bytes:
        symbol = self._symbols[patch.symbol]
        if symbol.kind != SECTION or not symbol.is_here:
            return b"%b%+d" % (_without_numbers(symbol.name), patch.addend)
        section = self._elf.sections[symbol.section]
        at = symbol.value + patch.addend
        starts = [at + ahead for ahead in _AHEAD] if patch.kind in _RELATIVE else [at]
        if section.flags & STRINGS:
            return b"text " + self._text(symbol.section, section, starts[0])
        places = self._symbols_by_section.get(symbol.section, [])
        held = [(place, start) for start in starts if (place := _symbol_at(places, start))]
        for place, start in held:
            if place.start == start:
                return place.name
        # Of what has no name only the kind counts: its place moves with all that lies before it.
        return b"%b%+d" % (held[0][0].name, held[0][1] - held[0][0].start) if held else section.name

    def callee(self, patch: Relocation) -> bytes:
        """The symbol that a call means; b"" for one that has none."""
        symbol = self._symbols[patch.symbol]
        if symbol.kind != SECTION:
            return symbol.name
        places = self._symbols_by_section.get(symbol.section, [])
        # The processor counts from the end of the call, which is that of its field.
        place = _symbol_at(places, symbol.value + patch.addend + _WIDTH)
        return place.name if place else b""

    def _text(self, number: int, section: Section, start: int) -> bytes:
        if number not in self._texts:
            self._texts[number] = b"".join(self._elf.chunks(section))
        texts = self._texts[number]
        return texts[start : max(start, texts.find(b"\0", start, start + _STRING_LIMIT))]


class _Marks:
    """The functions of one section."""

    def __init__(
        self, code: bytes, patches: list[Relocation], places: list[Place], meant: _Meanings
    ) -> None:
        self._code = code
        self._patches = patches
        self._offsets = [patch.offset for patch in patches]
        self._starts = {place.start: place.name for place in places}
        self._meant = meant

    def mark(self, start: int, size: int) -> bytes:
        """The mark (hex) of the function of `size` bytes at `start`."""
        code = bytearray(self._code[start : start + size])
        references = []
        first = bisect.bisect_left(self._offsets, start)
        last = bisect.bisect_left(self._offsets, start + size)
        for patch in self._patches[first:last]:
            at, width = patch.offset - start, _WIDTHS.get(patch.kind, _WIDTH)
            code[at : at + width] = bytes(width)
            references.append(b"%d %d " % (at, patch.kind) + self._meant.meaning(patch))
        filled = frozenset(self._offsets[first:last])
        for at, width in self._jumps(bytes(code)):
            end = at + width
            step = int.from_bytes(code[at:end], "little", signed=True)
            name = self._starts.get(start + end + step)
            if name is None or 0 <= end + step < size or start + at in filled:
                continue
            code[at:end] = bytes(width)
            references.append(b"%d jump " % at + name)
        digest = hashlib.blake2b(bytes(code), digest_size=8)
        digest.update(b"\0".join(references))
        return digest.hexdigest().encode()

    @staticmethod
    def _jumps(code: bytes) -> Iterator[tuple[int, int]]:
        """Where a jump may have its distance, and the width of it. Bytes that only look like one
        lead to the start of another function about never.
        """
        for match in _FAR.finditer(code):
            if match.end() + 4 <= len(code):
                yield match.end(), 4
        ends = (code[:_SHORT_REACH], 0), (code[_SHORT_REACH:][-_SHORT_REACH:], 1)
        for part, is_last in ends:
            begin = len(code) - len(part) if is_last else 0
            for match in _SHORT.finditer(part):
                if begin + match.end() < len(code):
                    yield begin + match.end(), 1
