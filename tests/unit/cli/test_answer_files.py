# SPDX-License-Identifier: GPL-2.0-or-later
"""What the files of an answer of `run` are made from, and how they look."""

import os
import re
import subprocess
import sys
import threading
from collections import Counter

import pytest

from helpers.findings import words
from helpers.results import culprit_result, other_result
from helpers.rights import python_as_anybody
from rtbisect.cli import answer_files, result, run_answer
from rtbisect.cli.answer_files import AnswerFiles
from rtbisect.cli.output import Output
from rtbisect.config.paths import data
from rtbisect.model.campaign import CampaignRequest, Outcome
from rtbisect.model.command import CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.counts import Counts
from rtbisect.model.kinds.pipeline import Proofs
from rtbisect.model.kinds.search import Checks
from rtbisect.model.result import CheckName, CheckStatus, Verification
from rtbisect.report.page_pictures import Line, Picture
from rtbisect.report.run_plot import svg_of
from rtbisect.store import codec
from rtbisect.words.voice import voice_of_request

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


@pytest.mark.parametrize("named", [True, False])
def test_a_summary_says_as_much_of_the_proof_as_what_is_printed(tmp_path, named):
    output = Output(tmp_path / "state")
    name = output.store.create("run", codec.to_json(CampaignRequest, ASKED), "2026-01-05T09:00:00")
    sure = Finding.of(Proofs.PROBABILITY, culprit="b" * 40, probability=0.996)
    open_yet, absent = Finding.of(Checks.OPEN), Finding.of(Checks.NO_REVERT)
    of = {"judgement": None, "parent": "a" * 12}
    checks = (
        Verification(check=CheckName.PARENT, status=CheckStatus.PASS, note=open_yet, **of),
        Verification(check=CheckName.REVERT, status=CheckStatus.ABSENT, note=absent, **of),
    )
    doubt = Finding.of(Proofs.REFUTED, culprit="d" * 40, check=checks[1].name, note=absent)
    of = {"reasons": (sure if named else doubt,), "verifications": checks}
    found = culprit_result("b" * 40, **of) if named else other_result(Outcome.INCONCLUSIVE, **of)
    output.store.finish(name, found, None)
    record = output.store.get(name)
    voice = voice_of_request(ASKED)
    proof = list(result.checks_of(found))
    assert [each.data["culprit"][0] for each in proof] == list("bb" if named else "dd")
    lines = [words(each, voice) for each in (*proof, *found.reasons)]
    assert words(absent, voice) in lines[1]
    _, printed = result.whole_answer(output, record)
    for told in (printed, answer_files.summary_of(output, record, None)):
        assert all(line in told for line in lines)


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


#: Puts a picture in the place that is given, as the last thing that it says.
PUT = """
import sys
from pathlib import Path
from rtbisect.cli.answer_files import _put, check_writable
place = Path(sys.argv[1])
check_writable("--plot", place)
print("said")
_put(place, b"picture")
"""


def names(folder):
    return sorted(each.name for each in folder.iterdir())


def put(place):
    answer_files.check_writable("--plot", place)
    answer_files._put(place, b"picture")


def test_a_picture_goes_where_a_link_leads(tmp_path):
    (tmp_path / "real").mkdir()
    for name in ("there", "new"):
        (tmp_path / name).symlink_to(tmp_path / "real" / name)
    (tmp_path / "real" / "there").write_text("of yesterday, and longer")
    for name in ("there", "new"):
        put(tmp_path / name)
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / "real" / name).read_bytes() == b"picture"
    assert names(tmp_path / "real") == ["new", "there"]


def test_a_look_leaves_nothing_where_a_link_leads(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    answer_files.check_writable("--plot", tmp_path / "link")
    assert names(tmp_path) == ["link"]


def test_a_device_stays_one(tmp_path):
    link = tmp_path / "null"
    link.symlink_to("/dev/null")
    put(link)
    assert link.is_char_device()


def test_a_pipe_has_the_picture_and_no_end_before_it(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    put(pipe)
    reader.join(20)
    assert read == [b"picture"]


def test_a_file_in_a_folder_of_somebody_else_is_written_where_it_is(tmp_path):
    place = tmp_path / "folder" / "plot.svg"
    place.parent.mkdir()
    place.write_text("of yesterday, and longer")
    place.parent.chmod(0o555)
    try:
        assert python_as_anybody(PUT, place) == "said"
    finally:
        place.parent.chmod(0o755)
    assert place.read_text() == "picture"
    assert names(place.parent) == ["plot.svg"]


@pytest.mark.parametrize("through", ["file", "pipe"])
def test_our_own_output_has_the_picture_behind_what_is_said(tmp_path, through):
    words_of = [sys.executable, "-c", PUT, "/dev/stdout"]
    if through == "pipe":
        said = subprocess.run(words_of, check=True, capture_output=True).stdout
    else:
        with (tmp_path / "out").open("wb") as stream:
            subprocess.run(words_of, check=True, stdout=stream)
        said = (tmp_path / "out").read_bytes()
    assert said == b"said\npicture"
