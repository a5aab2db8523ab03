# SPDX-License-Identifier: GPL-2.0-or-later
"""The search by counts: two equal runs of a revision show that a figure has no noise, and then one
run of each is enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rtbisect.errors import MisaskedError
from rtbisect.judge.boots import Boots
from rtbisect.model.campaign import Better, Judgement, Level, Outcome, Sample, Scale
from rtbisect.model.command import CommandRequest, Extra
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.counts import Counts
from rtbisect.model.kinds.pipeline import Work
from rtbisect.model.kinds.search import Costs, Endings, Untestable
from rtbisect.model.lab import RunStatus
from rtbisect.model.result import CheckName, CheckStatus, TestedRevision, Verification
from rtbisect.model.subject import Measured
from rtbisect.pipeline.answer import Answer
from rtbisect.pipeline.attribution import NOT_ATTRIBUTED
from rtbisect.pipeline.boot_queue import BootRequest
from rtbisect.pipeline.proof import ProofEnd
from rtbisect.search.ancestry import Ancestry, candidates_between
from rtbisect.search.exact import Exact
from rtbisect.search.spec import BootPurpose, SearchAnswer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.campaign import Threshold
    from rtbisect.model.code import CommitGraph
    from rtbisect.pipeline.steps import Steps

#: Two runs of one revision may differ by this share: random addresses, dates of another length.
TOLERANCE = 1e-4
#: The smallest change that counts, where nobody says another one (--ratio).
SMALLEST = 2 * TOLERANCE
#: A commit is named that makes this part of the change between the ends.
NAMED = 0.2
#: Parts of the range that are halved at most: each costs the logarithm of its commits.
MOST_PARTS = 12
#: Runs without a figure in a row, after which a revision is left out.
TRIES = 2


def counted(steps: Steps) -> bool:
    """Whether the figure that is searched is a count."""
    request = steps.setup.request
    return steps.traits.measured is Measured.COMMAND and CommandRequest.of(request).counted


def spread(counts: tuple[float, ...]) -> float:
    """How far counts of one revision lie apart, as a share."""
    return (max(counts) - min(counts)) / max(1.0, *map(abs, counts))


def search_counts(steps: Steps, graph: CommitGraph, threshold: Threshold) -> Answer | None:
    """What counts say; None where they are not equal from run to run, or an end has none: that is
    left to the search that knows noise, which has the runs.
    """
    if not all(map(steps.may_build, graph.ends)):
        return None
    return _CountSearch(steps=steps, graph=graph, threshold=threshold).answer()


@dataclass(frozen=True, slots=True)
class _Step:
    """A commit and the parent that it is least worse than."""

    sha: str
    parent: str
    #: How much worse the commit is than that parent, in badness.
    size: float


class _Varies(Exception):  # noqa: N818  (no error: the figure has noise)
    """Two runs of a revision differ, or only one of them has a count."""


class _Spent(Exception):  # noqa: N818
    """The budget has ended."""


@dataclass(kw_only=True)
class _CountSearch:
    steps: Steps
    #: Commits of the whole range.
    graph: CommitGraph
    threshold: Threshold
    #: Counts by revision, of all that have any.
    counts: dict[str, tuple[float, ...]] = field(default_factory=dict)
    untestable: dict[str, Finding] = field(default_factory=dict)
    #: Suspects where the budget ended, and where revisions that cannot be measured hide the commit.
    left: tuple[str, ...] = ()
    #: Steps found before the budget ended.
    found: list[_Step] = field(default_factory=list)
    hidden: tuple[str, ...] = ()
    #: Change of the figure across the `hidden` commits, in badness.
    hidden_size: float = 0.0

    def answer(self) -> Answer | None:
        older, newer = self.graph.older, self.graph.newer
        builds = [self.steps.build(end) for end in (older, newer)]
        if not all(each.ok for each in builds) or builds[0].signature == builds[1].signature:
            return None
        counter = CommandRequest.of(self.steps.setup.request).count
        self.steps.tell(Counts.BY, counter=counter)
        try:
            for sha in (older, newer, newer, older):
                self._count(sha, BootPurpose.CALIBRATE, 3)
                if sha in self.untestable:
                    return None
            self._check_equal(older)
            self._check_equal(newer)
            if (alike := self._alike()) is not None:
                return alike
            found = self._steps_of_range()
            for step in found:
                for sha in (step.parent, step.sha):
                    if len(self.counts[sha]) == 1:
                        self._count(sha, BootPurpose.VERIFY, 1)
                    self._check_equal(sha)
        except _Varies:
            return None
        except _Spent:
            return self._unfinished() if self.left or self.found else None
        return self._named(found)

    # Measurements.

    def _count(self, sha: str, purpose: BootPurpose, left: int) -> None:
        """Measure a revision once, or learn that it cannot be."""
        if not self.steps.may_build(sha):
            raise _Spent
        build = self.steps.build(sha)
        if not build.ok:
            self.untestable[sha] = Finding.of(Untestable.NO_BUILD)
            return
        if sha not in self.counts and (twin := self._twin(build.signature)):
            self.counts[sha] = self.counts[twin]
            return
        run = None
        for _ in range(TRIES):
            if not self.steps.budget.boots_left:
                raise _Spent
            run = self.steps.boot(BootRequest(sha=sha, purpose=purpose, left=left))
            if run.complete:
                break
        assert run is not None
        told = Boots((run,)).figure(self.threshold.key)
        if not run.complete or not told:
            hung = Finding.of(Untestable.HUNG)
            why = hung if run.status is RunStatus.HUNG else Finding.of(Untestable.SKIPPED)
            if run.status is RunStatus.INVALID:
                why = Finding.of(Untestable.INVALID, runs=TRIES)
            self.untestable[sha] = why
            return
        self.steps.tell(
            Work.FIGURE, purpose=purpose, revision=sha, variant="", unit=self.threshold.unit,
            metric=str(self.threshold.key), value=told[0].value,
        )  # fmt: skip
        self.counts[sha] = (*self.counts.get(sha, ()), told[0].value)

    def _twin(self, signature: str) -> str | None:
        builds = self.steps.builds
        same = (sha for sha in self.counts if builds[sha].signature == signature)
        return next(same, None) if signature else None

    def _check_equal(self, sha: str) -> None:
        if len(self.counts[sha]) == 1:
            self.steps.tell(Counts.ONCE, revision=sha, why=self.untestable[sha])
            raise _Varies
        apart = spread(self.counts[sha])
        if apart > TOLERANCE:
            low, high = min(self.counts[sha]), max(self.counts[sha])
            self.steps.tell(Counts.VARY, revision=sha, low=low, high=high, share=apart)
            raise _Varies

    def _badness(self, sha: str) -> float:
        value = self.counts[sha][0]
        return value if self.threshold.better is Better.LOWER else -value

    @property
    def _total(self) -> float:
        """The change between the ends, in badness."""
        return self._badness(self.graph.newer) - self._badness(self.graph.older)

    # Answers.

    def _alike(self) -> Answer | None:
        """The answer where the ends have the same counts; None where the newer one is worse.
        MisaskedError where it is better.
        """
        before, after = (self.counts[end][0] for end in self.graph.ends)
        by_ratio = self.threshold.scale is Scale.LOG
        smallest = max(SMALLEST, self.threshold.min_effect - 1 if by_ratio else 0.0)
        share = (after - before) / max(1.0, abs(before))
        if abs(share) < smallest:
            said = SearchAnswer(
                outcome=Outcome.NOT_REPRODUCED,
                tested=self._tested(),
                reasons=(Finding.of(Counts.ALIKE, older=before, newer=after, share=share),),
            )
            return Answer(metric=self.threshold.key, said=said)
        if self._total < 0 and Extra.of(self.steps.setup.request).given:
            # What the older end has in the place of which the merge base stands is looked at next.
            told = Finding.of(Counts.FEWER, older=before, newer=after, share=share)
            said = SearchAnswer(
                outcome=Outcome.NOT_REPRODUCED, tested=self._tested(), reasons=(told,)
            )
            return Answer(metric=self.threshold.key, said=said)
        if self._total < 0:
            good, bad = self.steps.setup.request.sought.ends(before, after)
            raise MisaskedError(
                f"the change is the other way round: the good end executes {good:,.0f}"
                f" instructions, the bad end {bad:,.0f}",
                "exchange --good and --bad, or look at --better",
            )
        return None

    def _steps_of_range(self) -> list[_Step]:
        """The commits that make NAMED of the change and more, the largest first; the largest one
        where there is none. Parts of the range that differ by less are not looked at.
        """
        parts = {self.graph.ends}
        done: set[tuple[str, str]] = set()
        found = self.found
        for _ in range(MOST_PARTS):
            part = max(parts - done, key=lambda ends: (self._size(*ends), ends), default=None)
            if part is None or (size := self._size(*part)) < NAMED * self._total or size <= 0:
                break
            done.add(part)
            step = self._halved(*part)
            if step is None:
                continue
            older, newer = part
            step, inner = self._own_part(step, older)
            # Parts that overlap may both have a commit.
            if step.size > 0 and all(step.sha != other.sha for other in found):
                found.append(step)
            parts |= {
                (oldest, newest)
                for oldest, newest in (*inner, (step.sha, newer))
                if oldest != newest and newest in self._ancestry.index
            }
        found.sort(key=lambda step: -step.size)
        self.left = ()
        large = [step for step in found if step.size >= NAMED * self._total]
        return large or found[:1]

    @cached_property
    def _ancestry(self) -> Ancestry:
        return Ancestry(self.graph)

    def _size(self, older: str, newer: str) -> float:
        """The change between two revisions that have counts, in badness."""
        return self._badness(newer) - self._badness(older)

    def _own_part(self, step: _Step, older: str) -> tuple[_Step, list[tuple[str, str]]]:
        """What a commit makes by itself, and the ends of the parts before it. A merge makes what
        its branches together do not, since they forked, and no more than it is worse than each.
        """
        parents = [sha for sha in self.graph.parents_of(step.sha) if sha in self.counts]
        if len(parents) < 2:
            return step, [(self._begin(step.parent, older), step.parent)]
        fork = self._fork(parents)
        own = self._size(fork, step.sha) - sum(self._size(fork, sha) for sha in parents)
        # A branch that forked before the older end of the part lacks what that has.
        late = self._has(fork, older)
        inner = [(older if self._has(sha, older) and not late else fork, sha) for sha in parents]
        if late or older not in self._ancestry.index:
            inner.append((self._begin(fork, older), fork))
        return replace(step, size=min(own, step.size)), inner

    def _begin(self, sha: str, older: str) -> str:
        """The older end of the part up to a revision: what its branch began at, where it is not
        made of `older`.
        """
        if self._has(sha, older):
            return older
        began = self._began_at([sha])
        return began if self._has_count(began) else self.graph.older

    def _has(self, sha: str, older: str) -> bool:
        """Whether a revision is made of another one, or is that."""
        start = self._ancestry.index.get(older)
        if start is not None:
            return bool(self._ancestry.side(sha)[start])
        # The older end of the range is made of all that is before it.
        return not {older, self.graph.older}.isdisjoint(self._before(sha))

    def _fork(self, parents: Sequence[str]) -> str:
        """Where branches forked: the newest revision with a count that all are made of."""
        sides = [self._ancestry.side(sha) for sha in parents]
        common = np.flatnonzero(np.logical_and.reduce(sides))
        shas = [self.graph.commits[place].sha for place in common]
        newest = shas[-1] if shas else self._began_at(parents)
        if self._has_count(newest):
            return newest
        return next((sha for sha in reversed(shas) if sha in self.counts), self.graph.older)

    def _has_count(self, sha: str) -> bool:
        """Whether a revision has one, which is measured where nobody has tried."""
        if sha not in self.counts and sha not in self.untestable:
            self._count(sha, BootPurpose.SEARCH, 1)
        return sha in self.counts

    def _began_at(self, shas: Sequence[str]) -> str:
        """The last revision before the range that all are made of; the older end where several may
        be it.
        """
        older = self.graph.older
        began = {each for each in map(self._before, shas) if older not in each}
        places = frozenset[str]().union(*began)
        return next(iter(places)) if len(places) == 1 else older

    def _before(self, sha: str) -> frozenset[str]:
        """The revisions before the range that one is made of, or is: the last ones."""
        ancestry, commits = self._ancestry, self.graph.commits
        inside = np.flatnonzero(ancestry.side(sha)).tolist()
        if not inside:
            return frozenset((sha,))
        return frozenset(p for i in inside for p in commits[i].parents if p not in ancestry.index)

    def _halved(self, older: str, newer: str) -> _Step | None:
        """The commit that crosses the middle of a part; None where it is hidden."""
        whole = (older, newer) == self.graph.ends
        part = self.graph if whole else candidates_between(self.graph, older, newer)
        ancestry = Ancestry(part)
        middle = (self._badness(older) + self._badness(newer)) / 2
        told: int | None = None
        while True:
            figures = {sha: self._badness(sha) for sha in self.counts}
            exact = Exact(ancestry, figures, frozenset(self.untestable), middle)
            self.left = exact.left
            left, commits = len(self.left), len(part)
            if left != told:
                self.steps.ports.progress.tell(Finding.of(Counts.LEFT, left=left, commits=commits))
                told = left
            sha = exact.next()
            if sha is None:
                break
            self._count(sha, BootPurpose.SEARCH, math.ceil(math.log2(max(2, left))) + 1)
        if len(exact.left) > 1:
            size = self._badness(newer) - self._badness(older)
            if size > self.hidden_size:
                self.hidden, self.hidden_size = exact.left, size
            return None
        known = [sha for sha in part.parents_of(exact.suspect) if sha in self.counts] or [older]
        parent = max(known, key=self._badness)
        size = self._badness(exact.suspect) - self._badness(parent)
        return _Step(exact.suspect, parent, size)

    def _named(self, found: list[_Step]) -> Answer:
        """The answer of a range that was searched to its end."""
        if not found:
            return self._one_of_hidden() if self.hidden else self._undecided()
        if found[0].size < NAMED * self._total:
            first = found[0]
            part = first.size / self._total
            told = Finding.of(Counts.SMALL_STEPS, sha=first.sha, part=part)
            said = SearchAnswer(outcome=Outcome.GRADUAL, tested=self._tested(), reasons=(told,))
            return Answer(metric=self.threshold.key, said=replace(said, confidence=1.0))
        answer, *others = (self._answer_of(step) for step in found)
        answer.others, answer.several = tuple(others), bool(others)
        for other in others:
            answer.after += other.said.reasons
        if self.hidden:
            part = self.hidden_size / self._total
            answer.after.append(Finding.of(Counts.HIDDEN, commits=len(self.hidden), part=part))
            answer.several = True
        return answer

    def _answer_of(self, step: _Step) -> Answer:
        base, new = (Sample(self.counts[sha]) for sha in (step.parent, step.sha))
        before, after = base.values[0], new.values[0]
        told = Finding.of(
            Counts.STEP, sha=step.sha, parent=step.parent, before=before, after=after,
            share=(after - before) / max(1.0, abs(before)), part=step.size / self._total,
        )  # fmt: skip
        by_ratio = self.threshold.scale is Scale.LOG
        effect = after / before if by_ratio and before else after - before
        judgement = Judgement(
            key=self.threshold.key, level=Level.REGRESSED, base=base, new=new, effect=effect,
            interval=(effect, effect), p=0.0, reason=told,
        )  # fmt: skip
        check = Verification(
            check=CheckName.PARENT, status=CheckStatus.PASS, judgement=judgement,
            recovery=step.size / self._total, parent=step.parent[:12],
        )  # fmt: skip
        tested = self._tested()
        said = SearchAnswer(
            outcome=Outcome.CULPRIT, culprit=step.sha, candidates=((step.sha, 1.0),),
            confidence=1.0, tested=tested, reasons=(told,),
        )  # fmt: skip
        proof = ProofEnd(
            attribution=NOT_ATTRIBUTED, merge=len(self.graph.parents_of(step.sha)) > 1,
            checks=(check,), table=(), tested=tested, probability=None,
        )  # fmt: skip
        return Answer(metric=self.threshold.key, said=said, proof=proof)

    def _one_of_hidden(self) -> Answer:
        """The commit is one of those that cannot be told apart."""
        untestable = tuple(
            Finding.of(Untestable.REVISION, sha=sha, why=self.untestable[sha])
            for sha in self.hidden
            if sha in self.untestable
        )
        told = Finding.of(
            Endings.CULPRIT_SET, commits=len(self.hidden), probability=1.0, untestable=untestable
        )
        said = self._open(Outcome.CULPRIT_SET, self.hidden, told)
        return Answer(metric=self.threshold.key, said=replace(said, confidence=1.0))

    def _undecided(self) -> Answer:
        """No commit has the change: the branch that brought it lacks what the older end has."""
        said = self._open(Outcome.INCONCLUSIVE, (), Finding.of(Endings.INSEPARABLE))
        return Answer(metric=self.threshold.key, said=said)

    def _unfinished(self) -> Answer:
        boots, builds = len(self.steps.runs), len(self.steps.builds)
        spent = Finding.of(Costs.WORK, boots=boots, builds=builds)
        told = Finding.of(Endings.SEARCH_BUDGET, spent=spent)
        known = dict.fromkeys((*(step.sha for step in self.found), *self.left))
        said = self._open(Outcome.INCONCLUSIVE, tuple(known), told)
        return Answer(metric=self.threshold.key, said=said)

    def _open(self, outcome: Outcome, shas: tuple[str, ...], told: Finding) -> SearchAnswer:
        candidates = tuple((sha, 1 / len(shas)) for sha in shas[:20])
        return SearchAnswer(
            outcome=outcome, candidates=candidates, tested=self._tested(), reasons=(told,)
        )

    def _tested(self) -> tuple[TestedRevision, ...]:
        """The good end first, then in the order of the history."""
        graph, middle = self.graph, self._badness(self.graph.older) + self._total / 2
        subjects = {commit.sha: commit.subject for commit in graph.commits}
        known = {*self.counts, *self.untestable}
        outside = sorted(known - subjects.keys(), key=lambda sha: (sha != graph.older, sha))
        runs = [run.revision for run in self.steps.runs if run.complete]
        return tuple(
            TestedRevision(
                sha,
                subjects.get(sha, ""),
                runs.count(sha),
                float(self._badness(sha) > middle) if sha in self.counts else 0.5,
                self.untestable.get(sha),
            )
            for sha in (*outside, *(sha for sha in subjects if sha in known))
        )
