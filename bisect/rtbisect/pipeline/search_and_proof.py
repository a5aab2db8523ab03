# SPDX-License-Identifier: GPL-2.0-or-later
"""A search and the proof of what it names, in turns: boots that do not bear a commit out tell the
search where to look next.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.model.campaign import Outcome
from rtbisect.model.command import CommandRequest, Extra, command_line
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Told
from rtbisect.model.kinds.pipeline import Ends, Proofs, Searches
from rtbisect.pipeline.answer import Answer
from rtbisect.pipeline.expectation import Expectation
from rtbisect.pipeline.proof import prove
from rtbisect.pipeline.search_loop import search, search_on, search_own_parents
from rtbisect.search import engine
from rtbisect.search.events import Booted
from rtbisect.search.prior import BASE_NONE
from rtbisect.search.siblings import boots_to_keep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.campaign import Threshold
    from rtbisect.model.code import CommitGraph
    from rtbisect.pipeline.proof import ProofEnd
    from rtbisect.pipeline.search_loop import SearchEnd
    from rtbisect.pipeline.steps import Steps
    from rtbisect.search.events import Event
    from rtbisect.search.search_state import SearchState
    from rtbisect.search.spec import SearchAnswer

#: Share of the boots of a search that something else slowed, from which that is told.
SHARED = 0.05


def search_and_prove(
    steps: Steps,
    graph: CommitGraph,
    threshold: Threshold,
    *,
    ends: tuple[str, str] | None = None,
    prior_none: float = BASE_NONE,
) -> Answer:
    """What is found of a change by one metric. `ends` are as in `prove`, `prior_none` as in
    `SearchSpec`.
    """
    searched = search(steps, graph, threshold, prior_none)
    if ends is None:
        searched = search_own_parents(steps, searched)
    answer = Answer(metric=threshold.key, said=searched.answer)
    searched = _proved_in_turns(steps, graph, threshold, searched, answer, ends)
    while steps.further.runs_due(steps.begun):
        before = answer.proof
        searched = search_on(steps, searched, before.heard if before else ())
        if ends is None:
            searched = search_own_parents(steps, searched)
        named, answer.said = answer.said.culprit, searched.answer
        answer.proof = _still_proved(before, searched.answer, named)
        if answer.proof is None:
            searched = _proved_in_turns(steps, graph, threshold, searched, answer, ends)
    answer.after += (*_speeds(threshold, searched), *_disturbed(searched))
    if answer.said.outcome is Outcome.INCONCLUSIVE:
        answer.after += _kept_boots(steps, searched)
    answer.graph = searched.state.spec.graph
    if answer.culprit and steps.outside(answer.graph, answer.culprit):
        answer.outside = _outside(steps, answer.graph, answer.culprit, answer.confidence)
    return answer


def _still_proved(proof: ProofEnd | None, says: SearchAnswer, named: str | None) -> ProofEnd | None:
    """The proof of what was named, where a search that has heard more names the same; None where
    that has to be proved anew.
    """
    if proof is None or proof.attribution is None or not says.culprit:
        return None
    if (says.outcome, says.culprit) != (Outcome.CULPRIT, named):
        return None
    sure = None if proof.probability is None else says.confidence
    # The search has heard what it told.
    return replace(proof, probability=sure, tested=says.tested, heard=())


def _proved_in_turns(  # noqa: PLR0913  (what a search is made of)
    steps: Steps,
    graph: CommitGraph,
    threshold: Threshold,
    searched: SearchEnd,
    answer: Answer,
    ends: tuple[str, str] | None,
) -> SearchEnd:
    """Prove what a search names, and search on with what the proof has told; the answer gets what
    both have found.
    """
    again = steps.setup.limits.proves_again
    for proofs_left in range(steps.setup.limits.proofs - 1, -1, -1):
        if searched.answer.outcome is not Outcome.CULPRIT:
            break
        graph = searched.state.spec.graph
        answer.proof = proof = prove(steps, graph, threshold, searched, ends)
        if not proofs_left:
            answer.proof = proof.closed(Proofs.LAST, proofs=steps.setup.limits.proofs)
            break
        if proof.attribution or not _goes_on(steps, searched, proof):
            break
        told = steps.tell(
            Proofs.SEARCHED_ON,
            culprit=searched.answer.culprit,
            probability=proof.probability,
            why=proof.doubts[0] if proof.doubts else None,
        )
        searched_on = search_on(steps, searched, proof.heard)
        if ends is None:
            searched_on = search_own_parents(steps, searched_on)
        if not tells_more(searched, proof.heard, searched_on):
            if not again or proof.refuted or not likely(searched_on):
                answer.proof = proof.closed(Proofs.SAME, culprit=searched.answer.culprit)
                break
            again = False
        answer.before.append(told)
        searched, answer.said, answer.proof = searched_on, searched_on.answer, None
    return searched


def _outside(steps: Steps, graph: CommitGraph, newer: str, probability: float) -> Finding:
    """No commit of the paths made the change, and the command that finds the one that did."""
    request = steps.setup.request
    command = CommandRequest.of(request)
    older = graph.parents_of(newer)[0]
    others = replace(command, paths=()).extra()
    extra = replace(Extra.of(request), given="", goods=(), others=others)
    there = replace(request, older=older, newer=newer, extra=extra.pairs)
    return Finding.of(
        Ends.OUTSIDE,
        older=older,
        newer=newer,
        paths=command.paths,
        probability=probability,
        command=command_line(there, None),
    )


def _goes_on(steps: Steps, searched: SearchEnd, proof: ProofEnd) -> bool:
    """Whether a search may take boots after a proof that it has not heard."""
    if steps.budget.search_boots_left(boots_to_keep(searched.state, proved=True)):
        return True
    heard = engine.with_proof(searched.state, proof.heard)
    return Expectation(steps, told=True).grow(heard)


def _speeds(threshold: Threshold, searched: SearchEnd) -> tuple[Finding, ...]:
    """Tells that the machine changed its speed, or drifted; () where it did not."""
    state = searched.state
    known = {
        number: (_measured(state, number), value)
        for number, value in state.at_one_speed.items()
        if value is not None
    }
    if not known:
        return ()
    boots = state.ledger.boots
    if not state.two_speeds:
        furthest = max(known.values(), key=lambda pair: abs(pair[0] - pair[1]))
        return (Finding.of(Searches.DRIFT, effect=_apart(threshold, *furthest), boots=boots),)
    effect = _apart(threshold, *next(iter(known.values())))
    unknown = len(state.two_speeds) - len(known)
    return (
        Finding.of(Searches.SPEEDS, effect=effect, other=len(known), unknown=unknown, boots=boots),
    )


def _measured(state: SearchState, number: int) -> float:
    """The value that the boot of event `number` has measured."""
    boot = state.events[number]
    assert isinstance(boot, Booted)
    assert boot.observation
    return boot.observation.value


def _apart(threshold: Threshold, there: float, here: float) -> Finding:
    """How far two values of one code are apart."""
    if there > 0 < here:
        return Finding.of(Told.RATIO, ratio=there / here)
    return Finding.of(Told.DIFFERENCE, difference=there - here, unit=threshold.unit)


def _disturbed(searched: SearchEnd) -> tuple[Finding, ...]:
    """That the machine is shared, where that has cost more than a few boots."""
    ledger, speeds = searched.state.ledger, searched.state.at_one_speed
    disturbed = sum(ledger.disturbed.values()) - sum(value is None for value in speeds.values())
    if not disturbed or disturbed < SHARED * ledger.boots:
        return ()
    return (Finding.of(Searches.DISTURBED, disturbed=disturbed, boots=ledger.boots),)


def _kept_boots(steps: Steps, searched: SearchEnd) -> tuple[Finding, ...]:
    """What is left of a budget that a search has spent: it may not take that."""
    left = steps.budget.boots_left
    if steps.budget.search_boots_left(boots_to_keep(searched.state)) or not left:
        return ()
    return (Finding.of(Searches.KEPT_BOOTS, left=left, most=steps.setup.limits.max_boots),)


def likely(after: SearchEnd) -> bool:
    """Whether a search that has heard a proof would name its commit: other boots may prove it."""
    return after.answer.outcome is Outcome.CULPRIT and after.answer.sure


def tells_more(before: SearchEnd, heard: Sequence[Event], after: SearchEnd) -> bool:
    """Whether a search that has heard a proof says something else, or has booted something itself:
    to prove the same again would otherwise only ask luck twice.
    """
    said, says = before.answer, after.answer
    if (says.outcome, says.culprit) != (said.outcome, said.culprit):
        return True
    graph = after.state.spec.graph
    since = after.state.events[len(before.state.events) + len(heard) :]
    return any(isinstance(event, Booted) and event.revision not in graph.ends for event in since)
