# SPDX-License-Identifier: GPL-2.0-or-later
"""A good end that is no ancestor of the bad one: their merge base is searched in its place. Where
that is like the bad end, the end that was asked is looked at.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.judge.samples import sample
from rtbisect.judge.verdict import judge
from rtbisect.model.campaign import Level, MetricKey, Outcome, Result, Threshold
from rtbisect.model.command import GIVEN, RUN, CommandRequest
from rtbisect.pipeline.boot_queue import BootRequest
from rtbisect.pipeline.compare import Comparison, compare, worst

if TYPE_CHECKING:
    from rtbisect.model.setup import Setup
    from rtbisect.pipeline.steps import Steps


def on_all_suites(effects: Steps, ends: Comparison) -> Comparison:
    """Where a merge base took the place of the good end and nothing regressed since: the end that
    was asked compared with the bad one, on all suites. What changed there is to be found elsewhere.
    """
    given = dict(effects.setup.request.extra).get(GIVEN)
    if given is None or ends.level is not Level.PASS:
        return ends
    if effects.budget.boots_left < 2 * effects.setup.limits.calibrate_min:
        said = f"no boots are left to compare {given[:12]}, which the merge base stands for"
        return replace(ends, reason=f"{ends.reason}; {said}")
    effects.tell(f"the merge base is like the other end; is {given[:12]}, which it stands for?")
    beside = compare(effects, given, effects.setup.request.newer)
    found = worst(effects.setup, beside.judgements)
    if beside.level is Level.PASS:
        return ends
    if found is None:
        said = f"whether {given[:12]} differs is open: {beside.reason}"
        return replace(ends, reason=f"{ends.reason}; {said}")
    return replace(beside, level=Level.UNDECIDED, reason=_elsewhere(effects, given, found.key))


def on_one(effects: Steps, threshold: Threshold, result: Result) -> Result:
    """The same for one metric."""
    given = dict(effects.setup.request.extra).get(GIVEN)
    if given is None or not effects.build(given).ok:
        return result
    newer = effects.setup.request.newer
    boots = min(effects.setup.limits.verify_boots, effects.budget.boots_left)
    if effects.evidence().get(newer):
        asks = [BootRequest(given, "given", left) for left in reversed(range(boots))]
        list(effects.boot_all(asks))
    else:
        # Two kernels that are the same were not booted.
        list(effects.in_turn((given, newer), "given", min(2 * boots, effects.budget.boots_left)))
    found = effects.evidence()
    sides = (sample(found.get(sha, []), threshold.key) for sha in (given, newer))
    if judge(threshold, *sides).level is not Level.REGRESSED:
        return result
    said = _elsewhere(effects, given, threshold.key)
    return replace(result, outcome=Outcome.INCONCLUSIVE, reasons=(said, *result.reasons))


def _elsewhere(effects: Steps, given: str, metric: MetricKey) -> str:
    """The merge base is like the bad end, and the good end that it stands for is not: the change
    came on the side of the good end. The command that finds it there.
    """
    setup, request = effects.setup, effects.setup.request
    older, newer = request.sought.ends("good", "bad")
    said = f"the merge base {request.older[:12]} is like the end that was called {newer};"
    said += f" the change came on the side of {given[:12]} after it:"
    # From the merge base to that end it is the other way round.
    ends = [f"--{older}", given[:12], f"--{newer}", request.older[:12]]
    sought = request.sought.opposite
    if request.kind == RUN:
        asked = CommandRequest.of(request).words(sought)
        words = ["rtbisect", "run", "--repo", request.repo, *ends, *asked]
    else:
        words = ["rtbisect", "bisect", request.tree, *ends, *sought.options]
        words += asked_of(setup, metric)
    return f"{said} `{shlex.join(words)}`"


def asked_of(setup: Setup, metric: MetricKey | None) -> list[str]:
    """The words of a search that say what is searched, with which seed and site."""
    words = []
    if metric is not None:
        words += ["--suite", metric.suite, "--metric", f"{metric.name}@{metric.window}"]
    return [*words, "--seed", str(setup.request.seed), "--site", Path(setup.request.site).name]
