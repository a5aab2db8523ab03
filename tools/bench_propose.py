# SPDX-License-Identifier: GPL-2.0-or-later
"""How long does the search think before each next test, and how much memory does it hold?

    .venv/bin/python tools/bench_propose.py                    14,000 commits like a merge window
    .venv/bin/python tools/bench_propose.py linear-1000 kernel-1000 kernel-14000

The histories named are searched one after the other under the same conditions (2 standard
deviations, boot share 0.3, stretches that do not build); seconds are those of one process.
"""

from __future__ import annotations

import resource
import sys
import time

from rtbisect.search import engine
from rtbisect.search.ancestry import Ancestry
from rtbisect.search.spec import Finish
from searchbench.calibration import spec_of
from searchbench.histories import history
from searchbench.simulate import events
from searchbench.world import Cell, world

ROW = "{:<20} {:>7} {:>6} {:>9} {:>9} {:>9} {:>9} {:>8}"


def search(name: str) -> tuple[int, list[float], float]:
    """Commits, seconds of every propose() after the calibration, and seconds of all apply()."""
    cell = Cell("propose", name, 2.0, boot=0.3, broken=0.05)
    ancestry = Ancestry(history(name))
    play = world(cell, ancestry, 0)
    state, took, applied = engine.start(spec_of(play)), [], 0.0
    for _ in range(10_000):
        begin = time.perf_counter()
        first = engine.propose(state)[0]
        if state.ends.reproduced:
            took.append(time.perf_counter() - begin)
        if isinstance(first, Finish):
            break
        for event in events(state, play, first):
            begin = time.perf_counter()
            state = engine.apply(state, event)
            applied += time.perf_counter() - begin
    return ancestry.size, took, applied


def main() -> int:
    heads = ("history", "commits", "steps", "median_s", "p95_s", "max_s", "apply_s", "peak_mb")
    print(ROW.format(*heads))
    for name in sys.argv[1:] or ["kernel-14000"]:
        size, took, applied = search(name)
        took.sort()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        figures = (took[len(took) // 2], took[int(0.95 * (len(took) - 1))], took[-1], applied)
        print(ROW.format(name, size, len(took), *(f"{f:.3f}" for f in figures), f"{peak:.0f}"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
