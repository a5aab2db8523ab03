# SPDX-License-Identifier: GPL-2.0-or-later
"""What short boots spare a campaign: demos whose boots are recorded ones, before and after.

    .venv/bin/python tools/bench_boots.py --first 1 --count 30
    .venv/bin/python tools/bench_boots.py --first 1 --count 60 --kind nothing

Histories and limits are those of demos with these seeds. A window of a boot is one of a recorded
boot (tests/data/boots) of the same side, drawn anew for each, with its figures and its seconds;
what a boot takes beside its windows is the median of all recorded ones. Windows that explain have
no figures here and take what they took in a recorded demo. Builds take 12 s.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import random
import statistics
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.campaign.assemble import SystemClock
from rtbisect.campaign.plan import setup_of
from rtbisect.config.site_file import load_site
from rtbisect.kernel.fake import FakeBuilder
from rtbisect.lab import console_block, job_log
from rtbisect.lab.kernel_on_host import KernelOnHost
from rtbisect.lab.measurements import FACTS
from rtbisect.lab.windows import WINDOWS
from rtbisect.model.campaign import CampaignRequest, Outcome
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Boots
from rtbisect.model.lab import Run, RunStatus
from rtbisect.model.ports import Ports
from rtbisect.model.report import Report, ReportState
from rtbisect.pipeline import bisect
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import StoreJournal, recorded
from rtbisect.suites.base import FACTS_FILE, find
from rtbisect.trees.fake import FakeTree
from rtbisect_labkit.commands.demo import SITE
from rtbisect_labkit.demo.cases import CASES, KINDS, site_text
from rtbisect_labkit.demo.plan import Plan, plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.lab import DeviceType, Measurement, RunRequest, Window
    from rtbisect.model.ports import Left, Note
    from rtbisect.model.report import ReportInput
    from rtbisect.suites.base import Files

    #: Figures and seconds of a window.
    Told = tuple[tuple[Measurement, ...], float]

POOL = Path(__file__).resolve().parents[1] / "tests/data/boots"
WATCH = (2, 3, 4)
GOOD, REVERT = "a" * 40, "b" * 40
#: Without a regression kernels are like the good ones of the first kind.
SAME_AS = {"nothing": "epoll-spinlock"}
BUILD_S, NO_BOOT_S = 12.0, 4.0
#: Seconds of windows that explain: of the tracer's senders, and of others.
SENDERS_S, EXPLAINING_S = 5.2, 1.8
#: Areas of edits that no kernel is built from.
UNBUILT = ("docs", "drivers")
COLUMNS = "{:<15} {:<6} {:>7} {:>7} {:>7} {:>8}"


@dataclass(kw_only=True)
class Pool:
    """Recorded boots."""

    #: By kind of history, side and window.
    windows: dict[tuple[str, str, str], list[Told]] = field(
        default_factory=lambda: defaultdict(list)
    )
    #: Seconds of a boot without its windows.
    beside_s: list[float] = field(default_factory=list)

    @classmethod
    def read(cls) -> Pool:
        pool = cls()
        with (POOL / "index.csv").open(encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                text = gzip.decompress((POOL / row["file"]).read_bytes()).decode("utf-8", "replace")
                files = console_block.files_of(job_log.parse(text).console)
                lines = (line.split() for line in files["windows.txt"].decode().splitlines())
                lasted = {name: float(end) - float(begin) for name, _, begin, end in lines}
                pool.beside_s.append(float(row["seconds"]) - sum(lasted.values()))
                for window in WINDOWS:
                    key = (row["kind"], row["side"], window.name)
                    pool.windows[key].append((_figures(window, files), lasted[window.name]))
        return pool


def _figures(window: Window, files: Files) -> tuple[Measurement, ...]:
    prefix = f"{window.name}/"
    raw = {name.removeprefix(prefix): data for name, data in files.items()}
    parsers = (find(suite).parse for suite in window.suites)
    return tuple(
        figure
        for parse in parsers
        if parse
        for figure in parse(raw | {FACTS_FILE: files[FACTS]}, window, WATCH)
    )


@dataclass(kw_only=True)
class RecordedLab:
    """ports.Lab of recorded boots."""

    pool: Pool
    kind: str
    bad: set[str]
    #: Revisions that do not boot.
    broken: set[str]
    seed: int
    boots: int = 0

    def width(self, device_type: DeviceType) -> int:  # noqa: ARG002
        return 1

    def leave(self) -> None:
        """Nothing is open."""

    def run(self, request: RunRequest, note: Note) -> Run:  # noqa: ARG002
        self.boots += 1
        draw = random.Random(f"{self.seed} {self.boots}")
        run = Run(
            run_id=request.run_id,
            revision=request.revision,
            status=RunStatus.COMPLETE,
            window_order=tuple(window.name for window in request.windows),
        )
        if request.revision in self.broken:
            ended = Finding.of(Boots.FAKE, status=RunStatus.BOOT_FAILED)
            return replace(run, status=RunStatus.BOOT_FAILED, reason=ended, seconds=NO_BOOT_S)
        side = "bad" if request.revision in self.bad else "good"
        told = [self._told(name, side, draw) for name in run.window_order]
        windows_s = tuple(seconds for _, seconds in told)
        return replace(
            run,
            measurements=tuple(figure for figures, _ in told for figure in figures),
            facts=(("clocksource", "tsc"), ("smt_active", "1")),
            window_s=windows_s,
            seconds=statistics.median(self.pool.beside_s) + sum(windows_s),
        )

    def _told(self, window: str, side: str, draw: random.Random) -> Told:
        if known := self.pool.windows.get((self.kind, side, window)):
            return draw.choice(known)
        return (), SENDERS_S if window.startswith("senders") else EXPLAINING_S


class NoMailer:
    """ports.Mailer that keeps nothing."""

    def draft(self, report: ReportInput, story: Sequence[Finding]) -> Report:  # noqa: ARG002
        return Report(
            campaign=report.campaign, state=ReportState.DRAFT, message_id="", eml="", path="",
            bisect_log="", story="",
        )  # fmt: skip


class NoProgress:
    """ports.Progress that nobody looks at."""

    def tell(self, finding: Finding) -> None:
        """Nobody listens."""

    def step(self, what: Finding, done: int, total: int, left: Left | None) -> None:
        """Nobody waits."""


def _sha(seed: int, place: int) -> str:
    return f"{seed:020x}{place + 1:020x}" if place >= 0 else GOOD


def _history(drawn: Plan) -> tuple[CommitGraph, list[set[int]], dict[str, str]]:
    """The graph, the places of each commit's ancestors and itself, and kernels that are others'."""
    commits, above, same, built = [], list[set[int]](), dict[str, str](), {frozenset[int](): GOOD}
    for place, step in enumerate(drawn.steps):
        above.append({place}.union(*(above[parent] for parent in step.parents if parent >= 0)))
        parents = tuple(_sha(drawn.seed, parent) for parent in step.parents)
        sha = _sha(drawn.seed, place)
        commits.append(Commit(sha, parents, step.subject))
        edits = ((each, drawn.steps[each].edit) for each in above[place])
        seen = frozenset(each for each, edit in edits if edit and edit.area not in UNBUILT)
        if (first := built.setdefault(seen, sha)) != sha:
            same[sha] = first
    return CommitGraph(GOOD, commits[-1].sha, tuple(commits)), above, same


def demo(pool: Pool, seed: int, kind: str, *, short: bool) -> tuple[bool, list[Run], int]:
    """A campaign on the history of a seed: is its answer right, its boots, and how many builds."""
    drawn = plan(seed, kind=kind)
    graph, above, same = _history(drawn)
    culprit = drawn.culprit
    bad = {
        commit.sha for commit, places in zip(graph.commits, above, strict=True) if culprit in places
    }
    request = CampaignRequest(
        kind="demo", site="", tree="demo", older=GOOD, newer=graph.newer, seed=seed
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "site.yaml"
        place.write_text(site_text(SITE.read_text("utf-8"), f"{folder}/repo", CASES[kind]), "utf-8")
        site = load_site(place)
        setup = setup_of(site, site.target("demo"), replace(request, site=str(place)))
        setup = replace(setup, limits=replace(setup.limits, short_boots=short))
        builder = FakeBuilder(
            failing={_sha(seed, each): "error" for each in drawn.build_failures},
            same_as=same,
            seconds=BUILD_S,
        )
        lab = RecordedLab(
            pool=pool,
            kind=SAME_AS.get(kind, kind),
            bad=bad,
            broken={_sha(seed, each) for each in drawn.boot_failures},
            seed=seed,
        )
        reverts = {} if culprit is None else {(graph.newer, _sha(seed, culprit)): REVERT}
        tree = FakeTree(commits=graph, folder=Path(folder) / "tree", reverts=reverts)
        store = CampaignStore(Path(folder))
        journal = StoreJournal(
            store.database, store.create("demo", codec.to_json(CampaignRequest, request), "now")
        )
        parts = Ports(
            tree=tree,
            subject=KernelOnHost(setup.booted, seed, tree, builder, lab),
            journal=journal,
            mailer=NoMailer(),
            clock=SystemClock(),
            progress=NoProgress(),
        )
        result, _ = bisect.bisect(setup, parts)
        runs = recorded(store.database, journal.campaign, Run)
    right = result.outcome is Outcome.NO_REGRESSION
    if culprit is not None:
        right = result.culprit == _sha(seed, culprit) and result.cause is CASES[kind].cause
    return right, runs, len(builder.requests)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--kind", choices=KINDS, action="append", default=[])
    asked = parser.parse_args()
    pool = Pool.read()
    print(COLUMNS.format("kind", "boots", "right", "builds", "number", "seconds"))
    for kind in asked.kind or KINDS:
        for short in (False, True):
            seeds = range(asked.first, asked.first + asked.count)
            demos = [demo(pool, seed, kind, short=short) for seed in seeds]
            took = [(len(runs), sum(run.seconds for run in runs)) for _, runs, _ in demos]
            numbers = (
                f"{sum(right for right, _, _ in demos)}/{len(demos)}",
                f"{statistics.mean(builds for _, _, builds in demos):.1f}",
                f"{statistics.mean(boots for boots, _ in took):.1f}",
                f"{statistics.mean(seconds for _, seconds in took):.0f}",
            )
            print(COLUMNS.format(kind, "short" if short else "whole", *numbers), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
