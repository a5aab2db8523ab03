# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers of `run` that say what makes the difference: one search for each."""

import random
import re
import shlex
from dataclasses import dataclass, field

import pytest

from helpers.campaigns import ROOT, line_of, sha
from helpers.commanded import Commanded, searched
from helpers.golden import is_golden
from rtbisect.cli.answer_files import AnswerFiles
from rtbisect.cli.output import Output
from rtbisect.cli.result import whole_answer
from rtbisect.cli.run_answer import Figured
from rtbisect.model.campaign import Outcome
from rtbisect.model.result import DiffersBy
from rtbisect.program.worktree_run import traits_of

GOLDENS = ROOT / "tests/golden/answers"
CULPRIT = 3
RANGE = line_of(5)


@dataclass
class Timed(Commanded):
    """A benchmark of 10 ms and more, with the luck of its builds or of its links."""

    #: How much slower it is from CULPRIT on, in ms; how far builds lie apart.
    change: float = 0.0
    luck: float = 0.0
    #: Runs, by their number, that are slower by 3 ms.
    slow: range = range(0)
    order: object = None
    counts: object = None
    traits: object = field(default_factory=lambda: traits_of(built=True))

    def __post_init__(self):
        self.times = self._time
        self.signature = lambda number: f"build of {number}"

    def run(self, build, order, note):
        self.order = order
        return super().run(build, order, note)

    def _time(self, number, _run):
        build = self.order.linked_as or self.order.run_id if self.traits.relaid else number
        luck = self.luck * random.Random(f"{build}").uniform(-1, 1)
        noise = random.Random(f"run {self.order.run_id}").gauss(0, 0.05)
        late = 3 * (self.order.number in self.slow and not self.order.linked_as)
        return 10 + self.change * (number >= CULPRIT) + luck + noise + late


def relaid(**more):
    return Timed(traits=traits_of(built=True, relaid=True), **more)


ASKED = {"metric": "ms", "unit": "ms", "build": ("make",), "count": ""}
CASES = {
    "code": (relaid(change=1.2, luck=0.4), {"relayout": True}),
    "layout": (relaid(luck=0.8), {"relayout": True}),
    "machine": (Timed(slow=range(5, 12)), {}),
    "unclear": (Timed(change=0.8), {}),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """The state of each search, and its record."""
    made = {}
    for name, (subject, asked) in CASES.items():
        state = tmp_path_factory.mktemp(name)
        searched(state, subject, RANGE, **ASKED | asked)
        output = Output(state)
        made[name] = output, output.store.get("run-1")
    return made


@pytest.fixture(autouse=True)
def counting(monkeypatch):
    """Each machine that tests counts instructions."""
    monkeypatch.setattr("rtbisect.cli.run_answer.counts_here", lambda: True)


@pytest.mark.parametrize("name", CASES)
def test_an_answer_says_what_makes_the_difference(answers, name):
    output, record = answers[name]
    data, _text = whole_answer(output, record, Figured.of(output.store, record))
    assert data["difference"]["by"] == DiffersBy(name)
    assert data["difference"]["why_found"]["data"]["metric"] == str(record.result.metric)
    found = name in ("code", "unclear")
    assert record.result.culprit == (sha(CULPRIT) if found else None)
    assert (record.result.outcome is Outcome.NOT_REPRODUCED) is not found
    # Of the commit and its parent alone.
    pair = ["--good", f"{sha(CULPRIT)}^", "--bad", sha(CULPRIT)]
    assert (data["tells"] is not None) is (name == "unclear")
    assert name != "unclear" or shlex.split(data["tells"])[4:8] == pair


@pytest.mark.words
@pytest.mark.parametrize("name", CASES)
def test_an_answer_is_its_golden_file(answers, name, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    output, record = answers[name]
    place = tmp_path / "summary.md"
    AnswerFiles(place, None).shown(output, record)
    text = f"{capsys.readouterr().out}\n{place.read_text('utf-8')}"
    # How long it took is of the machine that tests.
    is_golden(GOLDENS / f"{name}.txt", re.sub(r"skipped, \d+ s", "skipped, 9 s", text), "utf-8")
