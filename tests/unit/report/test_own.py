# SPDX-License-Identifier: GPL-2.0-or-later
"""What must be in a mail of ours, and may not."""

from dataclasses import replace

import pytest

from helpers.findings import said
from helpers.report_cases import CASES as REPORTS
from helpers.report_cases import backport, epoll, hang, nothing, rcu
from helpers.report_epoll import culprit_set
from rtbisect.model.campaign import Cause, Sample, Sought
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import CpuLists, Obstacle
from rtbisect.model.result import Gate, GateStatus
from rtbisect.report.own import cpu_lists, held_back, mailable

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
    assert held_back(report) == (Finding.of(obstacle) if obstacle else None)
    assert mailable(report) == (obstacle is None)


def test_a_gate_is_named_unless_the_data_are_in_the_way():
    assert mailable(on(rcu(), gates=(ABSENT,)))
    gates = (ABSENT, FAILED)
    failed = Finding.of(Obstacle.GATE, gate=FAILED.name)
    assert held_back(on(rcu(), gates=gates)) == failed
    assert held_back(on(lab(nothing()), gates=gates)) == failed
    assert held_back(on(emulated(rcu()), gates=gates)) == Finding.of(Obstacle.EMULATED)


def on_cpus(*, cores=4, smt=True, isolated="2-7", housekeeping="0-1", watch="2-4", line="2-7"):
    """A report of a machine with two threads a core and these lists."""
    report = rcu()
    device = replace(report.device, sockets=1, cores=cores, threads=2)
    profile = replace(
        report.profile,
        housekeeping=housekeeping,
        isolated=isolated,
        watch=watch,
        smt=smt,
        boot_line=f"quiet nohz_full={line} isolcpus=nohz,{line} irqaffinity={housekeeping}",
    )
    return replace(report, device=device, profile=profile, facts=())


ALL = CpuLists.OTHER_MACHINE


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, []),
        ({"smt": False, "isolated": "2,4,6", "housekeeping": "0", "watch": "4", "line": "2,4,6"},
         []),
        ({"cores": 16}, [ALL]),
        ({"cores": 2}, [ALL]),
        ({"smt": False}, [ALL]),
        ({"housekeeping": "0-2"}, [CpuLists.SHARED]),
        ({"watch": "1-4"}, [CpuLists.NOT_ISOLATED]),
        ({"line": "2-6"}, [CpuLists.SETTING]),
        ({"isolated": "2-99999"}, [ALL, CpuLists.SETTING]),
        ({"isolated": "no list"}, [ALL, CpuLists.NOT_ISOLATED, CpuLists.SETTING]),
    ],
)  # fmt: skip
def test_lists_of_cpus_fit_the_topology(changes, found):
    assert [each.kind for each in cpu_lists(on_cpus(**changes))] == found


def test_what_the_guest_told_of_its_cpus_fits():
    told = (("nohz_full", "2-6"), ("rcu_nocbs", "(null)"), ("online", "0-7"))
    (found,) = cpu_lists(replace(on_cpus(), facts=told))
    assert (found.kind, found.data["name"], found.data["cpus"]) == (
        CpuLists.SETTING, "nohz_full", "2-6",
    )  # fmt: skip


@pytest.mark.parametrize("name", sorted(REPORTS))
def test_machines_of_our_reports_have_their_cpus(name):
    assert list(cpu_lists(REPORTS[name]())) == []
