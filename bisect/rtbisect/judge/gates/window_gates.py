# SPDX-License-Identifier: GPL-2.0-or-later
"""Two instruments in one window: interrupts by the osnoise tracer and by /proc/interrupts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.judge.gates import boot_gates
from rtbisect.suites import ipi, osnoise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbisect.model.campaign import Gate
    from rtbisect.model.lab import Measurement

#: Vectors that the tracer counts as interrupts. It counts NMIs apart.
_VECTORS = tuple(vector for vector in ipi.VECTORS if vector != "nmi")


def of_window(measurements: Iterable[Measurement]) -> tuple[Gate, ...]:
    """G4 for each watched CPU of a window that both instruments measured; () for others."""
    found: dict[int, dict[tuple[str, str], float]] = {}
    for m in measurements:
        if m.cpu is not None:
            found.setdefault(m.cpu, {})[m.suite, m.name] = m.value
    checked = []
    for cpu, figures in sorted(found.items()):
        runtime_us = figures.get((osnoise.NAME, "runtime_us"), 0.0)
        counted = [
            figures[ipi.NAME, f"{vector}_per_s"]
            for vector in _VECTORS
            if (ipi.NAME, f"{vector}_per_s") in figures
        ]
        if runtime_us > 0 and counted:
            traced = figures[osnoise.NAME, "irq_per_sample"] / (runtime_us / 1e6)
            checked.append(boot_gates.instruments_agree(f"CPU {cpu}", traced, sum(counted)))
    return tuple(checked)
