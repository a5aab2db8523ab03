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


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`counts[vector][cpu]`; vectors are the kernel's names in lower case, and `dev`."""

    cpus: tuple[int, ...]
    counts: dict[str, dict[int, int]]


def read(content: str, where: str) -> Snapshot:
    """Parse one text; `where` is its name in messages."""
    lines = content.splitlines()
    columns = lines[0].split() if lines else []
    if not columns or not all(re.fullmatch(r"CPU[0-9]{1,5}", word) for word in columns):
        raise SuiteError(f"{where} does not begin with a line of CPUs")
    cpus = tuple(int(word[3:]) for word in columns)
    counts: dict[str, dict[int, int]] = {DEVICES: dict.fromkeys(cpus, 0)}
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
        row = dict(zip(cpus, map(int, values), strict=True))
        if label.isdigit():
            for cpu, value in row.items():
                counts[DEVICES][cpu] += value
        elif label.lower() in counts:
            raise SuiteError(f"{where} has {label} twice")
        else:
            counts[label.lower()] = row
    return Snapshot(cpus, counts)


def between(before: Snapshot, after: Snapshot) -> dict[str, dict[int, int]]:
    """Counts that were added, `[vector][cpu]`; SuiteError when the two do not fit."""
    if before.cpus != after.cpus:
        raise SuiteError("CPUs came or went between the snapshots")
    missing = sorted(set(before.counts) ^ set(after.counts))
    if missing:
        raise SuiteError(f"{missing[0].upper()} is in one snapshot only")
    added: dict[str, dict[int, int]] = {}
    for vector, row in after.counts.items():
        added[vector] = {cpu: row[cpu] - before.counts[vector][cpu] for cpu in after.cpus}
        if min(added[vector].values()) < 0:
            raise SuiteError(f"{vector.upper()} counted backwards")
    return added
