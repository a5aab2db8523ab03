# SPDX-License-Identifier: GPL-2.0-or-later
"""The stories on the shipped fakes: outcomes, owners of failures, kills at any write."""

import copy
import itertools
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest

from helpers.campaigns import World, boots, line_of, sha
from rtbisect.campaign.fingerprint import SetupChangedError, keep_setup
from rtbisect.cli.check import exit_of_check
from rtbisect.errors import ConfigError, InfrastructureError, InternalError
from rtbisect.judge.improvements import improved
from rtbisect.kernel.fake import FakeBuilder
from rtbisect.lab.fake import FakeLab
from rtbisect.lab.windows import LEVELS
from rtbisect.model.campaign import (
    CampaignRequest,
    Cause,
    Judgement,
    Level,
    Limits,
    MetricKey,
    Outcome,
    Result,
    Sample,
    Scale,
)
from rtbisect.model.code import PROOF_LAYOUT, Build, BuildStatus, Commit, CommitGraph, Function
from rtbisect.model.command import GIVEN, REPAIR, turned
from rtbisect.model.lab import Measurement, RunStatus, Source
from rtbisect.pipeline import bisect, check
from rtbisect.pipeline.boot_queue import BootRequest
from rtbisect.pipeline.steps import Steps
from rtbisect.search import engine
from rtbisect.search.ancestry import Ancestry
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.codec import to_json
from rtbisect.suites import reach, senders

REVERT = sha(10**6)


def world(tmp_path, bad_from, *, count=8, kind="ipi", script=None, **kw):
    graph = line_of(count)
    reverts = {(graph.bad, sha(bad_from)): REVERT} if bad_from else {}
    lab = FakeLab(boots(bad_from, kind=kind), script)
    return World(tmp_path, graph, lab, reverts=reverts, **kw)


def scaled(measurements, metric, factor):
    """The measurements, with those of one (name, window) times `factor`."""
    return [
        replace(m, value=m.value * factor) if (m.name, m.window) == metric else m
        for m in measurements
    ]


@pytest.mark.parametrize("culprit", range(1, 9))
def test_every_culprit_of_a_line_is_found_and_proved(tmp_path, culprit):
    here = world(tmp_path, culprit)
    result, report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(culprit))
    assert result.cause is Cause.WORKLOAD_DEPENDENT
    assert result.confidence >= 0.95
    assert {v.status for v in result.verifications} == {"pass"}
    assert report is not None
    facts, story = here.mailer.drafts[0]
    assert facts.result == result
    shown = {(row.kernel, row.workload, row.metric.name, row.window) for row in result.table}
    for kernel in ("parent", "culprit"):
        # Both levels of the workload stand in one unit.
        assert (kernel, "page faults alone", "res_per_s", "pf-off") in shown
        assert any(r[0] == kernel and r[2:] == ("res_per_s", "pf-on") for r in shown)
    assert facts.synthetic_workload
    assert f"regressed: {result.metric}" in story


def test_a_latency_regression_is_the_kernels_own(tmp_path):
    result, _report = bisect.bisect(*world(tmp_path, 5, kind="rcu").open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(5))
    assert result.cause is Cause.KERNEL
    assert result.metric.suite == "rcu"


@pytest.mark.parametrize(("suite", "same"), [(None, False), ("ipi", False), ("ipi", True)])
def test_a_merge_base_that_is_bad_is_no_answer(tmp_path, suite, same):
    """The good end that was given is beside it, and alone is good; also where merge base and bad
    end are one kernel, of which nothing was booted.
    """
    graph, given = line_of(3), sha(10**6 + 1)
    request = CampaignRequest(
        "bisect", "site.yaml", "t", graph.good, graph.bad, suite, extra=((GIVEN, given),)
    )
    builder = FakeBuilder(same_as={sha(n): sha(0) for n in range(1, 4)} if same else {})
    here = World(
        tmp_path, graph, FakeLab(boots(0)), builder, {("", ""): given}, request,
    )  # fmt: skip
    result, report = bisect.bisect(*here.open())
    assert result.outcome is Outcome.INCONCLUSIVE
    advice = f"--good {given[:12]} --bad {graph.good[:12]} --find-fix --suite ipi"
    assert advice in result.reasons[0]
    assert (report is None) == (suite is None)


def test_a_merge_base_that_stands_for_its_like_changes_no_answer(tmp_path):
    graph, given = line_of(3), sha(10**6 + 1)
    request = CampaignRequest("bisect", "s", "t", graph.good, graph.bad, extra=((GIVEN, given),))
    here = World(tmp_path, graph, FakeLab(boots(None)), FakeBuilder(), {("", ""): given}, request)
    result, report = bisect.bisect(*here.open())
    assert (result.outcome, report) == (Outcome.NO_REGRESSION, None)


def test_an_effect_of_the_measuring_tool_is_told_to_nobody(tmp_path):
    setup, parts = world(tmp_path, 5).open()
    windows = tuple(
        replace(w, workload="none", synthetic=False, instrument="perf-epoll")
        if w.name == "pf-on"
        else w
        for w in setup.windows
    )
    result, report = bisect.bisect(replace(setup, windows=windows), parts)
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(5))
    assert result.cause is Cause.TOOL_INDUCED
    assert report is None


def test_the_proof_tells_where_the_change_comes_from(tmp_path):
    """By a window that only its boots have, after all that measure."""

    def tell(request):
        for window in request.windows:
            if window.explains:
                rate = 30.0 if request.revision >= sha(5) else 3.0
                yield Source(window.name, "reschedule", "irq_work/N: f", rate)

    here = world(tmp_path, 5)
    here.lab = FakeLab(boots(5), tell=tell)
    setup, parts = here.open()
    explaining = senders.SUITE.windows
    result, _report = bisect.bisect(replace(setup, explaining=explaining), parts)
    assert [(o.name, o.parent, o.culprit, o.share) for o in result.origins] == [
        ("irq_work/N: f", 3.0, 30.0, 1.0)
    ]
    asked = [[w.name for w in request.windows if w.explains] for request in here.lab.requests]
    told = [request for request, names in zip(here.lab.requests, asked, strict=True) if names]
    assert [names for names in asked if names] == [["senders-pf"]] * 6
    assert {request.revision for request in told} == {sha(4), sha(5)}
    assert all(request.windows[-1].explains == "pf-on" for request in told)


def test_the_proof_has_a_second_dose(tmp_path):
    """Its figures stand in the table; whether events come from what they cause is asked of both."""
    one = boots(5)

    def draw(request, random):
        found = [*one(request, random)]
        for window, share in (("pf-on", 1.0), ("pf-quarter", 0.25)):
            if window in {w.name for w in request.windows}:
                found.append(Measurement("ipi", "events_per_s", window, 1000.0 * share, "1/s"))
                rate = Measurement("ipi", "res_per_s", window, 60.0 * share, "1/s", 2)
                found += [rate, Measurement("ipi", "res_per_iwi", window, 0.06 / share, "1")]
        # The first of a name counts.
        return found

    here = world(tmp_path, 5)
    here.lab = FakeLab(draw)
    setup, parts = here.open()
    result, _report = bisect.bisect(replace(setup, explaining=LEVELS), parts)
    rows = {(row.kernel, row.workload) for row in result.table if row.window == "pf-quarter"}
    assert rows == {(k, "perf-epoll-reader:pf/4") for k in ("parent", "culprit")}
    asked = {w.name for request in here.lab.requests for w in request.windows if w.explains}
    assert asked == {"pf-quarter", "pf-bpf"}
    gate = next(gate for gate in result.gates if gate.name == "G16 loop")
    assert (gate.status.value, gate.reason) == (
        "pass",
        "4 times the events make 4 times the interrupts",
    )


@pytest.mark.parametrize("needs_rt", [True, False])
def test_a_culprit_is_also_compared_without_realtime(tmp_path, needs_rt):
    with_rt, quiet = boots(5), boots(None)
    here = world(tmp_path, 5)
    here.limits = Limits(max_boots=200, without_rt_boots=6)
    here.lab = FakeLab(lambda r, rng: (with_rt if r.realtime or not needs_rt else quiet)(r, rng))
    result, _report = bisect.bisect(*here.open())
    told = [r.revision for r in here.lab.requests if not r.realtime]
    assert told == [sha(4), sha(5), sha(5), sha(4)] * 3
    rows = {row.kernel: row.sample.n for row in result.table if row.metric.name == "res_per_iwi"}
    assert (rows["parent, no RT"], rows["culprit, no RT"]) == (6, 6)
    said = "do not differ" if needs_rt else "differ too"
    assert any(f"without PREEMPT_RT the kernels {said}" in reason for reason in result.reasons)
    built = {r.variant for r in here.builder.requests}
    assert built == {"", "without-rt"}


def test_a_kernel_that_does_not_build_without_realtime_is_told(tmp_path):
    here = world(tmp_path, 5)
    here.limits = Limits(max_boots=200, without_rt_boots=6)
    whole = here.builder.build

    def build(source, request, note):
        if request.variant:
            return Build(request.revision, "c", BuildStatus.FAILED, variant=request.variant)
        return whole(source, request, note)

    here.builder = SimpleNamespace(**dict.fromkeys(("files", "changed", "preflight")), build=build)
    here.builder.files = lambda _build: frozenset()
    here.builder.changed = lambda _parent, _culprit: None
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(5))
    assert any("does not build, so nobody knows" in reason for reason in result.reasons)


@pytest.mark.parametrize("first", ["as: 1", ""])
def test_an_upgrade_of_tools_stops_a_campaign(tmp_path, first):
    """Nobody knows the tools of builds that an older version recorded: they count as the same."""
    here = world(tmp_path, 5)
    whole = here.builder.build
    asked = []

    def build(source, request, note):
        asked.append(request)
        now = "as: 2" if len(asked) > 2 else first
        return replace(whole(source, request, note), tools=now)

    here.builder = SimpleNamespace(**dict.fromkeys(("files", "changed", "preflight")), build=build)
    here.builder.files = lambda _build: frozenset()
    here.builder.changed = lambda _parent, _culprit: None
    if first:
        with pytest.raises(ConfigError, match="as: 2"):
            bisect.bisect(*here.open())
        assert len(asked) == 3
    else:
        result, _report = bisect.bisect(*here.open())
        assert result.culprit == sha(5)


def test_the_proof_counts_the_functions_that_the_culprit_changes(tmp_path):
    def tell(request):
        for window in request.windows:
            if window.suites == (reach.NAME,):
                yield from (Source(window.name, reach.RAN, name, 2.0) for name in request.probes)

    here = world(tmp_path, 5)
    here.lab = FakeLab(boots(5), tell=tell)
    here.builder.functions = {sha(5): (Function("ep_insert"), Function("ep_poll_callback"))}
    setup, parts = here.open()
    pf_on = next(w for w in setup.windows if w.name == "pf-on")
    result, _report = bisect.bisect(replace(setup, explaining=(reach.twin(pf_on),)), parts)
    gate = next(gate for gate in result.gates if gate.name == "G11 reachability")
    assert (gate.status.value, gate.reason) == (
        "pass",
        "of the 2 functions that the commit changes 2 ran, ep_insert 2 times a second",
    )
    told = [request for request in here.lab.requests if request.probes]
    assert [(r.revision, r.windows[-1].name) for r in told] == [(sha(5), "reach-pf-on")] * 3
    asked = [r for r in here.lab.requests if any(w.explains for w in r.windows)]
    assert len(asked) == 3
    assert any(
        line == f"{sha(5)[:12]} changes the code of 2 functions: ep_insert, ep_poll_callback"
        for line in parts.journal.story()
    )


def test_a_culprit_that_is_not_reached_is_not_mailed(tmp_path):
    def tell(request):
        if request.probes:
            yield Source("reach-pf-on", reach.RAN, request.probes[0], 0.0)

    here = world(tmp_path, 5)
    here.lab = FakeLab(boots(5), tell=tell)
    here.builder.functions = {sha(5): (Function("elsewhere"),)}
    setup, parts = here.open()
    pf_on = next(w for w in setup.windows if w.name == "pf-on")
    result, _report = bisect.bisect(replace(setup, explaining=(reach.twin(pf_on),)), parts)
    said = "G11 reachability: the function that the commit changes did not run in the window"
    assert any(reason.startswith(said) for reason in result.reasons)


def test_a_noise_report_says_what_a_revert_brings_back(tmp_path):
    """By a campaign of the same store that looked for what the commit repairs."""
    here = world(tmp_path, 5)
    fix = CampaignRequest("bisect", "s", "t", sha(0), sha(8), extra=(REPAIR,))
    key = MetricKey("stall", "frozen_periods", "stall")
    sides = Sample((1.0, 0.0, 1.0, 0.0)), Sample((0.0,) * 4)
    judged = Judgement(key, Level.REGRESSED, *sides, -1.0, (-1.0, 0.0), 0.01, "r")
    store = here.store
    for number, (asked, culprit) in enumerate(
        [(fix, sha(5)), (fix, sha(4)), (replace(fix, extra=()), sha(5))]
    ):
        other = store.create("bisect", to_json(CampaignRequest, asked), f"then {number}")
        answer = Result(Outcome.CULPRIT, Cause.KERNEL, culprit, (), 0.99, key, judged)
        store.finish(other, answer, None)
    # What another version wrote says nothing.
    broken = store.create("bisect", "{}", "then")
    store.finish(broken, Result(Outcome.CULPRIT, Cause.KERNEL, sha(5), (), 0.9, key, judged), None)
    _result, report = bisect.bisect(*here.open())
    assert report is not None
    ((told, _story),) = here.mailer.drafts
    assert [(r.campaign, r.metric, r.without, r.with_it) for r in told.repaired] == [
        ("bisect-2", key, *sides)
    ]


def test_the_gates_look_at_the_fresh_boots(tmp_path):
    result, _report = bisect.bisect(*world(tmp_path, 5).open())
    status = {gate.name: gate.status.value for gate in result.gates}
    # The fake lab has neither raw files nor a dose.
    assert status == {
        "G9 hangs": "pass",
        "machine": "n/a",
        "G5 duplicates": "n/a",
        "G5 variance": "pass",
        "G10 A/A": "pass",
        "G15 origin": "fail",
        "G16 dose": "n/a",
        "meaning": "pass",
        "G4 sources": "n/a",
        "G11 reachability": "n/a",
    }
    # An emulator is no finding of its own.
    assert not any(reason.startswith("G") for reason in result.reasons)


def test_what_got_better_is_told_to_the_operator(tmp_path):
    """The older end is the bad one: there is nothing to search, and a line to tell."""

    def draw(request, random):
        return boots(0 if int(request.revision, 16) < 3 else None)(request, random)

    world = World(tmp_path, line_of(6), FakeLab(draw, None))
    result, report = bisect.bisect(*world.open())
    assert (result.outcome, result.culprit) == (Outcome.NO_REGRESSION, None)
    assert report is not None
    limits = world.open()[0].thresholds
    told = {str(each.key) for each in improved(result.judgements, limits)}
    assert "ipi.res_per_iwi@pf-on" in told


def test_nothing_ends_in_no_regression_and_in_silence(tmp_path):
    here = world(tmp_path, None)
    result, report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit, report) == (Outcome.NO_REGRESSION, None, None)
    assert here.mailer.drafts == []
    assert {r.revision for r in here.lab.requests} == {sha(0), sha(8)}


def test_a_primary_metric_that_is_not_measured_is_never_a_pass(tmp_path):
    def deaf(request, random):
        return [m for m in boots(None)(request, random) if m.name != "res_per_iwi"]

    here = World(tmp_path, line_of(8), FakeLab(deaf))
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.confidence) == (Outcome.INCONCLUSIVE, 0.0)
    assert any("res_per_iwi" in reason and "no boots" in reason for reason in result.reasons)


def test_a_guard_warns_and_does_not_turn_a_check(tmp_path):
    def guarded(request, random):
        loud = 20.0 if request.revision == sha(8) else 1.0
        return scaled(boots(None)(request, random), ("res_per_s", "clock-on"), loud)

    here = World(tmp_path, line_of(8), FakeLab(guarded))
    result = check.check(*here.open())
    assert any(j.level is Level.REGRESSED for j in result.judgements)
    assert (result.outcome, exit_of_check(result)) == (Outcome.NO_REGRESSION, 0)
    # Every figure of both stands in the table, also those that nobody judges.
    kernels = {
        kernel: {row.metric for row in result.table if row.kernel == kernel}
        for kernel in ("base", "tip")
    }
    assert kernels["base"] == kernels["tip"] > {j.key for j in result.judgements}


def test_a_boot_recorded_for_another_revision_stops_the_resume(tmp_path):
    here = world(tmp_path, 4)
    effects = Steps(*here.open())
    effects.boot(BootRequest(sha(0), "base"))
    with pytest.raises(InternalError, match="recorded for"):
        Steps(*here.open()).boot(BootRequest(sha(8), "tip"))


def test_two_devices_share_a_campaign(tmp_path):
    """Boots run beside each other; a campaign that paused goes on with what it had begun."""
    here = world(tmp_path, 5)
    fault = InfrastructureError("no power", "see to it", retryable=False)
    here.lab = FakeLab(boots(5), {sha(5): [RunStatus.COMPLETE, fault]}, devices=2)
    with pytest.raises(InfrastructureError):
        bisect.bisect(*here.open())
    begun = len(here.lab.requests)
    # The number of devices is that of the begin: the order of the boots rests on it.
    here.lab.devices = 1
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(5))
    names = [request.run_id for request in here.lab.requests]
    # One boot was taken up again, none was made twice.
    assert sorted(set(names), key=lambda name: int(name.rpartition("-r")[2])) == [
        f"{here.campaign}-r{number}" for number in range(1, len(set(names)) + 1)
    ]
    assert len(names) - len(set(names)) in (1, 2)
    assert begun < len(names)
    steps = here.open()[1].journal.summary()
    assert steps.boots == len(set(names))


def test_hosts_are_no_part_of_what_kernels_differ_in(tmp_path):
    """One of two hosts tells three times as much of each kernel; boots land where the lab likes."""

    def place(request):
        return ("rt01", "rt02")[Random(request.run_id).random() < 0.3]

    def draw(request, random):
        more = 3.0 if place(request) == "rt02" else 1.0
        found = scaled(plain(request, random), ("res_per_s", "pf-on"), more)
        return scaled(found, ("res_per_iwi", "pf-on"), more)

    plain = boots(5)
    here = world(tmp_path, 5)
    here.lab = FakeLab(draw, place=place)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(5))
    facts, story = here.mailer.drafts[0]
    one, two = facts.hosts
    assert (one.name, two.name) == ("rt01", "rt02")
    assert one.boots + two.boots == len(here.lab.requests)
    assert 2.5 < two.adds / one.adds < 3.5
    # Within hosts six boots a side cannot say what they say on one host.
    assert "look at 6+6 boots" not in story
    assert "look at 8+8 boots: regressed" in story


def test_another_setup_does_not_go_on_with_a_campaign(tmp_path):
    here = world(tmp_path, 4)
    setup, parts = here.open()
    keep_setup(setup, parts.journal)
    keep_setup(setup, here.open()[1].journal)
    with pytest.raises(SetupChangedError, match="changed since"):
        keep_setup(replace(setup, rcu_calls=setup.rcu_calls + 1), here.open()[1].journal)


def test_failed_boots_of_the_comparison_do_not_end_the_search(tmp_path):
    script = {sha(8): [RunStatus.HUNG, RunStatus.HUNG, RunStatus.HUNG]}
    here = world(tmp_path, 4, script=script)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(4))


def test_an_open_cause_gets_more_boots_of_both_kernels(tmp_path):
    here = world(tmp_path, 4)

    boots_of_culprit = itertools.count()

    def draw(request, random):
        # The control of the culprit is now high, now low: six boots do not decide.
        swing = 1.0
        if request.revision == sha(4) and next(boots_of_culprit) % 5 not in (0, 2):
            swing = 60.0
        return scaled(boots(4)(request, random), ("res_per_s", "pf-off"), swing)

    here.lab = FakeLab(draw)
    result, _report = bisect.bisect(*here.open())
    assert result.outcome is Outcome.CULPRIT
    rows = {(r.kernel, r.metric.name, r.window): r.sample.n for r in result.table}
    assert rows["culprit", "res_per_iwi", "pf-on"] == rows["parent", "res_per_iwi", "pf-on"] == 10


def test_equal_kernels_need_no_boot(tmp_path):
    here = world(tmp_path, 3)
    here.builder.same_as = {sha(8): sha(0)}
    result, report = bisect.bisect(*here.open())
    assert (result.outcome, report) == (Outcome.NOOP, None)
    assert here.lab.requests == []
    assert check.check(*here.open()).outcome is Outcome.NOOP


def test_unbuildable_revisions_are_skipped_and_the_culprit_is_found(tmp_path):
    here = world(tmp_path, 7, count=12)
    here.builder.failing = {sha(4): "a.c:1: error: x", sha(5): "a.c:1: error: x"}
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(7))


def test_a_culprit_behind_unbuildable_neighbours_is_a_set(tmp_path):
    here = world(tmp_path, 6, count=12)
    here.builder.failing = dict.fromkeys((sha(5), sha(6)), "a.c:1: error: x")
    result, report = bisect.bisect(*here.open())
    assert result.outcome is Outcome.CULPRIT_SET
    assert {s for s, _p in result.candidates} >= {sha(5), sha(6), sha(7)}
    assert result.culprit is None
    assert report is not None


def test_a_revision_that_never_boots_is_skipped(tmp_path):
    script = {sha(4): [RunStatus.BOOT_FAILED] * 9}
    here = world(tmp_path, 8, count=12, script=script)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(8))


def test_invalid_boots_are_no_evidence_and_are_repeated(tmp_path):
    script = {"*": [RunStatus.INVALID, RunStatus.COMPLETE, RunStatus.INVALID]}
    here = world(tmp_path, 4, script=script)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(4))


def test_a_lab_that_never_measures_ends_inconclusive_with_the_reason(tmp_path):
    here = world(tmp_path, 4, script={"*": [RunStatus.INVALID] * 99})
    result, _report = bisect.bisect(*here.open())
    assert result.outcome is Outcome.INCONCLUSIVE
    assert any("no evidence" in reason for reason in result.reasons)


def test_a_lab_fault_pauses_the_campaign_and_resume_goes_on(tmp_path):
    here = world(tmp_path, 4)
    broken = FakeLab(boots(4), {sha(8): [RunStatus.COMPLETE] * 3 + [InfrastructureError("bmc")]})
    here.lab = broken
    with pytest.raises(InfrastructureError):
        bisect.bisect(*here.open())
    before = len(broken.requests)
    result, _report = bisect.bisect(*here.open())
    assert result.culprit == sha(4)
    assert broken.requests[before].run_id == broken.requests[before - 1].run_id


def test_a_base_that_does_not_build_is_inconclusive(tmp_path):
    here = world(tmp_path, 4)
    here.builder.failing = {sha(0): "a.c:1: error: x"}
    result, _report = bisect.bisect(*here.open())
    assert result.outcome is Outcome.INCONCLUSIVE
    assert "does not build" in result.reasons[0]


def test_with_a_suite_the_ends_are_calibrated_by_the_search(tmp_path):
    graph = line_of(8)
    request = CampaignRequest("bisect", "s", "t", graph.good, graph.bad, "rcu", "p50_us")
    here = world(tmp_path, 3, kind="rcu", request=request)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(3))
    assert str(result.metric) == "rcu.p50_us@rcu-off"


def test_with_a_suite_that_did_not_regress_nothing_is_reproduced(tmp_path):
    graph = line_of(8)
    request = CampaignRequest("bisect", "s", "t", graph.good, graph.bad, "rcu")
    here = world(tmp_path, 3, request=request)
    result, report = bisect.bisect(*here.open())
    assert (result.outcome, report) == (Outcome.NOT_REPRODUCED, None)


def test_a_culprit_that_does_not_hold_on_fresh_boots_is_not_reported_as_one(tmp_path):
    here = world(tmp_path, 4)
    shaky = boots(4)
    seen = {}

    def draw(request, random):
        # The search sees the effect; the fresh boots of the verification do not.
        count = seen[request.revision] = seen.get(request.revision, 0) + 1
        if request.revision == sha(4) and count > 2:
            return boots(None)(request, random)
        return shaky(request, random)

    here.lab = FakeLab(draw)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.INCONCLUSIVE, None)
    assert "refuted by fresh boots: culprit vs parent" in result.reasons[0]
    # Nobody believes the search any more: neither its confidence nor its sides.
    assert (result.confidence, result.candidates) == (0.0, ())
    assert all(t.skipped for t in result.tested if t.sha not in (sha(0), sha(8)))


def test_a_merge_that_alone_makes_the_effect_is_a_merge_culprit(tmp_path):
    line = line_of(4).commits
    side = (Commit(sha(100 + 10**6), (sha(1),)), Commit(sha(101 + 10**6), (sha(100 + 10**6),)))
    merge = Commit(sha(50), (sha(4), side[1].sha))
    tip = Commit(sha(51), (merge.sha,))
    graph = CommitGraph(sha(0), tip.sha, (*line, *side, merge, tip))
    here = World(tmp_path, graph, FakeLab(boots(50)))
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.MERGE_CULPRIT, merge.sha)
    assert sum(v.name.startswith("culprit vs parent") for v in result.verifications) == 2


def test_check_says_regressed_without_searching(tmp_path):
    here = world(tmp_path, 4)
    result = check.check(*here.open())
    assert [j.level for j in result.judgements if j.key.name == "res_per_iwi"] == [Level.REGRESSED]
    assert {r.revision for r in here.lab.requests} == {sha(0), sha(8)}


def test_try_gives_up_on_a_kernel_that_does_not_boot_and_says_why(tmp_path):
    here = world(tmp_path, 4, script={sha(4): [RunStatus.BOOT_FAILED] * 9})
    told = []
    here.request = replace(here.request, kind="try", good=sha(4), bad=sha(4), suite="ipi")
    setup, parts = here.open()
    parts.progress.step = lambda _what, done, total, left_s: told.append((done, total, left_s))
    result = check.try_revision(setup, parts, 0.2, 2)
    assert result.outcome is Outcome.INCONCLUSIVE
    assert result.reasons[0].startswith("only 0 of 2 boots are evidence: ")
    assert len(told) == 4
    assert all(done <= total and left_s > 0 for done, total, left_s in told)


@pytest.mark.parametrize(("revision", "level"), [(2, Level.PASS), (6, Level.REGRESSED)])
def test_try_judges_one_revision_against_a_limit(tmp_path, revision, level):
    request = CampaignRequest("try", "s", "t", sha(revision), sha(revision), "ipi")
    here = world(tmp_path, 4, request=request)
    result = check.try_revision(*here.open(), 0.2, 3)
    assert result.judgements[0].level is level
    assert len(here.lab.requests) == 3


def test_try_takes_the_mean_of_shares(tmp_path):
    """Three of ten boots fail: the median is 0, and nobody asks for that."""
    drawn = iter([1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])

    def draw(request, random):
        found = boots(None)(request, random)
        share = next(drawn)
        return [replace(m, value=share) if m.name == "res_per_iwi" else m for m in found]

    request = CampaignRequest("try", "s", "t", sha(2), sha(2), "ipi")
    setup, parts = World(tmp_path, line_of(8), FakeLab(draw), request=request).open()
    shares = tuple(replace(t, statistic="fraction", scale=Scale.LINEAR) for t in setup.thresholds)
    result = check.try_revision(replace(setup, thresholds=shares), parts, 0.2, 10)
    assert result.judgements[0].level is Level.REGRESSED
    assert "mean of 10 boots 0.3, limit 0.2" in result.reasons[0]


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
    request = CampaignRequest("bisect", "s", "t", graph.good, graph.bad, "rcu")
    limits = Limits(calibrate_min=6, calibrate_max=6, verify_boots=6, revert_boots=2)
    return world(folder, 3, count=4, kind="rcu", request=request, limits=limits)


def copied(whole, folder):
    """The world as a kill at this moment leaves it: what is on the disk, and what was booted."""
    here = copy.copy(whole)
    shutil.copytree(whole.state, folder)
    here.state, here.store = folder, CampaignStore(folder)
    here.lab, here.builder = copy.deepcopy((whole.lab, whole.builder))
    return here


def test_a_kill_at_any_write_changes_neither_answer_nor_counts(memory):
    """All writes before the first boots, and every fifth of those that follow: a boot has four, so
    each of them is met, in each stage of a campaign.
    """
    whole = small_world(memory / "whole")
    writes, killed = [], {}

    def hear(what):
        writes.append(what)
        if len(writes) < 20 or len(writes) % 5 == 0:
            killed[len(writes)] = copied(whole, memory / str(len(writes)))

    setup, parts = whole.open(heard=hear)
    expected, _report = bisect.bisect(setup, parts)
    assert expected.outcome is Outcome.CULPRIT
    effects = len(whole.lab.requests), len(whole.builder.requests)
    assert len(killed) > 40
    assert len({writes[stop - 1] for stop in killed}) == len(set(writes)) > 3
    for stop, here in killed.items():
        setup, resumed = here.open()
        result, _report = bisect.bisect(setup, resumed)
        assert result == expected, f"killed after write {stop}"
        assert len(here.lab.requests) <= effects[0] + 1
        assert len(here.builder.requests) <= effects[1] + 1
        assert resumed.journal.summary().boots == effects[0]
        assert resumed.journal.story() == parts.journal.story()


def test_a_budget_that_ends_before_the_revert_is_decided_leaves_it_undecided(tmp_path):
    whole = small_world(tmp_path / "whole")
    found, _report = bisect.bisect(*whole.open())
    revert = next(check for check in found.verifications if check.name == "revert on tip")
    assert (revert.status, revert.judgement.base.n) == ("pass", 6)
    here = small_world(tmp_path / "short")
    setup, parts = here.open()
    short = len(whole.lab.requests) - 1
    setup = replace(setup, limits=replace(setup.limits, max_boots=short))
    result, _report = bisect.bisect(setup, parts)
    assert len(here.lab.requests) == short
    assert result.outcome is Outcome.CULPRIT
    status = {check.name: check.status for check in result.verifications}
    assert status["revert on tip"] == "undecided"
    assert any("before the revert was decided" in said for said in result.reasons)


def test_a_second_culprit_is_searched_for(tmp_path):
    here = world(tmp_path, 3)

    def draw(request, random):
        # Commit 6 makes worse again what commit 3 made worse.
        again = 2.6 if request.revision in (sha(6), sha(7), sha(8)) else 1.0
        return scaled(boots(3)(request, random), ("res_per_iwi", "pf-on"), again)

    here.lab = FakeLab(draw)
    result, _report = bisect.bisect(*here.open())
    assert result.outcome is Outcome.MULTIPLE_CULPRITS
    assert {found for found, _ in result.candidates} == {sha(3), sha(6)}


def small(tmp_path, factor):
    """A world whose wait grows by `factor(kernel variant)` from commit 3 on, on the rcu suite."""
    graph = line_of(8)
    request = CampaignRequest("bisect", "s", "t", graph.good, graph.bad, "rcu")
    here = World(tmp_path, graph, None, request=request, reverts={(graph.bad, sha(3)): REVERT})

    def draw(asked, random):
        variant = next(v for v, kernel in kernels(here) if kernel == asked.kernel)
        more = factor(variant) if 3 <= int(asked.revision, 16) < 10**6 else 1.0
        return scaled(boots(None)(asked, random), ("p50_us", "rcu-off"), more)

    here.lab = FakeLab(draw)
    return here


def kernels(here):
    """(variant, kernel) of everything that was asked of the builder."""
    asked = list(here.builder.requests)
    builder = FakeBuilder(same_as=here.builder.same_as)
    return [(r.variant, builder.build(Path(), r, print).kernel) for r in asked]


def test_a_small_change_is_proved_with_another_code_layout(tmp_path):
    here = small(tmp_path, lambda _variant: 1.15)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(3))
    assert {v.name: v.status for v in result.verifications}["layout"] == "pass"
    built = {(r.revision, r.variant) for r in here.builder.requests if r.variant}
    # Boots of the proof are in a layout that the search has not seen.
    assert {(sha(2), "layout-1"), (sha(3), "layout-1")} <= built
    assert {(sha(2), f"layout-{PROOF_LAYOUT}"), (sha(3), f"layout-{PROOF_LAYOUT}")} <= built


def test_a_small_change_that_another_code_layout_does_not_show_is_no_culprit(tmp_path):
    here = small(tmp_path, lambda variant: 1.0 if variant else 1.15)
    result, _report = bisect.bisect(*here.open())
    assert result.culprit is None
    assert result.outcome in (Outcome.LAYOUT_SENSITIVE, Outcome.NOT_REPRODUCED)


def test_a_large_change_needs_no_other_code_layout(tmp_path):
    here = small(tmp_path, lambda _variant: 1.4)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(3))
    assert not any(r.variant for r in here.builder.requests)


def test_two_equal_culprits_are_both_found(tmp_path):
    graph = line_of(24)
    request = CampaignRequest("bisect", "s", "t", graph.good, graph.bad, "rcu")
    here = World(tmp_path, graph, None, request=request)

    def draw(asked, random):
        held = sum(int(asked.revision, 16) >= number for number in (7, 17))
        more = 1 + 0.3 * held * random.uniform(0.95, 1.05)
        return scaled(boots(None)(asked, random), ("p50_us", "rcu-off"), more)

    here.lab = FakeLab(draw)
    result, _report = bisect.bisect(*here.open())
    assert result.outcome is Outcome.MULTIPLE_CULPRITS
    assert {found for found, _ in result.candidates} == {sha(7), sha(17)}


def test_the_search_thinks_with_the_measured_cost_of_a_boot(tmp_path, monkeypatch):
    """Before the first boot it is a guess; each boot here takes 90 s."""
    costs = []
    propose = engine.propose

    def seen(state, **kw):
        costs.append((bool(state.ends.reproduced), state.spec.boot_cost_s))
        return propose(state, **kw)

    monkeypatch.setattr(engine, "propose", seen)
    graph = line_of(8)
    request = CampaignRequest("bisect", "s", "t", graph.good, graph.bad, "ipi")
    here = World(tmp_path, graph, FakeLab(boots(3), seconds=90.0), request=request)
    bisect.bisect(*here.open())
    assert {cost for reproduced, cost in costs if not reproduced} == {20.0}
    assert {cost for reproduced, cost in costs if reproduced} == {90.0}


def slower(tmp_path, graph, steps, **kw):
    """A world whose wait grows by 0.3 with each of `steps` that a revision holds."""
    request = CampaignRequest("bisect", "s", "t", graph.good, graph.bad, "rcu")
    here = World(tmp_path, graph, None, request=request, **kw)
    ancestry = Ancestry(graph)

    def draw(asked, random):
        side = ancestry.side(asked.revision)
        held = sum(bool(side[ancestry.index[sha(number)]]) for number in steps)
        more = 1 + 0.3 * held * random.uniform(0.95, 1.05)
        return scaled(boots(None)(asked, random), ("p50_us", "rcu-off"), more)

    here.lab = FakeLab(draw)
    return here


@pytest.mark.parametrize("steps", [(4, 16), (7, 12), (1, 18)])
def test_two_culprits_on_branches_are_both_found_and_their_merge_is_not_blamed(tmp_path, steps):
    """1..9 on one branch, 11..19 on the other, 20 merges them."""
    one = [Commit(sha(n), (sha(n - 1),), "one") for n in range(1, 10)]
    other = [Commit(sha(n), (sha(n - 1 if n > 11 else 0),), "other") for n in range(11, 20)]
    merge = Commit(sha(20), (sha(9), sha(19)), "merge")
    tail = [Commit(sha(n), (sha(n - 1),), "tail") for n in range(21, 25)]
    graph = CommitGraph(sha(0), sha(24), (*one, *other, merge, *tail))
    here = slower(tmp_path, graph, steps, limits=Limits(max_boots=200))
    result, _report = bisect.bisect(*here.open())
    assert result.outcome is Outcome.MULTIPLE_CULPRITS
    assert {found for found, _ in result.candidates} == set(map(sha, steps))
    # With too few boots to look into its branch the merge is not blamed either.
    (tmp_path / "few").mkdir()
    here = slower(tmp_path / "few", graph, steps)
    result, _report = bisect.bisect(*here.open())
    assert len(here.lab.requests) <= here.limits.max_boots
    assert {found for found, _ in result.candidates} <= set(map(sha, steps))


@pytest.mark.parametrize("most", [30, 50, 80])
def test_the_budget_is_that_of_the_campaign(tmp_path, most):
    """Of all parts of a range with two culprits, and of their proofs."""
    limits = Limits(max_boots=most, max_builds=12)
    here = slower(tmp_path, line_of(23), (7, 16), limits=limits)
    result, _report = bisect.bisect(*here.open())
    assert len(here.lab.requests) <= most
    assert {found for found, _ in result.candidates} <= set(map(sha, range(1, 24)))
    # Builds are those of the searches; a proof takes at most three more for each culprit.
    assert len(here.builder.requests) <= 12 + 3 * 2
    if most == 30:
        assert result.outcome is Outcome.INCONCLUSIVE


def test_what_a_later_commit_takes_back_is_told(tmp_path):
    """At 4 the wait grows by 50%, at 9 it shrinks by 20%: the bad end is better than commit 4."""

    def draw(asked, random):
        number = int(asked.revision, 16)
        more = 1.0 + 0.5 * (4 <= number < 10**6) - 0.3 * (9 <= number < 10**6)
        measured = boots(None)(asked, random)
        return scaled(measured, ("p50_us", "rcu-off"), more * random.uniform(0.98, 1.02))

    graph = line_of(12)
    request = CampaignRequest("bisect", "s", "t", graph.good, graph.bad, "rcu")
    here = World(tmp_path, graph, FakeLab(draw), request=request)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(4))
    status = {check.name: check.status for check in result.verifications}
    assert status["kept until the bad end"] == status["prediction"] == "undecided"
    assert any("takes back a part" in said for said in result.reasons)


def test_three_culprits_are_never_told_as_one(tmp_path):
    limits = Limits(max_boots=200)
    here = slower(tmp_path, line_of(32), (6, 15, 25), limits=limits)
    result, _report = bisect.bisect(*here.open())
    assert result.outcome in (Outcome.MULTIPLE_CULPRITS, Outcome.INCONCLUSIVE)
    named = {found for found, _ in result.candidates}
    assert named <= {sha(6), sha(15), sha(25)}
    assert len(named) > 1 or "no other one is proved" in result.reasons[-1]


def test_that_one_culprit_explains_all_tested_revisions_is_a_check(tmp_path):
    result, _report = bisect.bisect(*world(tmp_path, 4).open())
    assert {v.name: v.status for v in result.verifications}["prediction"] == "pass"


def test_a_repair_is_found_on_turned_thresholds(tmp_path):
    graph = line_of(8)
    request = CampaignRequest("bisect", "s", "t", graph.good, graph.bad, extra=(REPAIR,))
    here = World(tmp_path, graph, None, request=request)
    here.lab = FakeLab(
        lambda asked, random: boots(0)(
            replace(asked, revision=sha(10**6) if int(asked.revision, 16) >= 5 else asked.revision),
            random,
        )
    )
    setup, parts = here.open()
    setup = replace(setup, thresholds=tuple(turned(t) for t in setup.thresholds))
    result, _report = bisect.bisect(setup, parts)
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(5))
    assert "this commit repairs it" in result.reasons
    facts, _story = here.mailer.drafts[0]
    assert facts.repair
    assert f"--good {graph.bad} --bad {graph.good} --find-fix" in facts.command


@pytest.mark.parametrize(("repair", "side"), [(False, 5), (True, 4)])
def test_a_report_has_the_console_of_the_kernel_that_stands_still(tmp_path, repair, side):
    told = {sha(4): ("stall of 4",), sha(5): ("stall of 5", "a frame")}
    here = world(tmp_path, 5)
    here.lab = FakeLab(boots(5), says=lambda asked: told.get(asked.revision, ("another",)))
    if repair:
        graph = line_of(8)
        request = CampaignRequest("bisect", "s", "t", graph.good, graph.bad, extra=(REPAIR,))
        here = World(tmp_path / "repair", graph, here.lab, request=request)
    setup, parts = here.open()
    bisect.bisect(setup, parts)
    ((facts, _story),) = here.mailer.drafts
    assert facts.excerpt == told[sha(side)]


def test_the_figure_that_tells_most_is_searched(tmp_path):
    here = world(tmp_path, 4)

    def draw(asked, random):
        # All ranges are disjoint; the wait stands out of its noise by far more.
        more = 1.5 if 4 <= int(asked.revision, 16) < 10**6 else 1.0
        return scaled(boots(4)(asked, random), ("p50_us", "rcu-off"), more)

    here.lab = FakeLab(draw)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(4))
    assert str(result.metric) == "rcu.p50_us@rcu-off"
