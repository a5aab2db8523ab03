# SPDX-License-Identifier: GPL-2.0-or-later
"""What the host of an emulated device can do."""

from __future__ import annotations

import os
import re
from pathlib import Path

TCG = "tcg,thread=multi"

CPUINFO = Path("/proc/cpuinfo")
KVM = Path("/dev/kvm")
VMSTAT = Path("/proc/vmstat")


def accelerators(cpuinfo: Path = CPUINFO, kvm: Path = KVM) -> tuple[str, ...]:
    """Accelerators for QEMU in order: KVM when the CPU itself can virtualise, then TCG.

    A /dev/kvm alone says little: on some virtual hosts it opens, and then a guest with
    isolated CPUs never gets past its first instructions. So the CPU has to say vmx or svm.
    """
    try:
        flags = cpuinfo.read_text("ascii", "replace")
    except OSError:
        return (TCG,)
    usable = re.search(r"^flags\s*:.*\b(vmx|svm)\b", flags, re.MULTILINE)
    return ("kvm", TCG) if usable and os.access(kvm, os.R_OK | os.W_OK) else (TCG,)


def oom_kills(vmstat: Path = VMSTAT) -> int:
    """Processes that this host killed for want of memory since it booted, 0 if it does not say."""
    try:
        match = re.search(r"^oom_kill ([0-9]{1,20})$", vmstat.read_text("ascii"), re.MULTILINE)
    except OSError:
        return 0
    return int(match[1]) if match else 0
