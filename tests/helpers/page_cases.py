# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots for pages, and a campaign of which nothing is as a page would like it."""

from __future__ import annotations

from dataclasses import replace

from helpers.findings import said
from helpers.report_epoll import culprit_set, epoll
from helpers.report_parts import (
    IDLE,
    LOUD,
    LOUD_ENDS,
    QUIET,
    QUIET_ENDS,
    QUIET_TIP,
    RES_LIMIT,
    RES_ON,
    history,
    judged,
    sha,
)
from rtbisect.model.campaign import Level, MetricKey
from rtbisect.model.lab import Measurement, Run, RunStatus
from rtbisect.model.report import HostPart
from rtbisect.model.result import Gate, GateStatus

#: Of three scripts, one of them from right to left, and 300 characters long.
SCRIPTS = "планировщик: исправить 待機中のCPUを起こさない \u0625\u0635\u0644\u0627\u062d "
LONG_SUBJECT = (SCRIPTS * 10)[:299] + "!"
MARKUP = '<script>alert(1)</script><img src="https://evil.example.org/x">'
#: Turns the direction of what follows.
TURNING = "\u202e"

BOOTED = ((1, QUIET_ENDS), (33, LOUD_ENDS), (23, QUIET), (24, LOUD), (99, QUIET_TIP))


def boot(number, value, key=RES_ON, unit="1/s", cpus=(), name="r"):
    """A complete boot that tells the figure, and with `cpus` that of each."""
    figure = Measurement(suite=key.suite, name=key.name, window=key.window, value=value, unit=unit)
    of_cpus = (replace(figure, value=value * (1 + cpu % 7) / 4, cpu=cpu) for cpu in cpus)
    return Run(
        run_id=name, revision=sha(number), status=RunStatus.COMPLETE,
        measurements=(figure, *of_cpus), seconds=21.5,
    )  # fmt: skip


def runs(cpus=(2, 3, 4), booted=BOOTED):
    """Boots of the ends, of parent and culprit, and of the revert, in turns."""
    return [
        boot(number, value, cpus=cpus, name=f"r{number}-{n}")
        for number, sample in booted
        for n, value in enumerate(sample.values)
    ]


def badly_told():
    """A commit without an author's name whose subject is of three scripts, a figure without a unit,
    eight metrics that are worse and two that are better, a host whose name is markup, boots that
    failed, 256 CPUs: report and boots.
    """
    limits = [
        replace(RES_LIMIT, key=MetricKey("ipi", f"figure_{n}", "clock-on"), unit="")
        for n in range(10)
    ]
    found = [judged(limit, QUIET, LOUD) for limit in limits[:8]]
    found += [judged(limit, LOUD, IDLE) for limit in limits[8:]]
    worse = tuple(replace(each, level=Level.REGRESSED) for each in found[:8])
    whole = epoll()
    key = limits[0].key
    checks = tuple(
        replace(each, judgement=replace(each.judgement, key=key))
        for each in whole.result.verifications
    )
    failed = Gate("G5 variance", GateStatus.FAIL, said(f"{MARKUP} of {TURNING}boots"))
    report = replace(
        whole,
        campaign="bad-0020",
        tree=MARKUP,
        graph=history(32, [(sha(24), LONG_SUBJECT)]),
        culprit=replace(whole.culprit, subject=LONG_SUBJECT, author=" "),
        device=replace(whole.device, name=MARKUP),
        compiler=f"gcc {TURNING} 12",
        thresholds=tuple(limits),
        hosts=(HostPart(MARKUP, 8, 1.02), HostPart("board-2", 8, None)),
        result=replace(
            whole.result, metric=key, judgement=found[0], judgements=(*worse, *found[8:]),
            verifications=checks, gates=(*whole.result.gates, failed),
        ),
    )  # fmt: skip
    boots = [
        boot(number, value, key, "", range(256), f"r{number}-{n}")
        for number, sample in BOOTED
        for n, value in enumerate(sample.values)
    ]
    broken = replace(
        boots[0], status=RunStatus.BOOT_FAILED, reason=said(f"no prompt: {MARKUP}"), measurements=()
    )
    return report, [*boots, broken]


def many_candidates():
    """Forty commits may be it."""
    report = culprit_set()
    candidates = tuple((sha(n), 0.99 / 40) for n in range(2, 42))
    subjects = [(sha(n), f"{LONG_SUBJECT[: 7 * n]} {n}") for n in range(2, 42)]
    return replace(
        report, campaign="set-0021", newer=sha(60), graph=history(59, subjects),
        result=replace(report.result, candidates=candidates),
    )  # fmt: skip
