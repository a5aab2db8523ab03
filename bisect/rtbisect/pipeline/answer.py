# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer of a campaign: its parts add what they find, and the `Result` is made of that once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rtbisect.model.campaign import Outcome
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Parts, Proofs
from rtbisect.model.result import Result
from rtbisect.pipeline.attribution import NOT_ATTRIBUTED
from rtbisect.search.spec import SearchAnswer

if TYPE_CHECKING:
    from rtbisect.model.campaign import Judgement, MetricKey
    from rtbisect.model.code import CommitGraph
    from rtbisect.model.result import Difference, TableRow, TestedRevision, Verification
    from rtbisect.pipeline.attribution import Attribution
    from rtbisect.pipeline.proof import ProofEnd


@dataclass(kw_only=True)
class Answer:
    """What is found of a range so far."""

    #: Metric of the search or of the judgement; None where there is none.
    metric: MetricKey | None
    #: What the search says, or what was measured where nothing is searched.
    said: SearchAnswer
    #: Judgements of all metrics that were compared before the search.
    judgements: tuple[Judgement, ...] = ()
    #: Rows of the comparison.
    table: tuple[TableRow, ...] = ()
    #: End of the proof; None where no culprit was looked at.
    proof: ProofEnd | None = None
    #: Whether the tested revisions agree with the culprit; None where that was not asked.
    prediction: Verification | None = None
    #: Answers for other parts of the range, each with a proven culprit.
    others: tuple[Answer, ...] = ()
    #: There are several culprits, whether all of them could be named or not.
    several: bool = False
    #: Something other than search and proof leaves the answer open.
    left_open: bool = False
    #: The change came from outside of the paths that are searched; None where it did not.
    outside: Finding | None = None
    #: The candidates as they were at the end; None where nothing was searched.
    graph: CommitGraph | None = None
    #: What makes the difference; None where that was not asked, or nothing says it.
    difference: Difference | None = None
    #: What is said before the reasons of search and proof, and after them.
    before: list[Finding] = field(default_factory=list)
    after: list[Finding] = field(default_factory=list)

    @property
    def culprit(self) -> str | None:
        """The one that is named by now."""
        if self.outside:
            return None
        return self.said.culprit if self.proof is None or self.proof.attribution else None

    @property
    def outcome(self) -> Outcome:
        """How the range has ended by now."""
        if self.several:
            return Outcome.MULTIPLE_CULPRITS
        if self.left_open or self.outside:
            return Outcome.INCONCLUSIVE
        return self.proof.outcome if self.proof else self.said.outcome

    @property
    def confidence(self) -> float:
        """In the answer, 0 to 1."""
        if self.outside:
            return 0.0
        if self.proof is None:
            return self.said.confidence
        if self.proof.attribution is None:
            return 0.0
        sure = self.proof.probability
        return self.said.confidence if sure is None else sure

    @property
    def tested(self) -> tuple[TestedRevision, ...]:
        """Revisions of the whole range, or of the part that this one is the answer of."""
        return self.proof.tested if self.proof else self.said.tested

    @property
    def checks(self) -> tuple[Verification, ...]:
        """All after the search."""
        proved = self.proof.checks if self.proof and not self.outside else ()
        return (*proved, self.prediction) if self.prediction else proved

    @property
    def reasons(self) -> tuple[Finding, ...]:
        """What the answer rests on, or why there is none."""
        found = (self.outside,) if self.outside else self._reasons_of_proof()
        return (*self.before, *found, *self.after)

    @property
    def named(self) -> dict[str, float]:
        """Culprits of all parts, with how sure each is."""
        answers = (self, *self.others)
        return {each.culprit: each.confidence for each in answers if each.culprit is not None}

    def result(self) -> Result:
        """The answer as it is kept."""
        proof, attribution = self.proof, self._attribution
        return Result(
            outcome=self.outcome,
            cause=attribution.cause,
            culprit=self.culprit,
            candidates=self._candidates(),
            confidence=self.confidence,
            metric=self.metric,
            judgement=self._judgement(),
            tested=self._tested_by_all(),
            verifications=self.checks,
            table=(*(proof.table if proof else self.table), *attribution.without_rt),
            reasons=self.reasons,
            judgements=self.judgements,
            gates=attribution.gates,
            origins=attribution.origins,
            difference=self.difference,
        )

    @property
    def _attribution(self) -> Attribution:
        return (self.proof and self.proof.attribution) or NOT_ATTRIBUTED

    def _reasons_of_proof(self) -> tuple[Finding, ...]:
        if self.proof is None:
            return self.said.reasons
        reasons = [*self.said.reasons, *self._attribution.reasons, *self.proof.notes]
        sure, doubts = self.proof.probability, self.proof.doubts
        if sure is not None and not any(doubt.kind == Proofs.UNLIKELY for doubt in doubts):
            told = Finding.of(Proofs.PROBABILITY, culprit=self.said.culprit, probability=sure)
            reasons.insert(0, told)
        return (*doubts, *reasons)

    def _candidates(self) -> tuple[tuple[str, float], ...]:
        if self.several:
            return tuple(self.named.items())
        # What is refuted is no candidate; what is only not confirmed may still be the one.
        refuted = self.outside or (self.proof and self.proof.refuted)
        return () if refuted else self.said.candidates

    def _judgement(self) -> Judgement | None:
        """Of the metric: on fresh boots, else on those of the comparison."""
        fresh = self.checks if self.culprit else ()
        judged = (check.judgement for check in fresh if check.judgement)
        return next(judged, None) or next(
            (each for each in self.judgements if each.key == self.metric), None
        )

    def _tested_by_all(self) -> tuple[TestedRevision, ...]:
        """Revisions that were tested for this culprit, then those for the others, which say nothing
        of this one.
        """
        if not self.several:
            return self.tested
        revisions = {revision.sha: revision for revision in self.tested}
        for other in self.others:
            for revision in other.tested:
                reason = revision.skipped or Finding.of(Parts.TESTED_FOR, culprit=other.culprit)
                revisions.setdefault(revision.sha, replace(revision, skipped=reason))
        return tuple(revisions.values())


def unanswered(metric: MetricKey | None, reason: Finding) -> Answer:
    """The answer of a question that nothing could be measured for; None where it names no metric
    that there is.
    """
    return Answer(metric=metric, said=SearchAnswer(outcome=Outcome.INCONCLUSIVE, reasons=(reason,)))
