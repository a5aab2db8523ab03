# SPDX-License-Identifier: GPL-2.0-or-later
"""ELF files written by hand, so that each byte of them is known."""

import struct
from dataclasses import dataclass
from pathlib import Path

import pytest

from helpers.elf_files import (
    ALLOC,
    EXECUTABLE,
    GLOBAL,
    LOCAL,
    NOBITS,
    NOTE,
    PROGBITS,
    RELA,
    RELOCATABLE,
    STRTAB,
    SYMTAB,
    TEXT,
    WEAK,
    Section,
    elf,
)
from rtbisect.kernel.elf import NotElfError
from rtbisect.kernel.products import image_hash, signature

BSS = Section(".bss", kind=NOBITS, size=64)
BUILD_ID = Section(".note.gnu.build-id", b"build one", NOTE)
DEBUG = Section(".debug_line", b"line one", flags=0)
BASE = (TEXT, BSS, BUILD_ID, DEBUG)


@pytest.fixture
def write(tmp_path: Path):
    def written(name: str, *sections: Section, kind: int = EXECUTABLE) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(elf(*sections, kind=kind))
        return path

    return written


@pytest.mark.parametrize(
    "sections",
    [
        (TEXT, BSS, Section(".note.gnu.build-id", b"build two!", NOTE), DEBUG),
        (TEXT, BSS, BUILD_ID, Section(".debug_line", b"another line", flags=0)),
        (TEXT, BSS),
        (*BASE, Section(".comment", b"GCC 12", flags=0)),
    ],
    ids=["build id", "debug", "stripped", "comment"],
)
def test_what_does_not_run_does_not_count(write, sections):
    assert image_hash(write("a", *BASE)) == image_hash(write("b", *sections))


@pytest.mark.parametrize(
    "sections",
    [
        (Section(".text", b"\x90\x91\xc3", address=0x1000), BSS),
        (Section(".text", TEXT.data, address=0x2000), BSS),
        (Section(".text", TEXT.data, address=0x1000, flags=ALLOC | 1), BSS),
        (Section(".init", TEXT.data, address=0x1000), BSS),
        (TEXT, Section(".bss", kind=NOBITS, size=128)),
        (TEXT, BSS, Section("__bug_table", b"\x2a")),
        (TEXT,),
    ],
    ids=["code", "address", "flags", "name", "bss size", "bug table", "no bss"],
)
def test_what_runs_counts(write, sections):
    assert image_hash(write("a", *BASE)) != image_hash(write("b", *sections))


def test_signature_covers_modules_by_name_and_the_boot_line(write):
    vmlinux = write("vmlinux", *BASE)
    one, two = write("a.ko", TEXT), write("b.ko", BSS)
    base = signature(vmlinux, [one, two], "isolcpus=2-7")
    assert signature(vmlinux, iter([two, one]), "isolcpus=2-7") == base
    swapped = [write("x/a.ko", BSS), write("x/b.ko", TEXT)]
    others = {
        signature(vmlinux, [one], "isolcpus=2-7"),
        signature(vmlinux, [], "isolcpus=2-7"),
        signature(vmlinux, [one, two], ""),
        signature(vmlinux, swapped, "isolcpus=2-7"),
    }
    assert len(others) == 4
    assert base not in others
    assert len(base) == 64


def test_signature_does_not_depend_on_the_folder(write):
    assert signature(write("x/vmlinux", *BASE), [], "") == signature(
        write("y/vmlinux", *BASE), [], ""
    )


@dataclass(frozen=True)
class Symbol:
    """By default one that another file defines."""

    name: str
    section: int = 0
    value: int = 0
    binding: int = GLOBAL


CALL = 4  # R_X86_64_PLT32
PRINTK, PANIC = Symbol("_printk"), Symbol("panic")
#: Two functions of the module's own text.
FIRST, SECOND = Symbol("first", 1, 0), Symbol("second", 1, 16)


def module(
    *symbols: Symbol,
    patches: tuple[tuple[int, int, int, int], ...] = ((1, CALL, 1, -4),),
    target: int = 1,
    debug: tuple[Section, ...] = (),
) -> tuple[Section, ...]:
    """Sections .text, .data, debug, .rela, .symtab, .strtab; a patch is an offset, a type,
    the number of a symbol, counted from 1, and an addend.
    """
    names, table = b"\0", b"\0" * 24
    for symbol in symbols:
        table += struct.pack(
            "<IBBHQQ", len(names), symbol.binding << 4, 0, symbol.section, symbol.value, 0
        )
        names += symbol.name.encode() + b"\0"
    rela = b"".join(
        struct.pack("<QQq", offset, number << 32 | kind, addend)
        for offset, kind, number, addend in patches
    )
    at = 3 + len(debug)
    return (
        Section(".text", b"\xe8\0\0\0\0\xc3"),
        Section(".data", b"\0" * 8),
        *debug,
        Section(".rela.text", rela, RELA, 0, link=at + 1, info=target),
        Section(".symtab", table, SYMTAB, 0, link=at + 2),
        Section(".strtab", names, STRTAB, 0),
    )


@pytest.fixture
def module_hash(write):
    def hashed(*sections: Section) -> str:
        return image_hash(write("a.ko", *sections, kind=RELOCATABLE))

    return hashed


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (module(PRINTK), module(PANIC)),
        (module(FIRST), module(SECOND)),
        (module(PRINTK), module(Symbol("_printk", binding=WEAK))),
        (module(PRINTK), module(PRINTK, patches=((1, CALL, 1, 12),))),
        (module(PRINTK), module(PRINTK, patches=((2, CALL, 1, -4),))),
        (module(PRINTK), module(PRINTK, patches=((1, 11, 1, -4),))),
        (module(PRINTK), module(PRINTK, patches=())),
        (module(PRINTK), module(PRINTK, target=2)),
        (module(FIRST), module(Symbol("first", 2, 0))),
        (module(FIRST), module(Symbol("first", 0xFFF1, 0))),
        (module(FIRST, SECOND), module(Symbol("first", 1, 16), Symbol("second", 1, 0))),
    ],
    ids=[
        *("callee", "place", "binding", "addend", "offset", "type", "no call", "patched section"),
        *("section of the place", "absolute", "swapped names"),
    ],
)
def test_what_a_module_calls_counts(module_hash, one, two):
    assert module_hash(*one) != module_hash(*two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (module(PRINTK, PANIC), module(PANIC, PRINTK, patches=((1, CALL, 2, -4),))),
        (module(FIRST), module(Symbol("renamed", 1, 0, LOCAL))),
        (module(PRINTK), module(PRINTK, PANIC)),
        (module(FIRST), module(FIRST, debug=(DEBUG,))),
        (module(PRINTK, target=3, debug=(DEBUG,)), module(PANIC, target=3, debug=(DEBUG,))),
    ],
    ids=["number", "name of our own", "not called", "debug", "relocations of debug"],
)
def test_how_a_module_says_it_does_not_count(module_hash, one, two):
    assert module_hash(*one) == module_hash(*two)


@pytest.mark.parametrize(
    "sections",
    [
        module(PRINTK, patches=((1, CALL, 9, -4),)),
        module(Symbol("x" * 600)),
        module(Symbol("here", 99)),
        module(Symbol("here", 0xFFFF)),
        module(PRINTK, target=99),
        (TEXT, Section(".rela.text", b"\0" * 24, RELA, 0, link=1, info=1)),
        (TEXT, Section(".rela.text", b"\0" * 23, RELA, 0, link=3, info=1), *module(PRINTK)[3:]),
        (TEXT, Section(".rel.text", b"\0" * 16, 9, 0, link=3, info=1), *module(PRINTK)[3:]),
    ],
    ids=["symbol", "name", "section", "table", "target", "none", "cut off", "other machine"],
)
def test_relocations_that_somebody_made_up(module_hash, sections):
    with pytest.raises(NotElfError):
        module_hash(*sections)


def overlapping(data: bytes, times: int) -> bytes:
    """One section's bytes as so many sections that run."""
    row = struct.pack("<IIQQQQIIQQ", 1, PROGBITS, ALLOC, 0, 64, len(data), 0, 0, 1, 0)
    names = struct.pack("<IIQQQQIIQQ", 0, STRTAB, 0, 0, 64, 8, 0, 0, 1, 0)
    at = 64 + len(data)
    header = struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 0, at, 0, 64, 0, 0, 64, times + 1, times)
    return b"\x7fELF\x02\x01\x01" + b"\0" * 9 + header + data + row * times + names


def test_sections_that_overlap_are_not_read_for_ever(tmp_path):
    path = tmp_path / "vmlinux"
    path.write_bytes(overlapping(b"\0.text\0\0" + b"x" * 10_000, 2))
    image_hash(path)
    path.write_bytes(overlapping(b"\0.text\0\0" + b"x" * 10_000, 5))
    with pytest.raises(NotElfError):
        image_hash(path)


def test_code_that_unpacks_counts_but_not_where_the_length_of_the_payload_lies(write):
    vmlinux = write("vmlinux", *BASE)
    header, text = Section(".header", b"length 1"), Section(".text", b"setup")

    def of(*boot: Path) -> str:
        return signature(vmlinux, [], "", boot)

    base = of(write("setup.elf", header, text))
    assert of(write("setup.elf", Section(".header", b"length 2"), text)) == base
    assert of(write("setup.elf", header, Section(".text", b"other"))) != base
    assert of(write("setup.elf", header, text), write("misc.o", TEXT)) != base
    assert of() != base


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"MZ not an ELF file at all",
        elf(*BASE)[:90],
        elf(Section(".text", b"x", size=1 << 60)),
    ],
    ids=["empty", "other format", "cut off", "absurd size"],
)
def test_files_that_are_no_elf_files(tmp_path, data):
    path = tmp_path / "vmlinux"
    path.write_bytes(data)
    with pytest.raises(NotElfError, match="vmlinux is not a readable ELF file"):
        image_hash(path)
