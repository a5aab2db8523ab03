# SPDX-License-Identifier: GPL-2.0-or-later
"""The chart of the tested revisions."""

import pytest

from rtbisect.report.marks import Mark
from rtbisect.report.revision_chart import Column, chart, fitting
from rtbisect.words.strip import BLOCKS
from rtbisect.words.voice import PLAIN

STEP = [
    Column(1.0, Mark.OLDER), Column(None, Mark.SKIPPED), Column(8.0, Mark.NAMED),
    Column(2.2, Mark.OPEN), Column(4.6, Mark.NEWER),
]  # fmt: skip


def test_figures_stand_above_marks():
    assert chart(STEP, PLAIN) == ("▁ █▂▅", "gxC?b")
    assert chart(STEP, PLAIN, ascii_only=True) == ("1 825", "gxC?b")


def test_figures_that_are_all_the_same_stand_half_way_up():
    assert chart([Column(3.0, Mark.OLDER)] * 2, PLAIN)[0] == BLOCKS[4] * 2


@pytest.mark.parametrize("columns", [[], [Column(None, Mark.SKIPPED)]])
def test_without_figures_nothing_is_drawn(columns):
    assert chart(columns, PLAIN)[0].strip() == ""


def test_where_not_all_fit_those_around_the_named_one_stay():
    many = [Column(float(n), Mark.NAMED if n == 90 else Mark.OLDER) for n in range(100)]
    assert fitting(many, 100) == tuple(many)
    shown = fitting(many, 11)
    assert [column.value for column in shown] == list(range(85, 96))
    assert [column.value for column in fitting(many, 40)] == list(range(60, 100))
    assert len(fitting(many[:90], 11)) == 11
