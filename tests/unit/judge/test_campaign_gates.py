# SPDX-License-Identifier: GPL-2.0-or-later
"""The gates of a campaign on boots that are made here."""

from dataclasses import replace
from pathlib import Path

from helpers.campaigns import thresholds
from rtbisect.config.thresholds import load_thresholds
from rtbisect.judge.boots import Boots
from rtbisect.judge.gates.boot_gates import against
from rtbisect.judge.gates.campaign_gates import GateInput, examine
from rtbisect.lab.windows import WINDOWS
from rtbisect.model.finding import Finding, as_said
from rtbisect.model.kinds.judge import Figures, Gates, Side
from rtbisect.model.lab import FigureSource, Measurement, Run, RunStatus
from rtbisect.model.result import GateStatus
from rtbisect.suites import sampled, senders, stall

ROOT = Path(__file__).resolve().parents[3]
RATIO = next(t for t in thresholds() if (t.key.name, t.key.window) == ("res_per_iwi", "pf-on"))
RATE = next(t for t in thresholds() if (t.key.name, t.key.window) == ("res_per_s", "clock-on"))


def run(number, *, value, events=1200.0, loc=1.0, raw=None, status=RunStatus.COMPLETE, **facts):
    figures = (
        Measurement(suite="ipi", name="res_per_iwi", window="pf-on", value=value, unit="1"),
        Measurement(suite="ipi", name="res_per_s", window="clock-on", value=value, unit="1/s"),
        Measurement(suite="ipi", name="events_per_s", window="pf-on", value=events, unit="1/s"),
        Measurement(suite="ipi", name="events_per_s", window="clock-on", value=events, unit="1/s"),
        Measurement(suite="ipi", name="loc_per_s", window="osnoise-off", value=loc, unit="1/s"),
    )
    told = {"raw_sha256": raw or f"hash {number}", "hypervisor": "0"} | facts
    return Run(
        run_id=f"r{number}",
        revision="sha",
        status=status,
        measurements=figures,
        facts=tuple(told.items()),
    )


def side(first, **changes):
    return tuple(run(first + n, value=1.0 + (first + n) / 10, **changes) for n in range(4))


def failing(parent, culprit, threshold=RATIO, windows=WINDOWS, *, emulated=False):
    found = examine(
        GateInput(
            threshold=threshold,
            windows=windows,
            emulated=emulated,
            parent=Boots(parent),
            culprit=Boots(culprit),
        )
    )
    return {gate.name: gate.reason for gate in found if not gate.ok}


#: As if the workload were somebody's own.
OWN = tuple(
    type(w)(
        name=w.name, suites=w.suites, workload=w.workload, synthetic=False, nominal_events_per_s=1.0
    )
    for w in WINDOWS
)


def test_boots_that_agree_with_themselves_pass():
    assert failing(side(0), side(10), windows=OWN) == {}


def test_what_keeps_a_report_from_a_list():
    assert failing(side(0), side(10))["G15 origin"].kind == Gates.SYNTHETIC
    virtual = failing(side(0), side(10, hypervisor="1"), windows=OWN)
    assert virtual == {"G15 origin": Finding.of(Gates.CPU_VIRTUAL)}
    twice = (*side(10), run(20, value=3.0, raw="hash 11"))
    found = failing(side(0), twice, windows=OWN)["G5 duplicates"]
    assert found == Finding.of(Gates.RAW_EQUAL, first="r11", second="r20")
    still = tuple(run(n, value=2.0) for n in range(10, 14))
    told = {"metric": str(RATIO.key), "side": Side.CULPRIT, "value": 2.0, "boots": 4}
    found = failing(side(0), still, windows=OWN)["G5 variance"]
    assert found == Finding.of(Gates.VALUES_EQUAL, **told)
    ticking = failing(side(0, loc=1000.0), side(10), windows=OWN)
    told = {"window": "osnoise-off", "per_s": 1000.0, "most_per_s": 10.0}
    assert ticking["G17 isolation"] == Finding.of(Gates.TICKS_MANY, **told)
    # Of the culprit the tick may be the finding.
    assert failing(side(0), side(10, loc=1000.0), windows=OWN) == {}


def test_another_dose_matters_to_rates_and_not_to_figures_of_one_event():
    assert failing(side(0), side(10, events=600.0), windows=OWN) == {}
    rates = failing(side(0), side(10, events=600.0), RATE, OWN)
    told = {"base_per_s": 1200.0, "new_per_s": 600.0, "share": 0.1}
    assert rates == {"G16 dose": Finding.of(Gates.DOSES_DIFFER, **told)}


def gate_of(name, threshold, windows, *figures):
    """The gate `name` on boots whose figures are `figures`, functions of the boot's number."""
    sides = []
    for first in (0, 10):
        boots = [tuple(each(first + n) for each in figures) for n in range(6)]
        sides.append(tuple(Run(run_id=f"r{first}{n}", revision="sha", status=RunStatus.COMPLETE,
        measurements=m)
                           for n, m in enumerate(boots)))  # fmt: skip
    found = examine(
        GateInput(
            threshold=threshold,
            windows=windows,
            emulated=False,
            parent=Boots(sides[0]),
            culprit=Boots(sides[1]),
        )
    )
    return next(gate for gate in found if gate.name == name)


def test_the_dose_is_asked_of_counts_in_a_sample_too():
    """They have no unit, and are no figures of one event for that."""
    threshold = next(
        t for t in thresholds() if (t.key.name, t.key.window) == ("irq_per_sample", "clock-on")
    )

    def events(n):
        return Measurement(
            suite="ipi",
            name="events_per_s",
            window="clock-on",
            value=1200.0 if n < 10 else 600.0,
            unit="1/s",
        )

    assert not gate_of("G16 dose", threshold, OWN, events).ok


def test_the_dose_of_a_suite_that_counts_its_own():
    threshold = next(
        t
        for t in load_thresholds(ROOT / "thresholds", ("sampled",))
        if t.key.window == "sampled-on"
    )

    def events(n):
        return Measurement(
            suite="sampled",
            name="events_per_s",
            window="sampled-on",
            value=4000.0 + 200 * n,
            unit="1/s",
        )

    assert not gate_of("G16 dose", threshold, sampled.SUITE.windows, events).ok
    origin = gate_of("G15 origin", threshold, sampled.SUITE.windows, events)
    assert origin.reason.kind == Gates.SYNTHETIC


def test_a_figure_of_0_or_1_may_be_the_same_in_every_boot():
    threshold = next(
        t
        for t in load_thresholds(ROOT / "thresholds", ("stall",))
        if t.key.name == "frozen_periods"
    )

    def frozen(n):
        return Measurement(
            suite="stall", name="frozen_periods", window="stall", value=float(n < 10), unit="1"
        )

    gate = gate_of("G5 variance", threshold, stall.SUITE.windows, frozen)
    assert (gate.ok, gate.status.value) == (True, "n/a")
    assert gate.reason.kind == Gates.ZERO_OR_ONE


def test_a_hang_that_is_a_figure_of_another_suite_is_still_one():
    how = as_said("soft lockup")
    hung = replace(run(20, value=9.0), signature="suite: soft lockup", reason=how)
    found = failing(side(0), (*side(10), hung, hung), windows=OWN)["G9 hangs"]
    told = {"parent": 0, "parent_boots": 4, "culprit": 2, "culprit_boots": 6, "how": how}
    assert found == Finding.of(Gates.CULPRIT_HANGS, **told)


def test_where_hangs_are_searched_the_gate_of_hangs_says_nothing():
    threshold = load_thresholds(ROOT / "thresholds", ("stall",))[0]
    hung = tuple(
        Run(run_id="r", revision="s", status=RunStatus.COMPLETE, signature="suite: x")
        for _ in range(6)
    )
    found = examine(
        GateInput(
            threshold=threshold,
            windows=stall.SUITE.windows,
            emulated=False,
            parent=Boots(hung[:3]),
            culprit=Boots(hung),
        )
    )
    (gate,) = (g for g in found if g.name == "G9 hangs")
    assert (gate.status, gate.reason.kind) == (GateStatus.ABSENT, Gates.HANGS_SEARCHED)


def test_boots_of_one_kernel_are_not_asked_about_a_part_of_the_figure():
    """The whole of it does not move where a single CPU does."""
    same = tuple(run(n, value=1.0 + n / 100) for n in range(6))
    other = tuple(run(20 + n, value=1.0 + n / 100) for n in range(6))
    asked = GateInput(
        threshold=RATIO, windows=OWN, emulated=False, parent=Boots(same), culprit=Boots(other)
    )
    part = Finding.of(Figures.SPREAD)
    for each, status in ((asked, "fail"), (replace(asked, part=part), "n/a")):
        (gate,) = (g for g in examine(each) if g.name == "G10 A/A")
        assert gate.status.value == status
    assert gate.reason == Finding.of(Gates.IN_PART, part=part)


def test_a_culprit_in_the_counting_code_is_flagged():
    def found(*files):
        asked = GateInput(
            threshold=RATIO,
            windows=OWN,
            emulated=False,
            parent=Boots(side(0)),
            culprit=Boots(side(10)),
            files=files,
        )
        return {gate.name for gate in examine(asked) if not gate.ok}

    assert found("fs/eventpoll.c") == set()
    assert found("fs/eventpoll.c", "arch/x86/kernel/irq.c") == {"meaning"}


def test_a_figure_that_rises_while_its_senders_do_not_is_flagged():
    """Without a word of files: what /proc/interrupts counts is not what is sent."""

    def told(boots, reschedules):
        sources = (
            FigureSource("senders-pf", "reschedule", "irq_work/N: f", reschedules),
            FigureSource("senders-pf", "irq_work", "reader: g", 1000.0),
        )
        return tuple(replace(r, sources=sources, window_order=("senders-pf",)) for r in boots)

    parent = told((run(n, value=0.07 + n / 1000) for n in range(4)), 88.0)
    for sent, found in ((69.0, {"G4 sources"}), (1070.0, set())):
        culprit = told((run(10 + n, value=1.07 + n / 100) for n in range(4)), sent)
        asked = GateInput(
            threshold=RATIO,
            windows=OWN,
            emulated=False,
            parent=Boots(parent),
            culprit=Boots(culprit),
            explaining=senders.SUITE.windows,
        )
        assert {gate.name for gate in examine(asked) if not gate.ok} == found


def test_boots_that_are_no_evidence_are_not_asked():
    bad = run(20, value=9.0, raw="hash 11", status=RunStatus.INVALID)
    assert failing(side(0), (*side(10), bad), windows=OWN) == {}


def test_an_emulator_is_no_reason_of_its_own():
    parent, culprit = (Boots(runs) for runs in (side(0), side(10, events=600.0)))
    gates = examine(
        GateInput(threshold=RATE, windows=OWN, emulated=True, parent=parent, culprit=culprit)
    )
    assert [gate.name for gate in against(gates)] == ["G16 dose"]


def test_guards_that_no_kernel_could_tell_are_no_pass():
    threshold = load_thresholds(ROOT / "thresholds", ("stall",))[0]

    def gate(*names):
        figures = (
            Measurement(suite="stall", name=name, window="stall", value=0.0, unit="1")
            for name in names
        )
        boots = Boots((replace(run(1, value=1.0), measurements=tuple(figures)),) * 3)
        found = examine(
            GateInput(
                threshold=threshold,
                windows=stall.SUITE.windows,
                emulated=False,
                parent=boots,
                culprit=boots,
            )
        )
        return next(gate for gate in found if gate.name == "guards")

    seeing = gate(*stall.GUARDS)
    assert seeing.status is GateStatus.PASS
    assert seeing.reason == Finding.of(Gates.GUARDS_TELL, guards=stall.GUARDS)
    blind = gate("rcu_stall", "soft_lockup")
    assert blind.status is GateStatus.ABSENT
    guards = tuple(name for name in stall.GUARDS if name not in ("rcu_stall", "soft_lockup"))
    assert blind.reason == Finding.of(Gates.GUARDS_BLIND, guards=guards)


def test_a_machine_that_does_not_tell_is_no_pass():
    (gate,) = (
        gate
        for gate in examine(
            GateInput(
                threshold=RATIO,
                windows=WINDOWS,
                emulated=False,
                parent=Boots(side(0)),
                culprit=Boots(side(10)),
            )
        )
        if gate.name == "machine"
    )
    assert gate.status is GateStatus.ABSENT
