# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison for a report: whether the newer revision takes the effect on its figure back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.judge.scale import by_mean
from rtbisect.judge.verdict import judge
from rtbisect.model.campaign import Better, Level, Sought
from rtbisect.model.command import Extra
from rtbisect.search.calibrate import looks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.judge.boots import Boots
    from rtbisect.model.campaign import Threshold
    from rtbisect.model.setup import Setup

#: False-positive rate of "it takes the effect back", and the most looks that share it evenly.
ALPHA = 0.01
LOOKS = 4
LOOK_ALPHA = ALPHA / LOOKS


def later_looks(setup: Setup, usual: Sequence[int]) -> tuple[int, ...]:
    """Boots a side at the looks behind the usual ones, of which there are three at most: what
    happens in one boot of four is not decided before. () where nobody asks for a figure.
    """
    first = usual[-1]
    last = min(setup.limits.looks_max, setup.limits.max_boots // 2)
    if _asked(setup) is None or last <= first:
        return ()
    return looks(first, last, LOOKS - len(usual) + 1)[1:]


def decided(setup: Setup, base: Boots, new: Boots) -> bool:
    """Whether these boots say that the effect is taken back, or that it is not; yes where nobody
    asks for that, or a side does not tell the figure.
    """
    asked = _asked(setup)
    if asked is None:
        return True
    sides = base.sample(asked.key), new.sample(asked.key)
    if not all(side.n for side in sides):
        return True
    good = 0.0 if asked.better is Better.HIGHER else 1.0
    if by_mean(asked) and all(value == good for value in sides[0].values):
        # What the older kernel has not shown yet cannot be seen to go or to stay.
        return False
    return judge(asked, *sides, alpha=LOOK_ALPHA).level is not Level.UNDECIDED


def _asked(setup: Setup) -> Threshold | None:
    """The figure, turned: what is better counts. None where the site judges it no more."""
    name = Extra.of(setup.request).asked
    found = next((t for t in setup.thresholds if str(t.key) == name), None)
    return found.toward(Sought.REPAIR) if found else None
