# SPDX-License-Identifier: GPL-2.0-or-later
"""The proof of a culprit: fresh boots against its parents, a revert, and the cause.

What fails here is not mailed: a culprit that does not hold on fresh boots becomes
`inconclusive` with the reason, never a report.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbisect import factors
from rtbisect.believed import NOTHING, believe, probes_of
from rtbisect.boots import Ask
from rtbisect.effects import Effects, worded
from rtbisect.judge.judge import judge
from rtbisect.judge.scale import all_badness, centre, shift_of
from rtbisect.model.campaign import (
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
from rtbisect.search import engine
from rtbisect.trust import verify

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rtbisect.model.campaign import Observation
    from rtbisect.model.code import CommitGraph
    from rtbisect.model.lab import Run
    from rtbisect.search.views import Figure
    from rtbisect.searching import Found


#: Boots a side at the last look of a verification; and so many times what the ends took, where that
#: is more than their first looks. Of regressions of two standard deviations, which one look in
#: ten misses at ten boots a side, none is left undecided so.
MOST_BOOTS = 26
MOST_TIMES = 3
FEW_BOOTS = 10
#: Boots of a culprit and of each parent that also tell where the figure comes from.
EXPLAINED_BOOTS = 3
#: Name of the check that the bad end is as bad as the culprit.
KEPT = "kept until the bad end"


def most_boots(needed: int) -> int:
    """Boots a side that a comparison with a parent takes at most, after the ends `needed` so many:
    what took many boots to see between the ends takes them here.
    """
    return max(MOST_BOOTS, MOST_TIMES * needed if needed > FEW_BOOTS else 0)


def prove(  # noqa: PLR0913  (what was searched, and what was found)
    effects: Effects,
    graph: CommitGraph,
    threshold: Threshold,
    result: Result,
    found: Found,
    ends: tuple[str, str] | None = None,
) -> Result:
    """Verify the culprit of a search by what the ends differ in; gives the result with
    verifications, cause and table. `ends` are those of the campaign where the graph is a part.
    Of a culprit that the search is not sure of the fresh boots have to make sure.
    """
    culprit, figure = result.culprit, found.answer.figure
    assert culprit is not None
    parents = graph.parents_of(culprit)
    reach = ends or (graph.good, graph.bad)
    revert, no_revert = _revert(effects, reach[1], culprit)
    judged = _Judged(threshold, figure)
    spec = _spec(effects, reach, judged, found, parents, revert, no_revert)
    fresh: dict[str, list[Run]] = {}

    def so_far(state: verify.VerifyState, checks: tuple[Verification, ...]) -> Result:
        """The result with these checks and all boots so far."""
        return replace(
            result,
            tested=tuple(_booted(item, state) for item in result.tested),
            verifications=checks,
            table=factors.table(effects, threshold, parents, culprit, revert, fresh),
        )

    sure = found.answer.sure
    state = _carry_out(effects, judged, verify.start(spec), fresh, late=not sure)
    checks = _told(effects, judged, state)
    if not verify.confirmed(state):
        why_not = (_unproved(culprit, checks), *_spent(effects, state))
        return _denied(graph, so_far(state, checks), checks, why_not)
    if not sure:
        held, enough = _made_sure(found, state, checks)
        said = f"{culprit[:12]} has a probability of {held:.3f} with the boots of the proof"
        if not enough:
            return _denied(graph, so_far(state, checks), checks, (said,))
        result = replace(result, confidence=held, reasons=(said, *result.reasons))
    kept = _kept(effects, judged, (culprit, reach[1]), fresh.get(culprit, ()))
    # Of any command there is no kernel to blame, no workload to tell apart, no instrument.
    told = (
        NOTHING
        if effects.setup.command
        else believe(effects, threshold, parents, culprit, fresh, str(figure))
    )
    # The last boots of the budget: the culprit stands without them.
    state = _carry_out(effects, judged, state, fresh, late=True)
    checks = _told(effects, judged, state, checks)
    if not verify.confirmed(state):
        return _denied(graph, so_far(state, checks), checks, (_unproved(culprit, checks),))
    proved = so_far(state, (*checks, *kept))
    return replace(
        proved,
        gates=told.gates,
        origins=told.origins,
        table=(*proved.table, *told.without_rt),
        outcome=Outcome.MERGE_CULPRIT if len(parents) > 1 else Outcome.CULPRIT,
        cause=told.cause,
        judgement=next((c.judgement for c in checks if c.judgement), result.judgement),
        reasons=(*result.reasons, *told.said, *_spent(effects, state, late=True)),
    )


def _told(
    effects: Effects,
    judged: _Judged,
    state: verify.VerifyState,
    before: tuple[Verification, ...] = (),
) -> tuple[Verification, ...]:
    """The checks as a reader knows them; what they say that they did not say before is told."""
    checks = tuple(judged.told(check) for check in verify.verifications(state))
    for check in checks:
        if check not in before:
            said = effects.setup.in_words(check.note)
            effects.tell(f"verify: {check.name}: {check.status} {said}".rstrip())
    return checks


def _denied(
    graph: CommitGraph, proved: Result, checks: Sequence[Verification], said: tuple[str, ...]
) -> Result:
    """The result where fresh boots do not bear out what the search named."""
    refuted = any(check.status == "fail" for check in checks)
    gone = verify.follows_layout(checks)
    return replace(
        proved,
        outcome=Outcome.LAYOUT_SENSITIVE if gone else Outcome.INCONCLUSIVE,
        culprit=None,
        # What is refuted is no candidate; what is only not confirmed may still be the one.
        candidates=() if refuted else proved.candidates,
        confidence=0.0,
        tested=tuple(_doubted(item, graph) for item in proved.tested),
        reasons=(*said, *proved.reasons),
    )


@dataclass(frozen=True, slots=True)
class _Judged:
    """The searched metric and what of it the ends differ in."""

    threshold: Threshold
    figure: Figure

    def observe(self, effects: Effects, run: Run) -> Observation | None:
        seen = effects.observe(run, self.threshold)
        return None if seen is None else self.figure.of(self.threshold, seen)

    def told(self, check: Verification) -> Verification:
        """The check with its numbers as a reader knows them."""
        if check.judgement is None:
            return check
        told = self.figure.told(self.threshold, check.judgement)
        note = check.note.replace(check.judgement.reason, told.reason, 1)
        return replace(check, judgement=told, note=note)

    def sample(self, effects: Effects, runs: Iterable[Run]) -> Sample:
        found = (self.observe(effects, run) for run in runs)
        return Sample(tuple(seen.value for seen in found if seen is not None))


def _kept(
    effects: Effects, judged: _Judged, pair: tuple[str, str], fresh: Sequence[Run]
) -> tuple[Verification, ...]:
    """A check that fails softly: the bad end is better than the culprit again. Then something after
    it takes back a part of what it does, which is no reason to doubt the culprit.
    """
    culprit, bad = pair
    ends = judged.sample(effects, effects.evidence().get(bad, ()))
    mine = judged.sample(effects, fresh)
    if culprit == bad or not ends.n or not mine.n:
        return ()
    found = judge(judged.figure.threshold(judged.threshold), ends, mine)
    if found.level is not Level.REGRESSED:
        return ()
    said = f"{bad[:12]} is better than {culprit[:12]} again, {found.reason}: a commit between them"
    said += " takes back a part of what this one does"
    effects.tell(f"verify: {KEPT}: undecided {effects.setup.in_words(said)}")
    return (judged.told(Verification(KEPT, "undecided", found, said)),)


def _spec(  # noqa: PLR0913  (what a verification is about)
    effects: Effects,
    reach: tuple[str, str],
    judged: _Judged,
    found: Found,
    parents: tuple[str, ...],
    revert: str | None,
    no_revert: str,
) -> verify.VerifySpec:
    culprit = found.answer.culprit
    assert culprit is not None
    boots = effects.evidence()
    ends = [judged.sample(effects, boots.get(end, ())) for end in reach]
    needed = min(end.n for end in ends)
    return verify.VerifySpec(
        culprit=culprit,
        parents=parents,
        threshold=judged.figure.threshold(judged.threshold),
        seed=effects.setup.request.seed,
        revert=revert,
        no_revert=no_revert,
        tip=reach[1],
        boots=effects.setup.limits.verify_boots,
        revert_boots=effects.setup.limits.revert_boots,
        layout=_layout(effects, judged, ends, whatever=not found.answer.sure),
        endpoints=(ends[0], ends[1]),
        boots_max=max(effects.setup.limits.verify_boots, most_boots(needed)),
    )


def _layout(effects: Effects, judged: _Judged, ends: Sequence[Sample], *, whatever: bool) -> int:
    """The layout to compare in, one that the search has not seen; 0 where the ends differ by more
    than a layout makes, unless `whatever` they differ by it is asked.
    """
    if effects.layout_cost_s() is None or not all(end.n for end in ends):
        return 0
    threshold = judged.figure.threshold(judged.threshold)
    good, bad = (all_badness(threshold, end.values) for end in ends)
    shift = centre(threshold, bad) - centre(threshold, good)
    small = shift < shift_of(threshold, good, effects.setup.limits.layout_below)
    return PROOF_LAYOUT if small or whatever else 0


def _made_sure(
    found: Found, state: verify.VerifyState, checks: Sequence[Verification]
) -> tuple[float, bool]:
    """The probability of the culprit with the fresh boots, and whether it may be named."""
    spec, ancestry = state.spec, found.state.ancestry
    known = {spec.culprit, *spec.parents}
    events: list[engine.Event] = []
    # Of a part of the range the tip of the campaign is none of the candidates.
    if spec.tip in ancestry.index:
        known.add(spec.tip)
        if spec.revert is not None:
            known.add(spec.revert)
            events.append(engine.Reverted(spec.revert, spec.tip, spec.culprit))
    events.extend(
        event
        for event in state.events
        if isinstance(event, engine.Built | engine.Booted) and event.revision in known
    )
    borne_out = {check.name for check in checks if check.status == "pass"}
    rebuilt = not borne_out.isdisjoint((verify.LAYOUT, verify.REVERT))
    return engine.confidence_after(found.state, spec.culprit, events, rebuilt=rebuilt)


def _carry_out(
    effects: Effects,
    judged: _Judged,
    state: verify.VerifyState,
    fresh: dict[str, list[Run]],
    *,
    late: bool = False,
) -> verify.VerifyState:
    """Boot what the verification asks for; gives its state after that, and adds the boots to
    `fresh` by revision.
    """
    spec = state.spec
    probes = probes_of(effects, spec.parents, spec.culprit)

    def asked(step: verify.Boot, begun: int) -> Ask:
        """The boot of a step, when so many of its kernel have begun before."""
        compared = step.revision in (spec.culprit, *spec.parents) and not step.layout
        explain = judged.threshold.key.window if compared and begun < EXPLAINED_BOOTS else ""
        with_probes = probes if step.revision == spec.culprit and explain else ()
        return Ask(step.revision, step.purpose, step.left, step.layout, explain, tuple(with_probes))

    while not isinstance(step := verify.propose(state, late=late), verify.Done):
        if not effects.boots_left:
            break
        if step.layout and not (build := effects.build(step.revision, step.layout)).ok:
            failed = verify.Built(
                step.revision, ok=False, signature="", seconds=build.seconds, layout=step.layout
            )
            state = verify.apply(state, failed)
            continue
        begun = Counter({sha: len(runs) for sha, runs in fresh.items()})
        ahead = []
        for coming in verify.coming(state, effects.width, late=late):
            ahead.append(asked(coming, begun[coming.revision]))
            begun[coming.revision] += not coming.layout
        run = effects.boot(ahead[0], ahead[1:])
        if not step.layout:
            fresh.setdefault(step.revision, []).append(run)
        seen = judged.observe(effects, run)
        if seen is not None:
            what = f"{step.purpose} {step.revision[:12]}"
            effects.tell(f"{what}: {spec.threshold.key} = {worded(spec.threshold, seen.value)}")
        state = verify.apply(
            state,
            verify.Booted(run.revision, run.run_id, run.status, seen, run.seconds, step.layout),
        )
    return state


def _spent(effects: Effects, state: verify.VerifyState, *, late: bool = False) -> tuple[str, ...]:
    """What is said where the budget has ended the proof, or its `late` boots."""
    if isinstance(verify.propose(state, late=late), verify.Done):
        return ()
    when = "before the revert was decided" if late else "during the proof"
    return (f"the budget of {effects.setup.limits.max_boots} boots ended {when}",)


def _revert(effects: Effects, tip: str, culprit: str) -> tuple[str | None, str]:
    """A revert that can be booted, or None with the reason."""
    revert = effects.revert(tip, culprit)
    if revert is None:
        effects.tell(f"the revert of {culprit[:12]} does not apply to {tip[:12]}")
        return None, "the revert does not apply to the tip"
    if not effects.build(revert).ok:
        return None, "the revert applies to the tip but does not build"
    return revert, ""


def _unproved(culprit: str, checks: Sequence[Verification]) -> str:
    """Why a culprit of the search is not named: refuted by a check, or not decided by it."""
    failed = [check for check in checks if check.status == "fail"]
    first = next(iter(failed or [check for check in checks if check.status == "undecided"]))
    how = "is refuted by fresh boots" if failed else "is not confirmed by fresh boots"
    return f"the search named {culprit[:12]}, which {how}: {first.name}: {first.note}"


def _booted(item: TestedRevision, state: verify.VerifyState) -> TestedRevision:
    """The fresh boots count as tests too: in the bisect log and wherever boots are told."""
    fresh = sum(
        event.revision == item.sha and event.status is RunStatus.COMPLETE and not event.layout
        for event in state.events
        if isinstance(event, verify.Booted)
    )
    return replace(item, boots=item.boots + fresh)


def _doubted(item: TestedRevision, graph: CommitGraph) -> TestedRevision:
    """What the search believed of a revision, after the verification did not bear it out."""
    if item.sha in (graph.good, graph.bad) or item.skipped:
        return item
    return replace(item, skipped="the verification does not bear the search out")
