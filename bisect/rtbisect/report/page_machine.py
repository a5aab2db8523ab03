# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of a page on where and how figures were measured, on each boot, and on what it cost."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from rtbisect.judge.boots import Boots
from rtbisect.model.campaign import MetricKey
from rtbisect.report.averages import of_boot
from rtbisect.report.page_text import row, told
from rtbisect.report.text import number, short
from rtbisect.report.wording import words_of
from rtbisect.words.numbers import duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.lab import Run
    from rtbisect.model.report import ReportInput
    from rtbisect.report.page_tables import Rows


def machine(report: ReportInput) -> Rows:
    """Device, CPUs, boot line, kernel: field and value."""
    device, profile = report.host
    fields = (
        ("device", f"{device.name}{' (emulated)' if device.emulated else ''}"),
        ("model", device.cpu_model),
        ("sockets", str(device.sockets)),
        ("cores of a socket", str(device.cores)),
        ("threads of a core", str(device.threads)),
        ("SMT", "on" if report.host.smt else "off"),
        ("memory", f"{device.memory_mib} MiB"),
        ("isolated CPUs" if profile.isolates else "CPUs measured, not isolated", profile.isolated),
        ("housekeeping CPUs", profile.housekeeping),
        ("watched CPUs", profile.watch),
        ("profile", profile.name),
        ("boot line", profile.line_on(device)),
        ("configuration", report.config_name),
        ("its sha256", report.config_sha256),
        ("compiler", report.compiler),
        ("release", report.release),
    )
    return tuple(row(field) for field in fields)


def facts(report: ReportInput) -> Rows:
    """All that a boot told of its machine."""
    return tuple(row(pair) for pair in report.facts)


def hosts(report: ReportInput) -> Rows:
    """Host, boots, what it adds to the figure: a factor or a difference, as that is judged."""
    return tuple(
        row((host.name, str(host.boots), "" if host.adds is None else number(host.adds)))
        for host in report.hosts
    )


def cost(report: ReportInput) -> Rows:
    summary = report.summary
    return (
        ("builds", str(summary.builds)),
        ("boots", str(summary.boots)),
        ("revisions that did not build or boot", str(summary.skipped)),
        ("time of all sessions", duration(summary.wall_s)),
        ("time of builds", duration(summary.build_s)),
        ("time of boots", duration(summary.boot_s)),
    )


def boots(report: ReportInput, runs: Sequence[Run]) -> Rows:
    """Every boot in the order of the campaign: number, revision, what that is, figure, how the boot
    ended, why, host, seconds, name.
    """
    key = report.result.metric
    rows = []
    for count, run in enumerate(runs, 1):
        value = next((seen.value for seen in Boots((run,)).figure(key)), None) if key else None
        rows.append(
            row(
                (
                    str(count),
                    short(run.revision),
                    role(report, run.revision),
                    "" if value is None or key is None else of_boot(key, value) or number(value),
                    run.status,
                    told(report, run.reason) or run.signature,
                    run.device,
                    f"{run.seconds:.0f}",
                    run.run_id,
                )
            )
        )
    return tuple(rows)


def cpus(report: ReportInput, runs: Sequence[Run]) -> tuple[tuple[str, ...], Rows]:
    """Heads and rows of a table: CPU by revision in the order of the history, the median over
    boots; no rows where nothing tells of single CPUs.
    """
    by_sha: dict[str, dict[int, list[float]]] = {}
    for run in runs:
        for each in run.measurements:
            key = MetricKey(each.suite, each.name, each.window)
            if run.complete and key == report.result.metric and each.cpu is not None:
                of_cpu = by_sha.setdefault(run.revision, {})
                of_cpu.setdefault(each.cpu, []).append(each.value)
    places = {commit.sha: n for n, commit in enumerate(report.graph.commits, 1)}
    places[report.older] = 0
    shas = sorted(by_sha, key=lambda sha: places.get(sha, len(places)))
    names = sorted({cpu for of_cpu in by_sha.values() for cpu in of_cpu})
    heads = tuple(f"{short(sha)} {role(report, sha)}".rstrip() for sha in shas)
    rows = (
        (str(cpu), *(number(median(by_sha[s][cpu])) if cpu in by_sha[s] else "" for s in shas))
        for cpu in names
    )
    return heads, tuple(row(cells) for cells in rows)


def role(report: ReportInput, sha: str) -> str:
    """What a booted revision is to a reader, "" for one of many. What is no commit of the range was
    made for a proof: the tip without the culprit.
    """
    culprit = report.result.culprit
    if culprit and sha == culprit:
        return "culprit"
    if sha in report.graph.parents_of(culprit):
        return "parent"
    if sha in (report.older, report.newer):
        return f"{words_of(report).ends[sha != report.older]} end"
    return "" if any(each.sha == sha for each in report.graph.commits) else "revert"
