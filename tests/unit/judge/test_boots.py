# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of boots: which count, in which order, and what search and judge get of them."""

import pytest

from rtbisect.judge.boots import Boots
from rtbisect.model.campaign import MetricKey, Observation, Sample
from rtbisect.model.lab import Measurement, Run, RunStatus
from rtbisect.model.result import KernelRole

KEY = MetricKey("ipi", "res_per_s", "pf-on")
SECONDS = MetricKey("ipi", "watched_s", "pf-on")


def told(value, name="res_per_s", suite="ipi", window="pf-on", cpu=None):
    return Measurement(suite=suite, name=name, window=window, value=value, unit="1", cpu=cpu)


def run(*figures, status=RunStatus.COMPLETE, device=""):
    return Run(run_id="r", revision="sha", status=status, measurements=figures, device=device)


def test_a_figure_is_that_of_its_suite_name_and_window_and_of_the_whole_boot():
    others = [told(1.0, name="x"), told(2.0, suite="x"), told(3.0, window="x"), told(4.0, cpu=2)]
    boots = Boots((run(*others, told(5.0)), run(*others)))
    assert boots.figure(KEY) == (Observation(value=5.0, per_cpu=(4.0,)),)


def test_cpus_stand_in_their_order():
    boots = Boots((run(told(7.0, cpu=10), told(6.0), told(9.0, cpu=2), told(9.0, cpu=3)),))
    assert boots.figure(KEY) == (Observation(value=6.0, per_cpu=(9.0, 9.0, 7.0)),)


@pytest.mark.parametrize("status", [each for each in RunStatus if each is not RunStatus.COMPLETE])
def test_what_is_no_evidence_has_no_figure(status):
    boots = Boots((run(told(1.0), status=status),)).with_run(run(told(2.0)))
    assert boots.sample(KEY) == Sample((2.0,))
    assert (len(boots.runs), boots.evidence) == (2, boots.runs[1:])


def test_a_rate_needs_to_know_how_long_was_watched():
    boots = Boots((run(told(1.0), told(60.0, "watched_s")), run(told(2.0))))
    assert boots.figure(KEY, SECONDS) == (Observation(value=1.0, exposure=60.0),)
    assert boots.sample(KEY) == Sample((1.0, 2.0))


@pytest.mark.parametrize(
    ("devices", "hosts"), [(("a", "b"), ("a", "b")), (("a", ""), ()), (("", ""), ())]
)
def test_hosts_are_told_where_all_have_names(devices, hosts):
    boots = Boots(tuple(run(told(1.0), device=each) for each in devices), KernelRole.PARENT)
    assert boots.sample(KEY) == Sample((1.0, 1.0), hosts)
    assert boots.with_run(run(told(2.0), device="c")).role is KernelRole.PARENT


def test_a_part_of_a_sample_keeps_its_hosts():
    three = Sample((1.0, 2.0, 3.0), ("a", "b", "c"))
    assert (three.part(0, 2), three.part(2, None)) == (
        Sample((1.0, 2.0), ("a", "b")),
        Sample((3.0,), ("c",)),
    )
