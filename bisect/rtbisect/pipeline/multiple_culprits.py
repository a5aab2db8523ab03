# SPDX-License-Identifier: GPL-2.0-or-later
"""More than one culprit: the parts of a range are searched and proved one by one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rtbisect.model.campaign import Outcome, Threshold
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Joined, Parts, Proofs
from rtbisect.model.result import CheckName, CheckStatus, Verification
from rtbisect.pipeline.answer import Answer, unanswered
from rtbisect.pipeline.search_and_proof import search_and_prove
from rtbisect.search.ancestry import candidates_between, forks

if TYPE_CHECKING:
    from rtbisect.model.code import CommitGraph
    from rtbisect.pipeline.steps import Steps

#: How a part ends that has culprits which nobody named.
_UNNAMED = (Outcome.MULTIPLE_CULPRITS, Outcome.CULPRIT_SET, Outcome.GRADUAL)
#: How often a part is divided again. A range with more culprits is told of as far as that.
DEEPEST = 3


def find_beside(steps: Steps, graph: CommitGraph, threshold: Threshold, answer: Answer) -> None:
    """Further culprits: the ranges before and after the proven one are searched."""
    culprit = answer.culprit
    if culprit is None:
        return
    steps.tell(Parts.BESIDE, culprit=culprit)
    searches = _PartSearches(steps=steps, graph=graph, threshold=threshold)
    for parent in graph.parents_of(culprit):
        searches.search(graph.older, parent)
    searches.search(culprit, graph.newer)
    searches.add_to(answer)


def find_on_both_sides(
    steps: Steps, graph: CommitGraph, threshold: Threshold, answer: Answer
) -> Answer:
    """The culprits on both sides of a revision that lies between good and bad, by the first of
    them. With none of them proved the answer is left open.
    """
    searches = _PartSearches(steps=steps, graph=graph, threshold=threshold)
    searches.divide(graph.older, answer.said.between, graph.newer)
    if not searches.proved:
        answer.left_open = True
        answer.after += searches.notes
        return answer
    first = searches.proved.pop(0)
    # There are at least two culprits, whether all of them could be named or not.
    searches.open = True
    searches.add_to(first)
    return first


def check_prediction(answer: Answer) -> None:
    """Do the tested revisions lie where one culprit puts them?"""
    if answer.culprit is None:
        return
    unlike = answer.said.unlike
    unexplained = tuple(
        Finding.of(Proofs.LIES_OFF, revision=sha, p=p) for sha, p in unlike if sha != answer.culprit
    )
    notes = []
    if unexplained:
        notes.append(Finding.of(Proofs.UNEXPLAINED, revisions=unexplained))
    notes += [Finding.of(Proofs.ITSELF_OFF, p=p) for sha, p in unlike if sha == answer.culprit]
    taken_back = [
        check.note
        for check in answer.checks
        if check.check is CheckName.KEPT and check.note is not None
    ]
    if notes:
        note = Finding.of(Joined.AND, findings=tuple(notes))
    else:
        note = Finding.of(Proofs.NOT_OF_END if taken_back else Proofs.PREDICTED)
    answer.prediction = Verification(
        check=CheckName.PREDICTION,
        status=CheckStatus.UNDECIDED if notes or taken_back else CheckStatus.PASS,
        judgement=None,
        note=note,
    )
    answer.after += [*taken_back, *notes]


@dataclass(kw_only=True)
class _PartSearches:
    """Searches of parts of a range."""

    steps: Steps
    #: Commits of the whole range.
    graph: CommitGraph
    threshold: Threshold
    #: Answers with a proven culprit, in the order in which they were found.
    proved: list[Answer] = field(default_factory=list)
    #: The ends and the outcome of each part that was searched.
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
        answer = self._answer_of_part(rest)
        if merge := self._merge_of(answer):
            proved_before = len(self.proved)
            ended = self._search_branches(good, merge, depth, stands=bool(answer.culprit))
            if len(self.proved) > proved_before:
                # The merge brought in what a commit of its branch had done.
                return Outcome.CULPRIT
            if answer.culprit and Outcome.INCONCLUSIVE in ended:
                reason = Finding.of(Parts.OPEN_BRANCH, merge=answer.culprit)
                answer = unanswered(self.threshold.key, reason)
                self.open = True
        is_open = answer.outcome is Outcome.INCONCLUSIVE
        note = self.steps.tell(
            Parts.ENDED,
            older=good,
            newer=bad,
            outcome=answer.outcome,
            culprit=answer.culprit,
            why=answer.reasons[0] if is_open and answer.reasons else None,
        )
        self.notes.append(note)
        if answer.culprit is not None:
            answer.before.append(note)
            self.proved.append(answer)
        elif answer.said.between and depth < DEEPEST:
            self.divide(good, answer.said.between, bad, depth + 1)
        else:
            self.open |= answer.outcome in _UNNAMED
        return answer.outcome

    def _merge_of(self, answer: Answer) -> str | None:
        """The merge that a part ends at: one that is worse than all of its parents, or one that is
        not, since what made it worse may have come in by a parent.
        """
        if answer.outcome is Outcome.MERGE_CULPRIT:
            return answer.culprit
        proof = answer.proof
        refuted = proof is not None and proof.merge and proof.refuted
        return answer.said.culprit if refuted and self.steps.setup.limits.merged_branches else None

    def _search_branches(self, good: str, merge: str, depth: int, *, stands: bool) -> list[Outcome]:
        """A merge is worse than its parents where one of them lacks what `good` has: then a culprit
        on that branch looks like the merge, and from the good end the branch is searched by itself.
        Where the merge does not stand, as a parent is as bad, the branch has what `good` has, or
        more, and only what came after their fork is searched. Gives how these searches ended.
        """
        ended = []
        for parent, fork in forks(self.graph, good, merge).items():
            start = self.graph.older if stands else fork
            self.steps.tell(Parts.FORKED, merge=merge, parent=parent, older=good)
            ended.append(self.search(start, parent, depth + 1))
        return ended

    def _answer_of_part(self, rest: CommitGraph) -> Answer:
        steps = self.steps
        if not steps.budget.affords(steps.evidence(), rest.older, rest.newer):
            return unanswered(self.threshold.key, Finding.of(Parts.BUDGET_SPENT))
        ends = self.graph.ends
        return search_and_prove(steps, rest, self.threshold, ends=ends)

    def add_to(self, answer: Answer) -> None:
        """Add what they found to the answer with the first culprit."""
        answer.others = tuple(self.proved)
        answer.several = self.open or len(answer.named) > 1
        told = answer.reasons
        answer.after += [note for note in self.notes if note not in told]
        if answer.several and len(answer.named) < 2:
            answer.after.append(Finding.of(Parts.NO_OTHER_PROVED))
