# SPDX-License-Identifier: GPL-2.0-or-later
"""Which of the functions that a commit changes run while a window measures: kprobes on each of them
(Documentation/trace/kprobetrace.rst), in a window that is not measured.

Source: reach.txt (lava-jobs/suites/reach): `window pass|fail BEGIN_S END_S`, then
`ran HITS FUNCTION`, or `refused FUNCTION` where the kernel allows no probe: functions that it frees
after booting, that tracing itself uses, or that it has twice.
"""

from __future__ import annotations

import re

from rtbisect.model.kinds.boot import Raw
from rtbisect.model.lab import FigureSource, Window
from rtbisect.suites.base import (
    RAN,
    REFUSED,
    Files,
    Suite,
    SuiteError,
    Watch,
    matches,
    no_figures,
    text,
)

NAME = "reach"

_SECONDS = r"[0-9]{1,9}(?:\.[0-9]{1,9})?"
_WINDOW = re.compile(rf"window (pass|fail) ({_SECONDS}) ({_SECONDS})")
_ROW = re.compile(r"(?:ran ([0-9]{1,18})|refused) ([A-Za-z_][\w.:]{0,160})")


def twin(window: Window) -> Window:
    """The window in which functions are counted under the workload of `window`."""
    return Window(
        name=f"{NAME}-{window.name}",
        suites=(NAME,),
        workload=window.workload,
        synthetic=window.synthetic,
        instrument=window.instrument,
        explains=window.name,
    )


def sources(
    files: Files,
    window: Window,
    watch: Watch,  # noqa: ARG001  (of the contract)
) -> tuple[FigureSource, ...]:
    """Hits a second of each function on all CPUs; none on a kernel without kprobes. SuiteError
    when the window itself did not run to its end.
    """
    first, *lines = text(files, "reach.txt").splitlines() or [""]
    if first == "no kprobes" and not lines:
        return ()
    outcome = _WINDOW.fullmatch(first)
    if outcome is None:
        raise SuiteError(Raw.WINDOW_LINE, file="reach.txt", line=first[:60])
    seconds = float(outcome[3]) - float(outcome[2])
    if outcome[1] != "pass" or seconds <= 0:
        raise SuiteError(Raw.WINDOW_ENDED)
    functions: dict[str, FigureSource] = {}
    for match in matches("reach.txt", lines, _ROW):
        hits, name = match.groups()
        if name in functions:
            raise SuiteError(Raw.FUNCTION_TWICE, file="reach.txt", function=name[:60])
        kind = REFUSED if hits is None else RAN
        functions[name] = FigureSource(window.name, kind, name, int(hits or 0) / seconds)
    return tuple(functions.values())


SUITE = Suite(
    name=NAME,
    # Each hit of a probe costs time.
    parse=no_figures,
    twin=twin,
    sources=sources,
    kinds=frozenset({RAN, REFUSED}),
)
