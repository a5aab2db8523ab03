# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists of CPUs in a mail, beside the topology that it tells."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: No machine has more.
_MOST_CPUS = 8192

_TOPOLOGY = re.compile(
    r"\btopology {1,20}([0-9]{1,4}) x ([0-9]{1,4}) x ([0-9]{1,2}) "
    r"\(sockets, cores, threads\), SMT (on|off)"
)
_LIST = r"([0-9][0-9,-]{0,200})"
_CPUS = re.compile(rf"\bisolated {_LIST}; housekeeping {_LIST}; watched {_LIST}(?=;|$| )")
_BOOT_LINE = re.compile(rf"\b(nohz_full|rcu_nocbs|irqaffinity)={_LIST}(?= |$)")


def misfits(body: str) -> Iterator[str]:
    """What the CPUs of a mail have that its topology has not: the isolated ones and those of
    housekeeping are all CPUs that are online (of each core one where SMT is off).
    """
    words = " ".join(body.split())
    topology, lists = _TOPOLOGY.search(words), _CPUS.search(words)
    if topology is None or lists is None:
        return
    sockets, cores, threads = (int(topology[n]) for n in (1, 2, 3))
    total = sockets * cores * threads
    online = set(range(0, min(total, _MOST_CPUS), 1 if topology[4] == "on" else max(1, threads)))
    isolated, housekeeping, watched = (_cpus(lists[n]) for n in (1, 2, 3))
    machine = f"{sockets} x {cores} x {threads} with SMT {topology[4]}"
    if isolated | housekeeping != online:
        yield f"isolated {lists[1]} and housekeeping {lists[2]} are not the CPUs of {machine}"
    if isolated & housekeeping:
        yield f"isolated {lists[1]} and housekeeping {lists[2]} share CPUs"
    if not watched <= isolated:
        yield f"watched {lists[3]} are not all isolated ({lists[1]})"
    for name, cpus in _BOOT_LINE.findall(words):
        wanted = housekeeping if name == "irqaffinity" else isolated
        if _cpus(cpus) != wanted:
            yield f"{name}={cpus} does not fit isolated {lists[1]}, housekeeping {lists[2]}"


def _cpus(text: str) -> set[int]:
    """CPUs of "0,2-4"; what is no list has none, and no machine more than so many."""
    cpus: set[int] = set()
    for part in text.split(","):
        if match := re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", part):
            first, last = int(match[1]), int(match[2] or match[1])
            cpus |= set(range(first, min(last, _MOST_CPUS) + 1))
    return cpus
