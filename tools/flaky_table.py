# SPDX-License-Identifier: GPL-2.0-or-later
"""The flaky example of docs/run.md, by three tools: how often each names the right commit, and in
how many runs.

    .venv/bin/pip install git-bayesect==1.2
    .venv/bin/python tools/flaky_table.py --count 20

BAYESECT is its path where it is installed elsewhere.

The repository is made anew for each search, by the lines of the page. `git bisect run` takes the
exit code of one run of test.sh, or calls a revision bad where five or more of ten runs fail;
git-bayesect takes the same exit codes, and `rtbisect run` once these and once the number that
bench.sh prints. Nobody is told the commit.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/run.md"
#: Counts each run, beside the repository.
COUNTED = "sh", "-c", 'echo >>../runs; exec "$0" "$@"'
TEN = """fails=0
for i in 1 2 3 4 5 6 7 8 9 10; do echo >>../runs; ./test.sh || fails=$((fails + 1)); done
[ $fails -lt 5 ]"""
ARMS = ("git-1", "git-10", "bayesect", "run-pass-fail", "run-number")
ROW = "{:>14} {:>6} {:>6} {:>6} {:>12}"


def page_lines(page: Path = PAGE) -> str:
    """The lines of the page that make its repository: its first block for a shell."""
    block = re.search(r"(?ms)^```sh\n(.*?)^```$", page.read_text(encoding="utf-8"))
    if block is None:
        raise SystemExit(f"{page} has no block of sh")
    return block[1]


def repository(folder: Path) -> Path:
    subprocess.run(["bash", "-ec", page_lines()], cwd=folder, check=True)
    return folder / "noisy"


def said(repo: Path, *words: str) -> str:
    done = subprocess.run(
        words, cwd=repo, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False
    )
    return done.stdout.strip()


def ask(arm: str, repo: Path) -> tuple[str, int]:
    """The commit that an arm names ("" where it names none), and its runs of the test."""
    if arm.startswith("run-"):
        return ours(arm, repo)
    if arm == "bayesect":
        program = os.environ.get("BAYESECT") or str(Path(sys.executable).with_name("git-bayesect"))
        said(repo, program, "start", "--old", "HEAD~39")
        told = said(repo, program, "run", *COUNTED, "./test.sh")
        found = re.search(r"converged to ([0-9a-f]+)", told)
    else:
        said(repo, "git", "bisect", "start", "HEAD", "HEAD~39")
        test = (*COUNTED, "./test.sh") if arm == "git-1" else ("sh", "-c", TEN)
        told = said(repo, "git", "bisect", "run", *test)
        found = re.search(r"^([0-9a-f]{40}) is the first bad commit", told, re.MULTILINE)
    named = said(repo, "git", "rev-parse", found[1]) if found else ""
    return named, (repo.parent / "runs").read_text().count("\n")


def ours(arm: str, repo: Path) -> tuple[str, int]:
    program = str(Path(sys.executable).with_name("rtbisect"))
    measured = (
        ("--pass-fail", "--", "./test.sh")
        if arm == "run-pass-fail"
        else ("--metric", "p99_us", "--", "./bench.sh")
    )
    ends = ("--good", "HEAD~39", "--bad", "HEAD", "--json")
    told = said(repo, program, "--state", str(repo.parent / "state"), "run", *ends, *measured)
    answer = json.loads(told)
    return str(answer["culprit"] or ""), int(answer["runs"])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--arms", default=",".join(ARMS))
    asked = parser.parse_args()
    os.environ |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    print(ROW.format("", "right", "wrong", "none", "median runs"))
    for arm in asked.arms.split(","):
        right = wrong = 0
        runs = []
        for _ in range(asked.count):
            with tempfile.TemporaryDirectory(prefix="rtbisect-flaky-") as name:
                repo = repository(Path(name))
                truth = said(repo, "git", "log", "--format=%H", "--grep=^change 24$")
                found, taken = ask(arm, repo)
                right += found == truth
                wrong += found not in ("", truth)
                runs.append(taken)
        median = statistics.median_high(runs)
        print(ROW.format(arm, right, wrong, asked.count - right - wrong, median), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
