# SPDX-License-Identifier: GPL-2.0-or-later
"""How likely "no regression" is before any boot of a search. Derived and measured in
docs/search.md.
"""

from __future__ import annotations

#: Of ranges that a person brings: by luck, and by builds that differ (the larger part, see
#: NONE_TAU_PRIOR).
BASE_NONE = 0.2
_OF_BUILDS = 0.8
#: Of pairs of revisions that a check compares, one of ten is worse: most tips change nothing. No
#: site has measured it, and an error of a factor of two is one in the odds.
CHECKED_NONE = 0.9
#: The chance of a check to see a regression; measured 0.41 (of 16 figures) to 0.62 (of one) for
#: 0.75 to 3 standard deviations.
POWER = 0.4


def of_worst(none: float, figures: int) -> float:
    """The same for the worst of so many figures: a regression shows in one of them, and luck has
    them all to choose from.
    """
    return _probability(figures * _odds(none))


def after_check(p: float, figures: int, looks: int) -> float:
    """The same for a figure that a check has found worse, at `p` (after Holm, of so many figures)
    at one of so many looks. Boots of two builds speak against luck, and not against builds that
    differ.
    """
    passed_by_luck = min(1.0, looks * p)
    luck = _odds(CHECKED_NONE) * passed_by_luck / POWER
    return _probability(luck + figures * _OF_BUILDS * _odds(BASE_NONE))


def _odds(probability: float) -> float:
    return probability / (1 - probability)


def _probability(odds: float) -> float:
    return odds / (1 + odds)
