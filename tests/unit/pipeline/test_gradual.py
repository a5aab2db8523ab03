# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign whose change came in many small steps."""

from dataclasses import replace

import pytest

from helpers.campaigns import World, boots, line_of, scaled, sha
from helpers.findings import first
from rtbisect.cli.result import answer_of, exit_of
from rtbisect.errors import Exit
from rtbisect.lab.fake import FakeLab
from rtbisect.model.campaign import CampaignRequest, Cause, Outcome
from rtbisect.model.kinds.report import Opens
from rtbisect.model.kinds.search import Endings
from rtbisect.pipeline import bisect
from rtbisect.report.opening import opening

COMMITS = 60


def rising(tmp_path, suite="rcu"):
    """Each commit makes a wait a little longer, half as long again in all; 6% of noise."""
    graph = line_of(COMMITS)
    request = CampaignRequest(
        kind="bisect", site="s", tree="t", older=graph.older, newer=graph.newer, suite=suite
    )

    def draw(asked, random):
        here = 1 + 0.5 * int(asked.revision, 16) / COMMITS
        found = boots(None)(asked, random)
        return scaled(found, ("p50_us", "rcu-off"), here * random.gauss(1, 0.06))

    return World(tmp_path, graph, FakeLab(draw), request=request)


def test_it_is_an_answer_that_blames_nobody(tmp_path):
    here = rising(tmp_path)
    result, report = bisect.bisect(*here.open())
    assert (result.outcome, result.cause, result.culprit) == (
        Outcome.GRADUAL,
        Cause.NONE,
        None,
    )
    assert (result.candidates, result.verifications) == ((), ())
    assert exit_of(result) == Exit.ANSWERED
    # The draft is for the operator: nothing of it names a commit.
    drafted, _story = here.mailer.drafts[0]
    assert report is not None
    assert drafted.culprit is None
    assert opening(drafted).kind == Opens.GRADUAL_UNMEASURED
    assert first(result.reasons, Endings.GRADUAL)["probability"] == pytest.approx(result.confidence)
    here.store.finish(here.campaign, result, report)
    told = answer_of(here.store, here.store.get(here.campaign))
    assert (told["outcome"], told["culprit"], told["candidates"]) == ("gradual", None, [])
    parts = told["stretches"]
    assert set(parts[0]) == {"older", "newer", "share", "low", "high"}
    assert (parts[0]["older"], parts[-1]["newer"]) == (sha(0), sha(COMMITS))
    assert sum(part["share"] for part in parts) == pytest.approx(1, abs=1e-3)


def test_a_campaign_that_began_before_goes_on_without_it(tmp_path):
    here = rising(tmp_path)
    here.limits = replace(here.limits, gradual=False, max_boots=60)
    result, _report = bisect.bisect(*here.open())
    assert result.outcome is not Outcome.GRADUAL
