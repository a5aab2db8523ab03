# SPDX-License-Identifier: GPL-2.0-or-later
"""More than one culprit: the parts of a range are searched and proved one by one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rtbisect.model.campaign import Outcome, Threshold
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Joined, Parts, Proofs
from rtbisect.model.result import CheckName, CheckStatus, Result, TestedRevision, Verification
from rtbisect.pipeline import proof
from rtbisect.pipeline.search_loop import result_of, search, unanswered
from rtbisect.search.ancestry import Ancestry, candidates_between

if TYPE_CHECKING:
    from rtbisect.model.code import CommitGraph
    from rtbisect.pipeline.steps import Steps
    from rtbisect.search.spec import SearchAnswer

#: How often a part is divided again. A range with more culprits is told of as far as that.
DEEPEST = 3


def find_beside(steps: Steps, graph: CommitGraph, threshold: Threshold, first: Result) -> Result:
    """The same with further culprits: the ranges before and after the proven one are searched."""
    culprit = first.culprit
    if culprit is None:
        return first
    steps.tell(Parts.BESIDE, culprit=culprit)
    searches = _PartSearches(steps=steps, graph=graph, threshold=threshold)
    for parent in graph.parents_of(culprit):
        searches.search(graph.older, parent)
    searches.search(culprit, graph.newer)
    return _joined([first, *searches.proved], first, searches)


def find_on_both_sides(
    steps: Steps, graph: CommitGraph, threshold: Threshold, result: Result, between: str
) -> Result:
    """The culprits on both sides of a revision that lies between good and bad. With none of them
    proved the range is inconclusive.
    """
    searches = _PartSearches(steps=steps, graph=graph, threshold=threshold)
    searches.divide(graph.older, between, graph.newer)
    if searches.proved:
        return _joined(searches.proved, searches.proved[0], searches, known=True)
    notes = tuple(searches.notes)
    return replace(result, outcome=Outcome.INCONCLUSIVE, reasons=(*result.reasons, *notes))


def with_prediction_check(result: Result, answer: SearchAnswer) -> Result:
    """The result with a check that the tested revisions lie where one culprit puts them."""
    if result.culprit is None:
        return result
    unexplained = tuple(
        Finding.of(Proofs.LIES_OFF, revision=sha, p=p)
        for sha, p in answer.unlike
        if sha != result.culprit
    )
    notes = []
    if unexplained:
        notes.append(Finding.of(Proofs.UNEXPLAINED, revisions=unexplained))
    notes += [
        Finding.of(Proofs.ITSELF_OFF, p=p) for sha, p in answer.unlike if sha == result.culprit
    ]
    taken_back = [
        check.note
        for check in result.verifications
        if check.check is CheckName.KEPT and check.note is not None
    ]
    if notes:
        note = Finding.of(Joined.AND, findings=tuple(notes))
    else:
        note = Finding.of(Proofs.NOT_OF_END if taken_back else Proofs.PREDICTED)
    check = Verification(
        check=CheckName.PREDICTION,
        status=CheckStatus.UNDECIDED if notes or taken_back else CheckStatus.PASS,
        judgement=None,
        note=note,
    )
    reasons = (*result.reasons, *taken_back, *notes)
    return replace(result, verifications=(*result.verifications, check), reasons=reasons)


@dataclass(kw_only=True)
class _PartSearches:
    """Searches of parts of a range."""

    steps: Steps
    #: Of the whole range.
    graph: CommitGraph
    threshold: Threshold
    #: Results with a proven culprit, in the order in which they were found.
    proved: list[Result] = field(default_factory=list)
    #: Of each part that was searched: its ends and its outcome.
    notes: list[Finding] = field(default_factory=list)
    #: Some part has culprits that nobody named.
    open: bool = False

    def divide(self, good: str, between: str, bad: str, depth: int = 1) -> None:
        """Search both sides of a revision whose figure lies between those of the ends."""
        self.steps.tell(Parts.BETWEEN, between=between, older=good, newer=bad)
        self.search(good, between, depth)
        self.search(between, bad, depth)

    def search(self, good: str, bad: str, depth: int = 1) -> Outcome:
        """Search one part and prove what is found there; how that ended."""
        rest = candidates_between(self.graph, good, bad)
        if not rest.commits:
            return Outcome.NO_REGRESSION
        result, between = self._part_result(rest)
        if result.outcome is Outcome.MERGE_CULPRIT and result.culprit:
            proved_before = len(self.proved)
            ended = self._search_branches(good, result.culprit, depth)
            if len(self.proved) > proved_before:
                # The merge brought in what a commit of its branch had done.
                return Outcome.CULPRIT
            if Outcome.INCONCLUSIVE in ended:
                reason = Finding.of(Parts.OPEN_BRANCH, merge=result.culprit)
                result = replace(unanswered(self.threshold, reason), tested=result.tested)
                self.open = True
        is_open = result.outcome is Outcome.INCONCLUSIVE
        note = self.steps.tell(
            Parts.ENDED,
            older=good,
            newer=bad,
            outcome=result.outcome,
            culprit=result.culprit,
            why=result.reasons[0] if is_open and result.reasons else None,
        )
        self.notes.append(note)
        if result.culprit is not None:
            self.proved.append(replace(result, reasons=(note, *result.reasons)))
        elif between and depth < DEEPEST:
            self.divide(good, between, bad, depth + 1)
        else:
            self.open |= result.outcome in (Outcome.MULTIPLE_CULPRITS, Outcome.CULPRIT_SET)
        return result.outcome

    def _search_branches(self, good: str, merge: str, depth: int) -> list[Outcome]:
        """A merge is worse than its parents where one of them lacks what `good` has: then a culprit
        on that branch looks like the merge. From the good end such a branch is searched by itself;
        gives how each of these searches ended.
        """
        ended = []
        ancestry = Ancestry(self.graph)
        start = ancestry.index.get(good)
        for parent in self.graph.parents_of(merge):
            place = ancestry.index.get(parent)
            if start is None or place is None or ancestry.ancestors_or_self(place)[start]:
                continue
            self.steps.tell(Parts.FORKED, merge=merge, parent=parent, older=good)
            ended.append(self.search(self.graph.older, parent, depth + 1))
        return ended

    def _part_result(self, rest: CommitGraph) -> tuple[Result, str]:
        """What is found in a part, and a revision between two culprits of it."""
        steps = self.steps
        if not steps.budget.affords(steps.evidence(), rest.older, rest.newer):
            return unanswered(self.threshold, Finding.of(Parts.BUDGET_SPENT)), ""
        search_end = search(steps, rest, self.threshold)
        answer = search_end.answer
        result = result_of(answer, self.threshold, ())
        if answer.outcome is Outcome.CULPRIT:
            ends = (self.graph.older, self.graph.newer)
            result = proof.prove(steps, rest, self.threshold, result, search_end, ends)
        return result, answer.between


def _joined(
    proved: list[Result], first: Result, searches: _PartSearches, *, known: bool = False
) -> Result:
    """The first culprit's result with all that is proved beside it. `known`: there are at least
    two, whether all of them could be named or not.
    """
    confidence_of = {r.culprit: r.confidence for r in proved if r.culprit is not None}
    reasons = (*first.reasons, *(note for note in searches.notes if note not in first.reasons))
    if len(confidence_of) < 2 and not known and not searches.open:
        return replace(first, reasons=reasons)
    if len(confidence_of) < 2:
        reasons = (*reasons, Finding.of(Parts.NO_OTHER_PROVED))
    return replace(
        first,
        outcome=Outcome.MULTIPLE_CULPRITS,
        candidates=tuple(confidence_of.items()),
        tested=_tested_by_all(proved, first),
        reasons=reasons,
    )


def _tested_by_all(proved: list[Result], first: Result) -> tuple[TestedRevision, ...]:
    """Revisions that were tested for the first culprit, then those for the others, which say
    nothing of the first one.
    """
    revisions = {revision.sha: revision for revision in first.tested}
    for result in proved:
        for revision in result.tested:
            reason = revision.skipped or Finding.of(Parts.TESTED_FOR, culprit=result.culprit)
            revisions.setdefault(revision.sha, replace(revision, skipped=reason))
    return tuple(revisions.values())
