# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine that a boot ran on: was it well, and was the kernel what it seems to be?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtbisect.judge.gates.boot_gates import absent, passed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbisect.model.campaign import Gate

NAME = "machine"

#: Counters that must not move while a boot measures (lava-jobs/suites/health.sh), and what it
#: means when they do.
_STEADY = {
    "throttled": "the CPU throttled itself {} times: it was too hot",
    "machine_checks": "{} machine check exceptions: the hardware is failing",
    "smi": "the firmware stopped the CPUs {} times (SMIs, those of all CPUs together)",
}
_COUNT = re.compile(r"[0-9]{1,18}")


#: Bits that a module of ours sets: out of tree, not signed (Documentation/admin-guide/
#: tainted-kernels.rst).
_OURS = 1 << 12 | 1 << 13


#: The kernel warned (same document).
WARNED = 1 << 9


def _before_after(facts: Mapping[str, str], name: str) -> tuple[str, str]:
    """What a counter said before and after the windows; "" where nobody counts."""
    return facts.get(f"{name}_before", ""), facts.get(f"{name}_after", "")


def _new_taint(facts: Mapping[str, str], excused: int) -> str:
    """What tainted the kernel while it was measured, but for our own modules."""
    before, after = _before_after(facts, "tainted")
    if not before and not after:
        return ""
    if not _COUNT.fullmatch(before) or not _COUNT.fullmatch(after):
        return f"tainted was {before!r} before the windows and {after!r} after them"
    new = int(after) & ~int(before) & ~_OURS & ~excused
    if new:
        bits = [str(bit) for bit in range(new.bit_length()) if new >> bit & 1]
        return f"the kernel got tainted in a window (bit {', '.join(bits)}): {after}"
    return ""


def health_fault(facts: Mapping[str, str], excused: int = 0) -> str:
    """Why the figures of a boot are those of a sick machine; "" when nothing says so, also where
    nothing could (`unseen`). `excused` are bits of taint that something explains.
    """
    for name, sentence in _STEADY.items():
        before, after = _before_after(facts, name)
        if before == after:
            continue
        if not _COUNT.fullmatch(before) or not _COUNT.fullmatch(after):
            return f"{name} was {before!r} before the windows and {after!r} after them"
        if int(after) != int(before):
            return sentence.format(int(after) - int(before))
    if tainted := _new_taint(facts, excused):
        return tainted
    if (after := facts.get("clocksource_after", "")) and after != facts.get("clocksource", "tsc"):
        return f"the clock source changed to {after} in a window"
    return ""


def unseen(facts: Mapping[str, str]) -> tuple[str, ...]:
    """What the kernel of a boot does not tell: a count that nobody makes is not 0."""
    counters = (*_STEADY, "tainted")
    blind = [
        name for name in counters if not all(map(_COUNT.fullmatch, _before_after(facts, name)))
    ]
    if not facts.get("clocksource_after"):
        blind.append("clocksource")
    return tuple(blind)


def steady(boots: Sequence[Mapping[str, str]]) -> Gate:
    """Whether something would have told that the machine was not well; where it was not, there is
    no boot (`health_fault`). `boots` are facts of valid boots.
    """
    if not boots:
        return absent(NAME, "no valid boot")
    if blind := sorted({name for facts in boots for name in unseen(facts)}):
        return absent(NAME, f"the kernel does not tell {', '.join(blind)}; the rest stood still")
    reason = "no throttling, no machine check, no SMI, no taint, one clock source"
    return passed(NAME, f"{reason} in {len(boots)} boots")
