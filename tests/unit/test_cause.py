# SPDX-License-Identifier: GPL-2.0-or-later
from rtbisect.model.campaign import Better, Cause, MetricKey, Sample, Scale, Threshold
from rtbisect.trust.cause import cause

OFF = MetricKey("interrupts", "res", "off")
ON = Threshold(
    key=MetricKey("interrupts", "res", "on"),
    unit="1/s",
    better=Better.LOWER,
    scale=Scale.LOG,
    statistic="mean",
    min_effect=1.5,
    limit=None,
    floor=0.5,
    role="primary",
    control=OFF,
    reason="",
)
QUIET = Sample((1.0, 1.1, 1.2, 1.3, 1.1, 1.2))
LOUD = Sample((9.0, 9.5, 9.1, 9.8, 9.4, 9.9))
NONE = Sample(())


def test_a_difference_only_under_the_workload_depends_on_it():
    found, reason = cause(ON, QUIET, LOUD, ON, QUIET, QUIET)
    assert found is Cause.WORKLOAD_DEPENDENT
    assert "only while the workload runs" in reason


def test_a_difference_also_without_the_workload_is_the_kernel():
    found, reason = cause(ON, QUIET, LOUD, ON, QUIET, LOUD)
    assert found is Cause.KERNEL
    assert "without it" in reason


def test_a_metric_without_a_workload_blames_the_kernel():
    found, reason = cause(ON, QUIET, LOUD, None, None, None)
    assert found is Cause.KERNEL
    assert "no workload" in reason


def test_no_difference_has_no_cause():
    assert cause(ON, QUIET, QUIET, ON, QUIET, LOUD)[0] is Cause.NONE


def test_an_unmeasured_control_leaves_the_cause_open():
    found, reason = cause(ON, QUIET, LOUD, ON, NONE, NONE)
    assert found is Cause.NONE
    assert "do not decide: no boots of base" in reason


def test_an_undecided_control_depends_on_whether_the_boots_look_alike():
    wide = (0.2, 2.6, 1.1, 0.9, 4.0, 0.6)
    found, reason = cause(ON, QUIET, LOUD, ON, Sample(wide), Sample(wide[::-1]))
    assert found is Cause.WORKLOAD_DEPENDENT
    assert "no difference" in reason
    # Twice as much without the workload, with p = 0.03: that is no control that holds.
    found, reason = cause(ON, QUIET, LOUD, ON, Sample(wide), Sample((1.5, 3.0, 1.9, 1.0, 5.0, 2.7)))
    assert found is Cause.NONE
    assert "do not decide" in reason
