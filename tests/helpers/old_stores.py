# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns on the fakes as older programs kept them: what `tests/data/stores/` was made with.

    PYTHONPATH=tests:bisect python -m helpers.old_stores FOLDER SCHEMA

writes those of the program beside it; `tests/data/stores/README.md` names commits of older ones.
Everything that enters a fingerprint stands here, so that a change of thresholds/ or lava-jobs/
leaves it alone.
"""

import sqlite3
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from helpers.campaigns import World, boots, line_of, sha, with_kernel
from rtbisect.campaign.fingerprint import keep_setup
from rtbisect.lab.fake import FakeLab
from rtbisect.model.campaign import (
    Better,
    CampaignRequest,
    Limits,
    MetricKey,
    Role,
    Scale,
    Sought,
    Statistic,
    Threshold,
)
from rtbisect.model.code import BuildRequest
from rtbisect.model.lab import DeviceType, HostProfile, Window
from rtbisect.pipeline import bisect

COMMITS, CULPRIT = 12, sha(8)

IPI = Threshold(
    key=MetricKey("ipi", "res_per_s", "pf-on"),
    unit="1/s",
    better=Better.LOWER,
    scale=Scale.LOG,
    statistic=Statistic.MEDIAN,
    min_effect=1.5,
    limit=None,
    floor=0.5,
    role=Role.PRIMARY,
    control=MetricKey("ipi", "res_per_s", "pf-off"),
    reason='what a reader\'s "quiet" means',
)
RCU = Threshold(
    key=MetricKey("rcu", "p50_us", "rcu-off"),
    unit="us",
    better=Better.HIGHER,
    scale=Scale.LINEAR,
    statistic=Statistic.COUNT,
    min_effect=0.1,
    limit=12000.0,
    floor=0.0,
    role=Role.GUARD,
    control=None,
    reason="",
    exposure=MetricKey("rcu", "s", "rcu-off"),
    title="the middle of a call",
)

#: Every type that a fingerprint has, each with every kind of value that it may hold.
KERNEL = {
    "build": BuildRequest(
        revision="", config_name="tinyconfig+rt", base="tinyconfig",
        fragments=("CONFIG_X=y\n# it's one\n", 'CONFIG_Y="é"\n'),
        modules=(("Kbuild", "obj-m := a.o\n"),),
    ),
    "device": DeviceType(name="qemu-smt", template="qemu-smt", sockets=1, cores=4, threads=2,
    memory_mib=1024, emulated=True, cpu_model="max"),
    "profile": HostProfile(name="tuned", housekeeping="0-1", isolated="2-7", watch="2-7",
    boot_line="isolcpus=2-7 console=ttyS0"),
    "windows": (
        Window(name="pf-on", suites=("ipi",), workload="page-faults/4", synthetic=True,
        nominal_events_per_s=1e3),
        Window(name="pf-off", suites=("ipi", "rcu")),
    ),
    "explaining": (Window(name="why-pf-on", suites=("senders",), explains="pf-on", asked=True,
    least_s=2.5),),
    "window_ms": 1000,
    "rcu_calls": 100,
}  # fmt: skip
CHANGES = {"thresholds": (IPI, RCU), "limits": Limits(max_boots=120, layout_below=0.0)}


class Killed(BaseException):
    """Stands for SIGKILL: nothing in the program may catch it."""


@dataclass
class OldWorld(World):
    """A world whose set-up depends on nothing that may change with the checkout."""

    def open(self, heard=lambda _what: None):
        setup, parts = with_kernel(*super().open(heard), **KERNEL)
        return replace(setup, **CHANGES), parts


def world(state):
    graph = line_of(COMMITS)
    request = CampaignRequest(
        kind="bisect", site="s", tree="t", older=graph.older, newer=graph.newer, suite="ipi", seed=3
    )
    return OldWorld(state, graph, FakeLab(boots(8)), request=request)


def repair(state):
    """The same range, where commit 8 repairs what was bad before."""
    here = world(state)
    here.request = replace(here.request, sought=Sought.REPAIR)
    here.lab = FakeLab(boots(0, until=8))
    return here


def go(here, killed_in="", count=0):
    """Run a campaign to its end, or up to its so-manieth step whose key begins so."""
    seen = [0]

    def heard(what):
        if what == "started" and killed_in:
            with here.store.database.write() as connection:
                key = connection.exec_driver_sql(
                    "SELECT key FROM step WHERE state = 'started'"
                ).scalar()
            seen[0] += str(key).startswith(killed_in)
            if seen[0] == count:
                raise Killed

    setup, parts = here.open(heard)
    setup = keep_setup(setup, parts.journal)
    return bisect.bisect(setup, parts)


#: Name of a recorded store, and where its campaign was killed.
STORES = {"build": ("build/", 4), "boot": ("run/", 14), "proof": ("run/", 22)}


def main():
    folder, version = Path(sys.argv[1]), sys.argv[2]
    for name, (killed_in, count) in STORES.items():
        with TemporaryDirectory() as state:
            here = world(Path(state))
            try:
                go(here, killed_in, count)
            except Killed:
                pass
            else:
                raise SystemExit(f"{name}: the campaign ended before it was killed")
            with sqlite3.connect(Path(state) / "rtbisect.sqlite3") as database:
                text = "\n".join(database.iterdump()) + "\n"
            (folder / f"schema-{version}-{name}.sql").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
