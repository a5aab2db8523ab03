# SPDX-License-Identifier: GPL-2.0-or-later
"""Kill a live demo with -9 in a build, in a boot and in a verification, and resume it each time.

    .venv/bin/python tools/kill_demo.py --seed 5 --kind epoll-spinlock

Exit code 0: the answer is the truth, every step that was finished before a kill is still there
as it was, no boot is counted twice, and no process of the campaign is left over.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import sqlalchemy as sa

from rtbisect.config.paths import state_dir
from rtbisect.model.lab import Run
from rtbisect.store import db
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import recorded

#: What a progress line says when the moment has come, how often, and seconds to wait in it.
MOMENTS = (
    ("build", "build ", "", 3, 3.0),
    ("boot", "", "(search)", 1, 6.0),
    ("verification", "", "(verify)", 3, 6.0),
)

#: Seconds in which QEMU notices that its terminal is gone.
SETTLE_S = 5.0


class BrokenResumeError(Exception):
    """What the resume did not keep."""


def rtbisect(state: Path, *words: str) -> subprocess.Popen[str]:
    program = Path(sys.executable).with_name("rtbisect")
    return subprocess.Popen(
        [str(program), "--state", str(state), *words, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_at(process: subprocess.Popen[str], begin: str, end: str, count: int, wait_s: float) -> str:
    """Kill when the progress has said it so often; gives the line that said it."""
    assert process.stderr is not None
    for line in process.stderr:
        text = line.strip()
        if text.startswith(begin) and end in text:
            count -= 1
        if count == 0:
            time.sleep(wait_s)
            process.send_signal(signal.SIGKILL)
            process.wait()
            return text
    raise BrokenResumeError(
        f"the campaign ended before {begin or end!r} was seen: pick another seed"
    )


def steps(state: Path, campaign: str, kind: str) -> dict[str, str | None]:
    """Key and value of all steps in a state, "finished" or "started"."""
    with CampaignStore(state).database.write() as connection:
        rows = connection.execute(
            sa.select(db.step.c.key, db.step.c.value).where(
                db.step.c.campaign == campaign, db.step.c.state == kind
            )
        ).all()
    return {row.key: row.value for row in rows}


def left_over(state: Path) -> list[str]:
    """Command lines of living processes, other than this one, that work in the state directory."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            place = str((entry / "cwd").readlink())
        except OSError:
            continue
        if f"{state}/" in words or place.startswith(f"{state}/"):
            found.append(f"{entry.name}: {words[:120]}")
    return found


def run(state: Path, demo: list[str]) -> None:
    process, campaign = rtbisect(state, "demo", *demo), ""
    kept: dict[str, str | None] = {}
    for name, begin, end, count, wait_s in MOMENTS:
        said = kill_at(process, begin, end, count, wait_s)
        campaign = campaign or CampaignStore(state).names()[-1]
        lost = [k for k, v in kept.items() if steps(state, campaign, "finished").get(k) != v]
        if lost:
            raise BrokenResumeError(f"lost or changed before the kill in the {name}: {lost}")
        kept = steps(state, campaign, "finished")
        started = ", ".join(steps(state, campaign, "started"))
        time.sleep(SETTLE_S)
        print(f"killed in a {name} after {said!r}: {len(kept)} steps are finished, open: {started}")
        print(f"  still alive before the resume: {len(left_over(state))} processes", flush=True)
        process = rtbisect(state, "resume", campaign)
    out, _ = process.communicate()
    answer = json.loads(out)
    now = steps(state, campaign, "finished")
    lost = [key for key, value in kept.items() if now.get(key) != value]
    if lost:
        raise BrokenResumeError(f"lost or changed at the end: {lost}")
    runs = [run.run_id for run in recorded(CampaignStore(state).database, campaign, Run)]
    if len(runs) != len(set(runs)) or len(runs) != answer["boots"]:
        raise BrokenResumeError(
            f"{len(runs)} boots, {len(set(runs))} different, {answer['boots']} counted"
        )
    print(json.dumps(answer, indent=2))
    if not answer["correct"]:
        raise BrokenResumeError("the answer is not the truth")
    time.sleep(SETTLE_S)
    if left_over(state):
        raise BrokenResumeError(f"still running: {left_over(state)}")
    print(f"passed: {len(runs)} boots, {len(now)} steps, nothing lost, doubled or left over")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--seed", default="5")
    parser.add_argument("--kind", default="epoll-spinlock")
    parser.add_argument("--commits", default="64")
    parser.add_argument("--state", type=Path)
    asked = parser.parse_args()
    words = ["--seed", asked.seed, "--kind", asked.kind, "--commits", asked.commits]
    try:
        run(state_dir(asked.state), words)
    except BrokenResumeError as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
