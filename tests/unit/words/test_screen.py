# SPDX-License-Identifier: GPL-2.0-or-later
"""What the screen of a campaign says of its time."""

import pytest

from rtbisect.model.finding import Finding
from rtbisect.model.kinds.screen import Shown
from rtbisect.words.speak import speak

pytestmark = pytest.mark.words


@pytest.mark.parametrize(
    ("low", "middle", "high", "said"),
    [
        (60, 60, 60, "about 60 s left"),
        (20, 32, 45, "about 32 s left (20 to 45 s)"),
        (30, 100, 300, "about 2 min left (30 s to 5 min)"),
        (2, 2.2, 9, "2 to 9 s left"),
        # Nobody is told that nothing is left while something is.
        (0.1, 0.2, 17, "up to 17 s left"),
        (0.3, 5, 17, "about 5 s left (up to 17 s)"),
        (0.1, 0.2, 0.3, "less than a second left"),
    ],
)
def test_what_is_left_is_a_range_where_nobody_knows(low, middle, high, said):
    assert str(speak(Finding.of(Shown.LEFT, wall_s=middle, low_s=low, high_s=high))) == said


def test_a_search_that_may_follow_is_told_beside_the_time_of_the_comparison():
    said = str(speak(Finding.of(Shown.LEFT_OF_ENDS, wall_s=60, low_s=60, high_s=60)))
    assert said == "about 60 s left; if the ends differ, a search follows"


def test_what_is_computed_is_told():
    told = str(speak(Finding.of(Shown.PLANS)))
    assert told == "weighing the boots so far, and choosing the next one"
