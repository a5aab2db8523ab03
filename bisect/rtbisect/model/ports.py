# SPDX-License-Identifier: GPL-2.0-or-later
"""What the pipeline needs of the world. Adapters implement these; fakes ship beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from rtbisect.model.code import WHOLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from rtbisect.model.campaign import CampaignRequest, Judgement
    from rtbisect.model.code import (
        Build,
        BuildRequest,
        Change,
        Checkout,
        Commit,
        CommitGraph,
        Function,
        Linked,
        Narrowing,
    )
    from rtbisect.model.finding import Finding
    from rtbisect.model.lab import DeviceType, Run, RunRequest
    from rtbisect.model.report import CommitText, Repaired, Report, ReportInput, SeriesState
    from rtbisect.model.result import Summary
    from rtbisect.model.subject import RunOrder, Traits

T = TypeVar("T")


class Tree(Protocol):
    """A git repository under test."""

    def resolve(self, revision: str) -> str:
        """Full sha of a revision; ConfigError when there is none."""

    def graph(self, older: str, newer: str, narrowed: Narrowing = WHOLE) -> CommitGraph:
        """Candidates older..newer with all parents; ConfigError when older is no ancestor, and when
        nothing is left.
        """

    def alone(self, graph: CommitGraph, sha: str, paths: Sequence[str]) -> bool:
        """Whether a candidate of a graph of these paths stands for no other commit: it touches
        them, or nothing lies between it and the candidate before it.
        """

    def with_own_parents(self, graph: CommitGraph, sha: str, narrowed: Narrowing) -> CommitGraph:
        """A graph of `narrowed.paths` in which a candidate has the parents of its commit. Those of
        them that are no candidates become some: each stands for all commits between it and the
        candidate before it. The same graph where nothing is between.
        """

    def held(self, sha: str) -> AbstractContextManager[Checkout]:
        """Put the one worktree at `sha`, clean; it stays there until the block ends."""

    def revert_on(self, tip: str, commit: str) -> str | None:
        """Commit that reverts `commit` on `tip`, or None when it does not apply."""

    def merge_base(self, one: str, other: str) -> str:
        """Best common ancestor; ConfigError for unrelated histories."""

    def changes(self, commits: Sequence[Commit]) -> Mapping[str, tuple[Change, ...]]:
        """What each commit changes against its first parent; one without a parent is left out."""

    def describe(self, sha: str) -> CommitText:
        """Author, subject and touched files."""

    def tag_names(self, shas: Sequence[str]) -> Mapping[str, str]:
        """By sha how `git describe --contains` calls commits: `v6.12.3`, `v6.12.3~14^2`; those that
        no tag of a version has are left out. Asks no network.
        """

    def series(self, repair: CommitText, ends: Sequence[str]) -> tuple[SeriesState, ...]:
        """How the stable series that are known here stand to a repair, the highest number first;
        `ends` are revisions that were measured. Asks no network.
        """


class Builder(Protocol):
    """Builds kernels; a kernel that does not build is a value."""

    def build(self, source: Checkout, request: BuildRequest, note: Callable[[str], None]) -> Build:
        """Build; `note` records the process group before it starts."""

    def link(
        self,
        source: Checkout,
        request: BuildRequest,
        build: Build,
        seed: int,
        note: Callable[[str], None],
    ) -> Linked:
        """What `build` of a request was made of, linked anew with its functions in the order of a
        seed, from 1 to 2**31 - 1; `note` as of `build`. ConfigError where none of them moves.
        """

    def files(self, build: Build) -> frozenset[str]:
        """Files of the tree that a build was made from; empty when nobody knows."""

    def changed(self, parent: Build, culprit: Build) -> tuple[Function, ...] | None:
        """Functions of `culprit` whose code `parent` does not have; None when nobody knows."""


class Note(Protocol):
    """Keeps the external id of a step that is under way: a process group, a job of a server."""

    @property
    def left(self) -> str:
        """What a session that was killed in this step noted last; "" when there was none."""

    @property
    def lasts(self) -> bool:
        """Whether what is kept outlives us: then who resumes the step takes it up again."""

    def __call__(self, external_id: str) -> None:
        """Keep it, durably, before this returns."""


class NoNote:
    """A Note that keeps nothing, for who has nothing to resume."""

    left = ""
    lasts = False

    def __call__(self, external_id: str) -> None:
        """Nothing is kept."""


class KeptNote:
    """A Note in memory: `kept` has all that was noted. For tests and measurements."""

    lasts = True

    def __init__(self, left: str = "") -> None:
        self.left = left
        self.kept: list[str] = []

    def __call__(self, external_id: str) -> None:
        self.kept.append(external_id)


class Lab(Protocol):
    """Boots kernels through LAVA."""

    def run(self, request: RunRequest, note: Note) -> Run:
        """One boot; `note` records the external id before it starts. Raises only for the
        lab (InfrastructureError) and the configuration (ConfigError).
        """

    def width(self, device_type: DeviceType) -> int:
        """Boots that can run at a time: devices of this type that take jobs."""

    def leave(self) -> None:
        """A campaign has ended: nobody fetches anything of it any more."""


class Subject(Protocol):
    """What a campaign measures: a revision of it is built, and a build is run."""

    @property
    def traits(self) -> Traits:
        """What the campaign has to know of it; the same from begin to end."""

    def build(self, sha: str, layout: int, note: Note) -> Build:
        """Make a revision (a full sha) ready to run, in another code layout where that is not 0.
        What does not build is a value. Raises only for the machine (InfrastructureError) and the
        configuration (ConfigError); `note` as of a Builder.
        """

    def run(self, build: Build, order: RunOrder, note: Note) -> Run:
        """One run of what `build` made, which is ok. One that fails is a value, with its seconds;
        `note` and errors as of a Lab. MisaskedError where the first run of all shows that the
        request makes no sense.
        """

    def width(self) -> int:
        """Runs that can be made at a time; InfrastructureError where a lab does not tell."""

    def files(self, build: Build) -> frozenset[str]:
        """Files of the tree that a build was made from; empty when nobody knows."""

    def changed(self, parent: Build, culprit: Build) -> tuple[Function, ...] | None:
        """Functions of `culprit` whose code `parent` does not have; None when nobody knows."""

    def leave(self) -> None:
        """The campaign has ended, in whatever way: close what is open. Nothing is asked after."""


class Journal(Protocol):
    """Every effect happens inside a step; a finished step is never done twice."""

    @property
    def campaign(self) -> str:
        """Identifier of the campaign."""

    def step(self, key: str, kind: type[T], effect: Callable[[Note], T]) -> T:
        """Value of step `key`: recorded, or made now by `effect(note)` and then recorded."""

    def rewrite(self, key: str, kind: type[T], value: T) -> None:
        """Keep what step `key` recorded in another form of the same."""

    def keys(self, prefix: str, *, finished: bool = False) -> tuple[str, ...]:
        """Keys of the steps that begin so, in the order in which they began, without that prefix;
        also those of before a resume that are not reached again yet. `finished`: only these.
        """

    def summary(self) -> Summary:
        """Counts of builds, boots, skips and seconds so far."""

    def repaired_by(self, commit: str) -> tuple[Repaired, ...]:
        """What other finished campaigns have proved a commit to repair."""

    def judged(self, asked: CampaignRequest) -> tuple[Judgement, ...]:
        """Of the newest finished campaign that was asked so; () where there is none."""

    def tell(self, finding: Finding) -> None:
        """One line of the campaign's story; told once, also when the campaign is resumed."""

    def story(self) -> tuple[Finding, ...]:
        """All that was told so far."""


class Mailer(Protocol):
    """Keeps drafts; sends nothing without approval."""

    def draft(self, report: ReportInput, story: Sequence[Finding]) -> Report:
        """Render and keep a draft."""


class Clock(Protocol):
    """Time, so that tests own it."""

    def now_iso(self) -> str:
        """UTC, ISO 8601, seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """Seconds that are left: half of all cases like this take less than `middle_s`, four of five
    take `low_s` to `high_s`.
    """

    low_s: float
    middle_s: float
    high_s: float
    #: That is the time of a comparison, behind which a search comes if its ends differ.
    search_may_follow: bool = False


class Progress(Protocol):
    """What a campaign lets a person see while it runs."""

    def tell(self, finding: Finding) -> None:
        """What has happened, or begins."""

    def step(self, what: Finding, done: int, total: int, left: Left | None) -> None:
        """Where we are; `left` is None when unknown."""


class Screen(Protocol):
    """Progress for a person: redrawn in place on a terminal, plain lines elsewhere."""

    def begin(self, request: CampaignRequest) -> None:
        """All that follows is of a campaign that was asked so."""

    def shows(self, finding: Finding) -> bool:
        """Hear what has happened, or begins. True where no words of it are wanted."""

    def say(self, line: str) -> None:
        """One plain line."""

    def step(self, what: str, done: int, total: int, left: Left | None) -> None:
        """As of Progress, of what `shows` has heard last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The ports that a campaign works through."""

    tree: Tree
    subject: Subject
    journal: Journal
    mailer: Mailer
    clock: Clock
    progress: Progress
