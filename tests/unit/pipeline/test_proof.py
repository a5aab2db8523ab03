# SPDX-License-Identifier: GPL-2.0-or-later
"""What fresh boots of a culprit and its parent say of it."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import pytest

from helpers.campaigns import boots, scaled, sha, with_kernel, world
from helpers.findings import first, said
from helpers.results import culprit_result
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
    Sample,
    Sought,
)
from rtbisect.model.code import Build, BuildStatus, Function
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Gates, Reach
from rtbisect.model.kinds.pipeline import Attributions, Ends, Reasons
from rtbisect.model.lab import FigureSource, Measurement
from rtbisect.model.result import GateStatus
from rtbisect.pipeline import bisect
from rtbisect.store.codec import to_json
from rtbisect.suites import reach, senders


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
    assert first(story, Ends.SEARCHED_ON)["metric"] == str(result.metric)


def test_an_effect_of_the_measuring_tool_is_told_to_nobody(tmp_path):
    setup, parts = world(tmp_path, 5).open()
    windows = tuple(
        replace(w, workload="none", synthetic=False, instrument="perf-epoll")
        if w.name == "pf-on"
        else w
        for w in setup.kernel.windows
    )
    result, report = bisect.bisect(*with_kernel(setup, parts, windows=windows))
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(5))
    assert result.cause is Cause.TOOL_INDUCED
    assert report is None


def test_the_proof_tells_where_the_change_comes_from(tmp_path):
    """By a window that only its boots have, after all that measure."""

    def tell(request):
        for window in request.windows:
            if window.explains:
                rate = 30.0 if request.revision >= sha(5) else 3.0
                yield FigureSource(window.name, "reschedule", "irq_work/N: f", rate)

    here = world(tmp_path, 5)
    here.lab = FakeLab(boots(5), tell=tell)
    setup, parts = here.open()
    explaining = senders.SUITE.windows
    result, _report = bisect.bisect(*with_kernel(setup, parts, explaining=explaining))
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
                found.append(
                    Measurement(
                        suite="ipi",
                        name="events_per_s",
                        window=window,
                        value=1000.0 * share,
                        unit="1/s",
                    )
                )
                rate = Measurement(
                    suite="ipi",
                    name="res_per_s",
                    window=window,
                    value=60.0 * share,
                    unit="1/s",
                    cpu=2,
                )
                found += [
                    rate,
                    Measurement(
                        suite="ipi", name="res_per_iwi", window=window, value=0.06 / share, unit="1"
                    ),
                ]
        # The first of a name counts.
        return found

    here = world(tmp_path, 5)
    here.lab = FakeLab(draw)
    setup, parts = here.open()
    result, _report = bisect.bisect(*with_kernel(setup, parts, explaining=LEVELS))
    rows = {(row.kernel, row.workload) for row in result.table if row.window == "pf-quarter"}
    assert rows == {(k, "perf-epoll-reader:pf/4") for k in ("parent", "culprit")}
    asked = {w.name for request in here.lab.requests for w in request.windows if w.explains}
    assert asked == {"pf-quarter", "pf-bpf"}
    gate = next(gate for gate in result.gates if gate.name == "G16 loop")
    assert gate.status is GateStatus.PASS
    assert gate.reason == Finding.of(Gates.LOOP, events=4.0, interrupts=4.0)


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
    kinds = {each.kind for each in result.reasons}
    wanted = Attributions.WITHOUT_RT_SAME if needs_rt else Attributions.WITHOUT_RT_TOO
    assert wanted in kinds
    built = {r.variant for r in here.builder.requests}
    assert built == {"", "without-rt"}


def test_a_kernel_that_does_not_build_without_realtime_is_told(tmp_path):
    here = world(tmp_path, 5)
    here.limits = Limits(max_boots=200, without_rt_boots=6)
    whole = here.builder.build

    def build(source, request, note):
        if request.variant:
            return Build(
                revision=request.revision,
                config_name="c",
                status=BuildStatus.FAILED,
                variant=request.variant,
            )
        return whole(source, request, note)

    here.builder = SimpleNamespace(**dict.fromkeys(("files", "changed", "preflight")), build=build)
    here.builder.files = lambda _build: frozenset()
    here.builder.changed = lambda _parent, _culprit: None
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(5))
    assert first(result.reasons, Attributions.WITHOUT_RT_NOT_BUILT) is not None


def test_the_proof_counts_the_functions_that_the_culprit_changes(tmp_path):
    def tell(request):
        for window in request.windows:
            if window.suites == (reach.NAME,):
                yield from (
                    FigureSource(window.name, reach.RAN, name, 2.0) for name in request.probes
                )

    here = world(tmp_path, 5)
    here.lab = FakeLab(boots(5), tell=tell)
    here.builder.functions = {sha(5): (Function("ep_insert"), Function("ep_poll_callback"))}
    setup, parts = here.open()
    pf_on = next(w for w in setup.kernel.windows if w.name == "pf-on")
    result, _report = bisect.bisect(*with_kernel(setup, parts, explaining=(reach.twin(pf_on),)))
    gate = next(gate for gate in result.gates if gate.name == "G11 reachability")
    assert gate.status is GateStatus.PASS
    assert gate.reason == Finding.of(
        Reach.RUNS, functions=2, ran=2, function="ep_insert", per_s=2.0
    )
    told = [request for request in here.lab.requests if request.probes]
    assert [(r.revision, r.windows[-1].name) for r in told] == [(sha(5), "reach-pf-on")] * 3
    asked = [r for r in here.lab.requests if any(w.explains for w in r.windows)]
    assert len(asked) == 3
    changed = first(parts.journal.story(), Attributions.FUNCTIONS)
    assert changed == {"revision": sha(5), "functions": ("ep_insert", "ep_poll_callback")}


def test_a_culprit_that_is_not_reached_is_not_mailed(tmp_path):
    def tell(request):
        if request.probes:
            yield FigureSource("reach-pf-on", reach.RAN, request.probes[0], 0.0)

    here = world(tmp_path, 5)
    here.lab = FakeLab(boots(5), tell=tell)
    here.builder.functions = {sha(5): (Function("elsewhere"),)}
    setup, parts = here.open()
    pf_on = next(w for w in setup.kernel.windows if w.name == "pf-on")
    result, _report = bisect.bisect(*with_kernel(setup, parts, explaining=(reach.twin(pf_on),)))
    assert first(result.reasons, Reasons.OBJECTION)["gate"] == "G11 reachability"


def test_a_noise_report_says_what_a_revert_brings_back(tmp_path):
    """By a campaign of the same store that looked for what the commit repairs."""
    here = world(tmp_path, 5)
    fix = CampaignRequest(
        kind="bisect", site="s", tree="t", older=sha(0), newer=sha(8), sought=Sought.REPAIR
    )
    key = MetricKey("stall", "frozen_periods", "stall")
    sides = Sample((1.0, 0.0, 1.0, 0.0)), Sample((0.0,) * 4)
    judged = Judgement(
        key=key,
        level=Level.REGRESSED,
        base=sides[0],
        new=sides[1],
        effect=-1.0,
        interval=(-1.0, 0.0),
        p=0.01,
        reason=said("r"),
    )
    store = here.store
    for number, (asked, culprit) in enumerate(
        [(fix, sha(5)), (fix, sha(4)), (replace(fix, sought=Sought.REGRESSION), sha(5))]
    ):
        other = store.create("bisect", to_json(CampaignRequest, asked), f"then {number}")
        answer = culprit_result(culprit, 0.99, metric=key, judgement=judged)
        store.finish(other, answer, None)
    # What another version wrote says nothing.
    broken = store.create("bisect", "{}", "then")
    store.finish(
        broken,
        culprit_result(sha(5), 0.9, metric=key, judgement=judged),
        None,
    )
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
    assert first(result.reasons, Reasons.OBJECTION) is None


@pytest.mark.parametrize(("strict", "kind"), [(True, Gates.APART_ALIKE), (False, Gates.LUCK)])
def test_boots_of_the_search_stand_beside_those_of_the_proof(tmp_path, strict, kind):
    here = world(tmp_path, 5)
    setup, parts = here.open()
    setup = replace(setup, limits=replace(setup.limits, strict_proof=strict))
    result, _report = bisect.bisect(setup, parts)
    (gate,) = (gate for gate in result.gates if gate.name == "G10 A/A")
    assert (gate.status, gate.reason.kind) == (GateStatus.PASS, kind)
    if strict:
        # The good end is not booted again after the looks, and the last of the tip come later.
        compared = [r for r in here.lab.requests if r.revision in (sha(4), sha(5), sha(8))]
        counted = gate.reason.data["earlier"], gate.reason.data["later"]
        assert (gate.reason.data["kernels"], sum(counted)) == (
            3,
            len(compared) - setup.limits.revert_boots,
        )
        assert counted[1] >= 15


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
