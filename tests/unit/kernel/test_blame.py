# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose fault an error is, held against this machine."""

import os

import pytest

from rtbisect.kernel import blame
from rtbisect.kernel.blame import MachineState, checked
from rtbisect.kernel.first_error import FirstError, Owner


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine whose counters are files; `tell` changes them."""
    vmstat, meminfo = tmp_path / "vmstat", tmp_path / "meminfo"

    def tell(ended, available_kb):
        vmstat.write_text(f"nr_free_pages 7\noom_kill {ended}\n")
        meminfo.write_text(f"MemTotal: 9 kB\nMemAvailable:   {available_kb} kB\n")

    monkeypatch.setattr(blame, "_VMSTAT", vmstat)
    monkeypatch.setattr(blame, "_MEMINFO", meminfo)
    monkeypatch.setattr(blame, "_PROGRAMS", (tmp_path,))
    monkeypatch.setattr(blame, "_HEADERS", tmp_path)
    tell(3, 4 << 20)
    found = MachineState.before(tmp_path)
    return found, tell


def owner(machine, error, *, works=True):
    return checked(error, machine, lambda: works).owner


def test_memory_is_the_machine_s_fault_when_the_kernel_ended_a_process(machine):
    found, tell = machine
    error = FirstError(Owner.MEMORY, "x")
    assert owner(found, error) is Owner.TREE
    tell(4, 4 << 20)
    assert owner(found, error) is Owner.MEMORY
    tell(3, 1000)
    assert owner(found, error) is Owner.MEMORY


def test_what_a_machine_does_not_count_is_not_held_against_the_tree(machine, tmp_path):
    found, _tell = machine
    (tmp_path / "vmstat").unlink()
    (tmp_path / "meminfo").unlink()
    # 256 MiB are taken for what is there, in kB.
    assert owner(found, FirstError(Owner.MEMORY, "x")) is Owner.TREE


def test_a_disk_is_asked(machine, monkeypatch):
    found, _tell = machine
    error = FirstError(Owner.DISK, "x")
    real = os.statvfs(found.place)

    def with_free(blocks, files, favail):
        words = list(real)[:10]
        words[1], words[4], words[5], words[7] = 4096, blocks, files, favail
        monkeypatch.setattr(os, "statvfs", lambda _path: os.statvfs_result(words))

    with_free(1 << 20, 1000, 1 << 20)
    assert owner(found, error) is Owner.TREE
    with_free(1 << 10, 1000, 1 << 20)
    assert owner(found, error) is Owner.DISK
    with_free(1 << 20, 1000, 3)
    assert owner(found, error) is Owner.DISK
    # btrfs counts no files.
    with_free(1 << 20, 0, 0)
    assert owner(found, error) is Owner.TREE


def test_a_tool_is_missing_when_it_is(machine, tmp_path):
    found, _tell = machine
    error = FirstError(Owner.TOOL, "flex: not found", "flex")
    assert owner(found, error) is Owner.TOOL
    (tmp_path / "flex").touch()
    assert checked(error, found, lambda: True) == FirstError(Owner.TREE, error.line)
    header = FirstError(Owner.TOOL, "libelf.h", "libelf-dev")
    assert owner(found, header) is Owner.TOOL
    (tmp_path / "gelf.h").touch()
    assert owner(found, header) is Owner.TREE


def test_the_sandbox_is_tried(machine):
    found, _tell = machine
    error = FirstError(Owner.SANDBOX, "bwrap: no")
    assert owner(found, error, works=False) is Owner.SANDBOX
    assert owner(found, error) is Owner.TREE
    assert owner(found, FirstError(Owner.UNCLEAN, "x")) is Owner.UNCLEAN
