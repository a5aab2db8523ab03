# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns that an older commit began and a kill ended, resumed by the program of today.

    .venv/bin/python tools/old_campaigns.py 3b0ef38 FOLDER --seed 5 --kind epoll-spinlock

clones the project at that commit into FOLDER and begins the real demo there, once to its end and
once for each kill: in a build, in a boot, in the proof. Each that was killed is then resumed by the
program beside this tool, and the one that nobody killed is gone through again (`replay_old.py`).
Exit code 0: all of them name the same commit.
It builds and boots real kernels: more than an hour on two cores. Each campaign has a state
directory of its own, so that none finds the builds of another, with the git history that the first
one made (git changes none of its files in place); LAVA is that of `make setup` (`--lava`).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from kill_demo import MOMENTS, SETTLE_S, BrokenResumeError, kill_at
from replay_old import replay
from rtbisect.config.paths import state_dir

ROOT = Path(__file__).resolve().parents[1]

#: What a command that clones or installs may take.
_PREPARE_S = 1800.0


def checkout(commit: str, folder: Path) -> Path:
    """The program of a commit, installed in an environment of its own; gives its `rtbisect`."""
    program = folder / "project/.venv/bin/rtbisect"
    if program.is_file():
        return program
    project = folder / "project"
    lock = f"requirements/python{sys.version_info.major}.{sys.version_info.minor}.lock"
    pip = [".venv/bin/pip", "install", "--quiet", "--disable-pip-version-check"]
    for argv, cwd in (
        (["git", "clone", "--quiet", "--no-checkout", "--", str(ROOT), str(project)], folder),
        (["git", "checkout", "--quiet", "--detach", commit], project),
        ([sys.executable, "-m", "venv", ".venv"], project),
        ([*pip, "--require-hashes", "-r", "requirements/build.lock"], project),
        ([*pip, "--no-build-isolation", "--require-hashes", "-r", lock], project),
        ([*pip, "--no-build-isolation", "--no-deps", "-e", "."], project),
    ):
        subprocess.run(argv, cwd=cwd, check=True, timeout=_PREPARE_S)
    return program


def state_of(folder: Path, name: str, lava: Path, like: Path | None = None) -> Path:
    """A new state directory with the LAVA of another one, and the demo's history of `like`."""
    state = folder / name
    state.mkdir(mode=0o700)
    (state / "lava").symlink_to(lava)
    if like is not None:
        shutil.copytree(like / "demo", state / "demo", copy_function=os.link)
    return state


def begin(program: Path, state: Path, words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [str(program), "--state", str(state), *words, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answer(process: subprocess.Popen[str]) -> dict[str, object]:
    out, said = process.communicate()
    try:
        found = json.loads(out)
    except ValueError as error:
        raise BrokenResumeError(f"no answer: {said.strip()[-300:]}") from error
    if "outcome" not in found:
        raise BrokenResumeError(str(found.get("error", found)))
    return {name: found[name] for name in ("outcome", "culprit", "correct")}


def compare(commit: str, folder: Path, lava: Path, demo: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    old = checkout(commit, folder)
    new = Path(sys.executable).with_name("rtbisect")
    first = state_of(folder, "whole", lava)
    whole = answer(begin(old, first, ["demo", *demo]))
    print(f"not killed, {commit}: {whole}", flush=True)
    again = replay(first)
    print("replayed by the program of today:", *again, sep="\n  ", flush=True)
    others = [] if again[0].startswith("same") else ["its replay"]
    for name, start, end, count, wait_s in MOMENTS:
        state = state_of(folder, name, lava, first)
        said = kill_at(begin(old, state, ["demo", *demo]), start, end, count, wait_s)
        print(f"{name}: killed after {said!r}", flush=True)
        time.sleep(SETTLE_S)
        found = answer(begin(new, state, ["resume"]))
        print(f"{name}: resumed by the program of today: {found}", flush=True)
        if found != whole:
            others.append(f"the kill in {name}")
    if others:
        raise BrokenResumeError(f"another answer of: {', '.join(others)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("commit")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", default="5")
    parser.add_argument("--kind", default="epoll-spinlock")
    parser.add_argument("--commits", default="64")
    parser.add_argument("--lava", type=Path, default=state_dir() / "lava")
    asked = parser.parse_args()
    words = ["--seed", asked.seed, "--kind", asked.kind, "--commits", asked.commits]
    try:
        compare(asked.commit, asked.folder.absolute(), asked.lava.absolute(), words)
    except (BrokenResumeError, OSError, subprocess.SubprocessError) as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
