# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever runs in a window of ours has plain words."""

import re

import pytest

from rtbisect.lab.windows import ALL_WINDOWS
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.report import Columns
from rtbisect.model.lab import OF_SITE
from rtbisect.report.averages import level_in
from rtbisect.report.text import TABLE
from rtbisect.words import workloads
from rtbisect.words.speak import speak

pytestmark = pytest.mark.words

LEVELS = sorted({each.level for each in ALL_WINDOWS} - {"none", OF_SITE})


def test_there_are_workloads_of_both_kinds_with_their_levels():
    assert {"perf-epoll-reader:pf", "perf-epoll-reader:pf/4", "epoll-producers"} <= set(LEVELS)


@pytest.mark.parametrize("level", LEVELS)
def test_what_it_does_is_told_once_with_its_name(level):
    does = workloads.does(level)
    assert len(does.split()) > 3
    assert level not in does
    doing = workloads.doing(level)
    assert doing.endswith(f" ({level})")
    assert set(re.findall(r"\w+", does)) <= set(re.findall(r"\w+", doing))
    note = str(speak(Finding.of(Columns.WORKLOAD, workload=level)))
    assert note == f"{level}: {does}"


@pytest.mark.parametrize("mode", ["clock", "pf"])
def test_the_workload_of_most_tables_takes_one_line_below_them(mode):
    note = Finding.of(Columns.WORKLOAD, workload=f"perf-epoll-reader:{mode}")
    assert len(str(speak(note))) <= TABLE - 2


def test_no_two_are_told_alike():
    assert len({workloads.does(level) for level in LEVELS}) == len(LEVELS)


@pytest.mark.parametrize("window", ALL_WINDOWS, ids=lambda window: window.name)
def test_what_runs_in_a_window_is_known_by_its_name(window):
    assert level_in(window.name) == window.level


def test_a_program_of_a_site_keeps_its_name():
    level = f"{OF_SITE}:motion@0123456789ab"
    assert workloads.does(level) == ""
    assert workloads.doing(level) == "motion@0123456789ab runs"
    assert workloads.beside(level) == "with motion@0123456789ab"
    assert level_in("of-nobody") == ""
