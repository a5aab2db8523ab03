# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect run` beside `git bisect run` on repositories with merges and a noisy command.

    .venv/bin/python tools/run_table.py --first 100 --count 20 --effect 1.5

Each seed makes a repository, draws the commit that makes the command slower by `--effect`
standard deviations of its noise, and asks both. git gets the middle of ten runs at each end as its
limit. Nobody is told the commit; the table looks it up at the end.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ENV = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Person 001",
    "GIT_AUTHOR_EMAIL": "person-001@example.org",
    "GIT_COMMITTER_NAME": "Person 001",
    "GIT_COMMITTER_EMAIL": "person-001@example.org",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
}
#: Slow is what holds the drawn line; every run has noise of its own and is counted.
COMMAND = """\
import os, pathlib, random, sys
runs = pathlib.Path({runs!r})
with runs.open("a") as log:
    log.write("x")
rng = random.Random("{seed}/%d" % runs.stat().st_size)
value = 10 + {effect!r} * ("slow" in pathlib.Path("state").read_text()) + rng.gauss(0, 1)
print("p50_us=%.4f" % value)
sys.exit(len(sys.argv) > 1 and value > float(sys.argv[1]))
"""
ROW = "{:>6} {:>8} | {:>9} {:>10} {:>5} {:>4} | {:>9} {:>4}"


@dataclass(frozen=True)
class Repository:
    path: Path
    good: str
    bad: str
    culprit: str
    commits: int


def git(repo: Path, *words: str, check: bool = True) -> str:
    done = subprocess.run(
        ["git", "-C", str(repo), *words], env=ENV, check=check, capture_output=True, text=True
    )
    return done.stdout.strip()


def repository(folder: Path, seed: str, size: int) -> Repository:
    """A main line with side branches; one commit writes `slow` into the file `state`."""
    rng = random.Random(seed)
    repo = folder / "repo"
    git(folder, "init", "-q", "-b", "main", str(repo))
    (repo / "state").write_text("fast\n")
    slow_at, made, culprit = rng.randint(2, size - 1), 0, ""

    def commit(branch: str) -> None:
        nonlocal made, culprit
        made += 1
        if made == slow_at:
            (repo / "state").write_text("slow\n")
        else:
            (repo / f"{branch}.{made}").write_text(f"{made}\n")
        git(repo, "add", "-A")
        git(repo, "commit", "-q", "-m", f"change {made}")
        if made == slow_at:
            culprit = git(repo, "rev-parse", "HEAD")

    commit("main")
    good = git(repo, "rev-parse", "HEAD")
    while made < size:
        if rng.random() < 0.25 and made + 8 < size:
            side = f"side{made}"
            git(repo, "checkout", "-q", "-b", side)
            for _ in range(rng.randint(1, 4)):
                commit(side)
            git(repo, "checkout", "-q", "main")
            # The main line goes on meanwhile: the branches are parallel.
            for _ in range(rng.randint(1, 3)):
                commit("main")
            git(repo, "merge", "-q", "--no-ff", "-m", f"merge {side}", side)
        else:
            commit("main")
    return Repository(repo, good, git(repo, "rev-parse", "HEAD"), culprit, made)


def ours(repo: Repository, folder: Path, script: Path, seed: int) -> dict[str, object]:
    program = Path(sys.executable).with_name("rtbisect")
    words = ["run", "--good", repo.good, "--bad", repo.bad, "--repo", str(repo.path), "--json"]
    done = subprocess.run(
        [
            str(program), "--state", str(folder / "state"), *words, "--seed", str(seed % 2**31),
            "--metric", "p50_us", "--", sys.executable, str(script),
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    found: dict[str, object] = json.loads(done.stdout)
    return found


def theirs(repo: Repository, script: Path) -> str:
    ends = []
    for end in (repo.good, repo.bad):
        git(repo.path, "checkout", "-q", end)
        values = [
            subprocess.run(
                [sys.executable, str(script)],
                cwd=repo.path, capture_output=True, text=True, check=True,
            ).stdout.partition("=")[2]
            for _ in range(10)
        ]  # fmt: skip
        ends.append(statistics.median(float(value) for value in values))
    limit = str(sum(ends) / 2)
    git(repo.path, "bisect", "start", repo.bad, repo.good)
    said = git(repo.path, "bisect", "run", sys.executable, str(script), limit, check=False)
    names = [line.split()[0] for line in said.splitlines() if "is the first bad commit" in line]
    return names[0] if names else ""


def row(seed: int, effect: float, size: int) -> tuple[bool, bool]:
    with tempfile.TemporaryDirectory(prefix="rtbisect-run-") as name:
        folder = Path(name)
        repo = repository(folder, str(seed), size)
        counts = {}
        for who in ("ours", "git"):
            runs = folder / f"{who}.runs"
            text = COMMAND.format(runs=str(runs), seed=f"{seed}/{who}", effect=effect)
            (folder / f"{who}.py").write_text(text)
            counts[who] = runs
        answer = ours(repo, folder, folder / "ours.py", seed)
        found = theirs(repo, folder / "git.py")
        right = answer.get("culprit") == repo.culprit
        theirs_right = found == repo.culprit
        print(ROW.format(
            seed, repo.commits, "right" if right else "wrong", str(answer.get("outcome"))[:10],
            str(answer.get("confidence"))[:5], counts["ours"].stat().st_size,
            "right" if theirs_right else "wrong", counts["git"].stat().st_size,
        ), flush=True)  # fmt: skip
        return right, theirs_right


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--effect", type=float, default=1.5)
    parser.add_argument("--size", type=int, default=120)
    asked = parser.parse_args()
    heads = ("seed", "commits", "rtbisect", "outcome", "sure", "runs", "git", "runs")
    print(ROW.format(*heads))
    seeds = range(asked.first, asked.first + asked.count)
    rows = [row(seed, asked.effect, asked.size) for seed in seeds]
    print(
        f"right: rtbisect {sum(r[0] for r in rows)}, git {sum(r[1] for r in rows)} of {len(rows)}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
