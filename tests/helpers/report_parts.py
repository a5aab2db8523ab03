# SPDX-License-Identifier: GPL-2.0-or-later
"""What reports of tests are made of: machines, figures, thresholds, boots."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from rtbisect.judge.verdict import judge
from rtbisect.model.campaign import Better, MetricKey, Role, Sample, Scale, Statistic, Threshold
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.model.finding import as_said
from rtbisect.model.lab import DeviceType, HostProfile
from rtbisect.model.result import CheckName, CheckStatus, KernelRole, TableRow, Verification
from rtbisect.report.draft import ReportSettings
from rtbisect.report.letter import Bot

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "reports"
GOLDEN = ROOT / "tests" / "golden" / "mails"
OPERATOR = "Olga Operator <olga@lab.example.org>"
BOT = Bot("rtbisect", "rtbisect@lab.example.org", "https://lists.example.org/r/")


def settings(out_dir, **changes):
    return replace(
        ReportSettings(out_dir=out_dir, templates=TEMPLATES, operator=OPERATOR, bot=BOT),
        **changes,
    )


def sha(number):
    return hashlib.sha1(str(number).encode()).hexdigest()


def vs_parent(parent, status, judgement=None, note="", **more):
    """The check of a culprit against one of its parents."""
    return Verification(
        check=CheckName.PARENT,
        status=CheckStatus(status),
        judgement=judgement,
        note=as_said(note),
        parent=parent,
        **more,
    )


def history(count, subjects=()):
    """A straight line good = sha(1), then sha(2) .. sha(count + 1)."""
    named = dict(subjects)
    return CommitGraph(
        older=sha(1),
        newer=sha(count + 1),
        commits=tuple(
            Commit(sha(i), (sha(i - 1),), named.get(sha(i), f"commit {i}"))
            for i in range(2, count + 2)
        ),
    )


QEMU = DeviceType(
    name="qemu-smt",
    template="qemu-smt.jinja2",
    sockets=1,
    cores=4,
    threads=2,
    memory_mib=1024,
    emulated=True,
    cpu_model="qemu64",
)
BOARD = replace(
    QEMU, name="board-smt", emulated=False, cpu_model="Example Xeon 6338", memory_mib=65536
)
PROFILE = HostProfile(
    name="tuned",
    housekeeping="0-1",
    isolated="2-7",
    watch="2-4",
    boot_line="console=ttyS0 panic=0 noirqdebug isolcpus=managed_irq,domain,2-7 nohz_full=2-7 "
    "rcu_nocbs=2-7 irqaffinity=0-1 rcu_nocb_poll",
)
RES_ON = MetricKey("ipi", "res_per_s", "clock-on")
RES_OFF = MetricKey("ipi", "res_per_s", "osnoise-off")
RCU = MetricKey("rcu", "p50_us", "rcu-off")
RCU_ON = MetricKey("rcu", "p50_us", "rcu-on")
RES_LIMIT = Threshold(
    key=RES_ON,
    unit="1/s",
    better=Better.LOWER,
    scale=Scale.LOG,
    statistic=Statistic.MEDIAN,
    min_effect=1.5,
    limit=None,
    floor=0.5,
    role=Role.PRIMARY,
    control=RES_OFF,
    reason="reschedule IPIs wake what should sleep",
    title="rescheduling interrupts a second, mean of the watched CPUs, row RES of /proc/interrupts",
)
RES_OFF_LIMIT = replace(RES_LIMIT, key=RES_OFF, role=Role.GUARD, limit=10.0, control=None)
RCU_LIMIT = replace(
    RES_LIMIT, key=RCU, unit="us", scale=Scale.LINEAR, min_effect=800.0, floor=0.0,
    control=None,
    title="median duration of synchronize_rcu() over the calls of a boot",
)  # fmt: skip


QUIET = Sample((7.8, 9.4, 3.3, 13.1, 8.2, 8.9, 6.1, 10.4))
LOUD = Sample((50.7, 69.0, 40.7, 82.6, 58.3, 61.2, 66.0, 47.9))
IDLE = Sample((1.0, 1.2, 1.5, 1.1, 1.0, 1.3, 1.2, 1.4))
IDLE_TOO = Sample((1.1, 1.0, 1.4, 1.2, 1.3, 1.1, 1.5, 1.0))
#: The good and the bad end.
QUIET_ENDS = Sample((8.5, 7.0, 10.9, 6.6, 9.3, 8.1, 7.7, 9.8))
LOUD_ENDS = Sample((52.4, 60.8, 45.5, 67.7, 57.2, 73.9, 49.6, 63.1))
#: The reverted tip and the tip: other boots than those of the parent and the commit.
QUIET_TIP = Sample((9.1, 5.2, 8.0, 11.6, 7.3, 8.4, 9.9, 6.7))
LOUD_TIP = Sample((62.3, 48.8, 71.4, 55.1, 64.9, 43.2, 59.6, 77.5))
IDLE_TIP = Sample((1.3, 1.1, 1.0, 1.6, 1.2, 1.3, 1.1, 1.4))
#: Both once more without PREEMPT_RT.
QUIET_NO_RT = Sample((6.2, 8.8, 7.1, 9.7, 8.3, 5.9, 10.2, 7.6))
QUIET_NO_RT_TOO = Sample((8.6, 6.5, 9.2, 7.4, 10.8, 7.9, 5.6, 8.1))
IDLE_NO_RT = Sample((1.1, 1.3, 1.0, 1.2, 1.7, 1.1, 1.2, 1.5))
IDLE_NO_RT_TOO = Sample((1.2, 1.6, 1.1, 1.0, 1.3, 1.8, 1.2, 1.1))
#: Grace periods begin and end on ticks of 1000 us. Parent and commit; then the ends, the two with
#: another code layout, and the two beside a workload.
SHORT = Sample((6031.0, 6012.0, 6055.0, 6024.0, 6041.0, 6018.0, 6073.0, 6027.0))
LONG = Sample((9002.0, 8998.0, 9011.0, 9004.0, 9035.0, 8997.0, 9007.0, 9018.0))
SHORT_ENDS = Sample((6022.0, 6038.0, 6015.0, 6066.0, 6029.0, 6011.0, 6047.0, 6034.0))
LONG_ENDS = Sample((9003.0, 9024.0, 8999.0, 9009.0, 9041.0, 9005.0, 9013.0, 8996.0))
SHORT_LAYOUT = Sample((6019.0, 6044.0, 6026.0, 6008.0, 6061.0, 6033.0, 6025.0, 6016.0))
LONG_LAYOUT = Sample((9006.0, 8998.0, 9015.0, 9002.0, 9029.0, 9010.0, 9000.0, 9021.0))
SHORT_ON = Sample((6110.0, 6200.0, 6050.0, 6310.0, 6090.0, 6150.0, 6120.0, 6180.0))
LONG_ON = Sample((9100.0, 9140.0, 9070.0, 9110.0, 9200.0, 9120.0, 9090.0, 9150.0))


def judged(limit, base, new):
    """As the program judges these boots."""
    return judge(limit, base, new)


def row(kernel, workload, metric, unit, sample):
    return TableRow(
        kernel=KernelRole(kernel),
        window=metric.window,
        workload=workload,
        metric=metric,
        unit=unit,
        sample=sample,
    )


def on_board(report):
    """The same on a real machine, beside somebody's production load."""
    return replace(report, device=BOARD, synthetic_workload=False)
