# SPDX-License-Identifier: GPL-2.0-or-later
"""A factor of the proof: is the effect there without PREEMPT_RT?

The same two commits in a configuration without it. Nothing of it decides whether a culprit is one;
it says whom the change concerns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.judge.samples import sample
from rtbisect.judge.verdict import judge
from rtbisect.model.campaign import Level
from rtbisect.model.code import WITHOUT_RT
from rtbisect.pipeline.factor_table import control_of, rows
from rtbisect.search.spec import BootPurpose

if TYPE_CHECKING:
    from rtbisect.model.campaign import TableRow, Threshold
    from rtbisect.model.lab import Run
    from rtbisect.pipeline.steps import Steps

_WITHOUT = BootPurpose.WITHOUT_RT.value


def without_rt(
    effects: Steps, threshold: Threshold, parent: str, culprit: str
) -> tuple[tuple[TableRow, ...], str]:
    """Rows for the table of factors, and the sentence for the report; ((), "") when it is not
    asked, or the budget has no boot left.
    """
    setup = effects.setup
    boots = 2 * min(setup.limits.without_rt_boots, effects.budget.boots_left // 2)
    if not boots:
        return (), ""
    pair = (parent, culprit)
    for sha in pair:
        if not effects.build(sha, WITHOUT_RT).ok:
            return (), f"{_WITHOUT} {sha[:12]} does not build, so nobody knows who is concerned"
    runs: dict[str, list[Run]] = {sha: [] for sha in pair}
    for run in effects.in_turn(pair, BootPurpose.WITHOUT_RT, boots, WITHOUT_RT):
        runs[run.revision].append(run)
    judgement = judge(threshold, *(sample(runs[sha], threshold.key) for sha in pair))
    sentence = {
        Level.REGRESSED: f"{_WITHOUT} the kernels differ too: {judgement.reason}",
        Level.PASS: f"{_WITHOUT} the kernels do not differ: {judgement.reason}",
    }.get(judgement.level, f"{_WITHOUT} the boots do not decide: {judgement.reason}")
    effects.tell(f"factor: {sentence}")
    control = control_of(setup.judged, threshold)
    metrics = (threshold, *([control] if control else []))
    kernels = tuple(zip(("parent, no RT", "culprit, no RT"), pair, strict=True))
    wanted = ((metric, kernel) for metric in metrics for kernel in kernels)
    return rows(effects.traits, wanted, runs), sentence
