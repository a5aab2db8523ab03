# SPDX-License-Identifier: GPL-2.0-or-later
"""How often does a search of a small range end open although it has budget left?

    .venv/bin/python tools/bench_endings.py --ranges 2000 --first 0 --jobs 2

Ranges of 3 to 14 commits, half of them with a merge (two fifths of the steps in these are made by
the merge itself), on four hosts: one that is busy (a fifth of the boots one to three ticks late)
with and without builds of other layouts, the same for a command, and a quiet one for a command.
Each range is a function of its number. Printed are outcomes, how often the named commit is right,
what ended open, and the upper bound of that rate (95%, one-sided, Clopper and Pearson 1934).
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from scipy.stats import beta

from rtbisect.config.paths import data
from rtbisect.config.thresholds import load_thresholds
from rtbisect.model.campaign import Outcome
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.model.command import CommandRequest
from rtbisect.model.lab import RunStatus
from rtbisect.search import engine
from rtbisect.search.ancestry import Ancestry
from rtbisect.search.spec import SearchSpec
from rtbisect.words.speak import speak
from searchbench.simulate import rehearse

#: A median wait in us, in steps of one tick.
WAIT = next(t for t in load_thresholds(data("thresholds"), ("rcu",)) if t.key.name == "p50_us")
COMMAND = CommandRequest(argv=("bench",)).threshold()
HOSTS = ("busy", "busy-layouts", "busy-command", "quiet-command")
#: What a campaign and a `run` leave their searches: all but the boots of the proof.
LAB = {"max_boots": 62, "max_builds": 60, "build_cost_s": 30.0, "boot_cost_s": 20.0}
RUN = {
    "max_boots": 282, "max_builds": 300, "build_cost_s": 0.01, "boot_cost_s": 1.0,
    "calibrate_max": 40,
}  # fmt: skip
ROW = "{:<14} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>7} {:>7} {:>6}"
#: A commit with this probability at an open end is one that should have been put to the proof.
LIKELY = 0.8


def history(rng: random.Random, size: int, *, merge: bool) -> CommitGraph:
    """A line, or a line with one branch that is merged back."""
    commits: list[Commit] = []

    def grow(tip: str, count: int, *others: str) -> str:
        for _ in range(count):
            commits.append(Commit(f"c{len(commits)}", (tip, *others)))
            tip = commits[-1].sha
        return tip

    if not merge:
        return CommitGraph("g", grow("g", size), tuple(commits))
    fork = grow("g", rng.randint(0, size // 4))
    side = grow(fork, rng.randint(1, max(1, size // 3)))
    main = grow(fork, rng.randint(1, max(1, size // 3)))
    tip = grow(main, 1, side)
    tip = grow(tip, max(0, size - len(commits)) + rng.randint(0, 1))
    return CommitGraph("g", tip, tuple(commits))


class World:
    """Implements rehearse.LayoutWorld: one commit makes the step, layouts change nothing. On hosts
    with a kernel three commits of ten leave it as it was.
    """

    def __init__(self, rng: random.Random, graph: CommitGraph, host: str) -> None:
        self.rng, self.ancestry, self.host = rng, Ancestry(graph), host
        merges = [i for i, commit in enumerate(graph.commits) if len(commit.parents) > 1]
        by_merge = bool(merges) and rng.random() < 0.4
        self.culprit = merges[0] if by_merge else rng.randrange(len(graph))
        self.base, self.step = (100.0, 15.0) if host == "quiet-command" else (6000.0, 0.0)
        self.step = self.step or rng.choice([1500.0, 3000.0, 3000.0])
        equal = 0.0 if host.endswith("command") else 0.3
        self.kernels = {graph.older: graph.older}
        for i, commit in enumerate(graph.commits):
            same = i != self.culprit and len(commit.parents) == 1 and rng.random() < equal
            self.kernels[commit.sha] = self.kernels[commit.parents[0]] if same else commit.sha

    @property
    def truth(self) -> str:
        return self.ancestry.graph.commits[self.culprit].sha

    def build(self, sha: str) -> str:
        return f"kernel {self.kernels[sha]}"

    def boot(self, sha: str) -> tuple[RunStatus, float]:
        level = self.base + self.step * bool(self.ancestry.side(sha)[self.culprit])
        if self.host == "quiet-command":
            return RunStatus.COMPLETE, self.rng.gauss(level, 5)
        late = self.rng.choice([1000, 1000, 2000, 3000]) if self.rng.random() < 0.2 else 0
        return RunStatus.COMPLETE, self.rng.gauss(level, 50) + late

    def boot_layout(self, sha: str, _layout: int) -> tuple[RunStatus, float]:
        return self.boot(sha)


@dataclass(frozen=True)
class Trial:
    """How one range ended. `open` although there was budget left; `likely` is the probability of
    the likeliest commit then; `unsure` was named for the proof to decide.
    """

    number: int
    host: str
    outcome: Outcome
    open: bool
    likely: float
    right: bool
    unsure: bool
    boots: int
    builds: int
    reason: str


def trial(number: int) -> Trial:
    """One range, searched."""
    rng = random.Random(f"endings/{number}")
    graph = history(rng, rng.randint(3, 14), merge=rng.random() < 0.5)
    host = rng.choice(HOSTS)
    world = World(rng, graph, host)
    limits = dict(RUN if host.endswith("command") else LAB)
    if host == "busy-layouts":
        limits |= {"layout_cost_s": 600.0, "layout_below": 0.2}
    threshold = COMMAND if host.endswith("command") else WAIT
    spec = SearchSpec(graph=graph, threshold=threshold, seed=number, **limits)
    state, finish = rehearse(spec, world)
    left = state.ledger.boots < spec.max_boots and state.ledger.builds < spec.max_builds
    found = engine.answer(state)
    likely = float(state.belief.commits.max()) if state.ends.reproduced else 0.0
    return Trial(
        number, host, finish.outcome, finish.outcome is Outcome.INCONCLUSIVE and left, likely,
        found.culprit == world.truth, not getattr(finish, "sure", True),
        state.ledger.boots, state.ledger.builds, str(speak(finish.reason)),
    )  # fmt: skip


def upper_bound(count: int, of: int) -> float:
    """The rate that `count` of so many excludes with 95%."""
    return float(beta.ppf(0.95, count + 1, of - count)) if count < of else 1.0


def main() -> int:
    asked = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    asked.add_argument("--ranges", type=int, default=2000)
    asked.add_argument("--first", type=int, default=0, help="number of the first range")
    asked.add_argument("--jobs", type=int, default=1)
    args = asked.parse_args()
    numbers = range(args.first, args.first + args.ranges)
    with ProcessPoolExecutor(args.jobs) as pool:
        trials = list(pool.map(trial, numbers, chunksize=20))
    print(ROW.format(
        "host", "ranges", "named", "right", "unsure", "none", "open", "likely", "boots", "builds"
    ))  # fmt: skip
    for host in (*HOSTS, "all"):
        some = [each for each in trials if host in (each.host, "all")]
        named = [each for each in some if each.outcome is Outcome.CULPRIT]
        ended = Counter(each.outcome for each in some)
        print(ROW.format(
            host, len(some), len(named), sum(each.right for each in named),
            sum(each.unsure for each in named), ended[Outcome.NOT_REPRODUCED],
            sum(each.open for each in some),
            sum(each.open and each.likely > LIKELY for each in some),
            f"{sum(each.boots for each in some) / max(1, len(some)):.1f}",
            f"{sum(each.builds for each in some) / max(1, len(some)):.1f}",
        ))  # fmt: skip
    count = sum(each.open for each in trials)
    most = upper_bound(count, len(trials))
    print(f"open with budget left: {count} of {len(trials)}, at most {most:.5f}")
    for each in [each for each in trials if each.open][:20]:
        print(f"  {each.number} {each.host} {each.likely:.3f} {each.boots} boots: {each.reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
