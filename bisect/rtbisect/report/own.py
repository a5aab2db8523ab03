# SPDX-License-Identifier: GPL-2.0-or-later
"""What must be in a mail of ours, and may not: asked of the values that it is written from, so that
no rule has to know its words. `report.lint` reads any mail, ours too, as somebody from outside.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError
from rtbisect.model.campaign import Cause, Outcome, Sought
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.difference import Differs
from rtbisect.model.kinds.mail import CpuLists, Obstacle, Overclaims
from rtbisect.model.kinds.report import Concerns, Footers, Shows, Sure, Untested
from rtbisect.report.headline_figure import headline
from rtbisect.report.policy import asks_to_pick, lacking, mainline_of, stands_still
from rtbisect.report.sections import is_kernels
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbisect.model.report import ReportInput
    from rtbisect.model.result import Gate, Result

#: Causes that other people can do something about.
_ACTIONABLE = {Cause.KERNEL, Cause.WORKLOAD_DEPENDENT}
#: What the program looks at to know whom to ask for what.
_FOR_A_REQUEST = (
    "search again where the repository has mainline's tags vX.Y and the stable series (branches"
    " linux-X.Y.y or tags vX.Y.Z)"
)


def held_back(report: ReportInput) -> Finding | None:
    """Why a list never gets a report, an `Obstacle`; None for one that it may get: of a real
    machine and a foreign workload, on a proven culprit with its figure on both sides.
    """
    obstacle = _obstacle_of_data(report)
    if obstacle is None and (gate := failed_gate(report.result)):
        return Finding.of(Obstacle.GATE, gate=gate.name)
    return Finding.of(obstacle) if obstacle else _obstacle_of_answer(report)


def mailable(report: ReportInput) -> bool:
    """Whether a list may ever get it."""
    return held_back(report) is None


def check_mailable(report: ReportInput) -> None:
    """ConfigError where a report is for the operator alone, whoever wants to send it."""
    if held := held_back(report):
        missing = held.kind == Obstacle.NO_REQUEST
        hint = _FOR_A_REQUEST if missing else "nothing of it is sent to others"
        raise ConfigError(str(speak(held)), hint)


def failed_gate(result: Result) -> Gate | None:
    """The first gate that keeps an answer from other people."""
    return next((gate for gate in result.gates if not gate.ok), None)


def _obstacle_of_data(report: ReportInput) -> Obstacle | None:
    """Where the data come from, and what of them is missing."""
    if report.host.device.emulated:
        return Obstacle.EMULATED_AND_SYNTHETIC if report.synthetic_workload else Obstacle.EMULATED
    if report.synthetic_workload:
        return Obstacle.SYNTHETIC
    if report.result.outcome is not Outcome.CULPRIT:
        return None
    opening = headline(report)
    if opening is None or not opening[0].two_sided:
        return Obstacle.NOT_MEASURED
    return Obstacle.NO_CONSOLE if stands_still(report) and not report.excerpt else None


def _obstacle_of_answer(report: ReportInput) -> Finding | None:
    """What was found, and who could do something about it."""
    if report.result.outcome is not Outcome.CULPRIT or report.culprit is None:
        return Finding.of(Obstacle.NO_CULPRIT)
    if report.sought is Sought.REPAIR and not stands_still(report):
        return Finding.of(Obstacle.REPAIR)
    if report.sought is Sought.REPAIR and not asks_to_pick(report):
        names = tuple(each.name for each in lacking(report))
        mainline = mainline_of(report.culprit)
        return Finding.of(Obstacle.NO_REQUEST, mainline=mainline, lacking=names)
    return None if report.result.cause in _ACTIONABLE else Finding.of(Obstacle.CAUSE)


#: What a mail may say of a thing, and that the thing was not tested: never both.
_KNOWN = {
    Untested.REVERT: (Sure.REVERT_HELPS, Sure.REVERT_SHORT, Sure.REVERT_NOT, Sure.REVERT_OPEN),
    Untested.LAYOUT: (
        Shows.LAYOUT,
        Shows.LAYOUT_NOT,
        Shows.RELINKED,
        Concerns.KERNEL,
        Differs.CODE,
    ),
    Untested.WORKLOAD: (Concerns.KERNEL, Concerns.WITH_AND_WITHOUT, Concerns.ONLY_BESIDE),
    Untested.REACH: (Shows.FUNCTIONS,),
    Untested.SAME_KERNEL: (Shows.SAME_KERNEL,),
    Untested.WHAT_IT_REPAIRS: (Concerns.REPAIRS, Concerns.REPAIRED),
}


def overclaims(report: ReportInput, said: Sequence[Finding]) -> Iterator[Finding]:
    """What of a mail its boots do not bear out; `said` is all that it claims."""
    flat = [each for finding in said for each in _flat(finding)]
    kinds = {each.kind: each for each in flat}
    if Concerns.KERNEL in kinds and not is_kernels(report):
        yield Finding.of(Overclaims.KERNEL)
    if Differs.MACHINE in kinds and report.culprit:
        yield Finding.of(Overclaims.MACHINE)
    if Footers.TAGS in kinds and report.result.cause is not Cause.KERNEL:
        yield Finding.of(Overclaims.TAGS)
    for untested, known in _KNOWN.items():
        for each in known:
            if untested in kinds and each in kinds:
                parts = {"known": kinds[each], "untested": kinds[untested]}
                yield Finding.of(Overclaims.BOTH, **parts)


def _flat(finding: Finding) -> Iterator[Finding]:
    """A finding and those in it."""
    yield finding
    for value in finding.data.values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Finding):
                yield from _flat(part)


_CPU_LIST = re.compile(r"[0-9][0-9,-]*")
#: Of the boot line, and of what the guest told: the CPUs that are isolated.
_ISOLATING = ("nohz_full", "rcu_nocbs")
#: And those of housekeeping.
_WORKING = "irqaffinity"


def cpu_lists(report: ReportInput) -> Iterator[Finding]:
    """What the CPUs that a mail names have that its topology has not: the isolated ones and those
    of housekeeping are all CPUs that are online (of each core one where SMT is off).
    """
    device, profile = report.host
    step = 1 if profile.smt else max(1, device.threads)
    online = set(range(0, device.cpus, step))
    isolated, housekeeping, watched = (
        _cpus(text) for text in (profile.isolated, profile.housekeeping, profile.watch)
    )
    names = {"isolated": profile.isolated, "housekeeping": profile.housekeeping}
    if isolated | housekeeping != online:
        machine = {"sockets": device.sockets, "cores": device.cores, "threads": device.threads}
        smt = report.host.smt
        yield Finding.of(CpuLists.OTHER_MACHINE, **names, **machine, smt=smt)
    if isolated & housekeeping:
        yield Finding.of(CpuLists.SHARED, **names)
    if not watched <= isolated:
        yield Finding.of(CpuLists.NOT_ISOLATED, watched=profile.watch, isolated=profile.isolated)
    settings = [word.partition("=")[::2] for word in profile.line_on(device).split()]
    settings += [(name, text) for name, text in report.facts if name in _ISOLATING]
    for name, cpus in settings:
        wanted = {_WORKING: housekeeping, **dict.fromkeys(_ISOLATING, isolated)}.get(name)
        if wanted is not None and _CPU_LIST.fullmatch(cpus) and _cpus(cpus) != wanted:
            yield Finding.of(CpuLists.SETTING, name=name, cpus=cpus, **names)


#: No machine has more.
_MOST_CPUS = 8192


def _cpus(text: str) -> set[int]:
    """CPUs of "0,2-4"; what is no list has none, and no machine more than so many."""
    cpus: set[int] = set()
    for part in text.split(","):
        if match := re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", part):
            first, last = int(match[1]), int(match[2] or match[1])
            cpus |= set(range(first, min(last, _MOST_CPUS) + 1))
    return cpus
