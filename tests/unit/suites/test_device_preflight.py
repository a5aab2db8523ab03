# SPDX-License-Identifier: GPL-2.0-or-later
"""What preflight.sh does on the device before the windows, with plain files in place of sysfs."""

import struct
import subprocess
from pathlib import Path

import pytest

from helpers.elf_files import NOTE, TEXT, Section, elf
from rtbisect.kernel.elf import NotElfError, build_id

SUITES = Path(__file__).resolve().parents[3] / "lava-jobs/suites"


@pytest.mark.parametrize(
    ("first", "sleeps", "last"),
    [("tsc", 0, "tsc"), ("hpet", 0, "hpet"), ("tsc-early", 3, "tsc"), ("tsc-early", 100, None)],
)
def test_windows_wait_for_the_clock_that_stays(tmp_path, first, sleeps, last):
    """The clock becomes `last` with the third pause; None: it never changes."""
    clock = tmp_path / "clock"
    clock.write_text(f"{first}\n")
    lines = [
        f". {SUITES}/lib.sh",
        f". {SUITES}/preflight.sh",
        f"_CLOCKSOURCE={clock} n=0",
        f"usleep() {{ n=$((n + 1)); [ $n != 3 ] || echo {last or first} >{clock}; }}",
        "_await_clock",
        "echo $n",
    ]
    argv = ["/bin/busybox", "ash", "-euc", "\n".join(lines)]
    done = subprocess.run(argv, timeout=60, check=True, capture_output=True, text=True)
    assert int(done.stdout) == sleeps
    assert clock.read_text().strip() == (last or first)


def note(name, kind, told):
    fill = lambda data: data + bytes(-len(data) % 4)  # noqa: E731
    return struct.pack("<III", len(name), len(told), kind) + fill(name) + fill(told)


ID = bytes(range(200, 220))
LINUX = note(b"Linux\0", 0x101, b"\x1e\0\0\0")


@pytest.mark.parametrize(
    ("notes", "told"),
    [
        (LINUX + note(b"GNU\0", 3, ID) + LINUX, ID.hex()),
        (note(b"GNU\0", 3, ID), ID.hex()),
        (LINUX + note(b"GNU\0", 3, ID[:16]), ""),
        (LINUX, ""),
        (b"", ""),
        (None, ""),
    ],
)
def test_the_build_id_is_what_the_builder_reads_from_vmlinux(tmp_path, notes, told):
    """As /sys/kernel/notes has it, and as the ELF file does."""
    place = tmp_path / "notes"
    if notes is not None:
        place.write_bytes(notes)
        vmlinux = tmp_path / "vmlinux"
        vmlinux.write_bytes(elf(TEXT, Section(".notes", notes, NOTE)))
        assert build_id(vmlinux) == told
    lines = [f". {SUITES}/lib.sh", f". {SUITES}/preflight.sh", f"_build_id {place}"]
    argv = ["/bin/busybox", "ash", "-euc", "\n".join(lines)]
    done = subprocess.run(argv, timeout=60, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == told


@pytest.mark.parametrize(
    "notes", [b"\xff" * 64, b"\0" * 12, struct.pack("<III", 1 << 31, 1 << 31, 3), b"\x04" * 7]
)
def test_notes_that_lie_have_no_build_id(tmp_path, notes):
    vmlinux = tmp_path / "vmlinux"
    vmlinux.write_bytes(elf(TEXT, Section(".notes", notes, NOTE)))
    assert build_id(vmlinux) == ""
    vmlinux.write_bytes(notes)
    with pytest.raises(NotElfError):
        build_id(vmlinux)
