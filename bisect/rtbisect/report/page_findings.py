# SPDX-License-Identifier: GPL-2.0-or-later
"""What a page tells beside what the parts of its campaign have found: what it opens with, and what
nobody tested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.model.campaign import Scale
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Told
from rtbisect.model.kinds.page import NotTested, Opening
from rtbisect.model.result import CheckName, CheckStatus, GateName, GateStatus, KernelRole
from rtbisect.report.averages import centre, has_share, judged_unit, limit_of, middle_word
from rtbisect.report.headline_figure import headline
from rtbisect.report.page_text import told
from rtbisect.report.text import short, unit_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbisect.model.report import ReportInput


def opening(report: ReportInput) -> str:
    """The sentence that says it all."""
    return told(report, _opening(report))


def _opening(report: ReportInput) -> Finding:
    first = headline(report)
    if first is None:
        return Finding.of(Opening.NOTHING)
    judged, *names = first
    sides = tuple(zip(names, (judged.base, judged.new), strict=True))
    metric = f"{judged.key.suite}.{judged.key.name} {told(report, judged.figure)}".rstrip()
    window = judged.key.window
    if not judged.two_sided:
        return Finding.of(Opening.ONE_SIDED, metric=metric, window=window)
    if all(has_share(judged.key, side) for _, side in sides):
        base, new = (
            Finding.of(Opening.SEEN_IN, name=name, seen=round(sum(side.values)), boots=side.n)
            for name, side in sides
        )
        return Finding.of(Opening.SEEN, metric=metric, window=window, base=base, new=new)
    limit, unit = limit_of(report, judged), unit_text(judged_unit(report, judged))
    effect = None
    if limit is not None and limit.scale is Scale.LOG:
        effect = Finding.of(Told.RATIO, ratio=judged.effect)
    elif limit is not None:
        effect = Finding.of(Told.DIFFERENCE, difference=judged.effect, unit=unit)
    base, new = (
        Finding.of(Opening.SIDE, name=name, value=centre(side, limit), unit=unit, boots=side.n)
        for name, side in sides
    )
    return Finding.of(
        Opening.SIDES,
        metric=metric,
        window=window,
        middle=middle_word(limit),
        base=base,
        new=new,
        effect=effect,
        low=judged.interval[0],
        high=judged.interval[1],
    )


def not_tested(report: ReportInput) -> Iterator[Finding]:
    """What the campaign leaves open."""
    result = report.result
    device = report.host.device
    if report.culprit is not None:
        made = {each.check for each in result.verifications if each.status != CheckStatus.ABSENT}
        for check, open_one in _OPEN_CHECKS.items():
            if check not in made:
                yield Finding.of(open_one)
        if not report.repaired and not report.culprit.fixes:
            yield Finding.of(NotTested.BRINGS_BACK)
        if not any(row.kernel == KernelRole.CULPRIT_WITHOUT_RT for row in result.table):
            yield Finding.of(NotTested.WITHOUT_RT)
        compared = (
            gate.name == GateName.SAME_KERNEL and gate.status != GateStatus.ABSENT
            for gate in result.gates
        )
        if not any(compared):
            yield Finding.of(NotTested.SAME_KERNEL)
    if report.synthetic_workload:
        yield Finding.of(NotTested.PRODUCTION)
    if device.emulated:
        yield Finding.of(NotTested.HARDWARE)
    else:
        yield Finding.of(NotTested.OTHER_MACHINES, device=device.name)
    yield Finding.of(NotTested.NEWER, revision=short(report.newer))


_OPEN_CHECKS = {
    CheckName.REVERT: NotTested.REVERT,
    CheckName.LAYOUT: NotTested.LAYOUT,
}
