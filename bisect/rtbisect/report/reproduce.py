# SPDX-License-Identifier: GPL-2.0-or-later
"""What it takes to see the same as a mail: machine and kernel, and the lines that somebody runs."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rtbisect.judge.scale import digits, unit_behind
from rtbisect.model.campaign import Scale
from rtbisect.report.text import TABLE, ascii_line, cut, foreign, short, wrap
from rtbisect.suites.base import find

if TYPE_CHECKING:
    from rtbisect.model.report import ReportInput

#: Facts of the guest that a reader asks for first; the others are in result.json.
TOLD_FACTS = (
    "uname_r",
    "smt_active",
    "online",
    "nohz_full",
    "rcu_nocbs",
    "clocksource",
    "microcode",
    "governor",
    "no_turbo",
    "hz",
    "tainted",
)


def machine_rows(report: ReportInput, *, facts: bool) -> tuple[str, ...]:
    """Machine and kernel, a field a row; with `facts` also what the guest told."""
    device, profile = report.host
    smt = "SMT on" if device.threads > 1 and profile.smt else "SMT off"
    kind = f"{ascii_line(device.name, 40)}{' (emulated)' if device.emulated else ''}"
    model = f", {ascii_line(device.cpu_model, 50)}" if device.cpu_model else ""
    known = dict(report.facts)
    metric = report.result.metric
    keys = TOLD_FACTS + (find(metric.suite).facts if metric is not None else ())
    guest_facts = [f"{key}={ascii_line(known[key], 40)}" for key in keys if known.get(key)]
    fields = [
        _field("device", f"{kind}{model}"),
        *_hosts(report),
        _field(
            "topology",
            f"{device.sockets} x {device.cores} x {device.threads} (sockets, cores, threads), "
            f"{smt}, {device.memory_mib} MiB",
        ),
        _field(
            "CPUs",
            f"{'isolated' if profile.isolates else 'not isolated'} "
            f"{ascii_line(profile.isolated, 60)}; "
            f"housekeeping {ascii_line(profile.housekeeping, 60)}; "
            f"watched {ascii_line(profile.watch, 60)}; profile {ascii_line(profile.name, 30)}",
        ),
        _field("boot line", ascii_line(profile.line_on(device), 400), lines=5),
        _field("config", ascii_line(report.config_name, 50)),
        f"  sha256 {ascii_line(report.config_sha256, 64)}",
        _field("compiler", ascii_line(report.compiler, 120)),
        _field("release", ascii_line(report.release, 60)),
    ]
    if facts and guest_facts:
        fields.append(_field("in the guest", ", ".join(guest_facts), lines=4))
    return tuple(fields)


def _hosts(report: ReportInput) -> tuple[str, ...]:
    """Where the boots ran, and what each host adds to the figure; nothing for one host."""
    if not report.hosts:
        return ()
    entries = []
    for host in report.hosts:
        words = f"{ascii_line(host.name, 30)}: {host.boots} boots"
        if host.adds is not None:
            words += f", {_adds(report, host.adds)}"
        entries.append(words)
    parts = any(host.adds is not None for host in report.hosts)
    comparison = ". Compared within hosts" if parts else ". Not told apart from the kernels"
    return (_field("hosts", f"{'; '.join(entries)}{comparison}", lines=4),)


def _adds(report: ReportInput, adds: float) -> str:
    limit = next(t for t in report.thresholds if t.key == report.result.metric)
    if limit.scale is Scale.LOG:
        return f"{100 * (adds - 1):+.1f}%"
    return f"{digits(adds, '+')}{unit_behind(limit)}"


def _field(name: str, value: str, lines: int = 3) -> str:
    """`name  value`, wrapped with a hanging indent; at most `lines` lines."""
    text = wrap(foreign(value, 500) or "not known", first=f"  {name:<13}", rest=" " * 15)
    wrapped = text.split("\n")
    if len(wrapped) > lines:
        wrapped = [*wrapped[: lines - 1], f"{wrapped[lines - 1][:68]} ..."]
    return "\n".join(wrapped)


def reproduce(report: ReportInput) -> tuple[str, ...]:
    """Shell lines; a long one is continued with a backslash, never wrapped."""
    commit = report.culprit.sha if report.culprit else report.newer
    return (
        cut(f"  # in a clone of {_source(report)}", TABLE),
        f"  git checkout {ascii_line(shlex.quote(commit), 60)}",
        "  # or all of it, in a lab with a site file of its own",
        *_continued(foreign(report.command, 500)),
    )


def boots_alone(report: ReportInput) -> tuple[str, ...]:
    """How somebody without our lab boots the commit and its parent, from the published data."""
    if report.culprit is None:
        return ()
    sha = report.culprit.sha
    kernels = [short(each) for each in (*report.graph.parents_of(sha)[:1], sha)]
    return (
        cut(f"  # or one boot of each kernel in QEMU, in the data of {report.campaign}", TABLE),
        *(f"  sh boot.sh {each} > {each}.log" for each in kernels),
        *(f"  rtbisect figures . {each}.log" for each in kernels),
    )


def _source(report: ReportInput) -> str:
    """Where a reader clones the tree. A path is of no use to others, and tells of this machine."""
    if report.repo.startswith(("/", "file:")):
        return f"{foreign(report.tree, 40)} (here from a local copy)"
    return foreign(report.repo, 200)


def _continued(command: str) -> tuple[str, ...]:
    """A command over several lines, broken between words only, before options if it can."""
    lines, current = [], ""
    for group in _groups(command):
        joined = " ".join(group)
        for part in [joined] if len(joined) <= 66 else group:
            if current and len(current) + len(part) > 66:
                lines.append(current)
                current = part
            else:
                current = f"{current} {part}".strip()
    lines.append(current)
    ends = [f"{cut(line, 67)} \\" for line in lines[:-1]] + [cut(lines[-1], 70)]
    return tuple(f"  {line}" if i == 0 else f"      {line}" for i, line in enumerate(ends))


def _groups(command: str) -> list[list[str]]:
    """Words of a command line, an option together with its values."""
    try:
        words = [shlex.quote(word) for word in shlex.split(command)]
    except ValueError:
        words = command.split()
    groups: list[list[str]] = []
    for word in words:
        if word.startswith("--") or not groups:
            groups.append([word])
        else:
            groups[-1].append(word)
    return groups
