# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect run` beside `git bisect run` and git-bayesect in histories of public projects whose
regressions somebody has published.

    tools/bench_real.py                                     the table of the kept rows
    tools/bench_real.py --plot docs/histories.svg           their picture
    tools/bench_real.py --clones DIR --history jsonschema-refs --measure v4.17.3 v4.18.0
    tools/bench_real.py --clones DIR --history jsonschema-refs --arms run git-1 git-5

tools/data/real/histories.json lists the ranges and which commits are the truth; rows that are
measured are appended to tools/data/real/rows.jsonl, and an arm or a revision that has its row is
not asked again. DIR holds a clone of each project, by the last part of its address. A figure is
one of tools/real_figures.py, run by --python, which has what `needs` names installed, and
git-bayesect==1.2 for the arm bayesect. Where a program has to be built, --build CMD does it, once
a revision; the arm count searches by its instructions, -product takes revisions with the same
program for one, and the arm relayout runs it with --relayout, for which CMD has to link by
RTBISECT_LAYOUT_SEED. No arm is told the truth; git and git-bayesect get the middle between ten runs
of each end as their limit.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import real_figures
import real_picture
from licensed_svg import licensed_svg
from rtbisect.errors import Exit
from rtbisect.judge.stats import fisher_p, median_interval
from rtbisect.program.counter import Counting, counter_here

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tools/data/real"
FIGURES = ROOT / "tools/real_figures.py"
ARMS = ("run", "product", "relayout", "count", "count-product", "git-1", "git-5", "bayesect")
#: Those that ask `rtbisect run`.
OURS = ARMS[:5]
PICTURE = ROOT / "docs/histories.svg"
ENDS_RUNS = 10
SKIP = 125
#: An outcome of `rtbisect run` that says that nothing changed.
NOTHING = ("no_regression", "not_reproduced")
#: Fails where the middle of `runs` runs is above the limit; counts each in a file.
VOTE = """\
import atexit, statistics, subprocess, sys
build, words, runs, limit, counted = {build!r}, {words!r}, {runs!r}, {limit!r}, {counted!r}
if build:
    subprocess.run(["git", "clean", "-qfdx"], check=True)
    # A build may change tracked files, over which git checks out nothing.
    atexit.register(subprocess.run, ["git", "checkout", "-q", "-f", "HEAD"])
    if subprocess.run(build).returncode:
        sys.exit(125)
values = []
for _ in range(runs):
    with open(counted, "a") as log:
        log.write("x")
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode not in {judged!r}:
        sys.exit(done.returncode)
    values.append(float(done.returncode or done.stdout.partition("=")[2] or 0))
sys.exit(statistics.{middle}(values) > limit)
"""


@dataclass(frozen=True, kw_only=True)
class History:
    """A range of a project. `truth`: by the commit that changes the figure its parents, or the
    last commits before it that have a figure; none where nothing changes it. `first_parent`: a
    merge is one step, as git-bayesect always has it. `pass_fail`: the figure is a test. `built`:
    it needs --build.
    """

    name: str
    repository: str
    published: str
    good: str
    bad: str
    commits: int
    merges: int
    figure: str
    needs: list[str]
    truth: dict[str, list[str]]
    first_parent: bool = False
    pass_fail: bool = False
    built: bool = False

    @property
    def clone(self) -> str:
        return self.repository.rstrip("/").rpartition("/")[2]

    def middle(self, values: list[float]) -> float:
        """Of several runs: the median time, or the share of those that fail."""
        return statistics.mean(values) if self.pass_fail else statistics.median(values)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What an arm said. `named`: full shas, several where it cannot tell them apart."""

    history: str
    arm: str
    outcome: str
    named: list[str]
    runs: int
    seconds: float


@dataclass(frozen=True)
class Lab:
    """Where the clones lie, which interpreter runs the figures, and what builds a program."""

    clones: Path
    python: str
    build: str = ""

    def words(self, history: History) -> list[str]:
        return [self.python, str(FIGURES), history.figure]

    def program(self, history: History) -> real_figures.Program:
        """What is built for a figure."""
        if not history.built:
            raise SystemExit(f"{history.name} runs Python, and builds nothing: ask other arms")
        return real_figures.PROGRAMS[history.figure]

    def counted(self, history: History) -> list[str]:
        """The program of a figure by itself, whose instructions can be counted."""
        program = self.program(history)
        text = self.clones / f"{history.figure}.txt"
        text.write_text(program.text(), encoding="utf-8")
        return program.words(text)

    def tree(self, history: History, name: str = "work") -> Path:
        """A clone of its own for checkouts, beside that of the project."""
        tree = self.clones / f"{history.clone}.{name}"
        if not tree.is_dir():
            git(self.clones, "clone", "-q", "--shared", history.clone, tree.name)
        return tree

    def prepare(self, tree: Path, revision: str) -> None:
        git(tree, "checkout", "-q", "-f", revision)
        if self.build:
            git(tree, "clean", "-qfdx")
            words = shlex.split(self.build)
            built = subprocess.run(words, cwd=tree, capture_output=True, text=True, check=False)
            if built.returncode:
                raise SystemExit(f"{revision} does not build: {built.stderr.strip()[-500:]}")


def git(repo: Path, *words: str, check: bool = True) -> str:
    done = subprocess.run(
        ["git", "-C", str(repo), *words], check=check, stdout=subprocess.PIPE,
        stderr=None if check else subprocess.DEVNULL, text=True,
    )  # fmt: skip
    return done.stdout.strip()


def histories() -> dict[str, History]:
    listed = json.loads((DATA / "histories.json").read_text(encoding="utf-8"))["histories"]
    return {each["name"]: History(**each) for each in listed}


def dropped() -> str:
    """Ranges that were chosen and left out, and why."""
    listed = json.loads((DATA / "histories.json").read_text(encoding="utf-8"))["dropped"]
    lines = ["| project | range | published | why it is left out |", "|---" * 4 + "|"]
    lines += [
        f"| {each['repository'].rpartition('/')[2]} | {each['range']} "
        f"| {each['published']} | {each['why']} |"
        for each in listed
    ]
    return "\n".join(lines)


def kept() -> list[dict[str, Any]]:
    path = DATA / "rows.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def keep(row: dict[str, Any]) -> None:
    with (DATA / "rows.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(row) + "\n")


def verdict(history: History, outcome: str, named: list[str]) -> str:
    """right, wrong or open, of what an arm named. A set that holds a true commit is right."""
    if named:
        return "right" if set(named) & set(history.truth) else "wrong"
    if outcome in NOTHING:
        return "wrong" if history.truth else "right"
    return "open"


def run_once(lab: Lab, history: History, tree: Path) -> float | None:
    """The figure of the checkout in ms, or 1.0 for a test that fails; None: it has none."""
    words = lab.words(history)
    done = subprocess.run(words, cwd=tree, capture_output=True, text=True, check=False)
    if history.pass_fail:
        return float(done.returncode) if done.returncode in (0, 1) else None
    return float(done.stdout.partition("=")[2]) if done.returncode == 0 else None


def instructions(lab: Lab, history: History, tree: Path) -> float:
    """What one run executes, in millions."""
    with tempfile.TemporaryDirectory() as folder:
        counting = Counting(counter_here(), Path(folder))
        words = counting.argv(lab.counted(history))
        subprocess.run(words, cwd=tree, check=True, capture_output=True)
        return counting.count() / 1e6


def measure(lab: Lab, history: History, revisions: list[str], runs: int) -> None:
    """So many rounds of one run of each revision. A step and its parents belong into one call:
    what a round has in common, as the state of the machine, then cancels out.
    """
    project = lab.clones / history.clone
    have = {row.get("revision") for row in kept() if row["history"] == history.name}
    shas = [git(project, "rev-parse", f"{each}^{{commit}}") for each in revisions]
    if have.intersection(shas):
        raise SystemExit("some of these have rows: measure a step and its parents in one call")
    values: dict[str, list[float]] = {sha: [] for sha in shas}
    trees = {sha: lab.tree(history, sha[:9]) for sha in shas}
    for sha, tree in trees.items():
        lab.prepare(tree, sha)
    rng = random.Random(history.name)
    for _ in range(runs):
        for sha in rng.sample(sorted(values), len(values)):
            value = run_once(lab, history, trees[sha])
            if value is None:
                raise SystemExit(f"{sha} has no figure: leave it out of --measure")
            values[sha].append(value)
    for sha, found in values.items():
        row: dict[str, Any] = {"history": history.name, "revision": sha}
        row["failed" if history.pass_fail else "ms"] = found
        if history.built:
            row["million_instructions"] = round(instructions(lab, history, trees[sha]), 3)
        keep(row)


def limit_of(lab: Lab, history: History, tree: Path) -> float:
    ends: list[float] = []
    for end in (history.good, history.bad):
        lab.prepare(tree, end)
        runs = [run_once(lab, history, tree) for _ in range(ENDS_RUNS)]
        values = [value for value in runs if value is not None]
        if not values:
            raise SystemExit(f"{history.name}: its end {end} has no figure; try it by hand")
        ends.append(history.middle(values))
    return sum(ends) / 2


def by_vote(lab: Lab, history: History, arm: str, work: Path) -> tuple[str, list[str], int]:
    """`git bisect run` with an odd number of runs a revision, or git-bayesect."""
    tree = lab.tree(history)
    counted, script = work / "runs", work / "vote.py"
    counted.unlink(missing_ok=True)
    limit = limit_of(lab, history, tree)
    runs = int(arm.partition("-")[2] or 1)
    text = VOTE.format(
        build=shlex.split(lab.build), words=lab.words(history), runs=runs, limit=limit,
        counted=str(counted), judged=(0, 1) if history.pass_fail else (0,),
        middle="mean" if history.pass_fail else "median",
    )  # fmt: skip
    script.write_text(text, encoding="utf-8")
    git(tree, "checkout", "-q", "-f", history.bad)
    if arm == "bayesect":
        program = str(Path(lab.python).with_name("git-bayesect"))
        starts = [program, "start", "--old", history.good]
        subprocess.run(starts, cwd=tree, check=True, capture_output=True)
        done = subprocess.run(
            [program, "run", sys.executable, str(script)],
            cwd=tree, capture_output=True, text=True, check=False,
        )  # fmt: skip
        said = re.findall(r"converged to ([0-9a-f]+)", done.stdout)
        subprocess.run([program, "reset"], cwd=tree, check=False, capture_output=True)
        named = [git(tree, "rev-parse", each) for each in said]
    else:
        first = ["--first-parent"] if history.first_parent else []
        git(tree, "bisect", "start", *first, history.bad, history.good)
        named = named_by_git(git(tree, "bisect", "run", sys.executable, str(script), check=False))
        git(tree, "bisect", "reset")
    taken = counted.stat().st_size + 2 * ENDS_RUNS
    return ("culprit" if named else "inconclusive"), named, taken


def named_by_git(said: str) -> list[str]:
    """The first bad commit, or all that may be it where revisions were skipped."""
    one = re.findall(r"^([0-9a-f]{40}) is the first bad commit", said, re.MULTILINE)
    several = re.search(r"could be any of:\n((?:[0-9a-f]{40}\n)+)", said + "\n")
    return one[:1] or (several[1].split() if several else [])


def by_run(lab: Lab, history: History, arm: str, work: Path) -> tuple[str, list[str], int]:
    program = str(Path(sys.executable).with_name("rtbisect"))
    judged = ["--pass-fail"] if history.pass_fail else ["--metric", "ms"]
    words = lab.words(history)
    if arm.startswith("count"):
        judged, words = ["--count", "instructions"], lab.counted(history)
    first = ["--first-parent"] if history.first_parent else []
    build = ["--build", lab.build] if lab.build else []
    if arm == "relayout":
        build.append("--relayout")
    if arm.endswith("product"):
        build += ["--product", lab.program(history).path]
    done = subprocess.run(
        [
            program, "--state", str(work / "state"), "run", "--json", *judged,
            "--repo", str(lab.clones / history.clone), "--good", history.good,
            "--bad", history.bad, "--seed", "1", *first, *build, "--", *words,
        ],
        stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    found = json.loads(done.stdout)
    if "error" in found:
        print(found["error"], file=sys.stderr)
        return ("internal_error" if done.returncode == Exit.INTERNAL else "refused"), [], 0
    (work / f"{history.name}-{arm}.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    outcome = str(found["outcome"])
    named = [str(each["commit"]) for each in found["candidates"]]
    if found["culprit"]:
        named = [str(found["culprit"])]
    elif outcome not in ("culprit_set", "multiple_culprits"):
        named = []
    return outcome, named, int(found["runs"])


def ask(lab: Lab, history: History, arm: str) -> Answer:
    work = lab.clones / "asked"
    work.mkdir(exist_ok=True)
    os.environ["REAL_CACHE"] = str(lab.clones / "compiled")
    begun_s = time.monotonic()
    by = by_run if arm in OURS else by_vote
    asked = by(lab, history, arm, work)
    outcome, named, runs = asked
    seconds = time.monotonic() - begun_s
    return Answer(
        history=history.name, arm=arm, outcome=outcome, named=named, runs=runs,
        seconds=round(seconds, 1),
    )  # fmt: skip


def change(before: list[float], after: list[float]) -> tuple[float, float, float]:
    """Median ratio less one, and its 95% interval, of runs that were made in one round each."""
    logs = [math.log(new / old) for old, new in zip(before, after, strict=True)]
    low, high = median_interval(logs)
    return math.expm1(statistics.median(logs)), math.expm1(low), math.expm1(high)


def moved(history: History, old: dict[str, Any], new: dict[str, Any]) -> str:
    """The columns of a step: before, after, and the change with its interval or its p."""
    if history.pass_fail:
        before, after = old["failed"], new["failed"]
        parts = [f"{sum(runs):.0f} of {len(runs)} fail" for runs in (before, after)]
        p = fisher_p([run > 0 for run in before], [run > 0 for run in after])
        share = 100 * (statistics.mean(after) - statistics.mean(before))
        return " | ".join((*parts, f"{share:+.0f} points (p = {p:.2g})"))
    middle, low, high = (100 * part for part in change(old["ms"], new["ms"]))
    parts = [f"{statistics.median(row['ms']):.3g} ms" for row in (old, new)]
    counts = [row.get("million_instructions", 0.0) for row in (old, new)]
    more = f"; instructions {100 * (counts[1] / counts[0] - 1):+.2f}%" if counts[0] else ""
    return " | ".join((*parts, f"{middle:+.0f}% ({low:+.0f} to {high:+.0f}){more}"))


def truths(found: dict[str, History], rows: list[dict[str, Any]]) -> str:
    """What was measured at the steps, and at the ends of ranges without one."""
    measured = {(row["history"], row["revision"]): row for row in rows if "revision" in row}
    lines = ["| history | commits, merges | step | before | after | change |", "|---" * 6 + "|"]
    for each in found.values():
        steps = [(sha, of) for sha, parents in each.truth.items() for of in parents]
        for sha, parent in steps or [(each.bad, each.good)]:
            before, after = (measured.get((each.name, end)) for end in (parent, sha))
            if before and after:
                step = sha[:9] if steps else "none"
                where = f"{each.name} | {each.commits}, {each.merges} | {step}"
                lines.append(f"| {where} | {moved(each, before, after)} |")
    return "\n".join(lines)


def answers(found: dict[str, History], rows: list[dict[str, Any]]) -> str:
    """What each arm answered."""
    lines = ["| history | arm | answer | named | runs | minutes |", "|---" * 6 + "|"]
    said = {(row["history"], row["arm"]): Answer(**row) for row in rows if "arm" in row}
    for name, arm in ((name, arm) for name in found for arm in ARMS if (name, arm) in said):
        row = said[name, arm]
        right = verdict(found[name], row.outcome, row.named)
        outcome = f" ({row.outcome})" if arm in OURS else ""
        some = ", ".join(sha[:9] for sha in row.named[:3])
        named = some + (f" and {len(row.named) - 3} more" if len(row.named) > 3 else "")
        lines.append(
            f"| {name} | {arm} | {right}{outcome} | {named or 'none'} | {row.runs} "
            f"| {row.seconds / 60:.1f} |"
        )
    return "\n".join(lines)


def svg(found: dict[str, History], rows: list[dict[str, Any]]) -> str:
    """What was measured near the steps of each history, and the arms that named a revision."""
    panels = []
    for each in found.values():
        mine = [row for row in rows if row["history"] == each.name]
        named_by: dict[str, list[str]] = {}
        for row in mine:
            for sha in row.get("named", ()):
                named_by.setdefault(sha, []).append(row["arm"])
        panels.append(real_picture.Panel(
            name=each.name, steps=frozenset(each.truth), pass_fail=each.pass_fail,
            before=frozenset(of for parents in each.truth.values() for of in parents),
            named_by={sha: sorted(arms, key=ARMS.index) for sha, arms in named_by.items()},
            runs={
                row["revision"]: row["failed" if each.pass_fail else "ms"]
                for row in mine if "revision" in row
            },
        ))  # fmt: skip
    return licensed_svg(real_picture.picture(panels), "Real histories", "tools/bench_real.py")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clones", type=Path, help="folder with the clones")
    parser.add_argument("--python", default=sys.executable, help="runs the figures")
    parser.add_argument("--build", metavar="CMD", default="", help="builds a checkout")
    parser.add_argument("--history", choices=sorted(histories()))
    parser.add_argument("--measure", nargs="+", metavar="REV", help="measure these revisions")
    parser.add_argument("--runs", type=int, default=30, help="runs of each of them")
    parser.add_argument("--arms", nargs="+", choices=ARMS, help="ask these arms")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw the kept rows")
    asked = parser.parse_args()
    if asked.measure or asked.arms:
        if asked.clones is None or asked.history is None:
            parser.error("--measure and --arms need --clones DIR and --history NAME")
        lab = Lab(asked.clones.resolve(), asked.python, asked.build)
        history = histories()[asked.history]
        if history.built and not lab.build:
            parser.error(f"{history.name} needs --build CMD: what makes the program of its figure")
        if not (lab.clones / history.clone).is_dir():
            parser.error(f"{lab.clones / history.clone} is not there: clone {history.repository}")
        os.environ["REAL_CACHE"] = str(lab.clones / "compiled")
        if asked.measure:
            measure(lab, history, asked.measure, asked.runs)
        have = {(row["history"], row.get("arm")) for row in kept()}
        for arm in asked.arms or ():
            if (history.name, arm) not in have:
                keep(asdict(ask(lab, history, arm)))
        return 0
    if asked.plot is not None:
        asked.plot.write_text(svg(histories(), kept()), encoding="utf-8")
    tables = truths(histories(), kept()), answers(histories(), kept()), dropped()
    print(*tables, sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
