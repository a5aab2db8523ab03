# SPDX-License-Identifier: GPL-2.0-or-later
"""A figure has one unit on its page."""

import re
from dataclasses import replace

import pytest

from helpers.page_cases import boot, runs
from helpers.page_reader import page
from helpers.recorded import recording, rewritten
from helpers.report_epoll import epoll
from helpers.report_parts import sha
from rtbisect.judge.verdict import judge
from rtbisect.model.campaign import Sample
from rtbisect.model.report import EarlierFigure, HostPart
from rtbisect.report.averages import threshold_of
from rtbisect.report.input_file import read_input
from rtbisect.report.page_units import Shown, in_one_unit


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """That of a campaign on synchronize_rcu(), which was measured in microseconds."""
    with pytest.MonkeyPatch.context() as patch:
        document, _ = recording("rcu")
        found = rewritten(document, tmp_path_factory.mktemp("ran"), patch)
    return read_input(found.report.folder)


def booted(report, values=(6000.0, 9000.0)):
    return [boot(n, value, report.result.metric, "us") for n, value in enumerate(values, 23)]


def test_milliseconds_of_the_first_sentence_are_milliseconds_below_it(tmp_path, report):
    key = report.result.metric
    report = replace(report, hosts=(HostPart("a", 3, 250.0), HostPart("b", 3, None)))
    boots = [*booted(report), *booted(report, (6100.0, 9100.0))]
    text, found = page(report, tmp_path, boots)
    body = text[text.index("<body>") : text.index('<h2 id="again">')]
    reason = threshold_of(report, key).reason
    assert not re.findall(r"[0-9] us\\b", body.replace(reason, ""))
    assert "synchronize_rcu(), us" not in body
    own = [row for row in found.table("beside") if row[0] == str(key)]
    assert own
    assert {row[5] for row in own} == {"ms"}
    assert [row[2] for row in found.table("host", "adds")] == ["0.250", "-"]
    assert [row[3] for row in found.table("boot", "ended")] == ["6", "9", "6.10", "9.10"]
    limits = [row for row in found.table("why these numbers") if row[0].startswith("rcu.p50_us@")]
    assert {row[1] for row in limits} == {"ms"}
    assert len(limits) > 1


def test_all_of_a_figure_is_converted_and_nothing_else(report):
    key = report.result.metric
    earlier = [
        EarlierFigure(campaign="a", date="", revision=sha(3), sample=Sample((6000.0, 7000.0)))
    ]
    shown = in_one_unit(Shown(report, booted(report), earlier))
    assert shown.earlier[0].sample.values == pytest.approx((6.0, 7.0))
    assert [run.measurements[0].value for run in shown.runs] == pytest.approx([6.0, 9.0])
    before, now = report.result.judgement, shown.report.result.judgement
    assert now.base.values == pytest.approx([each / 1000 for each in before.base.values])
    assert now.effect == pytest.approx(before.effect / 1000)
    assert now.interval == pytest.approx([each / 1000 for each in before.interval])
    # What is judged anew of it says the same.
    limit = threshold_of(shown.report, key)
    again = judge(limit, now.base, now.new)
    assert (again.level, again.effect) == (before.level, pytest.approx(now.effect))
    told = shown.report.result.judgements
    others = [each for each in report.result.judgements if each.key.suite != key.suite]
    assert others
    assert [each for each in told if each.key.suite != key.suite] == others


def test_a_page_without_large_times_is_as_it_is():
    shown = Shown(epoll(), runs(), ())
    assert in_one_unit(shown) is shown
