# SPDX-License-Identifier: GPL-2.0-or-later
"""A mail has a table of what there is, or says that there is nothing."""

from dataclasses import replace

from helpers.findings import words
from helpers.report_cases import CASES, rcu
from helpers.report_epoll import culprit_set, inconclusive, unmeasured
from helpers.report_parts import BOT, IDLE, IDLE_TOO, RES_OFF, row
from rtbisect.model.campaign import MetricKey
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.report import Columns
from rtbisect.report.kernel_table import kernel_table
from rtbisect.report.letter import letter
from rtbisect.report.mail_values import Detail, mail_values


def values(report):
    return mail_values(report, BOT, letter(report, BOT), Detail(), None)


def test_every_mail_has_a_table_or_says_why_it_has_none():
    for name, case in CASES.items():
        told = values(case())
        assert bool(told["kernels"] or told["ends"]) != bool(told["no_figure"]), name
    assert values(unmeasured())["no_figure"] == words(Finding.of(Columns.NO_FIGURE))


def test_without_rows_both_sides_of_what_was_judged_are_rows():
    report = culprit_set()
    assert report.result.table == ()
    ends = [line.split() for line in kernel_table(report)[-2:]]
    assert [line[-1] for line in ends] == ["8", "8"]
    assert ["59.0" in line for line in ends] == [False, True]


def test_where_the_searched_figure_has_no_row_those_that_have_are_told():
    other = (
        row("base", "none", RES_OFF, "1/s", IDLE),
        row("tip", "none", RES_OFF, "1/s", IDLE_TOO),
    )
    lost = MetricKey("ipi", "res_per_s", "clock-on")
    report = inconclusive()
    result = replace(report.result, table=other, metric=lost, judgement=None, judgements=())
    lines = kernel_table(replace(report, result=result))
    assert len(lines) == 3 + 2
    # The ends have a table of their own: nothing is told twice.
    judged = replace(result, judgements=report.result.judgements)
    told = values(replace(report, result=judged))
    assert (told["kernels"], bool(told["ends"])) == ((), True)


def test_the_searched_figure_stands_first():
    key = rcu().result.metric
    turned = replace(rcu().result, table=rcu().result.table[::-1])
    assert (key.window, turned.table[0].window) == ("rcu-off", "rcu-on")
    assert kernel_table(replace(rcu(), result=turned))[0] == kernel_table(rcu())[0]
