# SPDX-License-Identifier: GPL-2.0-or-later
"""What the files of an answer of `run` are made from, and how they look."""

import re
from collections import Counter

from helpers.findings import words
from helpers.results import culprit_result, other_result
from rtbisect.cli import answer_files, run_answer
from rtbisect.cli.answer_files import AnswerFiles
from rtbisect.cli.output import Output
from rtbisect.config.paths import data
from rtbisect.model.campaign import CampaignRequest, Outcome
from rtbisect.model.command import CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.counts import Counts
from rtbisect.report.page_pictures import Line, Picture
from rtbisect.report.run_plot import svg_of
from rtbisect.store import codec

ASKED = CampaignRequest(
    kind="run", site="", tree="", older="a", newer="b", repo="/gone",
    extra=CommandRequest(argv=("x",), max_runs=40).extra(),
)  # fmt: skip


def test_all_that_is_shown_of_an_answer_is_read_once(tmp_path, monkeypatch):
    output, read = Output(tmp_path / "state"), Counter()
    store = output.store
    name = store.create("run", codec.to_json(CampaignRequest, ASKED), "2026-01-05T09:00:00+00:00")
    store.finish(name, other_result(Outcome.INCONCLUSIVE), None)

    def recorded(_database, _name, kind):
        read[kind.__name__] += 1
        return []

    for module in (run_answer, answer_files):
        monkeypatch.setattr(module, "recorded", recorded)
    files = AnswerFiles(tmp_path / "summary.md", tmp_path / "plot.svg")
    # Neither end was ever tried, so that nothing says that the environment is to blame.
    assert files.shown(output, store.get(name)) == 4
    assert (tmp_path / "summary.md").read_text("utf-8")
    assert set(read.values()) == {1}


def test_a_summary_of_a_commit_has_what_counts_say_of_it(tmp_path):
    output = Output(tmp_path / "state")
    name = output.store.create("run", codec.to_json(CampaignRequest, ASKED), "2026-01-05T09:00:00")
    counts = Finding.of(
        Counts.SAME, older="a" * 40, newer="b" * 40, share=0.0, spread=0.0, metric="command.ms@run",
        change=None, low=None, high=None,
    )  # fmt: skip
    output.store.finish(name, culprit_result("b" * 40, 0.98, reasons=(counts,)), None)
    told = answer_files.summary_of(output, output.store.get(name), None)
    assert words(counts) in told


def test_a_picture_has_the_colours_of_a_page():
    bar = Line(10, 5, 10, 1, "bar")
    picture = Picture(
        name="run", description="", height=10, grid=(), dots=(), lines=(bar,), labels=()
    )
    text = svg_of(picture, data("reports"), "title")
    page = (data("reports") / "page.css").read_text("utf-8")
    light = dict(re.findall(r"(--[a-z]+): (#[0-9a-f]+)", page.partition("@media")[0]))
    assert f"svg line.bar {{ stroke: {light['--without']};" in text
    assert "var(" not in text
