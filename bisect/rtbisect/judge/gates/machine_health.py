# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine that a boot ran on: was it well, and was the kernel what it seems to be?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.judge.gates.boot_gates import absent, passed
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Gates, Health
from rtbisect.model.result import GateName

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.facts import Facts
    from rtbisect.model.result import Gate

_TAINT = "tainted"

#: Counters that must not move while a boot measures (lava-jobs/suites/health.sh), and what it
#: means when they do.
_STEADY = {
    "throttled": Health.THROTTLED,
    "machine_checks": Health.MACHINE_CHECKS,
    "smi": Health.SMI,
}
#: Bits that a module of ours sets: out of tree, not signed (Documentation/admin-guide/
#: tainted-kernels.rst).
_OURS = 1 << 12 | 1 << 13


#: The kernel warned (same document).
WARNED = 1 << 9


def _new_taint(facts: Facts, excused: int) -> Finding | None:
    """What tainted the kernel while it was measured, but for our own modules."""
    if not any(facts.around(_TAINT)):
        return None
    if (counts := facts.counts(_TAINT)) is None:
        return _no_counts(facts, _TAINT)
    before, after = counts
    new = after & ~before & ~_OURS & ~excused
    if new:
        bits = tuple(bit for bit in range(new.bit_length()) if new >> bit & 1)
        return Finding.of(Health.TAINTED, bits=bits, after=after)
    return None


def _no_counts(facts: Facts, name: str) -> Finding:
    before, after = facts.around(name)
    return Finding.of(Health.NO_COUNTS, counter=name, before=before, after=after)


def health_fault(facts: Facts, excused: int = 0) -> Finding | None:
    """Why the figures of a boot are those of a sick machine; None when nothing says so, also where
    nothing could (`unseen`). `excused` are bits of taint that something explains.
    """
    for name, kind in _STEADY.items():
        before, after = facts.around(name)
        if before == after:
            continue
        if (counts := facts.counts(name)) is None:
            return _no_counts(facts, name)
        if moved := counts[1] - counts[0]:
            return Finding.of(kind, times=moved)
    if tainted := _new_taint(facts, excused):
        return tainted
    if facts.clock_after:
        return Finding.of(Health.CLOCK_CHANGED, clock=facts.clock_after)
    return None


def unseen(facts: Facts) -> tuple[str, ...]:
    """What the kernel of a boot does not tell: a count that nobody makes is not 0."""
    blind = [name for name in (*_STEADY, _TAINT) if facts.counts(name) is None]
    if not facts.text("clocksource_after"):
        blind.append("clocksource")
    return tuple(blind)


def steady(boots: Sequence[Facts]) -> Gate:
    """Whether something would have told that the machine was not well; where it was not, there is
    no boot (`health_fault`). `boots` are those of valid boots.
    """
    if not boots:
        return absent(GateName.MACHINE, Finding.of(Gates.NO_VALID_BOOT))
    if blind := sorted({name for facts in boots for name in unseen(facts)}):
        return absent(GateName.MACHINE, Finding.of(Gates.MACHINE_BLIND, counters=tuple(blind)))
    return passed(GateName.MACHINE, Finding.of(Gates.MACHINE_STEADY, boots=len(boots)))
