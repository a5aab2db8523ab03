# SPDX-License-Identifier: GPL-2.0-or-later
"""The last screen of a search and the chart of its answer say the same of each revision."""

from dataclasses import replace

import pytest

from helpers.campaigns import boots, sha, world
from rtbisect.lab.fake import FakeLab
from rtbisect.model.campaign import Outcome
from rtbisect.model.command import CommandRequest
from rtbisect.model.kinds.pipeline import Proofs
from rtbisect.model.kinds.screen import Line
from rtbisect.pipeline import bisect
from rtbisect.report.campaign_screen import CampaignScreen
from rtbisect.report.marks import letter_of
from rtbisect.report.run_answer import columns_of
from rtbisect.search import verification
from rtbisect.words.voice import PLAIN

COMMITS = 8


class Seen:
    """Progress that a screen hears."""

    def __init__(self, request):
        self.screen = CampaignScreen(request=request)

    def tell(self, finding):
        self.screen.hear(finding)

    def step(self, _what, _done, total, left):
        self.screen.step(total, left)


def drawn_of(here, **limits):
    """Letters of the last screen and of the chart by revision, and the answer."""
    setup, parts = here.open()
    setup = replace(setup, limits=replace(setup.limits, **limits))
    seen = Seen(setup.request)
    result, _ = bisect.bisect(setup, replace(parts, progress=seen))
    (row,) = (row for row in seen.screen.rows(COMMITS) if row.line is Line.TESTED)
    screen = {sha(n): text for n, (text, _) in enumerate(row.parts, 1) if text != " "}
    # A chart is drawn of commands alone; nothing of theirs is asked where there are no runs.
    asked = replace(setup.request, extra=CommandRequest(argv=("x",)).extra())
    columns = columns_of(asked, result, ())
    letters = [letter_of(each.mark, PLAIN.older, PLAIN.newer) for each in columns]
    chart = dict(zip((each.sha for each in result.tested), letters, strict=True))
    # The older end stands beside the range.
    assert chart.pop(sha(0)) == "g"
    return screen, chart, result


@pytest.fixture
def misled(tmp_path):
    """The first boots of a good commit happen to be bad."""
    here, seen = world(tmp_path, 5), {}

    def draw(request, random):
        count = seen[request.revision] = seen.get(request.revision, 0) + 1
        lucky = request.revision == sha(4) and count <= 2
        return boots(4 if lucky else 5)(request, random)

    here.lab = FakeLab(draw)
    return here


def test_of_a_named_commit(tmp_path):
    screen, chart, result = drawn_of(world(tmp_path, 5), max_boots=80)
    assert screen == chart
    assert chart[result.culprit] == "C"
    assert {"g", "b"} < set(chart.values())


def test_of_a_commit_that_its_proof_leaves_open(tmp_path, monkeypatch):
    monkeypatch.setattr(verification, "confirmed", lambda _state: False)
    screen, chart, result = drawn_of(world(tmp_path, 5), proofs=1)
    assert result.outcome is Outcome.INCONCLUSIVE
    assert Proofs.NOT_CONFIRMED in {reason.kind for reason in result.reasons}
    assert screen == chart
    # Nothing speaks against what the search has seen.
    assert set(chart.values()) == {"g", "b"}


def test_of_a_commit_that_fresh_boots_refute(misled):
    screen, chart, result = drawn_of(misled, proofs=1)
    assert (result.outcome, result.candidates) == (Outcome.INCONCLUSIVE, ())
    assert screen == chart
    assert chart.pop(sha(COMMITS)) == "b"
    assert set(chart.values()) == {"?"}
