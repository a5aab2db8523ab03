# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of a campaign: pictures as far as something was measured, foreign text escaped."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from helpers.findings import said
from helpers.report_cases import CASES, MANY, NONE, STALL
from helpers.report_epoll import epoll
from helpers.report_parts import LOUD, QUIET, RES_ON, TEMPLATES, sha
from rtbisect.model.campaign import Sought
from rtbisect.model.lab import Measurement, Run, RunStatus
from rtbisect.model.result import Gate, GateStatus
from rtbisect.report.page import write_page
from rtbisect.report.pictures import draw_page, role
from rtbisect.report.template_values import Bot

BOT = Bot("rtbisect", "bot@lab.example.org", "https://lists.example.org/r/")
PNG = b"\x89PNG\r\n"


def runs():
    """Boots of parent and culprit, with a figure a CPU."""
    return [
        Run(
            run_id=f"r{n}", revision=sha(number), status=RunStatus.COMPLETE,
            measurements=(
                Measurement(suite=RES_ON.suite, name=RES_ON.name, window=RES_ON.window,
                value=value, unit="1/s"),
                *(
                    Measurement(suite=RES_ON.suite, name=RES_ON.name, window=RES_ON.window,
                    value=value * cpu, unit="1/s", cpu=cpu)
                    for cpu in (2, 3, 4)
                ),
            ),
        )
        for number, sample in ((23, QUIET), (24, LOUD))
        for n, value in enumerate(sample.values)
    ]  # fmt: skip


class Checked(HTMLParser):
    """Tags that are open, and those that were seen."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def page(report, tmp_path, boots=()):
    text = write_page(report, boots, tmp_path, TEMPLATES, BOT).read_text("utf-8")
    found = Checked(text)
    assert found.open == []
    return text, found.seen


@pytest.mark.words
def test_a_page_shows_what_was_measured(tmp_path):
    pytest.importorskip("matplotlib")
    text, tags = page(epoll(), tmp_path, runs())
    shown = [attrs["src"] for tag, attrs in tags if tag == "img"]
    assert shown == ["trend.png", "cpus.png"]
    for name in shown:
        assert (tmp_path / name).read_bytes().startswith(PNG)
    assert "8.55/s (parent) and 59.8/s (commit)" in text
    assert "Emulator data" in text


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_answer_has_a_page(tmp_path, name):
    text, _ = page(CASES[name](), tmp_path)
    report = CASES[name]()
    assert "Confidence ," not in text
    assert (
        "repair" if report.sought is Sought.REPAIR and report.culprit else report.result.outcome
    ) in text


def test_a_page_says_what_speaks_against_a_report(tmp_path):
    report = epoll()
    gate = Gate("G7 reads", GateStatus.FAIL, said("an instrument read <b> of the rows"))
    report = replace(report, result=replace(report.result, gates=(*report.result.gates, gate)))
    text, _ = page(report, tmp_path)
    assert "<li>G7 reads: an instrument read &lt;b&gt; of the rows</li>" in text


def test_foreign_text_is_escaped_and_nothing_is_fetched(tmp_path):
    evil = '<script>alert(1)</script><img src="https://evil.example.org/x">'
    report = epoll()
    report = replace(
        report, tree=evil, culprit=replace(report.culprit, subject=evil), compiler=evil
    )
    text, tags = page(report, tmp_path)
    names = {tag for tag, _ in tags}
    assert "script" not in names
    links = [value for _, attrs in tags for key, value in attrs.items() if key in ("src", "href")]
    assert all(re.fullmatch(r"[a-zA-Z0-9.]+", link) for link in links)
    assert "default-src 'none'" in text


def test_without_matplotlib_there_is_a_page(tmp_path):
    assert draw_page(epoll(), runs(), tmp_path, lambda: None) == ()


def test_revisions_of_a_picture_have_their_role():
    report = epoll()
    commits = report.graph.commits
    culprit = next(each for each in commits if each.sha == report.result.culprit)
    revisions = [
        report.older,
        *culprit.parents,
        culprit.sha,
        report.newer,
        commits[3].sha,
        "f" * 40,
    ]
    assert [role(report, each) for each in revisions] == [
        "good end", "parent", "culprit", "bad end", "", "revert",
    ]  # fmt: skip


def test_a_page_on_a_repair_calls_the_broken_side_broken(tmp_path):
    figure = pytest.importorskip("matplotlib.figure")
    drawn = []

    class Kept(figure.Figure):
        def savefig(self, *given, **how):
            drawn.append(self)
            super().savefig(*given, **how)

    report = CASES["backport"]()
    boots = [
        Run(run_id=f"r{n}", revision=sha(number), status=RunStatus.COMPLETE,
            measurements=(Measurement(suite=STALL.suite, name=STALL.name, window=STALL.window,
            value=value, unit="1"),))
        for number, sample in ((23, MANY), (24, NONE))
        for n, value in enumerate(sample.values)
    ]  # fmt: skip
    assert (tmp_path / "trend.png") in draw_page(report, boots, tmp_path, lambda: Kept)
    names = [text.get_text() for text in drawn[0].legends[0].get_texts()]
    assert names == ["broken", "repaired"]
    assert role(report, report.older) == "older end"
    # A boot at nothing is a whole dot.
    assert not any(line.get_clip_on() for line in drawn[0].axes[0].lines)


def test_a_page_says_what_its_mail_says(tmp_path):
    text, _ = page(CASES["backport"](), tmp_path)
    assert "seen in 8 of 12 boots (parent) and in 0 of 12 boots (commit)" in text
    assert "stall.frozen_periods: boots in which nr_periods" in text
    assert "rtbisect-symptom: frozen nr_periods" in text
    assert "<title>backport-0007: repair</title>" in text
