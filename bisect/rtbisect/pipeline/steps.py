# SPDX-License-Identifier: GPL-2.0-or-later
"""The steps of a campaign: builds, boots and git, each one a step of the journal."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InternalError
from rtbisect.judge.boots import Boots
from rtbisect.judge.gates.reachability import Changed
from rtbisect.model.code import Build, Change, CommitGraph, layout_variant
from rtbisect.model.command import narrowing_of
from rtbisect.model.finding import Finding, Kind, Value
from rtbisect.model.formats import kept_as
from rtbisect.model.kinds.pipeline import Searches, Work
from rtbisect.model.lab import Run
from rtbisect.model.report import SeriesStates
from rtbisect.model.subject import RunOrder, Traits
from rtbisect.pipeline import boot_windows
from rtbisect.pipeline.boot_queue import BootQueue, BootRequest, in_turn
from rtbisect.pipeline.budget import Budget
from rtbisect.pipeline.further import FurtherBudgets
from rtbisect.pipeline.pace import Pace
from rtbisect.search.equal_kernels import Closure, shared_files, silent_pairs
from rtbisect.search.events import Silent
from rtbisect.search.spec import BootPurpose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rtbisect.model.code import Narrowing
    from rtbisect.model.ports import Note, Ports
    from rtbisect.model.report import CommitText, SeriesState
    from rtbisect.model.setup import Setup


#: How the keys of steps begin that build, and of those that run what was built.
_BUILD, RUN = "build/", "run/"
#: Purposes of boots whose `left` counts all boots that a search still expects.
_SEARCHING = frozenset(
    (BootPurpose.CALIBRATE, BootPurpose.SEARCH, BootPurpose.CONTROL, BootPurpose.RECHECK_END)
)


@kept_as("MaybeSha")
@dataclass(frozen=True, slots=True)
class MaybeSha:
    """A commit that may not exist; a value of its own so that the journal can keep it."""

    sha: str | None


@dataclass(kw_only=True)
class Steps:
    """Carries out builds and boots and remembers what came of them.

    Runs are numbered in the order in which they begin; that order depends only on recorded
    values, so a resumed campaign finds each run under its old number.
    """

    setup: Setup
    ports: Ports
    #: Kernels as they are configured, by revision, in the order of their builds; also failed ones.
    builds: dict[str, Build] = field(default_factory=dict)
    #: Builds in other layouts or variants, keyed by revision and layout.
    layouts: dict[tuple[str, int], Build] = field(default_factory=dict)
    #: Boots that were waited for, in that order.
    runs: list[Run] = field(default_factory=list)
    #: What was said of the budget since the campaign began.
    further: FurtherBudgets = field(default_factory=FurtherBudgets)
    #: Pace of the runs of this session.
    pace: Pace = field(default_factory=Pace)
    #: Queue of boots, made with the first boot.
    _queue: BootQueue | None = None
    #: The only windows of boots from now on; (): they measure in all.
    _windows: tuple[str, ...] = ()
    #: Boots of the whole campaign, as the search expects them.
    _expected: int = 0
    #: Boots that the lab runs at a time; 0 while it was not asked.
    _width: int = 0
    #: Files that each candidate changes; None while nobody asked.
    _changes: Mapping[str, tuple[Change, ...]] | None = None
    #: Files that each build was made from, by revision; empty where it is not known.
    _files: dict[str, frozenset[str]] = field(default_factory=dict)
    #: What a culprit changes in its parent's kernel, keyed by parent and culprit.
    _changed: dict[tuple[str, str], Changed] = field(default_factory=dict)

    @classmethod
    def of(cls, setup: Setup, ports: Ports, further: FurtherBudgets | None) -> Steps:
        """The first step of a campaign is yet to come; `further` is None where nothing was said."""
        return cls(setup=setup, ports=ports, further=further or FurtherBudgets())

    @property
    def traits(self) -> Traits:
        """Traits of what is measured."""
        return self.ports.subject.traits

    def graph(self, older: str, newer: str) -> CommitGraph:
        """The candidates older..newer."""
        request = self.setup.request
        all_of_it = (older, newer) == (request.older, request.newer)
        return self.ports.journal.step(
            "graph" if all_of_it else f"graph/{older}..{newer}",
            CommitGraph,
            lambda _note: self.ports.tree.graph(older, newer, narrowing_of(request)),
        )

    @property
    def _limited(self) -> Narrowing | None:
        """What limits the candidates to some paths; None where nothing does, and in campaigns that
        began before a change outside of them was told.
        """
        narrowed = narrowing_of(self.setup.request)
        return narrowed if narrowed.paths and narrowed.own_parents else None

    def with_own_parents(self, graph: CommitGraph, candidate: str) -> CommitGraph:
        """The graph in which what lies between a candidate and those before it is a candidate, too:
        the same unless only some paths are searched.
        """
        limited = self._limited
        if limited is None:
            return graph
        return self.ports.journal.step(
            f"graph/{candidate}/{len(graph)}",
            CommitGraph,
            lambda _note: self.ports.tree.with_own_parents(graph, candidate, limited),
        )

    def outside(self, graph: CommitGraph, candidate: str) -> bool:
        """Whether a candidate stands for commits that touch none of the searched paths."""
        limited = self._limited
        return limited is not None and not self.ports.tree.alone(graph, candidate, limited.paths)

    def silent(self, graph: CommitGraph) -> Silent:
        """Pairs of commit and parent that no build so far tells apart, by the files that these
        builds were made from; none while that is unknown.
        """
        good = [sha for sha, build in self.builds.items() if build.ok]
        for sha in good:
            # A list of tens of thousands of names is read once, not after every further build.
            if sha not in self._files:
                self._files[sha] = self.ports.subject.files(self.builds[sha])
        files = [self._files[sha] for sha in good]
        if not files or not all(files):
            return Silent(())
        if self._changes is None:
            self._changes = self.ports.tree.changes(graph.commits)
        pairs = silent_pairs(graph, self._changes, Closure.of(frozenset().union(*files)))
        return Silent(pairs, shared_files(self._changes, pairs))

    def revert(self, tip: str, commit: str) -> str | None:
        """A commit that takes `commit` back on `tip`, or None."""
        reverting = self.ports.journal.step(
            f"revert/{commit}",
            MaybeSha,
            lambda _note: MaybeSha(self.ports.tree.revert_on(tip, commit)),
        )
        return reverting.sha

    def series(self, repair: CommitText) -> tuple[SeriesState, ...]:
        """How the stable series of the tree stood to a repair when this was first asked."""
        request = self.setup.request

        def look(_note: Note) -> SeriesStates:
            return SeriesStates(self.ports.tree.series(repair, (request.older, request.newer)))

        return self.ports.journal.step("series", SeriesStates, look).states

    @property
    def over(self) -> bool:
        """Whether the time that a person gave is over: no run begins any more, and no build."""
        self._heed_further(self.begun)
        return self.further.over

    def may_build(self, sha: str) -> bool:
        """Whether a revision is built, or may be."""
        known = sha in self.builds or not self.over
        return known or sha in self.ports.journal.keys(_BUILD, finished=True)

    def build(self, sha: str, layout: int = 0) -> Build:
        """Build a revision, once a campaign; `layout` other than 0 is another code layout, or the
        kernel without PREEMPT_RT.
        """
        known = self.layouts.get((sha, layout)) if layout else self.builds.get(sha)
        if known is not None:
            return known
        variant = layout_variant(layout)
        told = self.traits.builds
        if told:
            self.ports.progress.tell(Finding.of(Work.BUILDING, revision=sha, variant=variant))

        self.further.heed_stop()

        def run_build(note: Note) -> Build:
            begun_s = self.pace.clock()
            build = self._with_same_tools(self.ports.subject.build(sha, layout, note))
            if told:
                self.pace.built(self.pace.clock() - begun_s)
            return build

        key = f"{_BUILD}{sha}/{variant}" if layout else _BUILD + sha
        build = self.ports.journal.step(key, Build, run_build)
        if layout:
            self.layouts[sha, layout] = build
        else:
            self.builds[sha] = build
        if told:
            self._tell_build(build, sha, variant)
            if self.traits.products and not layout:
                self._tell_twin(build)
        elif not build.ok:
            # Not in the story: that of a campaign which an older program began would shift by it.
            self.ports.progress.tell(Finding.of(Work.SKIPPED, revision=sha, why=build.first_error))
        return build

    @property
    def built_before(self) -> tuple[str, ...]:
        """Revisions in the order in which this campaign built them, also those that it built before
        a resume and has yet to reach.
        """
        return tuple(key for key in self.ports.journal.keys(_BUILD) if "/" not in key)

    def _tell_build(self, build: Build, sha: str, variant: str) -> None:
        if not build.ok:
            self.tell(Work.NOT_BUILT, revision=sha, variant=variant, error=build.first_error)
        elif build.reused:
            self.tell(Work.REUSED, revision=sha, variant=variant, signature=build.signature)
        else:
            self.tell(
                Work.BUILT,
                revision=sha,
                variant=variant,
                # The signature of a command identifies its sources.
                signature="" if build.of_command else build.signature,
                wall_s=build.seconds,
            )

    def _tell_twin(self, build: Build) -> None:
        """Tell that an earlier build has left the same."""
        signatures = {each.revision: each.signature for each in self.builds.values() if each.ok}
        for sha, signature in signatures.items():
            if build.ok and signature == build.signature and sha != build.revision:
                self.tell(Work.SAME_PRODUCT, revision=build.revision, other=sha)
                return

    def _with_same_tools(self, build: Build) -> Build:
        """The build; ConfigError when other tools made it than earlier ones of this campaign."""
        builds = (*self.builds.values(), *self.layouts.values())
        before = next((earlier.tools for earlier in builds if earlier.tools), "")
        if before and build.tools and build.tools != before:
            old, new = before.splitlines(), build.tools.splitlines()
            new_tools = "; ".join(line for line in new if line not in old) or "some are gone"
            raise ConfigError(
                f"other tools build kernels now than when the campaign began: {new_tools}",
                "put the old packages back (`apt-get install NAME=VERSION`), then `rtbisect"
                " resume`; or start a new campaign",
            )
        return build

    def changed(self, pair: tuple[str, str]) -> Changed:
        """What a commit changes in the kernel of its parent, the first of the two, by both builds;
        compared once.
        """
        if pair not in self._changed:
            self._changed[pair] = self._compare_builds(*pair)
        return self._changed[pair]

    def _compare_builds(self, parent: str, culprit: str) -> Changed:
        before, after = self.build(parent), self.build(culprit)
        if not (before.ok and after.ok):
            return Changed()
        files = self.ports.subject.files(after)
        touched = self.ports.tree.describe(culprit).files
        built = not files.isdisjoint(touched) if files and touched else None
        return Changed(self.ports.subject.changed(before, after), built)

    def boot(self, ask: BootRequest, ahead: Sequence[BootRequest] = ()) -> Run:
        """One fresh boot of a built revision. `ahead` are boots that will likely be asked for after
        it: a lab with several devices begins them now.
        """
        if self._queue is None:
            self._queue = BootQueue(self.width, self._prepare_boot)
        # Who asks has looked at the time: where it is over now, this boot comes behind its end.
        most = max(0, self.setup.limits.max_boots - self.begun - 1)
        ask, *ahead = (replace(each, windows=self._windows) for each in (ask, *ahead))
        begun_early = [request for request in ahead if self._is_built(request)][:most]
        run = self._queue.take(ask, begun_early)
        if (run.revision, run.layout) != (ask.sha, ask.layout):
            raise InternalError(
                f"boot {run.run_id} was recorded for {run.revision[:12]}, asked of {ask.sha[:12]}",
                "it was begun by another version of rtbisect: start it again",
            )
        self.runs.append(run)
        if not run.complete:
            self.tell(
                Work.BOOT_ENDED,
                number=run.run_id.rpartition("-r")[2],
                revision=ask.sha,
                purpose=ask.purpose,
                status=run.status,
                why=run.reason,
            )
        return run

    def in_turn(
        self, pair: tuple[str, str], purpose: BootPurpose, boots: int, layout: int = 0
    ) -> Iterator[Run]:
        """Boots of two kernels in turn."""
        return self.boot_all(
            [
                BootRequest(
                    sha=in_turn(pair, turn), purpose=purpose, left=boots - turn - 1, layout=layout
                )
                for turn in range(boots)
            ]
        )

    def boot_all(self, asks: Sequence[BootRequest]) -> Iterator[Run]:
        """Boots that are all wanted, in their order, while there is time."""
        for number, ask in enumerate(asks):
            if self.over:
                return
            yield self.boot(ask, asks[number + 1 :])

    @property
    def width(self) -> int:
        """Boots that the lab runs at a time; as it was when the campaign began."""
        if not self._width:
            self._width = self.ports.journal.step(
                "devices", int, lambda _note: max(1, self.ports.subject.width())
            )
        return self._width

    def _is_built(self, ask: BootRequest) -> bool:
        build = self.layouts.get((ask.sha, ask.layout)) if ask.layout else self.builds.get(ask.sha)
        return build is not None and build.ok

    def _prepare_boot(self, number: int, ask: BootRequest) -> Callable[[], Run]:
        """A function that carries out the boot."""
        build = self.build(ask.sha, ask.layout)
        self.further.heed_stop()
        journal, subject = self.ports.journal, self.ports.subject
        known = (seen.unit for run in self.runs for seen in run.measurements)
        order = RunOrder(
            run_id=f"{journal.campaign}-r{number}",
            number=number,
            layout=ask.layout,
            explain=ask.explain,
            probes=ask.probes,
            first=ask.windows or boot_windows.leading(self.setup, number, self.runs),
            short=bool(ask.windows),
            unit=next(known, None),
        )
        what = Finding.of(Work.BOOTING, number=number, revision=ask.sha, purpose=ask.purpose)
        total = self._expected_total(number, ask)
        runs = total - number + 1
        most = min(ask.most + 1, self.setup.limits.max_boots - number + 1)
        left = ask.left_s or self.budget.left(ask.left + 1, runs, most)
        if self.width <= 1:
            left = self.pace.left(left, runs)
        if left is not None and ask.search_may_follow:
            left = replace(left, search_may_follow=True)
        self.ports.progress.step(what, number, total, left)

        def carry_out(note: Note) -> Run:
            begun_s = self.pace.clock()
            run = subject.run(build, order, note)
            self.pace.ran(begun_s, run.seconds)
            return replace(run, layout=ask.layout)

        return lambda: journal.step(f"{RUN}{number:04d}", Run, carry_out)

    def _expected_total(self, number: int, ask: BootRequest) -> int:
        """Boots of the campaign, for the progress. A part of the proof knows itself alone: what the
        search has expected of all parts stands until they take more.
        """
        total = number + ask.left
        if ask.purpose in _SEARCHING:
            self._expected = total
        return max(number, min(max(total, self._expected), self.setup.limits.max_boots))

    def evidence(self) -> dict[str, Boots]:
        """The boots so far that are evidence, by revision in their order; of the kernels as they
        are configured only.
        """
        boots: dict[str, Boots] = {}
        for run in self.alike:
            if run.complete and not run.layout:
                boots[run.revision] = boots.get(run.revision, Boots()).with_run(run)
        return boots

    def measure_only(self, windows: tuple[str, ...]) -> None:
        """Leave all other windows out of boots from now on."""
        self._windows = windows

    @property
    def alike(self) -> list[Run]:
        """The boots so far in which nothing measured before the windows of boots from now on:
        what comes behind a window cannot change its figures, what comes before it might.
        """
        return [run for run in self.runs if boot_windows.begins_with(run, self._windows)]

    @property
    def begun(self) -> int:
        """Boots that have begun, also those that nobody waited for yet."""
        return self._queue.begun if self._queue else 0

    @property
    def budget(self) -> Budget:
        """What further steps may cost after those so far."""
        begun = self.begun
        self._heed_further(begun)
        left_to = self._windows if self.setup.limits.short_costs else ()
        return Budget(
            setup=self.setup,
            traits=self.traits,
            builds=tuple(self.builds.values()),
            layouts=len(self.layouts),
            boot_s=tuple(
                boot_windows.seconds_of(run, left_to)
                for run in self.alike or self.runs
                if run.seconds > 0
            ),
            begun=begun,
        )

    def _heed_further(self, begun: int) -> None:
        limits = self.further.limits(self.setup.limits, begun)
        if over := self.further.heed_time(self.ports.journal, begun):
            self._tell(over)
            limits = self.further.limits(limits, begun)
        if limits is not self.setup.limits:
            self.setup = replace(self.setup, limits=limits)

    def grow(self, wanted: int) -> bool:
        """Whether the budget has grown, as far as it may, for what wants so many boots in all;
        where it has, that is told.
        """
        limits = self.setup.limits
        if not limits.grows:
            return False
        order = self.further.grow(self.ports.journal, limits, self.begun, wanted)
        if order.most <= order.before:
            return False
        self.tell(Searches.GROWN, before=order.before, most=order.most)
        self.setup = replace(self.setup, limits=self.further.with_growth(limits, order))
        return True

    def tell(self, kind: Kind, /, **data: Value) -> Finding:
        """One line of the campaign's story; gives what is told."""
        return self._tell(Finding.of(kind, **data))

    def _tell(self, finding: Finding) -> Finding:
        self.ports.journal.tell(finding)
        self.ports.progress.tell(finding)
        return finding
