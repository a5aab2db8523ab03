# SPDX-License-Identifier: GPL-2.0-or-later
"""What a change is made of."""

import pytest

from rtbisect.model.campaign import MetricKey
from rtbisect.model.lab import Run, RunStatus, Source
from rtbisect.trust.sources import kinds_of, origins

KEY = MetricKey("ipi", "res_per_s", "clock-on")
WINDOWS = {"clock-on", "senders-clock"}


def run(*sources, status=RunStatus.COMPLETE):
    return Run("r", "sha", status, sources=sources)


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
    other = run(sent("a", 9.0, window="senders-pf"))
    assert origins(KEY, WINDOWS, [told], [other]) == ()
    assert origins(KEY, WINDOWS, [other], [told]) == ()
    assert origins(KEY, WINDOWS, [told], [told]) == ()


def test_noise_in_time_is_told_in_time():
    key = MetricKey("osnoise", "own_noise_us_per_s", "osnoise-off")
    base = run(Source("osnoise-off", "irq", "timer", 10.0, 50.0))
    new = run(
        Source("osnoise-off", "irq", "timer", 20.0, 60.0),
        Source("osnoise-off", "thread", "kworker", 1.0, 30.0),
    )
    found = origins(key, {"osnoise-off"}, [base], [new])
    assert [(o.kind, o.parent, o.culprit, o.share) for o in found] == [
        ("thread", 0.0, 30.0, 0.75),
        ("irq", 50.0, 60.0, 0.25),
    ]


def test_figures_without_sources():
    assert kinds_of(MetricKey("rcu", "p50_us", "rcu-off")) == ()
    assert kinds_of(MetricKey("osnoise", "irq_per_sample", "osnoise-off")) == ("irq",)
