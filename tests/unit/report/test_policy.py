# SPDX-License-Identifier: GPL-2.0-or-later
"""Which report may leave, and what for."""

from dataclasses import replace

import pytest

from helpers.findings import said
from helpers.report_cases import backport, culprit_set, epoll, hang, nothing, rcu
from rtbisect.model.campaign import Cause, Sample, Sought
from rtbisect.model.result import Gate, GateStatus
from rtbisect.report.policy import HeldBack, Obstacle, Purpose, held_back, mailable, purpose_of

ABSENT = Gate("G9 a gate", GateStatus.ABSENT, said("nobody looked"))
FAILED = Gate("G8 another", GateStatus.FAIL, said("it is so"))


def on(report, **changes):
    """A report whose result is another one."""
    return replace(report, result=replace(report.result, **changes))


def lab(report):
    """The same of a real machine and of a workload that is not ours."""
    device = replace(report.device, emulated=False)
    return replace(report, device=device, synthetic_workload=False)


def emulated(report):
    return replace(report, device=replace(report.device, emulated=True))


def synthetic(report):
    return replace(report, synthetic_workload=True)


def unmeasured(report):
    (check, *others) = report.result.verifications
    judged = replace(check.judgement, new=Sample(()))
    return on(report, verifications=(replace(check, judgement=judged), *others))


CASES = {
    "of the kernel": (rcu(), None),
    "of a workload": (lab(epoll()), None),
    "stands still": (hang(), None),
    "ends that boots stand still": (backport(), None),
    "both": (synthetic(emulated(rcu())), Obstacle.EMULATED_AND_SYNTHETIC),
    "of an emulator": (emulated(rcu()), Obstacle.EMULATED),
    "our workload": (synthetic(rcu()), Obstacle.SYNTHETIC),
    "one side": (unmeasured(rcu()), Obstacle.NOT_MEASURED),
    "no console": (replace(hang(), excerpt=()), Obstacle.NO_CONSOLE),
    "another repair": (replace(rcu(), sought=Sought.REPAIR), Obstacle.REPAIR),
    "the tool": (on(rcu(), cause=Cause.TOOL_INDUCED), Obstacle.CAUSE),
    "no cause": (on(rcu(), cause=Cause.NONE), Obstacle.CAUSE),
    "no text of the commit": (replace(rcu(), culprit=None), Obstacle.NO_CULPRIT),
    "several commits": (lab(culprit_set()), Obstacle.NO_CULPRIT),
    "no regression": (lab(nothing()), Obstacle.NO_CULPRIT),
}


@pytest.mark.parametrize(("report", "obstacle"), CASES.values(), ids=CASES)
def test_what_keeps_a_report_with_its_operator(report, obstacle):
    assert held_back(report) == (HeldBack(obstacle) if obstacle else None)
    assert mailable(report) == (obstacle is None)


def test_a_gate_is_named_unless_the_data_are_in_the_way():
    assert mailable(on(rcu(), gates=(ABSENT,)))
    gates = (ABSENT, FAILED)
    assert held_back(on(rcu(), gates=gates)) == HeldBack(Obstacle.GATE, FAILED.name)
    assert held_back(on(lab(nothing()), gates=gates)) == HeldBack(Obstacle.GATE, FAILED.name)
    assert held_back(on(emulated(rcu()), gates=gates)) == HeldBack(Obstacle.EMULATED)


@pytest.mark.parametrize(
    ("report", "kind", "hurts", "purpose"),
    [
        (rcu(), "mainline", True, Purpose.TRACKED),
        (rcu(), "stable", True, Purpose.TRACKED),
        (rcu(), "mainline", False, Purpose.TOLD),
        (rcu(), "rt", True, Purpose.TOLD),
        (lab(epoll()), "mainline", True, Purpose.TOLD),
        (backport(), "mainline", True, Purpose.BACKPORT),
    ],
)
def test_what_a_report_is_for(report, kind, hurts, purpose):
    assert purpose_of(report, kind, hurts=hurts) is purpose
