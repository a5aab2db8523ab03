# SPDX-License-Identifier: GPL-2.0-or-later
"""ELF files written by hand, so that each byte of them is known."""

import struct
from dataclasses import dataclass
from pathlib import Path

import pytest

from rtbisect.kernel.signature import NotElfError, image_hash, signature

PROGBITS, NOTE, NOBITS, STRTAB = 1, 7, 8, 3
ALLOC = 2


@dataclass(frozen=True)
class Section:
    name: str
    data: bytes = b""
    kind: int = PROGBITS
    flags: int = ALLOC
    address: int = 0
    size: int | None = None


def elf(*sections: Section) -> bytes:
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
            *(0, 0, 1, 0),
        )
        body += section.data
        at += len(section.data)
        name_at += len(section.name) + 1
    ident = b"\x7fELF\x02\x01\x01" + b"\0" * 9
    count = len(every) + 1
    header = struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 0, at, 0, 64, 0, 0, 64, count, count - 1)
    return ident + header + body + headers


TEXT = Section(".text", b"\x90\x90\xc3", address=0x1000)
BSS = Section(".bss", kind=NOBITS, size=64)
BUILD_ID = Section(".note.gnu.build-id", b"build one", NOTE)
DEBUG = Section(".debug_line", b"line one", flags=0)
BASE = (TEXT, BSS, BUILD_ID, DEBUG)


@pytest.fixture
def write(tmp_path: Path):
    def written(name: str, *sections: Section) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(elf(*sections))
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
