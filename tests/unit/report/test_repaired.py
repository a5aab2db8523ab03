# SPDX-License-Identifier: GPL-2.0-or-later
"""What a commit repairs is the same number in the mail and on the page."""

from dataclasses import replace

import pytest

from helpers.findings import first, said
from helpers.report_cases import rcu
from helpers.report_parts import BOT, RES_LIMIT, RES_ON
from rtbisect.model.campaign import Sample, Statistic
from rtbisect.model.kinds.report import Concerns, Levels
from rtbisect.model.report import Repaired
from rtbisect.report.letter import letter
from rtbisect.report.page_tables import repaired
from rtbisect.words.numbers import figure

WITHOUT, WITH_IT = Sample((100.0, 100.0, 100.0, 900.0)), Sample((1.0, 4.0, 4.0, 4.0))


def report_of(limit, **known):
    sides = {"without": WITHOUT, "with_it": WITH_IT} | known
    known = Repaired(campaign="bisect-0007", metric=RES_ON, **sides)
    return replace(rcu(), thresholds=(limit,), repaired=(known,))


def told(report):
    data = first(letter(report, BOT).concerns, Concerns.REPAIRED)
    return data["without"], data["with_it"]


@pytest.mark.parametrize("statistic", [Statistic.MEDIAN, Statistic.MEAN])
def test_mail_and_page_tell_the_middle_that_the_threshold_compares(statistic):
    report = report_of(replace(RES_LIMIT, statistic=statistic, floor=0.0))
    (shown,) = repaired(report)
    for level, cell in zip(told(report), shown[-2:], strict=True):
        assert level.kind == Levels.FIGURE
        assert float(figure(level.data["value"])) == float(str(cell).split("/")[0])
    if statistic is Statistic.MEAN:
        assert told(report)[0].data["value"] == pytest.approx(100 * 9**0.25)


def test_a_part_of_a_figure_is_told_by_its_median():
    report = report_of(
        replace(RES_LIMIT, statistic=Statistic.MEAN), figure=said("on CPU 3"), unit="us"
    )
    assert [each.data["value"] for each in told(report)] == [100.0, 4.0]


def test_both_sides_are_in_one_unit():
    long, short = Sample((9000.0,)), Sample((600.0,))
    report = report_of(replace(RES_LIMIT, unit="us"), without=long, with_it=short)
    assert [each.data["unit"] for each in told(report)] == ["us", "us"]


def test_a_side_without_boots_is_no_number():
    report = report_of(RES_LIMIT, without=Sample(()))
    assert [each.kind for each in told(report)] == [Levels.UNMEASURED, Levels.FIGURE]
