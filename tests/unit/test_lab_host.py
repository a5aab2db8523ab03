# SPDX-License-Identifier: GPL-2.0-or-later
"""What the host of an emulated device can do, and how a guest is favoured."""

import os
import subprocess

from rtbisect.lab import host


def test_kvm_is_used_only_where_the_cpu_can_virtualise(tmp_path):
    cpuinfo, kvm = tmp_path / "cpuinfo", tmp_path / "kvm"
    kvm.touch()
    cpuinfo.write_text("processor : 0\nflags\t\t: fpu vmx sse\n")
    assert host.accelerators(cpuinfo, kvm) == ("kvm", host.TCG)
    assert host.accelerators(cpuinfo, tmp_path / "gone") == (host.TCG,)
    cpuinfo.write_text("processor : 0\nflags\t\t: fpu vmxish sse\n")
    assert host.accelerators(cpuinfo, kvm) == (host.TCG,)
    assert host.accelerators(tmp_path / "gone", kvm) == (host.TCG,)


def test_a_guest_is_favoured_with_its_whole_session(tmp_path):
    child = subprocess.Popen(["/bin/sleep", "60"], start_new_session=True)
    (tmp_path / str(child.pid)).mkdir()
    (tmp_path / str(child.pid) / "autogroup").touch()
    try:
        host.favour(child.pid, tmp_path)
        assert (tmp_path / str(child.pid) / "autogroup").read_text() == str(host.FAVOURED)
        allowed = os.geteuid() == 0
        wanted = host.FAVOURED if allowed else os.getpriority(os.PRIO_PROCESS, 0)
        assert os.getpriority(os.PRIO_PROCESS, child.pid) == wanted
    finally:
        child.kill()
        child.wait()


def test_a_group_that_is_gone_is_no_error(tmp_path):
    host.favour(2**22 - 1, tmp_path)
