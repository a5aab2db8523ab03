# SPDX-License-Identifier: GPL-2.0-or-later
"""What the host of an emulated device can do, and how a guest is favoured."""

import subprocess
from pathlib import Path

from rtbisect.lab import qemu_host

SCRIPT = Path(__file__).resolve().parents[3] / "lava-jobs/host/qemu-system-x86_64"


def test_kvm_is_used_only_where_the_cpu_can_virtualise(tmp_path):
    cpuinfo, kvm = tmp_path / "cpuinfo", tmp_path / "kvm"
    kvm.touch()
    cpuinfo.write_text("processor : 0\nflags\t\t: fpu vmx sse\n")
    assert qemu_host.accelerators(cpuinfo, kvm) == ("kvm", qemu_host.TCG)
    assert qemu_host.accelerators(cpuinfo, tmp_path / "gone") == (qemu_host.TCG,)
    cpuinfo.write_text("processor : 0\nflags\t\t: fpu vmxish sse\n")
    assert qemu_host.accelerators(cpuinfo, kvm) == (qemu_host.TCG,)
    assert qemu_host.accelerators(tmp_path / "gone", kvm) == (qemu_host.TCG,)


def test_processes_that_the_host_killed_for_memory_are_counted(tmp_path):
    vmstat = tmp_path / "vmstat"
    vmstat.write_text("nr_free_pages 12\noom_kill 3\noom_kill_disable 9\n")
    assert qemu_host.oom_kills(vmstat) == 3
    vmstat.write_text("nr_free_pages 12\n")
    assert qemu_host.oom_kills(vmstat) == 0
    assert qemu_host.oom_kills(tmp_path / "gone") == 0


def test_the_host_script_starts_the_next_qemu_on_the_path_with_its_words(tmp_path):
    real = tmp_path / "qemu-system-x86_64"
    real.write_text('#!/bin/sh\nfor word; do echo "<$word>"; done\nexit 7\n')
    real.chmod(0o755)
    done = subprocess.run(
        [SCRIPT, "-append", "a b", ""],
        env={"PATH": f"{SCRIPT.parent}:{tmp_path}:/usr/bin:/bin"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (7, "<-append>\n<a b>\n<>\n")
