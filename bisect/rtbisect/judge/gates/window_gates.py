# SPDX-License-Identifier: GPL-2.0-or-later
"""Two instruments in one window: interrupts by a tracer and by /proc/interrupts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.judge.gates import boot_gates
from rtbisect.suites.base import find

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbisect.model.campaign import Gate
    from rtbisect.model.lab import Measurement


def of_window(measurements: Iterable[Measurement]) -> tuple[Gate, ...]:
    """G4 for each watched CPU of a window that both instruments measured; () for others."""
    found: dict[int, dict[str, dict[str, float]]] = {}
    for m in measurements:
        if m.cpu is not None:
            found.setdefault(m.cpu, {}).setdefault(m.suite, {})[m.name] = m.value
    checked = []
    for cpu, figures in sorted(found.items()):
        suites = [(find(name), mine) for name, mine in figures.items()]
        traced = _first(s.traced_interrupts(mine) for s, mine in suites if s.traced_interrupts)
        counted = _first(s.counted_interrupts(mine) for s, mine in suites if s.counted_interrupts)
        if traced is not None and counted is not None:
            checked.append(boot_gates.instruments_agree(f"CPU {cpu}", traced, counted))
    return tuple(checked)


def _first(rates: Iterable[float | None]) -> float | None:
    return next((rate for rate in rates if rate is not None), None)
