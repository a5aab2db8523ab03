# SPDX-License-Identifier: GPL-2.0-or-later
"""Events a millisecond through one epoll instance, against the number of producers.

Source: epoll.txt, lines `threads N events E ns T` (lava-jobs/suites/epoll/epolltput.c). The
figures have the form in which the kernel's own commits tell of this lock: events/ms by threads
(fs/eventpoll.c, "epoll: use rwlock in order to reduce ep_poll_callback() contention").
"""

from __future__ import annotations

import re

from rtbisect.model.kinds.boot import Raw
from rtbisect.model.lab import Measurement, Window
from rtbisect.suites.base import Files, Suite, SuiteError, Watch, matches, of_boot, text

NAME = "epoll"

#: Fewer events are no rate.
FEWEST = 1000

_ROW = re.compile(r"threads ([0-9]{1,4}) events ([0-9]{1,12}) ns ([0-9]{1,15})")


def parse(
    files: Files,
    window: Window,
    watch: Watch,  # noqa: ARG001  (of the contract)
) -> tuple[Measurement, ...]:
    """`events_per_ms_N` for each number N of producers (1/ms)."""
    rates: dict[int, float] = {}
    for match in matches("epoll.txt", text(files, "epoll.txt").splitlines(), _ROW):
        threads, events, ns = map(int, match.groups())
        if threads in rates:
            raise SuiteError(Raw.THREADS_TWICE, file="epoll.txt", threads=threads)
        if events < FEWEST or ns == 0:
            raise SuiteError(Raw.NO_RATE, events=events, threads=threads, took_ns=ns)
        rates[threads] = events / (ns / 1e6)
    if not rates:
        raise SuiteError(Raw.EMPTY, file="epoll.txt")
    figures = {f"events_per_ms_{threads}": rate for threads, rate in sorted(rates.items())}
    return of_boot(NAME, window, "1/ms", figures)


SUITE = Suite(
    name=NAME,
    parse=parse,
    windows=(
        Window(name="epoll-throughput", suites=(NAME,), workload="epoll-producers", synthetic=True),
    ),
)
