# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine that a boot ran on: was it well, and was the kernel what it seems to be?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Counters that must not move while a boot measures (lava-jobs/suites/health.sh), and what it
#: means when they do.
_STEADY = {
    "throttled": "the CPU throttled itself {} times: it was too hot",
    "machine_checks": "{} machine check exceptions: the hardware is failing",
}


#: Bits that a module of ours sets: out of tree, not signed (Documentation/admin-guide/
#: tainted-kernels.rst).
_OURS = 1 << 12 | 1 << 13


#: The kernel warned (same document).
WARNED = 1 << 9


def _taint(facts: Mapping[str, str], excused: int) -> str:
    """What tainted the kernel while it was measured, but for our own modules."""
    before, after = (facts.get(f"tainted_{when}", "0") for when in ("before", "after"))
    if not all(re.fullmatch(r"[0-9]{1,18}", text) for text in (before, after)):
        return f"tainted was {before!r} before the windows and {after!r} after them"
    new = int(after) & ~int(before) & ~_OURS & ~excused
    if new:
        bits = [str(bit) for bit in range(new.bit_length()) if new >> bit & 1]
        return f"the kernel got tainted in a window (bit {', '.join(bits)}): {after}"
    return ""


def unwell(facts: Mapping[str, str], excused: int = 0) -> str:
    """Why the figures of a boot are those of a sick machine; "" when nothing says so. A kernel that
    does not tell a counter leaves it at 0. `excused` are bits of taint that something explains.
    """
    for name, said in _STEADY.items():
        before, after = (facts.get(f"{name}_{when}", "") for when in ("before", "after"))
        if before == after:
            continue
        if not all(re.fullmatch(r"[0-9]{1,18}", text) for text in (before, after)):
            return f"{name} was {before!r} before the windows and {after!r} after them"
        if int(after) != int(before):
            return said.format(int(after) - int(before))
    if tainted := _taint(facts, excused):
        return tainted
    if facts.get("clocksource_after", "tsc") != facts.get("clocksource", "tsc"):
        return f"the clock source changed to {facts['clocksource_after']} in a window"
    return ""
