# SPDX-License-Identifier: GPL-2.0-or-later
from dataclasses import replace

from helpers.campaigns import RES
from rtbisect.judge.cause import cause
from rtbisect.judge.verdict import Looks, judge_shares
from rtbisect.model.campaign import Cause, Level, MetricKey, Sample, Scale, Statistic
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Causes, Judged, Side

OFF = MetricKey("interrupts", "res", "off")
ON = replace(RES, control=OFF)
QUIET = Sample((1.0, 1.1, 1.2, 1.3, 1.1, 1.2))
LOUD = Sample((9.0, 9.5, 9.1, 9.8, 9.4, 9.9))
NONE = Sample(())


def test_a_difference_only_under_the_workload_depends_on_it():
    found, reason = cause(ON, QUIET, LOUD, ON, QUIET, QUIET)
    assert found is Cause.WORKLOAD_DEPENDENT
    assert reason == Finding.of(Causes.ONLY_WITH, tool="")


def test_a_difference_also_without_the_workload_is_the_kernel():
    found, reason = cause(ON, QUIET, LOUD, ON, QUIET, LOUD)
    assert found is Cause.KERNEL
    assert reason == Finding.of(Causes.WITHOUT_TOO, tool="")


def test_a_metric_without_a_workload_blames_the_kernel():
    found, reason = cause(ON, QUIET, LOUD, None, None, None)
    assert found is Cause.KERNEL
    assert reason == Finding.of(Causes.NO_WORKLOAD, metric=str(ON.key))


def test_a_figure_about_a_workload_says_so():
    found, reason = cause(ON, QUIET, LOUD, None, None, None, workload="epoll-producers")
    assert found is Cause.KERNEL
    told = {"metric": str(ON.key), "workload": "epoll-producers"}
    assert reason == Finding.of(Causes.ITS_WORKLOAD, **told)


def test_a_control_that_changes_by_less_than_counts_is_not_one_that_stands_still():
    """Twice as many beside the workload, 1.9 times without it: one effect, seen twice."""
    parent, culprit = (Sample(tuple(b + i / 10 for i in range(10))) for b in (10.0, 22.0))
    calm, stirred = (Sample(tuple(b + i / 20 for i in range(10))) for b in (8.0, 15.6))
    on = replace(ON, min_effect=2.0)
    off = replace(ON, key=OFF, min_effect=2.0)
    for beside in (None, (parent, culprit)):
        found, reason = cause(on, parent, culprit, off, calm, stirred, control_loaded=beside)
        assert found is Cause.NONE
        assert reason.kind == Causes.LITTLE_WITHOUT
        assert reason.data["why"].kind == Judged.EXCLUDED
    # A share of a fifth and less is what the report says.
    slight = Sample(tuple(value * 1.05 + 0.2 for value in calm.values))
    found, reason = cause(on, parent, culprit, off, calm, slight, control_loaded=(parent, culprit))
    assert found is Cause.WORKLOAD_DEPENDENT
    assert reason.kind == Causes.SMALL_SHARE
    assert (reason.data["tool"], reason.data["figure"]) == ("", OFF.name)
    assert 0 < reason.data["share"] < 0.2


def test_no_difference_has_no_cause():
    found, reason = cause(ON, QUIET, QUIET, ON, QUIET, LOUD)
    assert found is Cause.NONE
    assert (reason.kind, reason.data["metric"]) == (Causes.NO_DIFFERENCE, str(ON.key))
    assert reason.data["why"].kind == Judged.EXCLUDED


def test_an_unmeasured_control_leaves_the_cause_open():
    found, reason = cause(ON, QUIET, LOUD, ON, NONE, NONE)
    assert found is Cause.NONE
    why = Finding.of(Judged.NO_BOOTS, side=Side.BASE)
    assert reason == Finding.of(Causes.OPEN, tool="", why=why)


def test_an_undecided_control_depends_on_whether_the_boots_look_alike():
    wide = (0.2, 2.6, 1.1, 0.9, 4.0, 0.6)
    found, reason = cause(ON, QUIET, LOUD, ON, Sample(wide), Sample(wide[::-1]))
    assert found is Cause.WORKLOAD_DEPENDENT
    assert (reason.kind, reason.data["tool"]) == (Causes.MORE_WITH, "")
    # Twice as much without the workload, with p = 0.03: that is no control that holds.
    found, reason = cause(ON, QUIET, LOUD, ON, Sample(wide), Sample((1.5, 3.0, 1.9, 1.0, 5.0, 2.7)))
    assert found is Cause.NONE
    assert reason.kind == Causes.OPEN


def test_a_small_count_that_wavers_is_nothing_beside_what_the_workload_adds():
    """Ten boots of two kernels that differ by one lock: idle CPUs get one or two a second."""
    parent = Sample((0.0, 1.38, 0.56, 0.56, 1.12, 2.8, 1.73, 2.57, 1.69, 0.28))
    culprit = Sample((1.11, 1.38, 3.06, 1.95, 0.56, 11.11, 2.2, 6.63, 1.92, 1.57))
    quiet = Sample((39.9, 41.4, 22.8, 49.1, 29.6, 40.0, 37.0, 40.1, 35.3, 43.3))
    loud = Sample((135.8, 127.0, 177.2, 140.5, 135.6, 105.1, 134.0, 168.5, 164.7, 150.3))
    off = replace(ON, key=OFF, min_effect=2.0, floor=1.0)
    assert cause(ON, QUIET, LOUD, off, parent, culprit)[0] is Cause.NONE
    found, reason = cause(ON, QUIET, LOUD, off, parent, culprit, control_loaded=(quiet, loud))
    assert found is Cause.WORKLOAD_DEPENDENT
    assert reason.kind == Causes.SMALL_SHARE


def test_a_share_that_counts_decides_nothing():
    wide = (0.2, 2.6, 1.1, 0.9, 4.0, 0.6)
    more = Sample((1.5, 3.0, 1.9, 1.0, 5.0, 2.7))
    for beside in [(QUIET, Sample((3.0, 4.5, 4.1, 3.8, 3.4, 4.9))), (LOUD, LOUD), (NONE, LOUD)]:
        found, _ = cause(ON, QUIET, LOUD, ON, Sample(wide), more, control_loaded=beside)
        assert found is Cause.NONE


def test_a_control_that_regressed_is_the_kernel_however_small():
    beside = (QUIET, Sample(tuple(1000.0 + i for i in range(6))))
    assert cause(ON, QUIET, LOUD, ON, QUIET, LOUD, control_loaded=beside)[0] is Cause.KERNEL


def test_a_difference_that_only_the_tool_sees_is_its_own():
    found, reason = cause(ON, QUIET, LOUD, ON, QUIET, QUIET, instrument="perf-epoll")
    assert found is Cause.TOOL_INDUCED
    assert reason == Finding.of(Causes.ONLY_WITH, tool="perf-epoll")
    found, reason = cause(ON, QUIET, LOUD, ON, QUIET, LOUD, instrument="perf-epoll")
    assert found is Cause.KERNEL
    assert reason == Finding.of(Causes.WITHOUT_TOO, tool="perf-epoll")
    found, reason = cause(ON, QUIET, LOUD, ON, NONE, NONE, instrument="perf-epoll")
    assert found is Cause.NONE
    assert (reason.kind, reason.data["tool"]) == (Causes.OPEN, "perf-epoll")


def test_shares_that_a_proof_has_told_apart_have_a_cause():
    """Of 75 boots 27 fail, for 13 before: 19 percentage points, where 20 count and a proof takes
    what may be 20.
    """
    share = replace(ON, statistic=Statistic.FRACTION, scale=Scale.LINEAR, min_effect=0.2, floor=0.0)
    passed, failed = (Sample((1.0,) * bad + (0.0,) * (75 - bad)) for bad in (13, 27))
    looks = Looks((19, 38, 75), reach=True)
    assert judge_shares(share, (passed, failed), looks).level is Level.REGRESSED
    found, reason = cause(share, passed, failed, share, passed, passed)
    assert found is Cause.WORKLOAD_DEPENDENT
    assert reason == Finding.of(Causes.ONLY_WITH, tool="")
