# SPDX-License-Identifier: GPL-2.0-or-later
"""More than one culprit: the parts of a range are searched and proved one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect import proof
from rtbisect.model.campaign import Outcome, Verification
from rtbisect.search.graph import part
from rtbisect.searching import result_of, search

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbisect.effects import Effects
    from rtbisect.model.campaign import Result, Threshold
    from rtbisect.model.code import CommitGraph
    from rtbisect.search.engine import Answer

#: Name of the check that all tested revisions agree with the answer.
PREDICTION = "prediction"


def others(effects: Effects, graph: CommitGraph, threshold: Threshold, first: Result) -> Result:
    """The same with further culprits: the ranges before and after the proven one are searched."""
    culprit = first.culprit
    if culprit is None:
        return first
    parent = next(c.parents[0] for c in graph.commits if c.sha == culprit)
    effects.tell(f"{culprit[:12]} does not explain the whole shift; searching beside it")
    ranges = [(graph.good, parent), (culprit, graph.bad)]
    return _together(first, _parts(effects, graph, threshold, ranges))


def split(
    effects: Effects, graph: CommitGraph, threshold: Threshold, whole: Result, between: str
) -> Result:
    """The culprits on both sides of a revision that lies between good and bad. With none of them
    proved the range is inconclusive.
    """
    effects.tell(f"{between[:12]} lies between good and bad; searching on both sides of it")
    ranges = [(graph.good, between), (between, graph.bad)]
    found = _parts(effects, graph, threshold, ranges)
    proved = [result for result in found if result.culprit is not None]
    if proved:
        return _together(proved[0], [result for result in found if result is not proved[0]])
    said = tuple(reason for result in found for reason in result.reasons[:1])
    return replace(whole, outcome=Outcome.INCONCLUSIVE, reasons=(*whole.reasons, *said))


def unlike(result: Result, answer: Answer) -> Result:
    """The result with a check that the tested revisions lie where one culprit puts them."""
    if result.culprit is None:
        return result
    told = ", ".join(f"{sha[:12]} (p = {p:.2g})" for sha, p in answer.unlike)
    check = Verification(
        PREDICTION,
        "undecided" if told else "pass",
        None,
        f"tested revisions that this commit does not explain: {told}"
        if told
        else "all tested revisions lie where this commit puts them",
    )
    reasons = (*result.reasons, check.note) if told else result.reasons
    return replace(result, verifications=(*result.verifications, check), reasons=reasons)


def _parts(
    effects: Effects, graph: CommitGraph, threshold: Threshold, ranges: Iterable[tuple[str, str]]
) -> list[Result]:
    """Each range searched, and what is found in it proved."""
    found = []
    for good, bad in ranges:
        rest = part(graph, good, bad)
        if not rest.commits:
            continue
        answer = search(effects, rest, threshold, effects.evidence())
        result = result_of(answer, threshold, ())
        if answer.outcome is Outcome.CULPRIT:
            result = proof.prove(effects, rest, threshold, result, answer.figure)
        who = f"{good[:12]}..{bad[:12]}: {result.outcome.value} {(result.culprit or '')[:12]}"
        effects.tell(who.rstrip())
        found.append(replace(result, reasons=(who.rstrip(), *result.reasons)))
    return found


def _together(first: Result, more: list[Result]) -> Result:
    """The first culprit's result with all that is proved beside it."""
    found = [(r.culprit, r.confidence) for r in (first, *more) if r.culprit is not None]
    said = tuple(result.reasons[0] for result in more)
    if len(found) < 2:
        return replace(first, reasons=(*first.reasons, *said))
    reasons = (*first.reasons, *said)
    return replace(
        first, outcome=Outcome.MULTIPLE_CULPRITS, candidates=tuple(found), reasons=reasons
    )
