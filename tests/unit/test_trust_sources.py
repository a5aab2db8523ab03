# SPDX-License-Identifier: GPL-2.0-or-later
"""What a change is made of."""

from dataclasses import replace

import pytest

from rtbisect.model.campaign import MetricKey
from rtbisect.model.lab import Run, RunStatus, Source
from rtbisect.trust.sources import kinds_of, origins

KEY = MetricKey("ipi", "res_per_s", "clock-on")
WINDOWS = {"clock-on", "senders-clock"}


def run(*sources, status=RunStatus.COMPLETE, ran=("clock-on", "senders-clock"), facts=()):
    return Run("r", "sha", status, sources=sources, window_order=ran, facts=facts)


def sent(name, rate, kind="reschedule", window="senders-clock"):
    return Source(window, kind, name, rate)


def test_shares_are_of_what_grew():
    parent = [run(sent("a", 1.0), sent("b", 4.0)), run(sent("a", 3.0), sent("b", 6.0))]
    culprit = [run(sent("a", 11.0), sent("c", 3.0), sent("x", 99.0, "call"))]
    found = origins(KEY, WINDOWS, parent, culprit)
    assert [(o.name, o.parent, o.culprit, o.share) for o in found] == [
        ("a", 2.0, 11.0, 0.75),
        ("c", 0.0, 3.0, 0.25),
    ]


def test_a_repair_tells_what_went_away():
    found = origins(KEY, WINDOWS, [run(sent("a", 9.0), sent("b", 1.0))], [run(sent("b", 2.0))])
    assert [(o.name, o.share) for o in found] == [("a", 1.0)]


@pytest.mark.parametrize("status", [RunStatus.COMPLETE, RunStatus.INVALID])
def test_nothing_is_said_where_a_side_tells_nothing(status):
    told = run(sent("a", 9.0), status=status)
    other = run(sent("a", 9.0, window="senders-pf"), ran=("pf-on", "senders-pf"))
    assert origins(KEY, WINDOWS, [told], [other]) == ()
    assert origins(KEY, WINDOWS, [other], [told]) == ()
    assert origins(KEY, WINDOWS, [told], [told]) == ()


def test_a_boot_that_saw_nothing_counts():
    """Five of six boots of the parent have no softirq: its mean is no longer that of the sixth."""
    key = MetricKey("osnoise", "softirq_noise_us_per_s", "clock-on")
    other = Source("clock-on", "irq", "timer", 9.0, 9.0)
    timer = Source("clock-on", "softirq", "TIMER", 6.0, 12.0)
    (found,) = origins(key, WINDOWS, [run(other)] * 5 + [run(other, timer)], [run(timer)])
    assert (found.parent, found.culprit) == (2.0, 12.0)
    # A quiet parent and a noisy culprit are the clearest case.
    (found,) = origins(key, WINDOWS, [run(), run()], [run(timer)])
    assert (found.parent, found.culprit, found.share) == (0.0, 12.0, 1.0)


def test_a_boot_in_which_the_instrument_failed_says_nothing():
    failed = run(facts=(("unexplained_senders-clock", "senders.txt is missing"),))
    never = run(ran=("clock-on",))
    reached = Source("reach-clock-on", "function", "f", 9.0)
    for parent in (failed, never, replace(never, sources=(reached,))):
        windows = {*WINDOWS, "reach-clock-on"}
        assert origins(KEY, windows, [parent], [run(sent("a", 9.0))]) == ()
    hung = replace(run(), signature="suite: soft lockup")
    (found,) = origins(KEY, WINDOWS, [run(sent("a", 4.0))], [run(sent("a", 9.0)), hung])
    assert found.culprit == 9.0
    (found,) = origins(KEY, WINDOWS, [failed, run(sent("a", 4.0))], [run(sent("a", 9.0))])
    assert found.parent == 4.0


def test_noise_in_time_is_told_in_time():
    key = MetricKey("osnoise", "own_noise_us_per_s", "osnoise-off")
    base = run(Source("osnoise-off", "irq", "timer", 10.0, 50.0), ran=("osnoise-off",))
    new = run(
        Source("osnoise-off", "irq", "timer", 20.0, 60.0),
        Source("osnoise-off", "thread", "kworker", 1.0, 30.0),
        ran=("osnoise-off",),
    )
    found = origins(key, {"osnoise-off"}, [base], [new])
    assert [(o.kind, o.parent, o.culprit, o.share) for o in found] == [
        ("thread", 0.0, 30.0, 0.75),
        ("irq", 50.0, 60.0, 0.25),
    ]


def test_figures_without_sources():
    assert kinds_of(MetricKey("rcu", "p50_us", "rcu-off")) == ()
    assert kinds_of(MetricKey("osnoise", "irq_per_sample", "osnoise-off")) == ("irq",)
