# SPDX-License-Identifier: GPL-2.0-or-later
"""What a change is made of."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rtbisect.judge.gates import boot_gates
from rtbisect.judge.sources import kinds_of, origins, traced
from rtbisect.model.campaign import MetricKey
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Gates
from rtbisect.model.lab import FigureSource, Run, RunStatus
from rtbisect.model.result import GateStatus

KEY = MetricKey("ipi", "res_per_s", "clock-on")
WINDOWS = {"clock-on", "senders-clock"}


def run(*sources, status=RunStatus.COMPLETE, ran=("clock-on", "senders-clock"), facts=()):
    return Run(
        run_id="r", revision="sha", status=status, sources=sources, window_order=ran, facts=facts
    )


def sent(name, rate, kind="reschedule", window="senders-clock"):
    return FigureSource(window, kind, name, rate)


def test_shares_are_of_what_grew():
    parent = [run(sent("a", 1.0), sent("b", 4.0)), run(sent("a", 3.0), sent("b", 6.0))]
    culprit = [run(sent("a", 11.0), sent("c", 3.0), sent("x", 99.0, "call"))]
    found = origins(KEY, WINDOWS, parent, culprit, rises=True)
    assert [(o.name, o.parent, o.culprit, o.share) for o in found] == [
        ("a", 2.0, 11.0, 0.75),
        ("c", 0.0, 3.0, 0.25),
    ]


def test_a_repair_tells_what_went_away():
    parent, culprit = [run(sent("a", 9.0), sent("b", 1.0))], [run(sent("b", 2.0))]
    found = origins(KEY, WINDOWS, parent, culprit, rises=False)
    assert [(o.name, o.share) for o in found] == [("a", 1.0)]
    # What fell makes no rise: then something else is counted.
    assert origins(KEY, WINDOWS, parent, culprit, rises=True) == ()


def test_what_sends_is_seen_by_a_second_instrument():
    """The figures of real boots of a commit that counts irq_work as rescheduling, and of one that
    sends more.
    """
    key = replace(KEY, name="res_per_iwi")

    def side(res, iwi):
        return [run(sent("a", res), sent("b", iwi, "irq_work"))]

    seen = traced(key, WINDOWS, side(87.6, 999.8), side(59.6, 861.1))
    assert seen == pytest.approx((0.0876, 0.0692), abs=1e-4)
    gate = boot_gates.sources_agree(0.0733, 1.08, seen)
    assert not gate.ok
    told = {"base": 0.0733, "new": 1.08, "traced_base": seen[0], "traced_new": seen[1]}
    assert gate.reason == Finding.of(Gates.SOURCES_DIFFER, **told)
    assert boot_gates.sources_agree(1.08, 0.0733, seen[::-1]).ok is False
    seen = traced(key, WINDOWS, side(49.9, 584.9), side(158.4, 214.2))
    assert boot_gates.sources_agree(0.0664, 0.676, seen).ok
    assert traced(KEY, WINDOWS, side(49.9, 584.9), side(158.4, 214.2)) == (49.9, 158.4)
    # Nothing that could be divided by, nobody who tells, too little to tell.
    assert traced(key, WINDOWS, side(1.0, 0.0), side(1.0, 5.0)) is None
    assert traced(key, WINDOWS, [], side(1.0, 5.0)) is None
    assert traced(MetricKey("rcu", "p50_us", "x"), WINDOWS, side(1, 1), side(1, 1)) is None
    for gate, kind in (
        (boot_gates.sources_agree(1.0, 1.4, (9.0, 1.0)), Gates.SOURCES_LITTLE),
        (boot_gates.sources_agree(1.0, 9.0, None), Gates.NO_SECOND_INSTRUMENT),
    ):
        assert (gate.status, gate.reason.kind) == (GateStatus.ABSENT, kind)


@pytest.mark.parametrize(
    ("base", "new", "seen", "good"),
    [
        (0.0, 40.0, (0.7, 241.0), True),
        (0.0, 40.0, (0.0, 0.0), False),
        (0.0, 40.0, (2.0, 3.0), False),
        (2.0, 3.0, (2.0, 2.3), True),
        (2.0, 3.0, (2.0, 2.1), False),
        (40.0, 0.0, (241.0, 0.0), True),
        (40.0, 0.0, (0.7, 241.0), False),
    ],
)
def test_sources_change_by_a_fifth_of_it_at_least(base, new, seen, good):
    gate = boot_gates.sources_agree(base, new, seen)
    assert gate.status is (GateStatus.PASS if good else GateStatus.FAIL)


@pytest.mark.parametrize("status", [RunStatus.COMPLETE, RunStatus.INVALID])
def test_nothing_is_said_where_a_side_tells_nothing(status):
    told = run(sent("a", 9.0), status=status)
    other = run(sent("a", 9.0, window="senders-pf"), ran=("pf-on", "senders-pf"))
    for sides in (([told], [other]), ([other], [told]), ([told], [told])):
        assert origins(KEY, WINDOWS, *sides, rises=True) == ()


def test_a_boot_that_saw_nothing_counts():
    """Five of six boots of the parent have no softirq: its mean is no longer that of the sixth."""
    key = MetricKey("osnoise", "softirq_noise_us_per_s", "clock-on")
    other = FigureSource("clock-on", "irq", "timer", 9.0, 9.0)
    timer = FigureSource("clock-on", "softirq", "TIMER", 6.0, 12.0)
    parent = [run(other)] * 5 + [run(other, timer)]
    (found,) = origins(key, WINDOWS, parent, [run(timer)], rises=True)
    assert (found.parent, found.culprit) == (2.0, 12.0)
    # A quiet parent and a noisy culprit are the clearest case.
    (found,) = origins(key, WINDOWS, [run(), run()], [run(timer)], rises=True)
    assert (found.parent, found.culprit, found.share) == (0.0, 12.0, 1.0)


def test_a_boot_in_which_the_instrument_failed_says_nothing():
    failed = run(facts=(("unexplained_senders-clock", "senders.txt is missing"),))
    never = run(ran=("clock-on",))
    reached = FigureSource("reach-clock-on", "function", "f", 9.0)
    for parent in (failed, never, replace(never, sources=(reached,))):
        windows = {*WINDOWS, "reach-clock-on"}
        assert origins(KEY, windows, [parent], [run(sent("a", 9.0))], rises=True) == ()
    hung = replace(run(), signature="suite: soft lockup")
    base, new = run(sent("a", 4.0)), run(sent("a", 9.0))
    (found,) = origins(KEY, WINDOWS, [base], [new, hung], rises=True)
    assert found.culprit == 9.0
    (found,) = origins(KEY, WINDOWS, [failed, base], [new], rises=True)
    assert found.parent == 4.0


def test_noise_in_time_is_told_in_time():
    key = MetricKey("osnoise", "own_noise_us_per_s", "osnoise-off")
    base = run(FigureSource("osnoise-off", "irq", "timer", 10.0, 50.0), ran=("osnoise-off",))
    new = run(
        FigureSource("osnoise-off", "irq", "timer", 20.0, 60.0),
        FigureSource("osnoise-off", "thread", "kworker", 1.0, 30.0),
        ran=("osnoise-off",),
    )
    found = origins(key, {"osnoise-off"}, [base], [new], rises=True)
    assert [(o.kind, o.parent, o.culprit, o.share) for o in found] == [
        ("thread", 0.0, 30.0, 0.75),
        ("irq", 50.0, 60.0, 0.25),
    ]


def test_figures_without_sources():
    assert kinds_of(MetricKey("rcu", "p50_us", "rcu-off")) == ()
    assert kinds_of(MetricKey("osnoise", "irq_per_sample", "osnoise-off")) == ("irq",)


def test_shares_are_the_same_in_every_process():
    """Sums of many sources, in an order that a process draws, differ in their last digit; who
    judges the boots again somewhere else gets the same number.
    """
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from test_sources import KEY, WINDOWS, origins, run, sent\n"
        "base = [run(*(sent(f's{n}', n / 7) for n in range(40)))]\n"
        "new = [run(*(sent(f's{n}', n / 3 + 0.1) for n in range(40)))]\n"
        "print(repr(origins(KEY, WINDOWS, base, new, rises=True)))\n"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code, str(Path(__file__).parent)],
            env={"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(6)
    }
    assert len(told) == 1
