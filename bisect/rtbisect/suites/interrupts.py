# SPDX-License-Identifier: GPL-2.0-or-later
"""/proc/interrupts: one text of it, and the counts between two.

The first line names the online CPUs; a line has a count for each of them, then words.
The two lines of APIC errors have one count for the whole machine; numbered lines are
device interrupts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rtbisect.suites.base import SuiteError

#: Sum of the numbered lines, under a name that no vector has.
DEVICES = "dev"

#: The kernel counts in 32 bits and begins again at 0.
_WRAP = 1 << 32


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One text of /proc/interrupts."""

    #: Those that are online.
    cpus: tuple[int, ...]
    #: `counts[label][cpu]`; labels are the kernel's in lower case, a device's is its number.
    counts: dict[str, dict[int, int]]


def read(content: str, where: str) -> Snapshot:
    """Parse one text; `where` is its name in messages."""
    lines = content.splitlines()
    columns = lines[0].split() if lines else []
    if not columns or not all(re.fullmatch(r"CPU[0-9]{1,5}", word) for word in columns):
        raise SuiteError(f"{where} does not begin with a line of CPUs")
    cpus = tuple(int(word[3:]) for word in columns)
    counts: dict[str, dict[int, int]] = {}
    for line in lines[1:]:
        label, colon, rest = line.strip().partition(":")
        if not colon or not re.fullmatch(r"[0-9]{1,10}|[A-Z]{2,8}", label):
            raise SuiteError(f"{where} has a line that is none of its own: {line[:60]!r}")
        words = rest.split()
        if label in ("ERR", "MIS"):  # codespell:ignore mis
            continue
        values = words[: len(cpus)]
        if len(values) < len(cpus) or not all(re.fullmatch(r"[0-9]{1,20}", v) for v in values):
            raise SuiteError(f"{where}: line {label} has no count for each of {len(cpus)} CPUs")
        if label.lower() in counts:
            raise SuiteError(f"{where} has {label} twice")
        counts[label.lower()] = dict(zip(cpus, map(int, values), strict=True))
    return Snapshot(cpus, counts)


def between(before: Snapshot, after: Snapshot) -> dict[str, dict[int, int]]:
    """Counts that were added, `[vector][cpu]`, those of all devices as `dev`; SuiteError when the
    two do not fit. A line that the kernel shows from its first interrupt on was at 0 before. A
    device that went in the window took its count along: what the others added is told.
    """
    if before.cpus != after.cpus:
        raise SuiteError("CPUs came or went between the snapshots")
    gone = sorted(set(before.counts) - set(after.counts))
    if gone and not gone[-1].isdigit():
        raise SuiteError(f"{gone[-1].upper()} is in the first snapshot only")
    added: dict[str, dict[int, int]] = {DEVICES: dict.fromkeys(after.cpus, 0)}
    for label, row in after.counts.items():
        first = before.counts.get(label, {})
        grown = {cpu: _added(label, first.get(cpu, 0), row[cpu]) for cpu in after.cpus}
        if label.isdigit():
            for cpu, count in grown.items():
                added[DEVICES][cpu] += count
        else:
            added[label] = grown
    return added


def _added(label: str, first: int, last: int) -> int:
    """What a counter added; so much that it would have come round by half is a step backwards."""
    count = (last - first) % _WRAP if max(first, last) < _WRAP else last - first
    if not 0 <= count <= _WRAP // 2:
        raise SuiteError(f"{label.upper()} counted backwards")
    return count
