# SPDX-License-Identifier: GPL-2.0-or-later
"""A row of what a change is made of is one to its reader, whatever tasks made it."""

from dataclasses import replace

import pytest

from helpers.report_epoll import epoll
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.report import Tasks
from rtbisect.model.result import Origin
from rtbisect.report.origins import sources
from rtbisect.report.page_tables import origins
from rtbisect.report.tables import origin_table
from rtbisect.suites.base import source_name

WAKES = ("rt_mutex_slowunlock", "ep_poll_callback")


def origin(task, culprit, share, functions=WAKES, kind="reschedule"):
    return Origin(kind, source_name(task, functions), 1.0, culprit, share)


def shown(*given):
    return [
        (source.kind, source.who, source.functions, source.culprit, pytest.approx(source.share))
        for source in sources(given)
    ]


def test_tasks_that_nobody_knows_by_name_are_one_row_with_their_sum():
    found = sources(
        (
            origin("<...>-34", 216.0, 0.31),
            origin("ktimers/N", 9.0, 0.32, ("hrtimer_wakeup",)),
            # As a tracer pads it.
            origin("<...>-59 ", 215.0, 0.2),
            origin("<...>-26", 213.0, 0.1),
        )
    )
    assert [source.who for source in found] == [
        Finding.of(Tasks.UNKNOWN, tasks=3),
        Finding.of(Tasks.NAMED, name="ktimers/N"),
    ]
    assert (found[0].parent, found[0].culprit) == (3.0, 644.0)
    assert found[0].share == pytest.approx(0.61)
    assert found[0].functions == WAKES


def test_one_program_with_several_numbers_is_one_row():
    told = shown(origin("cc1-7", 5.0, 0.5), origin("cc1-12", 3.0, 0.3))
    assert told == [("reschedule", Finding.of(Tasks.SEVERAL, name="cc1", tasks=2), WAKES, 8.0, 0.8)]


@pytest.mark.parametrize(
    "other",
    [
        {"kind": "call"},
        {"functions": ("hrtimer_wakeup",)},
        {"task": "sh-8"},
    ],
)
def test_what_differs_in_more_than_a_number_stays_apart(other):
    given = {"task": "cc1-8", "culprit": 3.0, "share": 0.3} | other
    told = shown(origin("cc1-7", 5.0, 0.5), origin(**given))
    assert [who for _, who, *_ in told] == [
        Finding.of(Tasks.NAMED, name="cc1-7"),
        Finding.of(Tasks.NAMED, name=given["task"]),
    ]


def test_mail_and_page_have_the_same_rows():
    made = tuple(origin(f"<...>-{number}", 7.0, 0.25) for number in (1, 2, 3, 4))
    report = epoll()
    report = replace(report, result=replace(report.result, origins=made))
    assert len(origins(report)) == 1
    assert len([line for line in origin_table(report, 3) if "100%" in line]) == 1
