# SPDX-License-Identifier: GPL-2.0-or-later
"""What `rtbisect run` says where builds of one code differ as much as a change, with `--relayout`
and without.

    .venv/bin/python tools/bench_builds.py --trials 6     runs what has not run yet
    .venv/bin/python tools/bench_builds.py                the table

The figures are those of a real C program (tools/data/builds/README.md): 231 revisions with 153
different products, two benchmarks. "calls" has layouts that differ by 5 to 8% and no change between
the ends over eight layouts each; "closures" has layouts that differ by 2% and a change of 2.9%. A
trial draws which commit makes that change, and how fast each build is, from the layouts that were
measured; the ends have the builds that the program had (calls: 8.5% apart). A run takes one of the
times that were measured of one build. With `--relayout` each run takes a layout of its own.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import statistics
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.campaign.assemble import command_limits
from rtbisect.model.campaign import CampaignRequest
from rtbisect.model.code import Build, BuildStatus, Commit, CommitGraph
from rtbisect.model.command import SUITE, WINDOW, CommandRequest
from rtbisect.model.lab import Measurement, Run, RunStatus
from rtbisect.model.ports import Ports
from rtbisect.model.report import Report, ReportState
from rtbisect.model.setup import Setup
from rtbisect.pipeline.bisect import bisect
from rtbisect.program.worktree_run import traits_of
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import StoreJournal
from rtbisect.trees.fake import FakeTree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbisect.model.finding import Finding
    from rtbisect.model.report import ReportInput
    from rtbisect.model.result import Result
    from rtbisect.model.subject import RunOrder

DATA = Path(__file__).resolve().parent / "data/builds"
KEPT = DATA / "trials.jsonl"
METRIC = "ms"
#: By benchmark: how much slower the code is behind the commit, as a share.
CHANGES = {"calls": 0.0, "closures": 0.029}
#: The commit lies before this one: all layouts from there on were as slow as those of the end.
LATEST = 142
RUNS = 300


@dataclass(frozen=True)
class Trial:
    """One search. `culprit` and `named` are places in the history; None: none."""

    benchmark: str
    relayout: bool
    trial: int
    culprit: int | None
    outcome: str
    named: int | None
    by: str | None
    helps: bool
    runs: int


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@dataclass
class Program:
    """Implements ports.Subject: a benchmark of the program."""

    benchmark: str
    relayout: bool
    trial: int
    products: list[str] = field(default_factory=list)
    #: By product, how fast its build is, as a share of what its code takes.
    luck: dict[str, float] = field(default_factory=dict)
    #: Shares of what the code takes: layouts of one code, and runs of one build.
    layouts: list[float] = field(default_factory=list)
    noise: list[float] = field(default_factory=list)
    #: What the code takes before the change.
    level_ms: float = 1.0
    culprit: int | None = None

    def __post_init__(self) -> None:
        self.traits = traits_of(built=True, relaid=self.relayout, products=True)
        self.products = [row["product"] for row in rows("revisions.csv")]
        of_layout: dict[tuple[str, str], list[float]] = {}
        for row in rows("layouts.csv"):
            if row["benchmark"] == self.benchmark:
                key = row["position"], row["layout"]
                of_layout.setdefault(key, []).append(float(row["ms"]))
        of_revision: dict[str, list[float]] = {}
        for (position, _), values in of_layout.items():
            middle = statistics.median(values)
            self.noise += [value / middle for value in values]
            of_revision.setdefault(position, []).append(middle)
        for middles in of_revision.values():
            whole = statistics.fmean(middles)
            self.layouts += [middle / whole for middle in middles]
        self.level_ms = statistics.fmean(of_revision["0"])
        rng = random.Random(f"{self.benchmark}/{self.trial}")
        changing = [at for at in range(1, LATEST) if self.products[at] != self.products[at - 1]]
        change = CHANGES[self.benchmark]
        self.culprit = rng.choice(changing) if change else None
        self.luck = {product: rng.choice(self.layouts) for product in self.products}
        plain: dict[str, list[float]] = {}
        for row in rows("ends.csv"):
            if row["benchmark"] == self.benchmark:
                plain.setdefault(row["position"], []).append(float(row["ms"]))
        for position, values in plain.items():
            at = int(position)
            self.luck[self.products[at]] = statistics.median(values) / self.code_ms(at)

    def code_ms(self, at: int) -> float:
        """What a revision takes in the mean over its layouts."""
        slow = self.culprit is not None and at >= self.culprit
        return self.level_ms * (1 + CHANGES[self.benchmark] * slow)

    def width(self) -> int:
        return 1

    def leave(self) -> None:
        pass

    def files(self, build: Build) -> frozenset[str]:  # noqa: ARG002
        return frozenset()

    def changed(self, parent: Build, culprit: Build) -> None:  # noqa: ARG002
        return None

    def build(self, revision: str, _layout: int, _note: object) -> Build:
        product = self.products[int(revision, 16)]
        return Build(
            revision=revision, config_name="command", status=BuildStatus.OK, signature=product,
            seconds=5.0,
        )  # fmt: skip

    def run(self, build: Build, order: RunOrder, _note: object) -> Run:
        at = int(build.revision, 16)
        own = random.Random(f"{self.benchmark}/{self.trial}/{order.run_id}")
        share = self.luck[self.products[at]]
        if self.relayout:
            seed = f"{at}/{order.linked_as or order.run_id}/{self.trial}"
            share = random.Random(seed).choice(self.layouts)
        value = self.code_ms(at) * share * own.choice(self.noise)
        figure = Measurement(suite=SUITE, name=METRIC, window=WINDOW, value=value, unit="ms")
        return Run(
            run_id=order.run_id, revision=build.revision, status=RunStatus.COMPLETE,
            measurements=(figure,), window_order=(WINDOW,), seconds=0.5,
        )  # fmt: skip


class Silent:
    """Implements ports.Progress, ports.Mailer and ports.Clock, and tells nobody."""

    def begin(self, request: CampaignRequest) -> None:
        pass

    def shows(self, finding: Finding) -> bool:  # noqa: ARG002
        return False

    def say(self, line: str) -> None:
        pass

    def tell(self, finding: Finding) -> None:
        pass

    def step(self, what: Finding, done: int, total: int, left: float) -> None:
        pass

    def now_iso(self) -> str:
        return "2026-01-02T03:04:05+00:00"

    def draft(self, report: ReportInput, story: object) -> Report:  # noqa: ARG002
        return Report(
            campaign=report.campaign, state=ReportState.DRAFT, message_id="", eml="", path="",
            bisect_log="", story="",
        )  # fmt: skip


def play(asked: tuple[str, bool, int]) -> Trial:
    benchmark, relayout, number = asked
    program = Program(*asked)
    with tempfile.TemporaryDirectory() as folder:
        result, runs = searched(program, Path(folder))
    difference = result.difference
    helps = difference.why.data.get("helps", ()) if difference else ()
    return Trial(
        benchmark=benchmark,
        relayout=relayout,
        trial=number,
        culprit=program.culprit,
        outcome=result.outcome.value,
        named=int(result.culprit, 16) if result.culprit else None,
        by=difference.by.value if difference else None,
        helps=bool(helps) or result.outcome.value == "layout_sensitive",
        runs=runs,
    )


def sha(at: int) -> str:
    return f"{at:040x}"


def searched(program: Program, folder: Path) -> tuple[Result, int]:
    """The answer of `rtbisect run`, and how many runs it took."""
    last = len(program.products) - 1
    commits = tuple(Commit(sha(at), (sha(at - 1),), f"change {at}") for at in range(1, last + 1))
    graph = CommitGraph(older=sha(0), newer=sha(last), commits=commits)
    command = CommandRequest(
        argv=("./bench",), metric=METRIC, build=("make",), relayout=program.relayout,
        products=("bench",), max_runs=RUNS, unit="ms",
    )  # fmt: skip
    request = CampaignRequest(
        kind="run", site="", tree="t", older=graph.older, newer=graph.newer, suite=SUITE,
        metric=METRIC, extra=command.extra(), repo="/r", seed=program.trial,
    )  # fmt: skip
    store = CampaignStore(folder)
    name = store.create("run", codec.to_json(CampaignRequest, request), "now")
    setup = Setup(
        request=request, tree="t", repo="/r", thresholds=(command.threshold(),),
        limits=command_limits(command), operator="", kernel=None,
    )  # fmt: skip
    silent = Silent()
    parts = Ports(
        tree=FakeTree(commits=graph, folder=folder / "tree"), subject=program,
        journal=StoreJournal(store.database, name), mailer=silent, clock=silent, progress=silent,
    )  # fmt: skip
    result, _report = bisect(setup, parts)
    return result, store.summary(store.get(name)).boots


def load(path: Path = KEPT) -> list[Trial]:
    """Trials that have run."""
    if not path.exists():
        return []
    return [Trial(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


HEAD = ("benchmark", "--relayout", "n", "right", "wrong", "none named", "says", "runs (median)")


def table(trials: Iterable[Trial]) -> str:
    """Right: the commit that makes the change; where there is none, no commit."""
    lines = [f"| {' | '.join(HEAD)} |", "|" + "---|" * len(HEAD)]
    cells: dict[tuple[str, bool], list[Trial]] = {}
    for each in trials:
        cells.setdefault((each.benchmark, each.relayout), []).append(each)
    for (benchmark, relayout), played in sorted(cells.items()):
        said: dict[str, int] = {}
        for each in played:
            words = each.by or "nothing"
            words += " (and what would tell)" if each.helps and not relayout else ""
            said[words] = said.get(words, 0) + 1
        right = sum(each.named == each.culprit for each in played)
        none = sum(each.named is None for each in played)
        wrong = sum(each.named not in (None, each.culprit) for each in played)
        told = ", ".join(f"{words}: {count}" for words, count in sorted(said.items()))
        runs = statistics.median(each.runs for each in played)
        cell = (benchmark, "yes" if relayout else "no", len(played), right, wrong, none, told)
        lines.append(f"| {' | '.join(map(str, cell))} | {runs:.0f} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--trials", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=KEPT)
    given = parser.parse_args()
    known = {(each.benchmark, each.relayout, each.trial) for each in load(given.out)}
    asked = [
        (benchmark, relayout, number)
        for number in range(given.trials)
        for benchmark in CHANGES
        for relayout in (True, False)
        if (benchmark, relayout, number) not in known
    ]
    with ProcessPoolExecutor(given.jobs) as pool, given.out.open("a", encoding="utf-8") as kept:
        for trial in pool.map(play, asked):
            kept.write(json.dumps(asdict(trial)) + "\n")
            kept.flush()
            print(trial, file=sys.stderr)
    print(table(load(given.out)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
