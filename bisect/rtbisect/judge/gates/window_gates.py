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
    #: By CPU, suite and name.
    values: dict[int, dict[str, dict[str, float]]] = {}
    for m in measurements:
        if m.cpu is not None:
            values.setdefault(m.cpu, {}).setdefault(m.suite, {})[m.name] = m.value
    gates = []
    for cpu, by_suite in sorted(values.items()):
        suites = [(find(name), figures) for name, figures in by_suite.items()]
        traced = _first(
            s.traced_interrupts(figures) for s, figures in suites if s.traced_interrupts
        )
        counted = _first(
            s.counted_interrupts(figures) for s, figures in suites if s.counted_interrupts
        )
        if traced is not None and counted is not None:
            gates.append(boot_gates.instruments_agree(f"CPU {cpu}", traced, counted))
    return tuple(gates)


def _first(rates: Iterable[float | None]) -> float | None:
    return next((rate for rate in rates if rate is not None), None)
