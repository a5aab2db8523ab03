# SPDX-License-Identifier: GPL-2.0-or-later
"""What a proof takes into account: all of its boots, and what they were measured on."""

from dataclasses import replace

import pytest

from helpers.campaigns import World, boots, line_of, scaled, sha
from helpers.scenarios import REVERTED, History
from rtbisect.kernel.fake import FakeBuilder
from rtbisect.lab.fake import FakeLab
from rtbisect.model.campaign import CampaignRequest, Limits, Outcome
from rtbisect.model.kinds.pipeline import Ends
from rtbisect.model.kinds.search import Checks
from rtbisect.model.result import CheckName, CheckStatus, GateStatus
from rtbisect.pipeline import bisect


def request_of(graph, given=""):
    return CampaignRequest(
        kind="bisect", site="s", tree="t", older=graph.older, newer=graph.newer, suite="rcu",
        extra=(("given", given),) if given else (),
    )  # fmt: skip


def scaled_by(draw, factor):
    """The draw, with the figures of grace periods times what `factor` says of a boot."""

    def scaled_draw(request, random):
        seen, times = draw(request, random), factor(request, random)
        for window in ("rcu-off", "rcu-on"):
            seen = scaled(seen, ("p50_us", window), times)
        return seen

    return scaled_draw


def checks_of(result):
    return {check.check: check for check in result.verifications}


@pytest.mark.parametrize("whole", [True, False], ids=["now", "before"])
def test_a_revert_that_is_the_parent_is_no_further_kernel(tmp_path, whole):
    """The newest commit is the culprit."""
    history = History(
        6, rcu={6: 1.3}, noise=0.05, suite="rcu", same={REVERTED + 6: 5},
        limits=Limits(whole_proof=whole),
    )  # fmt: skip
    here = history.world(tmp_path)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(6))
    revert = checks_of(result)[CheckName.REVERT]
    booted = {request.revision for request in here.lab.requests}
    if whole:
        assert (revert.status, revert.note.kind) == (CheckStatus.ABSENT, Checks.REVERT_IS_PARENT)
        assert revert.note.data["parent"] == sha(5)
    else:
        assert revert.status is CheckStatus.PASS
    assert (sha(REVERTED + 6) in booted) is not whole


def test_a_host_that_changed_after_the_search_is_no_change_of_the_other_branch(tmp_path):
    """The end that a merge base stands for is compared with boots of the same time."""
    graph, given = line_of(3), sha(10**6 + 1)
    faster = scaled_by(boots(None), lambda request, _: 0.5 if given in found else 1.0)
    found = set()

    def draw(request, random):
        found.add(request.revision)
        return faster(request, random)

    lab = FakeLab(draw)
    here = World(
        tmp_path, graph, lab, FakeBuilder(), {("", ""): given}, request_of(graph, given)
    )  # fmt: skip
    result, _report = bisect.bisect(*here.open())
    assert given in found
    assert Ends.OTHER_BRANCH not in [reason.kind for reason in result.reasons]
    assert result.outcome is Outcome.NOT_REPRODUCED


def drifting(tmp_path, *, whole):
    """A campaign on a machine that becomes slower from boot to boot by a thirtieth of what the
    culprit, commit 7, adds.
    """
    graph, culprit = line_of(12), 7
    limits = Limits(layout_below=0.0, whole_proof=whole)

    def factor(request, random):
        held = culprit <= int(request.revision, 16) != REVERTED + culprit
        return (1 + 0.3 * held) * random.gauss(1, 0.05) * (1 + 0.009 * len(lab.requests))

    lab = FakeLab(scaled_by(boots(None), factor))
    reverts = {(graph.newer, sha(culprit)): sha(REVERTED + culprit)}
    return World(tmp_path, graph, lab, FakeBuilder(), reverts, request_of(graph), limits=limits)


@pytest.mark.parametrize("whole", [True, False], ids=["now", "before"])
def test_a_drift_is_no_later_commit_that_takes_the_change_back(tmp_path, whole):
    """The newest commit was booted before the machine had become so slow."""
    here = drifting(tmp_path, whole=whole)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(7))
    checks = checks_of(result)
    assert checks[CheckName.PARENT].status is CheckStatus.PASS
    assert (CheckName.KEPT in checks) is not whole
    failed = {gate.name for gate in result.gates if gate.status is GateStatus.FAIL}
    assert ("G10 A/A" in failed) is not whole


def confidence(tmp_path, *, whole):
    """That of a culprit without which the kernel is as slow as with it, after the first look."""
    history = History(
        12, rcu={7: 1.3}, noise=0.05, suite="rcu",
        limits=Limits(layout_below=0.0, whole_proof=whole),
    )  # fmt: skip
    here, revert = history.world(tmp_path / str(whole)), sha(REVERTED + 7)
    usual = here.lab

    def back(request, _random):
        seen = [each for each in lab.requests if each.revision == revert]
        return 1.3 if request.revision == revert and len(seen) > 3 else 1.0

    lab = FakeLab(scaled_by(usual._draw, back))
    result, _report = bisect.bisect(*replace(here, lab=lab).open())
    assert result.outcome is Outcome.CULPRIT
    return result.confidence


def test_the_last_boots_of_a_revert_count(tmp_path):
    assert confidence(tmp_path, whole=True) < confidence(tmp_path, whole=False)
