# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the minutes of campaigns went: builds, boots, overhead, our own CPU.

    make bench-road                               figures of the campaigns in the store
    make bench-road ARGS="--run --seed 1 --seed 2"  run those demos first

Figures come from the journal and the kept logs. Ratios are gates, seconds are goals: a busy
host changes the latter.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa

from rtbisect.config.paths import state_dir
from rtbisect.errors import RtbisectError
from rtbisect.model.code import Build
from rtbisect.model.lab import Run
from rtbisect.store import db
from rtbisect.store.artefacts import ArtefactStore
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import recorded, summary_of

#: Goals of the road; the two marked as gates are ratios.
BOOT_OVERHEAD_S = 5.0
INCREMENTAL_SHARE = 0.1
OWN_CPU_SHARE = 0.03


def guest_s(log: bytes) -> float | None:
    """Seconds from the device's first word to its last one, from LAVA's time stamps."""
    stamps = []
    for line in log.decode("utf-8", "replace").splitlines():
        if '"lvl": "target"' in line:
            text = line.split('"dt": "', 1)[-1].split('"', 1)[0]
            stamps.append(datetime.fromisoformat(text))
    if len(stamps) < 2:
        return None
    return (stamps[-1] - stamps[0]).total_seconds()


def overheads(store: CampaignStore, runs: list[Run]) -> list[float]:
    """Wall seconds of a job beside its guest, for every complete run whose log is kept."""
    artefacts = ArtefactStore(store.state / "artefacts")
    found = []
    for run in runs:
        if not run.complete or not run.log:
            continue
        try:
            inside = guest_s(gzip.decompress(artefacts.path(run.log).read_bytes()))
        except RtbisectError:
            continue
        if inside is not None:
            found.append(run.seconds - inside)
    return found


def own_cpu_s(store: CampaignStore, campaign: str) -> float:
    with store.database.write() as connection:
        rows = connection.execute(
            sa.select(db.session.c.own_cpu_s).where(db.session.c.campaign == campaign)
        ).scalars()
        return sum(rows)


def middle(numbers: list[float]) -> str:
    if not numbers:
        return "-"
    return f"{statistics.median(numbers):.1f} [{min(numbers):.1f}..{max(numbers):.1f}]"


def figures(store: CampaignStore, campaign: str) -> None:
    """Print the figures of one campaign."""
    made = [b for b in recorded(store.database, campaign, Build) if b.ok and not b.reused]
    runs = recorded(store.database, campaign, Run)
    summary = summary_of(store.database, campaign)
    wall = max(summary.wall_s, 1e-9)
    seconds = [b.seconds for b in made]
    beside = overheads(store, runs)
    share = own_cpu_s(store, campaign) / wall
    print(
        f"{campaign}: {wall / 60:.1f} min: builds {summary.build_s / 60:.1f}, boots "
        f"{summary.boot_s / 60:.1f}, other {(wall - summary.build_s - summary.boot_s) / 60:.1f}"
    )
    print(f"  builds {summary.builds}, boots {summary.boots}, skipped {summary.skipped}")
    print(f"  build s           {middle(seconds)}")
    if len(seconds) > 1:
        ratio = statistics.median(sorted(seconds)[:-1]) / max(seconds)
        print(f"  incremental/first {ratio:.3f} (goal {INCREMENTAL_SHARE} of a cold build)")
    print(f"  boot s            {middle([r.seconds for r in runs if r.complete])}")
    print(f"  its windows s     {middle([sum(r.window_s) for r in runs if r.window_s])}")
    print(f"  job overhead s    {middle(beside)} (goal {BOOT_OVERHEAD_S:.0f})")
    print(f"  own CPU share     {share:.3%} (goal {OWN_CPU_SHARE:.0%})")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--run", action="store_true", help="run the demos of --seed first")
    parser.add_argument("--seed", type=int, action="append", default=[])
    parser.add_argument("--commits", type=int, default=64)
    parser.add_argument("--state", type=Path)
    asked = parser.parse_args()
    state = state_dir(asked.state)
    wanted: list[str] = []
    for seed in asked.seed if asked.run else []:
        argv = [
            str(Path(sys.executable).with_name("rtbisect")), "--state", str(state), "demo",
            "--seed", str(seed), "--commits", str(asked.commits), "--json",
        ]  # fmt: skip
        done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False)
        answer = json.loads(done.stdout)
        wanted.append(answer["campaign"])
        print(
            f"seed {seed}: exit {done.returncode}, {answer['outcome']}, correct {answer['correct']}"
        )
    store = CampaignStore(state)
    unfinished = store.unfinished()
    for name in wanted or store.names():
        if name not in unfinished:
            figures(store, name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
