# SPDX-License-Identifier: GPL-2.0-or-later
"""What a mail says below its first sentences, as findings: where the commit was found, why it is
this one, whom it concerns, what was not tested, on what machine.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rtbisect.config.paths import data
from rtbisect.judge.gates.boot_gates import still_right_name
from rtbisect.judge.verdict import judge
from rtbisect.model.campaign import Cause, Level, Role, Scale, Sought
from rtbisect.model.facts import Facts
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Gates, Told
from rtbisect.model.kinds.pipeline import Attributions
from rtbisect.model.kinds.report import Concerns, Found, Machines, Shows, Untested
from rtbisect.model.lab import site_program
from rtbisect.model.result import (
    CheckName,
    CheckStatus,
    DiffersBy,
    GateName,
    GateStatus,
    KernelRole,
)
from rtbisect.report.averages import (
    has_share,
    judged_unit,
    limit_of,
    of_boots,
    repaired_by,
    shown_in,
    threshold_of,
    unit_of,
)
from rtbisect.report.commit_view import revision_name
from rtbisect.report.headline_figure import floor_that_shows, headline, test_name
from rtbisect.report.opening import beside, check_of, levels, other_builds
from rtbisect.report.policy import asks_to_pick
from rtbisect.report.stable_series import series
from rtbisect.report.text import cut, public_address
from rtbisect.suites.base import every

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbisect.model.campaign import Judgement, MetricKey, Sample, Threshold
    from rtbisect.model.report import Repaired, ReportInput

#: Probability from which on the search leaves no doubt that the newest kernel has the change.
_SURE = 0.95
#: Fixes: tags and measurements of what a revert brings back that are told, each.
_TOLD_REPAIRS = 2


def found(report: ReportInput) -> Iterator[Finding]:
    """Where the commit was found, and which kernels have it."""
    tree = cut(public_address(report.repo), 100)
    older, newer = (revision_name(report, end) for end in (report.older, report.newer))
    data: dict[str, Any] = {
        "older": older, "newer": newer, "commits": len(report.graph), "tree": tree,
    }  # fmt: skip
    if report.culprit:
        yield Finding.of(Found.RANGE, **data, release="" if tree else _unnamed_release(report))
    else:
        yield Finding.of(Found.SEARCHED, **data)
    if report.culprit and report.culprit.release:
        yield Finding.of(Found.RELEASED, release=cut(report.culprit.release, 40))
    newest = _newest(report)
    if newest is not None and report.culprit and report.sought is Sought.REGRESSION:
        sure = newest >= _SURE
        yield Finding.of(Found.STILL if sure else Found.PERHAPS_GONE, newest=newer)


def _unnamed_release(report: ReportInput) -> str:
    """What the kernels of a tree call themselves where no tag tells others which they are."""
    named = {sha for sha, _ in report.names}
    return "" if named & {report.older, report.newer} else cut(report.release, 40)


def _newest(report: ReportInput) -> float | None:
    """How surely the newer end has it, where that was booted."""
    ends = [row for row in report.result.tested if row.sha == report.newer and row.boots]
    return ends[0].probability_bad if ends else None


_GATES = {
    GateName.REACHABILITY: Shows.FUNCTIONS,
    GateName.SAME_KERNEL: Shows.SAME_KERNEL,
    GateName.HANGS: Shows.HANGS,
    GateName.LOOP: Shows.LOOP,
}
_WITHOUT_RT = {
    Attributions.WITHOUT_RT_TOO.value,
    Attributions.WITHOUT_RT_SAME.value,
    Attributions.WITHOUT_RT_OPEN.value,
}


def proof(report: ReportInput) -> Iterator[Finding]:
    """Why it is this commit, what the reader of a table cannot see there."""
    judged = headline(report)
    if judged is not None and judged[0].two_sided and not has_share(judged[0].key, judged[0].base):
        yield effect(report, judged[0])
    if report.culprit is None:
        return
    yield from _of_builds(report)
    yield from _of_gates(report)
    for reason in report.result.reasons:
        if reason.kind in _WITHOUT_RT:
            yield Finding.of(Shows.WITHOUT_RT, why=reason)


def _of_builds(report: ReportInput) -> Iterator[Finding]:
    """What makes the difference, and what other builds say of that."""
    builds, difference = other_builds(report), report.result.difference
    if difference is not None:
        yield difference.why
        if difference.by is DiffersBy.CODE:
            # The reason above tells what other builds say.
            return
    if builds is not None and builds.check is CheckName.BUILDS and builds.judgement is not None:
        yield Finding.of(Shows.BUILDS, why=builds.note)
    elif builds is not None and builds.status is CheckStatus.PASS:
        yield Finding.of(Shows.LAYOUT)
    elif builds is not None and builds.status is CheckStatus.FAIL:
        yield Finding.of(Shows.LAYOUT_NOT)
    elif _linker(report):
        yield Finding.of(Shows.RELINKED)


def _of_gates(report: ReportInput) -> Iterator[Finding]:
    """What the gates that passed have found, beside the builds."""
    passed = {g.name: g for g in report.result.gates if g.status is GateStatus.PASS}
    for name, kind in _GATES.items():
        if name in passed:
            yield Finding.of(kind, why=_in_one_unit(report, passed[name].reason))
    for suite in every():
        if suite.failures and (gate := passed.get(still_right_name(suite.name))):
            yield Finding.of(Shows.RIGHT, gate=gate.name, why=gate.reason)


def _in_one_unit(report: ReportInput, why: Finding) -> Finding:
    """What luck makes of boots, in the unit that the mail tells their figure in."""
    found = headline(report)
    inner = why.data.get("why") if why.kind in (Gates.APART_ALIKE, Gates.NOT_APART) else None
    if isinstance(inner, Finding):
        return replace(why, data={**why.data, "why": _in_one_unit(report, inner)})
    told = why.kind in (Gates.LUCK, Gates.LUCK_OF_BUILDS)
    if not told or found is None or not found[0].two_sided:
        return why
    shown, factor = shown_in(report, found[0])
    data: dict[str, Any] = dict(why.data)
    for name in ("luck", "change"):
        shift = data[name].data if data[name].kind == Told.SHIFT else {}
        if shift.get("unit") == judged_unit(report, found[0]):
            data[name] = Finding.of(Told.SHIFT, difference=shift["difference"] * factor, unit=shown)
    return replace(why, data=data)


def effect(report: ReportInput, judgement: Judgement) -> Finding:
    """Ratio or difference of two sides that both have boots, with its interval and p."""
    limit = limit_of(report, judgement)
    test = test_name(limit, judgement)
    low, high = judgement.interval
    if limit is not None and limit.scale is Scale.LOG:
        return Finding.of(
            Shows.RATIO,
            ratio=judgement.effect,
            low=low,
            high=high,
            floor=floor_that_shows(judgement, limit),
            unit=judged_unit(report, judgement),
            test=test,
            p=judgement.p,
            figures=_corrected_for(report, judgement),
        )
    shown, factor = shown_in(report, judgement)
    return Finding.of(
        Shows.DIFFERENCE,
        difference=judgement.effect * factor,
        low=low * factor,
        high=high * factor,
        unit=shown,
        test=test,
        p=judgement.p,
        figures=_corrected_for(report, judgement),
    )


def _corrected_for(report: ReportInput, judgement: Judgement) -> int:
    """How many figures were judged together, for which p is corrected after Holm; 1: for none."""
    roles = {limit.key: limit.role for limit in report.thresholds}
    together = [j for j in report.result.judgements if roles.get(j.key) is Role.PRIMARY]
    return len(together) if judgement in together else 1


def on_and_off(report: ReportInput) -> bool:
    """Whether parent and commit were both measured with the workload and without."""
    both = {KernelRole.PARENT, KernelRole.CULPRIT}
    levels: dict[bool, set[KernelRole]] = {True: set(), False: set()}
    for row in report.result.table:
        if row.sample.values:
            levels[row.workload != "none"].add(row.kernel)
    return both <= levels[True] and both <= levels[False]


def differs_on_and_off(report: ReportInput) -> bool:
    """Whether the figure that the mail opens with surely differs both times."""
    return {level != "none" for level, _parent, _commit in _differing(report)} == {True, False}


def _differing(report: ReportInput) -> Iterator[tuple[str, Sample, Sample]]:
    """Those of `_pairs` of the figure that the mail opens with which surely differ."""
    found = headline(report)
    limit = threshold_of(report, found[0].key) if found else None
    if limit is None:
        return
    judged = limit.toward(report.sought)
    for level, parent, commit in _pairs(report, limit.key):
        if _surely_worse(judged, parent, commit):
            yield level, parent, commit


def _surely_worse(limit: Threshold, base: Sample, new: Sample) -> bool:
    """Not by numbers that cannot be compared: a report of elsewhere may have any."""
    try:
        return judge(limit, base, new).level is Level.REGRESSED
    except ValueError:
        return False


def _pairs(report: ReportInput, key: MetricKey) -> Iterator[tuple[str, Sample, Sample]]:
    """What runs in each window of a figure, and boots of parent and commit there."""
    rows: dict[tuple[str, str], dict[str, Sample]] = {}
    for row in report.result.table:
        same = (row.metric.suite, row.metric.name) == (key.suite, key.name)
        if same and row.sample.values:
            rows.setdefault((row.workload, row.window), {})[row.kernel] = row.sample
    for (level, _window), sides in rows.items():
        if KernelRole.PARENT in sides and KernelRole.CULPRIT in sides:
            yield level, sides[KernelRole.PARENT], sides[KernelRole.CULPRIT]


def is_kernels(report: ReportInput) -> bool:
    """Whether a mail may say that the kernel itself makes the difference."""
    checks = (check_of(report, CheckName.REVERT), other_builds(report))
    passed = all(check is not None and check.status is CheckStatus.PASS for check in checks)
    return report.result.cause is Cause.KERNEL and differs_on_and_off(report) and passed


def concerns(report: ReportInput) -> Iterator[Finding]:
    """What the workload has to do with it, and what a revert brings back."""
    workload = beside(report)
    loads = [row.workload for row in report.result.table if row.workload != "none"]
    named = workload or (loads[0] if loads else "")
    about = report.result.metric is not None and of_boots(report.result.metric)
    if report.result.cause is Cause.WORKLOAD_DEPENDENT and named:
        yield Finding.of(Concerns.ONLY_BESIDE, workload=named)
    elif report.result.cause is Cause.KERNEL and about and named and not on_and_off(report):
        yield Finding.of(Concerns.ABOUT, workload=named)
    elif report.result.cause is Cause.KERNEL and differs_on_and_off(report):
        yield from _elsewhere(report)
        if is_kernels(report):
            yield Finding.of(Concerns.KERNEL)
    elif report.result.cause is Cause.KERNEL and not workload:
        yield Finding.of(Concerns.NO_WORKLOAD)
    if report.synthetic_workload and named:
        yield _program(named)
    if report.sought is Sought.REPAIR:
        # Where the mail asks the stable series to pick the repair, it says so above.
        yield from () if asks_to_pick(report) else series(report)
    else:
        yield from brings_back(report)


def _elsewhere(report: ReportInput) -> Iterator[Finding]:
    """What parent and commit have of the figure of the first sentence at another level, of those
    where it differs.
    """
    found = headline(report)
    if found is None:
        return
    key, limit = found[0].key, threshold_of(report, found[0].key)
    for level, parent, commit in _differing(report):
        if level != (beside(report) or "none"):
            base, new = levels(key, limit, unit_of(report, key), (parent, commit))
            workload = "" if level == "none" else level
            yield Finding.of(Concerns.WITH_AND_WITHOUT, workload=workload, base=base, new=new)
            return


def _program(workload: str) -> Finding:
    if site := site_program(workload):
        return Finding.of(Concerns.OF_SITE, workload=site)
    program = workload.partition(":")[0]
    ours = {place.name for place in (data("lava-jobs") / "workloads").iterdir()}
    source = f"lava-jobs/workloads/{program}" if program in ours else ""
    return Finding.of(Concerns.OURS, workload=workload, source=source)


def brings_back(report: ReportInput) -> Iterator[Finding]:
    """What a revert brings back, by measurements and by the words of the commit."""
    for known in report.repaired[-_TOLD_REPAIRS:]:
        yield _repaired(report, known)
    # Measurements say more than the tags of a commit.
    tags = report.culprit.fixes if report.culprit and not report.repaired else ()
    for tag in tags[:_TOLD_REPAIRS]:
        yield Finding.of(Concerns.REPAIRS, tag=cut(tag, 100))


def _repaired(report: ReportInput, known: Repaired) -> Finding:
    limit, unit = repaired_by(report, known)
    without, with_it = levels(known.metric, limit, unit, (known.without, known.with_it))
    return Finding.of(
        Concerns.REPAIRED,
        suite=known.metric.suite,
        name=known.metric.name,
        part=known.figure,
        without=without,
        with_it=with_it,
        campaign=known.campaign,
    )


def untested(report: ReportInput) -> Iterator[Finding]:
    """What a reader would ask for next and was not tested."""
    revert = check_of(report, CheckName.REVERT)
    if report.sought is Sought.REGRESSION:
        if revert is None or revert.status is CheckStatus.ABSENT:
            yield Finding.of(Untested.REVERT, why=revert.note if revert else None)
        if not report.repaired and not (report.culprit and report.culprit.fixes):
            yield Finding.of(Untested.WHAT_IT_REPAIRS)
    elif not any(each.tested for each in report.series):
        yield Finding.of(Untested.SERIES)
    builds = other_builds(report)
    undecided = builds is None or builds.status in (CheckStatus.ABSENT, CheckStatus.UNDECIDED)
    if undecided and not _linker(report):
        yield Finding.of(Untested.LAYOUT)
    about = report.result.metric is not None and of_boots(report.result.metric)
    if not about and not on_and_off(report):
        yield Finding.of(Untested.WORKLOAD)
    asked = {g.name for g in report.result.gates if g.status is not GateStatus.ABSENT}
    if GateName.REACHABILITY not in asked:
        yield Finding.of(Untested.REACH)
    if GateName.SAME_KERNEL not in asked:
        yield Finding.of(Untested.SAME_KERNEL)
    if report.synthetic_workload:
        yield Finding.of(Untested.PRODUCTION)
    emulated = report.host.device.emulated
    yield Finding.of(Untested.HARDWARE if emulated else Untested.MACHINES)


def machine(report: ReportInput) -> Iterator[tuple[str, Finding]]:
    """Machine and kernel, a label and a line each."""
    device, profile = report.host
    yield (
        "machine",
        Finding.of(
            Machines.TOPOLOGY,
            sockets=device.sockets,
            cores=device.cores,
            threads=device.threads,
            smt="on" if report.host.smt else "off",
            memory_mib=device.memory_mib,
            cpus=profile.isolated,
            isolates=profile.isolates,
        ),
    )
    if report.hosts:
        hosts = tuple(
            Finding.of(Machines.HOST, name=host.name, boots=host.boots) for host in report.hosts
        )
        within = any(host.adds is not None for host in report.hosts)
        yield "hosts", Finding.of(Machines.HOSTS, hosts=hosts, within=within)
    yield "boot line", Finding.of(Machines.BOOT_LINE, line=_isolating(profile.line_on(device)))
    kernel = {"config": report.config_name, "compiler": _plain_compiler(report.compiler)}
    yield "kernel", Finding.of(Machines.KERNEL, release=report.release, **kernel)
    if linker := _linker(report):
        yield "linked", Finding.of(Machines.LINKED, linker=linker)


def _linker(report: ReportInput) -> str:
    """What linked each boot's kernel with a layout of its own; "" where all have one."""
    return Facts(dict(report.facts)).linker


def _plain_compiler(compiler: str) -> str:
    """Name and version, without what a distribution adds: `gcc (Debian 12.2.0-14) 12.2.0`."""
    return re.sub(r" ?\([^()]{0,200}\)", "", compiler)


#: Of a boot line, what a reader of a report on isolated CPUs asks for; all of it is on the page.
_ASKED_FOR = ("isolcpus=", "nohz_full=", "rcu_nocbs=", "irqaffinity=", "rcu_nocb_poll", "idle=",
              "intel_pstate=", "mitigations=", "nosmt", "processor.max_cstate=")  # fmt: skip


def _isolating(line: str) -> str:
    words = line.split()
    asked = [word for word in words if word.startswith(_ASKED_FOR)]
    return " ".join([*asked, *(["..."] if len(asked) < len(words) else [])]) or "none"
