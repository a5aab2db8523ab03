# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole campaigns on the shipped fakes: what is found in which history, kills at any write."""

import copy
import os
import shutil
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from helpers.campaigns import World, boots, line_of, sha, world
from helpers.depth import deep
from helpers.findings import first
from helpers.scenarios import Found, History
from rtbisect.judge.verdict import improved
from rtbisect.kernel.fake import FakeBuilder
from rtbisect.lab.fake import FakeLab
from rtbisect.model.campaign import CampaignRequest, Cause, Limits, Outcome, Sought
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Judged
from rtbisect.model.kinds.pipeline import Ends, Proofs, Reasons
from rtbisect.model.lab import RunStatus
from rtbisect.model.result import CheckName
from rtbisect.pipeline import bisect
from rtbisect.search import engine
from rtbisect.store.campaigns import CampaignStore

CULPRIT, CULPRITS = Outcome.CULPRIT, Outcome.MULTIPLE_CULPRITS
#: Boots that two culprits and their branches need.
MANY = Limits(max_boots=200)
#: 1 to 9 on one branch, 10 to 18 on the other, 19 merges them.
BRANCHES = {10: (0,), 19: (9, 18)}
HUNG, NO_BOOT = [RunStatus.HUNG], [RunStatus.BOOT_FAILED]
SPOILT = [RunStatus.INVALID, RunStatus.COMPLETE, RunStatus.INVALID]

#: Name: what there is, and what is found in it. A commit is its number.
SCENARIOS = {
    "nothing changes": (History(), Found(Outcome.NO_REGRESSION, booted={0, 8}, mail=False)),
    "the ends are one kernel": (
        History(ipi={3: 10}, same={8: 0}),
        Found(Outcome.NOOP, booted=set(), mail=False),
    ),
    "what the workload shows": (
        History(ipi={4: 10}),
        Found(CULPRIT, 4, cause=Cause.WORKLOAD_DEPENDENT, checks={"prediction": "pass"}),
    ),
    "the kernel itself": (
        History(rcu={5: 1.5}),
        Found(CULPRIT, 5, cause=Cause.KERNEL, metric="rcu.p50_us@rcu-off"),
    ),
    "two figures, one tells more": (
        # All ranges are disjoint; the wait stands out of its noise by far more.
        History(ipi={4: 10}, rcu={4: 1.5}),
        Found(CULPRIT, 4, metric="rcu.p50_us@rcu-off"),
    ),
    "asked for a figure": (
        History(rcu={3: 1.5}, suite="rcu", metric="p50_us"),
        Found(CULPRIT, 3, metric="rcu.p50_us@rcu-off"),
    ),
    "asked for a suite that did not change": (
        History(ipi={3: 10}, suite="rcu"),
        Found(Outcome.NOT_REPRODUCED, mail=False),
    ),
    "two commits do not build": (History(12, ipi={7: 10}, broken=(4, 5)), Found(CULPRIT, 7)),
    "the culprit and its parent do not build": (
        History(12, ipi={6: 10}, broken=(5, 6)),
        Found(Outcome.CULPRIT_SET, {5, 6, 7}),
    ),
    "a commit never boots": (History(12, ipi={8: 10}, ends={4: 9 * NO_BOOT}), Found(CULPRIT, 8)),
    "the bad end hangs at first": (History(ipi={4: 10}, ends={8: 3 * HUNG}), Found(CULPRIT, 4)),
    "boots that are no evidence": (History(ipi={4: 10}, ends={"*": SPOILT}), Found(CULPRIT, 4)),
    "a culprit on a branch": (
        History(parents={4: (0,), 7: (3, 6)}, ipi={5: 10}),
        Found(CULPRIT, 5),
    ),
    "the merge alone": (
        History(parents={5: (1,), 7: (4, 6)}, ipi={7: 10}),
        Found(Outcome.MERGE_CULPRIT, 7, parents=2),
    ),
    "two culprits": (History(ipi={3: 10, 6: 2.6}), Found(CULPRITS, {3, 6})),
    "two equal culprits": (
        History(24, rcu={7: 1.3, 17: 1.3}, noise=0.05, suite="rcu"),
        Found(CULPRITS, {7, 17}),
    ),
} | {
    # Each of these takes as long as ten of the others.
    f"a culprit on each branch, {one} and {two}": (
        History(
            23, parents=BRANCHES, rcu={one: 1.3, two: 1.3}, noise=0.05, suite="rcu", limits=MANY
        ),
        Found(CULPRITS, {one, two}),
    )
    for one, two in deep([(7, 11)], [(4, 15), (7, 11), (1, 17)])
}


@pytest.mark.parametrize(("history", "found"), SCENARIOS.values(), ids=SCENARIOS)
def test_what_is_in_a_history_is_found(tmp_path, history, found):
    here = history.world(tmp_path)
    result, report = bisect.bisect(*here.open())
    assert found.seen(here, result) == found
    assert (report is not None) == found.mail
    assert result.outcome is not Outcome.CULPRIT_SET or result.culprit is None


@pytest.mark.parametrize(("suite", "same"), [(None, False), ("ipi", False), ("ipi", True)])
def test_a_merge_base_that_is_bad_is_no_answer(tmp_path, suite, same):
    """The good end that was given is beside it, and alone is good; also where merge base and bad
    end are one kernel, of which nothing was booted.
    """
    graph, given = line_of(3), sha(10**6 + 1)
    request = CampaignRequest(
        kind="bisect",
        site="site.yaml",
        tree="t",
        older=graph.older,
        newer=graph.newer,
        suite=suite,
        extra=(("given", given),),
    )
    builder = FakeBuilder(same_as={sha(n): sha(0) for n in range(1, 4)} if same else {})
    here = World(
        tmp_path, graph, FakeLab(boots(0)), builder, {("", ""): given}, request,
    )  # fmt: skip
    result, report = bisect.bisect(*here.open())
    assert result.outcome is Outcome.INCONCLUSIVE
    advice = f"--good {given[:12]} --bad {graph.older[:12]} --find-fix --suite ipi"
    assert result.reasons[0].kind == Ends.OTHER_BRANCH
    assert advice in result.reasons[0].data["command"]
    assert (report is None) == (suite is None)


def test_a_merge_base_that_stands_for_its_like_changes_no_answer(tmp_path):
    graph, given = line_of(3), sha(10**6 + 1)
    request = CampaignRequest(
        kind="bisect",
        site="s",
        tree="t",
        older=graph.older,
        newer=graph.newer,
        extra=(("given", given),),
    )
    here = World(tmp_path, graph, FakeLab(boots(None)), FakeBuilder(), {("", ""): given}, request)
    result, report = bisect.bisect(*here.open())
    assert (result.outcome, report) == (Outcome.NO_REGRESSION, None)


def test_what_got_better_is_told_to_the_operator(tmp_path):
    """The older end is the bad one: there is nothing to search, and a line to tell."""
    world = History(6, ipi={0: 10, 3: 0.1}).world(tmp_path)
    result, report = bisect.bisect(*world.open())
    assert (result.outcome, result.culprit) == (Outcome.NO_REGRESSION, None)
    assert report is not None
    limits = world.open()[0].thresholds
    told = {str(each.key) for each in improved(result.judgements, limits)}
    assert "ipi.res_per_iwi@pf-on" in told


def test_a_primary_metric_that_is_not_measured_is_never_a_pass(tmp_path):
    def deaf(request, random):
        return [m for m in boots(None)(request, random) if m.name != "res_per_iwi"]

    here = World(tmp_path, line_of(8), FakeLab(deaf))
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.confidence) == (Outcome.INCONCLUSIVE, 0.0)
    untold = {
        reason.data["metric"]
        for reason in result.reasons
        if reason.kind == Reasons.JUDGED and reason.data["why"].kind == Judged.NO_BOOTS
    }
    assert untold == {"ipi.res_per_iwi@pf-on"}


def test_a_base_that_does_not_build_is_inconclusive(tmp_path):
    here = world(tmp_path, 4)
    here.builder.failing = {sha(0): "a.c:1: error: x"}
    result, _report = bisect.bisect(*here.open())
    assert result.outcome is Outcome.INCONCLUSIVE
    assert result.reasons[0].kind == Ends.NOT_BUILT


def test_boots_see_all_windows_in_drawn_orders(tmp_path):
    here = world(tmp_path, None)
    bisect.bisect(*here.open())
    orders = {tuple(w.name for w in r.windows) for r in here.lab.requests}
    assert len(orders) > 6
    assert len({frozenset(order) for order in orders}) == 1


@pytest.fixture
def memory(tmp_path):
    """A folder without a disk below it where there is one: kills need many durable writes."""
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        yield Path(folder)


def small_world(folder):
    graph = line_of(4)
    request = CampaignRequest(
        kind="bisect", site="s", tree="t", older=graph.older, newer=graph.newer, suite="rcu"
    )
    limits = Limits(calibrate_min=6, calibrate_max=6, verify_boots=6, revert_boots=2)
    return world(folder, 3, count=4, kind="rcu", request=request, limits=limits)


def copied(whole, folder):
    """The world as a kill at this moment leaves it: what is on the disk, and what was booted."""
    here = copy.copy(whole)
    shutil.copytree(whole.state, folder)
    here.state, here.store = folder, CampaignStore(folder)
    here.lab, here.builder = copy.deepcopy((whole.lab, whole.builder))
    return here


@pytest.fixture
def remembered(monkeypatch):
    """What a search says follows from its specification and its events alone, so a campaign that is
    replayed need not infer it anew: other events are another question.
    """
    found = {name: getattr(engine, name) for name in ("propose", "forecast", "answer")}
    known = {name: cache(function) for name, function in found.items()}

    def remember(yes):
        for name in found:
            monkeypatch.setattr(engine, name, (known if yes else found)[name])

    return remember


def test_a_kill_at_any_write_changes_neither_answer_nor_counts(memory, remembered):
    """All writes before the first boots, and every ninth (at night: fifth) of those that follow: a
    boot has four, so each of them is met, in each stage of a campaign.
    """
    every = deep(9, 5)
    whole = small_world(memory / "whole")
    writes, killed = [], {}

    def hear(what):
        writes.append(what)
        if len(writes) < 20 or len(writes) % every == 0:
            killed[len(writes)] = copied(whole, memory / str(len(writes)))

    remembered(yes=True)
    setup, parts = whole.open(heard=hear)
    expected, _report = bisect.bisect(setup, parts)
    assert expected.outcome is Outcome.CULPRIT
    steps = len(whole.lab.requests), len(whole.builder.requests)
    assert len(killed) > 19 + deep(10, 20)
    assert len({writes[stop - 1] for stop in killed}) == len(set(writes)) > 3
    for number, (stop, here) in enumerate(killed.items()):
        # Now and then it does infer anew: it must come to the same.
        remembered(yes=bool(number % deep(20, 1)))
        setup, resumed = here.open()
        result, _report = bisect.bisect(setup, resumed)
        assert result == expected, f"killed after write {stop}"
        assert len(here.lab.requests) <= steps[0] + 1
        assert len(here.builder.requests) <= steps[1] + 1
        assert resumed.journal.summary().boots == steps[0]
        assert resumed.journal.story() == parts.journal.story()


def test_a_budget_that_ends_before_the_revert_is_decided_leaves_it_undecided(tmp_path):
    whole = small_world(tmp_path / "whole")
    found, _report = bisect.bisect(*whole.open())
    revert = next(check for check in found.verifications if check.check is CheckName.REVERT)
    assert (revert.status, revert.judgement.base.n) == ("pass", 6)
    here = small_world(tmp_path / "short")
    setup, parts = here.open()
    short = len(whole.lab.requests) - 1
    setup = replace(setup, limits=replace(setup.limits, max_boots=short))
    result, _report = bisect.bisect(setup, parts)
    assert len(here.lab.requests) == short
    assert result.outcome is Outcome.CULPRIT
    status = {check.check: check.status for check in result.verifications}
    assert status[CheckName.REVERT] == "undecided"
    assert first(result.reasons, Proofs.BUDGET_ENDED_LATE) == {"boots": short}


def test_the_search_thinks_with_the_measured_cost_of_a_boot(tmp_path, monkeypatch):
    """Before the first boot it is a guess; each boot here takes 90 s."""
    costs = []
    propose = engine.propose

    def seen(state, **kw):
        costs.append((bool(state.ends.reproduced), state.spec.boot_cost_s))
        return propose(state, **kw)

    monkeypatch.setattr(engine, "propose", seen)
    graph = line_of(8)
    request = CampaignRequest(
        kind="bisect", site="s", tree="t", older=graph.older, newer=graph.newer, suite="ipi"
    )
    here = World(tmp_path, graph, FakeLab(boots(3), seconds=90.0), request=request)
    bisect.bisect(*here.open())
    assert {cost for reproduced, cost in costs if not reproduced} == {20.0}
    assert {cost for reproduced, cost in costs if reproduced} == {90.0}


def test_a_repair_is_found(tmp_path):
    graph = line_of(8)
    request = CampaignRequest(
        kind="bisect",
        site="s",
        tree="t",
        older=graph.older,
        newer=graph.newer,
        sought=Sought.REPAIR,
    )
    here = World(tmp_path, graph, FakeLab(boots(0, until=5)), request=request)
    setup, parts = here.open()
    result, _report = bisect.bisect(setup, parts)
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(5))
    assert Finding.of(Proofs.REPAIRS) in result.reasons
    facts, _story = here.mailer.drafts[0]
    assert facts.sought is Sought.REPAIR
    assert facts.thresholds == setup.thresholds
    assert f"--good {graph.newer} --bad {graph.older} --find-fix" in facts.command


@pytest.mark.parametrize(("sought", "side"), [(Sought.REGRESSION, 5), (Sought.REPAIR, 4)])
def test_a_report_has_the_console_of_the_kernel_that_stands_still(tmp_path, sought, side):
    told = {sha(4): ("stall of 4",), sha(5): ("stall of 5", "a frame")}
    graph = line_of(8)
    draw = boots(0, until=5) if sought is Sought.REPAIR else boots(5)
    lab = FakeLab(draw, says=lambda asked: told.get(asked.revision, ("another",)))
    request = CampaignRequest(
        kind="bisect", site="s", tree="t", older=graph.older, newer=graph.newer, sought=sought
    )
    here = World(tmp_path, graph, lab, request=request)
    setup, parts = here.open()
    bisect.bisect(setup, parts)
    ((facts, _story),) = here.mailer.drafts
    assert facts.excerpt == told[sha(side)]


def test_a_report_has_the_names_that_tags_give_its_ends_and_parents(tmp_path):
    graph = line_of(8)
    here = World(tmp_path, graph, FakeLab(boots(5)))
    setup, parts = here.open()
    parts.tree.tags = {graph.older: "v6.12", sha(4): "v6.12.1~3", sha(7): "v6.12.1"}
    bisect.bisect(setup, parts)
    ((facts, _story),) = here.mailer.drafts
    assert facts.names == ((graph.older, "v6.12"), (sha(4), "v6.12.1~3"))
