# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures that got better: no list wants to hear of them, but who keeps the baselines does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.judge.verdict import judge_all
from rtbisect.model.campaign import Level, Sought

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.campaign import Judgement, Threshold


#: Alpha of all looks for a change to the better together.
ALPHA = 0.005


def improved(
    judgements: Sequence[Judgement],
    thresholds: Sequence[Threshold],
    sought: Sought = Sought.REGRESSION,
) -> tuple[Judgement, ...]:
    """Of judged primary metrics those that are better by what would count as a regression the
    other way round, judged so: same boots, same smallest effect, Holm over all of them. None
    where that was `sought`: the judgements themselves tell of it.
    """
    if sought is Sought.REPAIR:
        return ()
    limits = {judgement.key: judgement for judgement in thresholds if judgement.role == "primary"}
    pairs = [
        (limits[judgement.key].toward(Sought.REPAIR), judgement.base, judgement.new)
        for judgement in judgements
        # Of a part of a figure the threshold is another one.
        if judgement.key in limits and not judgement.figure
    ]
    return tuple(
        judgement
        for judgement in judge_all(pairs, alpha=ALPHA)
        if judgement.level is Level.REGRESSED
    )
