# SPDX-License-Identifier: GPL-2.0-or-later
"""How the page of a campaign reads: names, heads, keys, what is told first."""

import re
from dataclasses import replace

import pytest

from helpers.page_cases import badly_told, boot, many_candidates, runs
from helpers.page_reader import page
from helpers.report_cases import CASES, MANY, NONE, STALL
from helpers.report_epoll import epoll
from helpers.report_parts import sha
from rtbisect.model.campaign import Cause, Level, Outcome
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.page import Headed, Pictured
from rtbisect.report.page_pictures import boots_picture, side_rows
from rtbisect.report.page_text import told


def test_a_name_breaks_behind_its_parts_and_nowhere_else(tmp_path):
    text, _ = page(epoll(), tmp_path, runs())
    name = "ipi.<wbr class=in>res_<wbr class=in>per_<wbr class=in>s@<wbr>clock-on"
    assert f'<th scope=row class="k"><span class=m>{name}</span></th>' in text
    style = text.partition("<style>")[2].partition("</style>")[0]
    (alone,) = re.findall(r"^\.c, \.m {(.*)}$", style, re.MULTILINE)
    assert "white-space: nowrap" in alone
    # In the text below a picture, too.
    assert f"<figcaption><span class=m>{name}</span>" in text


def test_what_is_in_a_name_is_no_markup(tmp_path):
    report = epoll()
    (row, *rows) = report.result.table
    told = replace(row, workload="a_b.<i>&@c d")
    result = replace(report.result, table=(told, *rows))
    text, found = page(replace(report, result=result), tmp_path)
    assert "b.<wbr class=in>&lt;i&gt;&amp;@<wbr>c</span> <span class=m>d</span>" in text
    assert told.workload in {each[1] for each in found.table("beside")}


def test_lines_of_the_grid_end_where_labels_are():
    drawn = boots_picture(epoll(), side_rows(epoll()))
    *rows, _ = sorted({(line.y1, line.y2) for line in drawn.grid})
    assert len(rows) == 3
    for label in drawn.labels:
        # A line of text is some 12 pixels high.
        assert not [at for at in rows if at[0] < label.y and label.y - 12 < at[1]]


@pytest.mark.parametrize(("booted", "others"), [(((23, 24),), 0), (((23, 24, 99),), 1)])
def test_a_key_is_there_for_dots_of_the_picture_alone(tmp_path, booted, others):
    boots = [boot(number, value) for number in booted[0] for value in (1.0, 2.0)]
    _, found = page(epoll(), tmp_path, boots)
    circles = [each for each in found.all_of("circle") if each["class"] == "other"]
    assert len([each for each in circles if each["cx"] == "6"]) == others
    assert len([each for each in circles if each["cx"] != "6"]) == 2 * others


@pytest.mark.parametrize(
    ("shares", "less", "same"),
    [
        ([0.99 / 40] * 40, False, True),
        ([0.05] * 12 + [0.4 / 28] * 28, True, False),
        ([0.05] * 11 + [0.44 / 29] * 29, False, False),
    ],
)
def test_commits_that_are_folded_are_called_less_likely_where_they_are(
    tmp_path, shares, less, same
):
    report = many_candidates()
    candidates = tuple((sha(n), share) for n, share in enumerate(shares, 2))
    _, found = page(replace(report, result=replace(report.result, candidates=candidates)), tmp_path)
    (summary,) = (text for text in found.text_of("summary") if "28" in text and "like" in text)
    assert ("less likely" in summary, "just as likely" in summary) == (less, same)


def test_the_worst_figure_comes_first(tmp_path):
    report, _ = badly_told()
    levels = (Level.PASS, Level.UNDECIDED, Level.REGRESSED, Level.UNDECIDED)
    # None of them is better.
    judged = tuple(
        replace(each, level=level)
        for each, level in zip(report.result.judgements, levels, strict=False)
    )
    result = replace(report.result, judgements=judged)
    _, found = page(replace(report, result=result), tmp_path)
    assert [row[1] for row in found.table("verdict")] == [
        "regressed", "undecided", "undecided", "pass",
    ]  # fmt: skip


def test_what_a_boot_has_or_has_not_is_counted_wherever_it_stands(tmp_path):
    report = CASES["hang"]()
    boots = [boot(1, value, STALL, "1") for value in (*NONE.values[:2], 1.0)]
    _, found = page(report, tmp_path, boots)
    seen = f"{sum(MANY.values):.0f} of {MANY.n} boots"
    none = f"0 of {NONE.n} boots"
    sides = found.table("kernel", "each boot")
    assert [row[2:4] for row in sides][:2] == [[none, "-"], [seen, "-"]]
    assert set(sides[1][4].split(", ")) == {"no", "yes"}
    assert (none, seen) in {(row[2], row[3]) for row in found.table("check")}
    counted = [row[3:5] for row in found.table("beside") if row[0] == str(STALL)]
    assert counted
    assert all(cells[0].endswith(" boots") and cells[1] == "-" for cells in counted)
    assert [row[3] for row in found.table("boot", "ended")] == ["no", "no", "yes"]
    side = Finding.of(Pictured.SIDE_OF_BOOTS, name="commit", seen=8, boots=MANY.n)
    assert told(report, side) in found.text_of("desc")[0]


def test_a_head_is_no_name_of_the_code(tmp_path):
    report = many_candidates()
    assert (report.result.outcome, report.result.cause) == (Outcome.CULPRIT_SET, Cause.NONE)
    _, found = page(report, tmp_path)
    cause = told(report, Finding.of(Headed.CAUSE, cause=Cause.NONE))
    assert cause in found.text_of("dd")
    assert "culprit_set" not in {*found.text_of("h1"), *found.text_of("title")}
    # Nobody asks what makes a difference that there is not.
    _, found = page(CASES["nothing"](), tmp_path)
    assert "cause" not in found.text_of("dt")


def test_the_first_sentences_and_their_picture_come_first(tmp_path):
    """On a phone they fill the first screen: the subject stands once, objections stand below."""
    report, boots = badly_told()
    text, found = page(report, tmp_path, boots)
    assert found.text_of("h1") == [f"{found.text_of('title')[0].rpartition(' ')[0]} "]
    head = text[text.index("<h1>") : text.index("<svg")]
    failed = report.result.gates[-1].name
    assert f": {failed}</p>" in head
    assert text.index("<svg") < text.index('<h2 id="against">')
