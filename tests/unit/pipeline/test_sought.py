# SPDX-License-Identifier: GPL-2.0-or-later
"""A repair and a regression over one range, mirrored: the search is the same."""

from dataclasses import dataclass, replace

import pytest
import sqlalchemy as sa

from helpers.campaigns import KeptMailer, World, boots, line_of, sha
from rtbisect.errors import InfrastructureError
from rtbisect.lab.fake import FakeLab
from rtbisect.model.campaign import (
    Better,
    CampaignRequest,
    Limits,
    MetricKey,
    Outcome,
    Role,
    Scale,
    Sought,
    Statistic,
    Threshold,
)
from rtbisect.model.command import CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Ends, Proofs
from rtbisect.model.lab import Measurement
from rtbisect.model.report import SeriesState, Standing
from rtbisect.pipeline import bisect
from rtbisect.store import db
from rtbisect.trees.fake import FakeTree

COMMITS, CULPRIT = 16, 11
KEY = MetricKey("rcu", "p50_us", "rcu-off")
WAIT = Threshold(
    key=KEY,
    unit="us",
    better=Better.LOWER,
    scale=Scale.LINEAR,
    statistic=Statistic.MEDIAN,
    min_effect=300.0,
    limit=None,
    floor=0.0,
    role=Role.PRIMARY,
    control=None,
    reason="",
)
RATIO = replace(WAIT, scale=Scale.LOG, min_effect=1.2)
#: Shares take many runs to tell apart.
LIMITS = Limits(calibrate_max=40, max_boots=300)
FAILS = replace(WAIT, unit="1", statistic=Statistic.FRACTION, min_effect=0.2)


def waits(request, random):
    """From the culprit on calls take 1.5 times as long."""
    return boots(CULPRIT, kind="rcu")(request, random)


def failures(request, random):
    """From the culprit on nine runs in ten fail, before it one."""
    share = 0.9 if CULPRIT <= int(request.revision, 16) < 10**6 else 0.1
    return [
        Measurement(
            suite=KEY.suite,
            name=KEY.name,
            window=KEY.window,
            value=float(random.random() < share),
            unit="1",
        )
    ]


def searched(state, threshold, sought, draw):
    """A search with fakes: the world after it, what it found and what it told."""
    graph = line_of(COMMITS)
    request = CampaignRequest(
        kind="bisect",
        site="s",
        tree="t",
        older=graph.older,
        newer=graph.newer,
        suite="rcu",
        metric="p50_us",
        seed=7,
        sought=sought,
    )
    reverts = {(graph.newer, sha(CULPRIT)): sha(10**6)}
    here = World(
        state, graph, FakeLab(draw), reverts=reverts, request=request, limits=LIMITS,
    )  # fmt: skip
    setup, parts = here.open()
    result, _report = bisect.bisect(replace(setup, thresholds=(threshold,)), parts)
    return here, result


def mirrored(draw, turned):
    """The same boots with figures that lie the other way round."""
    return lambda request, random: [
        replace(each, value=turned(each.value)) for each in draw(request, random)
    ]


def asked(here):
    return [(each.revision, each.run_id) for each in here.lab.requests]


@pytest.mark.parametrize(
    ("threshold", "draw", "turned"),
    [(WAIT, waits, lambda value: -value), (FAILS, failures, lambda value: 1 - value)],
    ids=["difference", "share"],
)
def test_a_repair_is_searched_as_its_mirrored_regression(tmp_path, threshold, draw, turned):
    """Same boots in the same order, and posteriors that are equal to the last digit."""
    one, regression = searched(tmp_path / "1", threshold, Sought.REGRESSION, draw)
    two, repair = searched(tmp_path / "2", threshold, Sought.REPAIR, mirrored(draw, turned))
    assert (regression.outcome, regression.culprit) == (Outcome.CULPRIT, sha(CULPRIT))
    assert asked(one) == asked(two)
    assert (repair.outcome, repair.culprit) == (regression.outcome, regression.culprit)
    assert repair.tested == regression.tested
    assert repair.candidates == regression.candidates
    assert repair.confidence == regression.confidence
    for ours, theirs in zip(regression.verifications, repair.verifications, strict=True):
        assert (ours.check, ours.status, ours.recovery) == (
            theirs.check, theirs.status, theirs.recovery,
        )  # fmt: skip
    (ours, theirs) = regression.judgement, repair.judgement
    assert (ours.p, ours.effect) == (theirs.p, -theirs.effect)


def test_of_ratios_the_last_digits_differ(tmp_path):
    """The logarithm of a reciprocal is rounded twice."""
    one, regression = searched(tmp_path / "1", RATIO, Sought.REGRESSION, waits)
    two, repair = searched(
        tmp_path / "2", RATIO, Sought.REPAIR, mirrored(waits, lambda value: 1 / value)
    )
    assert asked(one) == asked(two)
    assert repair.culprit == regression.culprit == sha(CULPRIT)
    assert repair.confidence == pytest.approx(regression.confidence, rel=1e-9)
    assert [row.probability_bad for row in repair.tested] == pytest.approx(
        [row.probability_bad for row in regression.tested], rel=1e-9, abs=1e-12
    )


def test_the_same_is_told_and_that_it_repairs(tmp_path):
    one, regression = searched(tmp_path / "1", WAIT, Sought.REGRESSION, waits)
    two, repair = searched(
        tmp_path / "2", WAIT, Sought.REPAIR, mirrored(waits, lambda value: -value)
    )
    stories = ([told.kind for told in here.mailer.drafts[0][1]] for here in (one, two))
    assert next(stories) == next(stories)
    assert repair.reasons[0] == Finding.of(Proofs.REPAIRS)
    assert [each.kind for each in repair.reasons[1:]] == [each.kind for each in regression.reasons]
    notes = [[check.note.kind for check in each.verifications] for each in (regression, repair)]
    assert notes[0] == notes[1]


@pytest.mark.parametrize("suite", [None, "ipi"])
def test_a_merge_base_that_is_fixed_is_no_answer(tmp_path, suite):
    """The older end that was given is beside it, and alone is broken: a regression came there."""
    graph, given = line_of(3), sha(10**6 + 1)
    request = CampaignRequest(
        kind="bisect", site="site.yaml", tree="t", older=graph.older, newer=graph.newer,
        suite=suite,
        extra=(("given", given),), sought=Sought.REPAIR,
    )  # fmt: skip

    def draw(asked, random):
        known = sha(0) if asked.revision == given else sha(10**6)
        return boots(0)(replace(asked, revision=known), random)

    here = World(
        tmp_path, graph, FakeLab(draw), reverts={("", ""): given}, request=request
    )  # fmt: skip
    result, _report = bisect.bisect(*here.open())
    assert result.outcome is Outcome.INCONCLUSIVE
    assert result.reasons[0].kind == Ends.OTHER_BRANCH
    found = result.reasons[0].data
    assert (found["base"], found["called"]) == (graph.older, "good")
    assert f"--good {graph.older[:12]} --bad {given[:12]} --suite ipi" in found["command"]


@pytest.mark.parametrize("sought", Sought)
def test_a_threshold_is_turned_once_and_without_its_limit(sought):
    limited = replace(WAIT, limit=9.0)
    assert limited.toward(Sought.REGRESSION) == limited
    turned = limited.toward(Sought.REPAIR)
    assert (turned.better, turned.limit) == (Better.HIGHER, None)
    assert sought.opposite.opposite is sought is not sought.opposite
    assert sought.ends(*sought.ends("good", "bad")) == ("good", "bad")
    words = CommandRequest(argv=("true",)).words(sought)
    assert ("--find-fix" in words) == (sought is Sought.REPAIR)


@dataclass
class FullDisk(KeptMailer):
    """Cannot keep the first draft."""

    full: bool = True

    def draft(self, report, story):
        if self.full:
            self.full = False
            raise InfrastructureError("the disk is full")
        return super().draft(report, story)


def series_told(standing):
    state = SeriesState(name="linux-6.1.y", tip="t", date="", release="", standing=standing)
    return {sha(5): (state,)}


def opened(here, told):
    setup, ports = here.open()
    ports.tree.standing = told
    return setup, ports


@pytest.fixture
def mended(tmp_path):
    """A campaign that finds the repair 5, and cannot keep its first draft."""
    graph = line_of(8)
    request = CampaignRequest(
        kind="bisect",
        site="s",
        tree="t",
        older=graph.older,
        newer=graph.newer,
        sought=Sought.REPAIR,
    )
    lab = FakeLab(boots(0, until=5))
    return World(tmp_path, graph, lab, request=request, mailer=FullDisk())


def test_a_resumed_campaign_says_of_series_what_it_saw_first(mended):
    seen, later = series_told(Standing.APPLIES), series_told(Standing.HAS)
    with pytest.raises(InfrastructureError, match="disk"):
        bisect.bisect(*opened(mended, seen))
    bisect.bisect(*opened(mended, later))
    ((facts, _story),) = mended.mailer.drafts
    assert facts.series == seen[sha(5)]


def test_a_campaign_with_a_draft_asks_the_tree_for_no_series(mended, monkeypatch):
    """Older programs kept no step of them."""
    mended.mailer.full = False
    answer = bisect.bisect(*opened(mended, {}))
    with mended.store.database.write() as connection:
        gone = connection.execute(sa.delete(db.step).where(db.step.c.key == "series"))
    assert gone.rowcount == 1
    monkeypatch.delattr(FakeTree, "series")
    assert bisect.bisect(*mended.open()) == answer


def test_a_regression_is_no_repair_that_a_series_lacks(tmp_path):
    here = World(tmp_path, line_of(8), FakeLab(boots(5)))
    result, _report = bisect.bisect(*opened(here, series_told(Standing.APPLIES)))
    assert result.culprit == sha(5)
    ((facts, _story),) = here.mailer.drafts
    assert facts.series == ()
