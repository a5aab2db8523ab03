# SPDX-License-Identifier: GPL-2.0-or-later
import pytest

from rtbisect.lab.host import TCG, accelerators


@pytest.mark.parametrize(
    ("flags", "device", "expected"),
    [
        ("flags\t\t: fpu vmx sse", True, ("kvm", TCG)),
        ("flags\t\t: fpu svm sse", True, ("kvm", TCG)),
        ("flags\t\t: fpu vmx sse", False, (TCG,)),
        ("flags\t\t: fpu sse", True, (TCG,)),
        ("flags\t\t: fpu avmxx", True, (TCG,)),
        ("model name\t: vmx", True, (TCG,)),
    ],
)
def test_kvm_is_used_where_the_cpu_can_virtualise(tmp_path, flags, device, expected):
    (tmp_path / "cpuinfo").write_text(f"processor\t: 0\n{flags}\nbugs\t\t:\n")
    if device:
        (tmp_path / "kvm").touch()
    assert accelerators(tmp_path / "cpuinfo", tmp_path / "kvm") == expected


def test_a_host_without_cpuinfo_emulates(tmp_path):
    assert accelerators(tmp_path / "none", tmp_path / "none") == (TCG,)
