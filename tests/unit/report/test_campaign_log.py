# SPDX-License-Identifier: GPL-2.0-or-later
"""The campaign log and the posterior, as text and as pictures."""

from dataclasses import replace

import pytest

from helpers.findings import lines, said
from helpers.report_cases import STORY
from helpers.report_epoll import EPOLL, epoll, nothing
from helpers.report_parts import sha
from rtbisect.report.campaign_log import log_text
from rtbisect.report.mail_values import cost
from rtbisect.report.posterior import probability, rows, top


def test_story_is_numbered_and_ends_with_the_answer():
    text = log_text(epoll(), STORY, "Which commit?")
    lines = text.splitlines()
    assert lines[:3] == ["What was asked", "", "  Which commit?"]
    assert "  1. The good end was built and booted 8 times." in lines
    assert "  3. Search: 3 revisions tested." in lines
    assert "  outcome     culprit (cause: workload-dependent)" in lines
    assert "  confidence  0.987" in lines
    assert f"  cost        {cost(epoll().summary)}" in lines
    assert text.index("What was asked") < text.index("What happened") < text.index("How it ended")


def test_each_finding_has_one_line_that_a_search_finds_whole():
    told = ["word " * 60, "x" * 500]
    lines = log_text(epoll(), tuple(map(said, told)), "Which?").splitlines()
    assert lines[7:9] == [f"  1. {told[0].rstrip()}", f"  2. {told[1]}"]


def test_hostile_lines_stay_ascii():
    text = log_text(epoll(), lines("a\x1b[2J\u202e\n\tb\x07\u00e9"), "Which?")
    assert text.isascii()
    assert all(line.isprintable() for line in text.splitlines())


def test_nothing_told_is_said():
    assert "nothing was told" in log_text(epoll(), (), "Which?")


def test_bars_show_the_likeliest_first_and_count_the_rest():
    many = tuple((sha(i), 0.05) for i in range(2, 22))
    lines = rows(((sha(30), 0.4), *many), epoll().graph, 12, width=20)
    assert len(lines) == 13
    assert lines[0].startswith(f"  {sha(30)[:12]}   0.400  ########  ")
    assert lines[-1] == "  9 more commits with 0.450 together"
    assert len(rows(many, epoll().graph)) == 6
    assert top(many, 5)[1] == 15


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.0, ">0.999"),
        (0.9994, "0.999"),
        (0.0001, "<0.001"),
        (0.0, "0.000"),
        (float("nan"), "?"),
        (1.5, "?"),
    ],
)
def test_no_false_certainty(value, shown):
    assert probability(value) == shown


def test_posterior_and_boots_stand_behind_the_story():
    text = log_text(epoll(), STORY, "Which?")
    assert "Posterior over commits" in text
    assert "Boots by rescheduling IPIs" in text
    assert "Boots by" not in log_text(epoll(), STORY, "Which?", boots=False)
    assert "Posterior" not in log_text(nothing(), STORY, "Which?")
    bare = replace(EPOLL, candidates=(), judgement=None, verifications=())
    last = log_text(replace(epoll(), result=bare), STORY, "Which?").splitlines()[-1]
    assert last.startswith((" " * 14, "  because", "  cost"))
