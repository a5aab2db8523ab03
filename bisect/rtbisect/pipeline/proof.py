# SPDX-License-Identifier: GPL-2.0-or-later
"""The proof of a culprit: fresh boots against its parents, a revert, and the cause.

What fails here is not mailed: a culprit that does not hold on fresh boots becomes
`inconclusive` with the reason, never a report.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rtbisect.judge.scale import all_badness, centre, shift_of
from rtbisect.judge.verdict import judge
from rtbisect.model.campaign import (
    CheckName,
    CheckStatus,
    Level,
    Outcome,
    Result,
    Sample,
    TestedRevision,
    Threshold,
    Verification,
)
from rtbisect.model.code import PROOF_LAYOUT
from rtbisect.model.lab import RunStatus
from rtbisect.pipeline import factor_table
from rtbisect.pipeline.attribution import Attribution, attribute
from rtbisect.pipeline.proof_loop import SearchedFigure, carry_out, tell_checks
from rtbisect.pipeline.search_loop import probability_with_proof
from rtbisect.search import verification

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.code import CommitGraph
    from rtbisect.model.lab import Run
    from rtbisect.pipeline.search_loop import SearchEnd
    from rtbisect.pipeline.steps import Steps
    from rtbisect.search.wording import SearchWords


#: Boots a side at the last look of a verification; and so many times what the ends took, where that
#: is more than their first looks. Of regressions of two standard deviations, which one look in
#: ten misses at ten boots a side, none is left undecided so.
MOST_BOOTS = 26
MOST_TIMES = 3
FEW_BOOTS = 10


def most_boots(needed: int) -> int:
    """Boots a side that a comparison with a parent takes at most, after the ends `needed` so many:
    what took many boots to see between the ends takes them here.
    """
    return max(MOST_BOOTS, MOST_TIMES * needed if needed > FEW_BOOTS else 0)


def prove(  # noqa: PLR0913  (what was searched, and what was found)
    effects: Steps,
    graph: CommitGraph,
    threshold: Threshold,
    result: Result,
    search_end: SearchEnd,
    ends: tuple[str, str] | None = None,
) -> Result:
    """Verify the culprit of a search by what the ends differ in; gives the result with
    verifications, cause and table. `ends` are those of the campaign where the graph is a part.
    Of a culprit that the search is not sure of the fresh boots have to make sure.
    """
    culprit = result.culprit
    assert culprit is not None
    parents = graph.parents_of(culprit)
    range_ends = ends or (graph.older, graph.newer)
    revert, no_revert = _revert(effects, range_ends[1], culprit)
    searched = SearchedFigure(threshold, search_end.answer.figure)
    spec = _spec(effects, range_ends, searched, search_end, parents, revert, no_revert)
    proof = _Proof(effects=effects, graph=graph, searched=searched, spec=spec, result=result)
    sure = search_end.answer.sure
    state = carry_out(effects, searched, verification.start(spec), proof.fresh, late=not sure)
    checks = tell_checks(effects, state)
    if not verification.confirmed(state):
        reason = _unproved_reason(culprit, checks, effects.words)
        return proof.denied(state, checks, reason, *_budget_note(effects, state))
    if not sure:
        probability, enough = probability_with_proof(search_end, state, checks)
        runs = f"{effects.words.run}s"
        reason = (
            f"{culprit[:12]} has a probability of {probability:.3f} with the {runs} of the proof"
        )
        if not enough:
            return proof.denied(state, checks, reason)
        proof.result = replace(result, confidence=probability, reasons=(reason, *result.reasons))
    kept_checks = _kept_until_end(
        effects, searched, (culprit, range_ends[1]), proof.fresh.get(culprit, ())
    )
    attribution = attribute(effects, threshold, parents, culprit, proof.fresh, str(searched.figure))
    # The last boots of the budget: the culprit stands without them.
    state = carry_out(effects, searched, state, proof.fresh, late=True)
    checks = tell_checks(effects, state, checks)
    if not verification.confirmed(state):
        return proof.denied(state, checks, _unproved_reason(culprit, checks, effects.words))
    late_notes = _budget_note(effects, state, late=True)
    return proof.believed(state, (*checks, *kept_checks), attribution, late_notes)


@dataclass(kw_only=True)
class _Proof:
    """A culprit that is looked at."""

    effects: Steps
    graph: CommitGraph
    searched: SearchedFigure
    spec: verification.VerifySpec
    #: What the search says of it.
    result: Result
    #: Boots of the proof, by revision in their order.
    fresh: dict[str, list[Run]] = field(default_factory=dict)

    def _so_far(self, state: verification.VerifyState, checks: tuple[Verification, ...]) -> Result:
        """The result with these checks and all boots so far."""
        spec = self.spec
        return replace(
            self.result,
            tested=tuple(_with_fresh_boots(item, state) for item in self.result.tested),
            verifications=checks,
            table=factor_table.table(
                self.effects, self.searched.threshold, spec.parents, spec.culprit, spec.revert,
                self.fresh,
            ),
        )  # fmt: skip

    def denied(
        self, state: verification.VerifyState, checks: tuple[Verification, ...], *reasons: str
    ) -> Result:
        """The result where fresh boots do not bear out what the search named."""
        unproved = self._so_far(state, checks)
        refuted = any(check.status is CheckStatus.FAIL for check in checks)
        only_layout = verification.follows_layout(checks)
        return replace(
            unproved,
            outcome=Outcome.LAYOUT_SENSITIVE if only_layout else Outcome.INCONCLUSIVE,
            culprit=None,
            # What is refuted is no candidate; what is only not confirmed may still be the one.
            candidates=() if refuted else unproved.candidates,
            confidence=0.0,
            tested=tuple(_with_doubt(item, self.graph) for item in unproved.tested),
            reasons=(*reasons, *unproved.reasons),
        )

    def believed(
        self,
        state: verification.VerifyState,
        checks: tuple[Verification, ...],
        attribution: Attribution,
        late_notes: tuple[str, ...],
    ) -> Result:
        """The result where they do, with the cause and all that its boots say."""
        proved = self._so_far(state, checks)
        merge = len(self.spec.parents) > 1
        return replace(
            proved,
            gates=attribution.gates,
            origins=attribution.origins,
            table=(*proved.table, *attribution.without_rt),
            outcome=Outcome.MERGE_CULPRIT if merge else Outcome.CULPRIT,
            cause=attribution.cause,
            judgement=next((c.judgement for c in checks if c.judgement), proved.judgement),
            reasons=(*proved.reasons, *attribution.reasons, *late_notes),
        )


def _kept_until_end(
    effects: Steps, searched: SearchedFigure, pair: tuple[str, str], fresh: Sequence[Run]
) -> tuple[Verification, ...]:
    """A check that fails softly: the bad end is better than the culprit again. Then something after
    it takes back a part of what it does, which is no reason to doubt the culprit.
    """
    culprit, bad = pair
    end_sample = searched.sample(effects, effects.evidence().get(bad, ()))
    culprit_sample = searched.sample(effects, fresh)
    if culprit == bad or not end_sample.n or not culprit_sample.n:
        return ()
    judgement = judge(searched.figure.threshold(searched.threshold), end_sample, culprit_sample)
    if judgement.level is not Level.REGRESSED:
        return ()
    readable = searched.for_reader(judgement)
    note = f"{bad[:12]} is better than {culprit[:12]} again, {readable.reason}: a commit"
    note += " between them takes back a part of what this one does"
    kept = Verification(
        name=CheckName.KEPT, status=CheckStatus.UNDECIDED, judgement=readable, note=note
    )
    effects.tell(f"verify: {kept.name}: {kept.status} {note}")
    return (kept,)


def _spec(  # noqa: PLR0913  (what a verification is about)
    effects: Steps,
    range_ends: tuple[str, str],
    searched: SearchedFigure,
    search_end: SearchEnd,
    parents: tuple[str, ...],
    revert: str | None,
    no_revert: str,
) -> verification.VerifySpec:
    culprit = search_end.answer.culprit
    assert culprit is not None
    boots = effects.evidence()
    ends = [searched.sample(effects, boots.get(end, ())) for end in range_ends]
    needed = min(end.n for end in ends)
    return verification.VerifySpec(
        culprit=culprit,
        parents=parents,
        threshold=searched.figure.threshold(searched.threshold),
        seed=effects.setup.request.seed,
        revert=revert,
        no_revert=no_revert,
        tip=range_ends[1],
        boots=effects.setup.limits.verify_boots,
        revert_boots=effects.setup.limits.revert_boots,
        for_reader=searched.for_reader,
        layout=_layout(effects, searched, ends, whatever=not search_end.answer.sure),
        endpoints=(ends[0], ends[1]),
        boots_max=max(effects.setup.limits.verify_boots, most_boots(needed)),
        words=effects.words,
    )


def _layout(
    effects: Steps, searched: SearchedFigure, ends: Sequence[Sample], *, whatever: bool
) -> int:
    """The layout to compare in, one that the search has not seen; 0 where the ends differ by more
    than a layout makes, unless `whatever` they differ by it is asked.
    """
    if effects.budget.layout_cost_s() is None or not all(end.n for end in ends):
        return 0
    threshold = searched.figure.threshold(searched.threshold)
    good, bad = (all_badness(threshold, end.values) for end in ends)
    shift = centre(threshold, bad) - centre(threshold, good)
    small = shift < shift_of(threshold, good, effects.setup.limits.layout_below)
    return PROOF_LAYOUT if small or whatever else 0


def _budget_note(
    effects: Steps, state: verification.VerifyState, *, late: bool = False
) -> tuple[str, ...]:
    """What is said where the budget has ended the proof, or its `late` boots."""
    if isinstance(verification.propose(state, late=late), verification.Done):
        return ()
    when = "before the revert was decided" if late else "during the proof"
    budget = f"{effects.setup.limits.max_boots} {effects.words.run}s"
    return (f"the budget of {budget} ended {when}",)


def _revert(effects: Steps, tip: str, culprit: str) -> tuple[str | None, str]:
    """A revert that can be booted, or None with the reason."""
    revert = effects.revert(tip, culprit)
    if revert is None:
        effects.tell(f"the revert of {culprit[:12]} does not apply to {tip[:12]}")
        return None, "the revert does not apply to the tip"
    if not effects.build(revert).ok:
        return None, "the revert applies to the tip but does not build"
    return revert, ""


def _unproved_reason(culprit: str, checks: Sequence[Verification], words: SearchWords) -> str:
    """Why a culprit of the search is not named: refuted by a check, or not decided by it."""
    failed = [check for check in checks if check.status is CheckStatus.FAIL]
    first = next(
        iter(failed or [check for check in checks if check.status is CheckStatus.UNDECIDED])
    )
    verb = "refuted" if failed else "not confirmed"
    text = f"the search named {culprit[:12]}, which is {verb} by fresh {words.run}s"
    return f"{text}: {first.name}: {first.note}"


def _with_fresh_boots(revision: TestedRevision, state: verification.VerifyState) -> TestedRevision:
    """The fresh boots count as tests too: in the bisect log and wherever boots are told."""
    fresh = sum(
        event.revision == revision.sha and event.status is RunStatus.COMPLETE and not event.layout
        for event in state.events
        if isinstance(event, verification.Booted)
    )
    return replace(revision, boots=revision.boots + fresh)


def _with_doubt(revision: TestedRevision, graph: CommitGraph) -> TestedRevision:
    """What the search believed of a revision, after the verification did not bear it out."""
    if revision.sha in (graph.older, graph.newer) or revision.skipped:
        return revision
    return replace(revision, skipped="the verification does not bear the search out")
