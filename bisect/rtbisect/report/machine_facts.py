# SPDX-License-Identifier: GPL-2.0-or-later
"""The part of a mail that tells machine and kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.judge.scale import digits, unit_behind
from rtbisect.model.campaign import Scale
from rtbisect.report.text import ascii_line, foreign, wrap
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
