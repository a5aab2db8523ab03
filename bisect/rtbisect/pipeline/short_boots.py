# SPDX-License-Identifier: GPL-2.0-or-later
"""Once it is known what is searched, boots measure nothing else, where that spares time."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from rtbisect.model.kinds.pipeline import Searches
from rtbisect.pipeline.boot_windows import begins_with, left_out_s, needed

if TYPE_CHECKING:
    from rtbisect.model.campaign import Threshold
    from rtbisect.model.code import CommitGraph
    from rtbisect.pipeline.steps import Steps

#: Of the boots that a search has left, its ends may take this part once more.
ENDS_AGAIN_SHARE = 0.25


def shorten(steps: Steps, graph: CommitGraph, threshold: Threshold) -> None:
    """From now on boots measure what this figure needs, if that spares anything. What an earlier
    comparison has booted otherwise is booted once more: only where that costs less than it spares.
    """
    setup = steps.setup
    if setup.kernel is None or not setup.limits.short_boots:
        return
    windows = needed(setup, threshold)
    left_out = len(setup.kernel.windows) - len(windows)
    if left_out and (not steps.runs or _spares(steps, graph, windows)):
        steps.measure_only(windows)
        steps.tell(Searches.SHORT_BOOTS, windows=windows, left_out=left_out)


def _spares(steps: Steps, graph: CommitGraph, windows: tuple[str, ...]) -> bool:
    """Whether all boots to come spare more time than boots of the ends take that no boot of the
    comparison can stand for; False where nobody knows how long windows last.
    """
    setup, runs = steps.setup, [run for run in steps.runs if run.complete]
    timed = [run for run in runs if run.window_s]
    if not timed:
        return False
    whole_s = statistics.median(run.seconds for run in timed)
    spared_s = statistics.median(left_out_s(run, windows) for run in timed)
    known = [run.revision for run in runs if not run.layout and begins_with(run, windows)]
    again = sum(max(0, setup.limits.calibrate_min - known.count(end)) for end in graph.ends)
    budget = steps.budget
    to_come = min(budget.boots_left, setup.limits.proof_boots + math.log2(len(graph) + 1))
    return (
        again <= ENDS_AGAIN_SHARE * budget.search_boots_left()
        and again * (whole_s - spared_s) < to_come * spared_s
    )
