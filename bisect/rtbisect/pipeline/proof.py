# SPDX-License-Identifier: GPL-2.0-or-later
"""The proof of a culprit: fresh boots against its parents, a revert, and the cause.

What fails here is not mailed: a culprit that does not hold on fresh boots becomes
`inconclusive` with the reason, never a report.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbisect.judge.boots import Boots
from rtbisect.judge.gates.aa import Beside
from rtbisect.judge.scale import badness
from rtbisect.judge.verdict import judge
from rtbisect.model.campaign import Level, Outcome, Sample, Threshold
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Proofs, Work
from rtbisect.model.kinds.search import Checks
from rtbisect.model.lab import RunStatus
from rtbisect.model.result import (
    CheckName,
    CheckStatus,
    KernelRole,
    TestedRevision,
    Verification,
)
from rtbisect.pipeline import factor_table
from rtbisect.pipeline.attribution import Attribution, attribute, probes_of
from rtbisect.pipeline.boot_queue import BootRequest
from rtbisect.pipeline.search_loop import SearchEnd, heard, probability_with_proof, proof_events
from rtbisect.search import engine, verification
from rtbisect.search.events import Booted, Built
from rtbisect.search.siblings import build_plan, builds_decide
from rtbisect.search.spec import NONE_AT_MOST, BootPurpose
from rtbisect.search.stop import LEADING
from rtbisect.search.verify_spec import VerifySpec

if TYPE_CHECKING:
    from rtbisect.model.code import CommitGraph
    from rtbisect.model.finding import Value
    from rtbisect.model.result import TableRow
    from rtbisect.pipeline.steps import Steps
    from rtbisect.search.build_groups import BuildPlan
    from rtbisect.search.events import Event
    from rtbisect.search.likelihood.features import Aspect
    from rtbisect.search.search_state import SearchState

#: Boots of a culprit and of each parent that also tell where the figure comes from.
EXPLAINED_BOOTS = 3

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofEnd:
    """The end of a proof: what fresh boots say of a culprit."""

    #: Why the culprit is believed; None where it is not.
    attribution: Attribution | None
    #: The culprit has several parents.
    merge: bool
    #: The checks as a reader knows them.
    checks: tuple[Verification, ...]
    table: tuple[TableRow, ...]
    #: Revisions that the search has tested, with the boots of the proof counted in.
    tested: tuple[TestedRevision, ...]
    #: Probability of the culprit with these boots, 0 to 1; None where the search was sure of it.
    probability: float | None
    #: Why the culprit is not named after all.
    doubts: tuple[Finding, ...] = ()
    #: What else there is to say.
    notes: tuple[Finding, ...] = ()
    #: Boots of the proof as events that the search can use.
    heard: tuple[Event, ...] = ()

    @property
    def outcome(self) -> Outcome:
        if self.attribution:
            return Outcome.MERGE_CULPRIT if self.merge else Outcome.CULPRIT
        only_layout = verification.follows_layout(self.checks)
        return Outcome.LAYOUT_SENSITIVE if only_layout else Outcome.INCONCLUSIVE

    @property
    def refuted(self) -> bool:
        """A check says that it is not the culprit."""
        return self.attribution is None and verification.denied(self.checks)

    def closed(self, kind: Proofs, **data: Value) -> ProofEnd:
        """The same with why no other proof follows, where a larger budget would bring none."""
        short = any(doubt.kind == Proofs.BUDGET_ENDED for doubt in self.doubts)
        if short or self.outcome is not Outcome.INCONCLUSIVE:
            return self
        return replace(self, notes=(*self.notes, Finding.of(kind, **data)))


def prove(
    steps: Steps,
    graph: CommitGraph,
    threshold: Threshold,
    search_end: SearchEnd,
    ends: tuple[str, str] | None = None,
) -> ProofEnd:
    """Verify the culprit of a search by what the ends differ in. `ends` are those of the campaign
    where the graph is a part. Of a culprit that the search is not sure of the fresh boots have to
    make sure.
    """
    culprit = search_end.answer.culprit
    assert culprit is not None
    parents = graph.parents_of(culprit)
    range_ends = ends or graph.ends
    spec = _spec(steps, range_ends, threshold, search_end, parents)
    proof = _Proof(
        steps=steps,
        graph=graph,
        search_end=search_end,
        state=verification.start(spec),
        fresh=_no_boots(spec),
    )
    sure = search_end.answer.sure and spec.builds is None
    proof.carry_out(late=not sure)
    if not verification.confirmed(proof.state):
        return proof.denied(proof.unproved_reason(), *proof.budget_note())
    if not proof.likely(sure=sure):
        return proof.denied(proof.unlikely_reason(sure=sure))
    kept_checks = proof.kept_until(range_ends[1])
    pair = (parents[0], culprit)
    beside = proof.beside(range_ends)
    attribution = attribute(steps, threshold, pair, proof.fresh, spec.figure.found, beside)
    # The last boots of the budget: the culprit stands without them.
    proof.carry_out(late=True)
    if not verification.confirmed(proof.state):
        return proof.denied(proof.unproved_reason())
    if sure and steps.setup.limits.whole_proof and not proof.likely(sure=True):
        return proof.denied(proof.unlikely_reason(sure=True))
    proof.checks += kept_checks
    return proof.end(attribution, notes=proof.budget_note(late=True))


@dataclass(kw_only=True)
class _Proof:
    """A culprit that is looked at."""

    steps: Steps
    graph: CommitGraph
    search_end: SearchEnd
    #: State of the verification: what it checks, and the boots so far.
    state: verification.VerifyState
    #: The checks as a reader knows them, after the boots so far.
    checks: tuple[Verification, ...] = ()
    #: Boots of the proof, by revision.
    fresh: dict[str, Boots]
    #: Probability of the culprit at the end of the proof, 0 to 1.
    probability: float | None = None

    def carry_out(self, *, late: bool) -> None:
        """Boot what the verification asks for; what the checks say then that they did not say
        before is told.
        """
        steps, state, spec = self.steps, self.state, self.state.spec
        probes = probes_of(steps, (spec.parents[0], spec.culprit))
        while (step := verification.propose(state, late=late)) is not None:
            if not (steps.budget.boots_left or steps.grow(steps.begun + 2 * spec.boots_max)):
                break
            if step.purpose is BootPurpose.BUILDS and not state.knows_build(step):
                # The other build may turn out to be a kernel that was booted before.
                build = steps.build(step.revision, step.layout)
                built = Built(step.revision, build.ok, build.signature, build.seconds, step.layout)
                state = verification.apply(state, built)
                continue
            begun = Counter({sha: len(boots.runs) for sha, boots in self.fresh.items()})
            ahead = []
            for coming in verification.coming(state, steps.width, late=late):
                explained = begun[coming.revision] < EXPLAINED_BOOTS
                explain = spec.threshold.key.window if explained else ""
                if coming.purpose is BootPurpose.BUILDS and not state.knows_build(coming):
                    break
                ahead.append(_boot_request(spec, coming, explain, probes))
                begun[coming.revision] += coming.purpose is not BootPurpose.BUILDS
            run = steps.boot(ahead[0], ahead[1:])
            if step.purpose is not BootPurpose.BUILDS:
                self.fresh[step.revision] = self.fresh[step.revision].with_run(run)
            event = heard(run, spec.threshold)
            compared = verification.compared(spec, event)
            if compared is not None:
                steps.tell(
                    Work.FIGURE,
                    purpose=step.purpose,
                    revision=step.revision,
                    variant="",
                    metric=str(spec.threshold.key),
                    value=compared.value,
                    unit=spec.judged.unit,
                )
            state = verification.apply(state, event)
        told, self.state, self.checks = self.checks, state, verification.verifications(state)
        for check in self.checks:
            if check not in told:
                _tell_check(steps, spec.culprit, check)

    def likely(self, *, sure: bool) -> bool:
        """Whether the culprit is likely enough with the fresh boots so far, as far as they count:
        `sure` says that the search alone would have named it.
        """
        if sure and not self.steps.setup.limits.proof_counts:
            return True
        self.probability, enough = probability_with_proof(self.search_end, self.state, self.checks)
        return enough or (sure and self.probability >= LEADING)

    @property
    def drifts(self) -> bool:
        """Whether the machine has drifted in the search or since: boots of different times are not
        compared then.
        """
        return self._heard.drifts

    @property
    def _heard(self) -> SearchState:
        """The search, with what the proof has told so far."""
        heard = proof_events(self.search_end, self.state)
        return engine.with_proof(self.search_end.state, heard)

    def kept_until(self, bad: str) -> tuple[Verification, ...]:
        """A check that fails softly: the bad end is better than the culprit again. Then something
        after it takes back a part of what it does, which is no reason to doubt the culprit.
        """
        steps, spec = self.steps, self.state.spec
        threshold, culprit = spec.threshold, spec.culprit
        of_end = _of_end(steps, threshold, self.search_end, bad)
        # The culprit may well be worse than both ends are: a proof tells that from boots that were
        # disturbed.
        if spec.before or math.isfinite(spec.calm):
            fresh = Sample(self.state.raw.get((culprit, 0), Sample(())).values)
        else:
            fresh = _sample(threshold, spec.figure, self.fresh[culprit], math.inf)
        if culprit == bad or not of_end.n or not fresh.n:
            return ()
        judgement = judge(spec.judged, of_end, fresh, effect=spec.told)
        # Where the machine drifts the bad end was booted at another level of it.
        if judgement.level is not Level.REGRESSED or self.drifts:
            return ()
        readable = spec.figure.for_reader(threshold, judgement)
        kept = Verification(
            check=CheckName.KEPT,
            status=CheckStatus.UNDECIDED,
            judgement=readable,
            note=Finding.of(Proofs.TAKEN_BACK, newer=bad, culprit=culprit, why=readable.reason),
        )
        _tell_check(steps, culprit, kept)
        return (kept,)

    def beside(self, range_ends: tuple[str, str]) -> Beside | None:
        """What else tells how far boots of one kernel differ: those of the search and of the proof,
        and other builds. None in campaigns that began before that was asked.
        """
        spec, seen = self.state.spec, self.steps.evidence()
        if not spec.strict:
            return None
        search = self.search_end.state
        looked_at = {search.spec.graph.older, search.spec.graph.newer}
        apart = []
        # Where the machine has moved, boots of different times may well differ.
        moved = spec.before or self.drifts
        for sha in () if moved else dict.fromkeys((*spec.parents, spec.culprit, *range_ends)):
            runs = seen.get(sha, Boots()).runs
            fresh = {run.run_id for run in self.fresh.get(sha, Boots()).runs}
            later = [run for run in runs if run.run_id in fresh]
            earlier = [run for run in runs if run.run_id not in fresh]
            if not later and sha in looked_at:
                earlier, later = earlier[: search.ends.used], earlier[search.ends.used :]
            before, after = (Boots(tuple(r)).sample(spec.threshold.key) for r in (earlier, later))
            apart.append((before, after))
        groups = self.state.groups
        hosts = {host for pair in apart for sample in pair for host in sample.hosts}
        builds = (Sample(()), Sample(()))
        # Middles of builds do not say what their hosts add.
        if groups.judgement and not groups.exhausted and len(hosts) <= 1:
            builds = groups.judgement.base, groups.judgement.new
        return Beside(apart=tuple(apart), builds=builds)

    def denied(self, *doubts: Finding) -> ProofEnd:
        """The end where fresh boots do not bear out what the search named."""
        return self.end(None, doubts=doubts)

    def end(
        self,
        attribution: Attribution | None,
        *,
        doubts: tuple[Finding, ...] = (),
        notes: tuple[Finding, ...] = (),
    ) -> ProofEnd:
        """The end of the proof by its checks and all boots so far."""
        spec = self.state.spec
        told = self.search_end.answer.tested
        tested = tuple(_with_fresh_boots(item, self.state) for item in told)
        if attribution is None:
            tested = tuple(_with_doubt(item, self.graph) for item in tested)
        return ProofEnd(
            attribution=attribution,
            merge=len(spec.parents) > 1,
            checks=self.checks,
            table=factor_table.table(
                self.steps,
                spec.threshold,
                (self.fresh[spec.parents[0]], self.fresh[spec.culprit]),
                self.fresh[spec.revert] if spec.revert else Boots(),
            ),
            tested=tested,
            probability=self.probability,
            doubts=doubts,
            notes=notes,
            heard=proof_events(self.search_end, self.state),
        )

    def unproved_reason(self) -> Finding:
        """Why a culprit of the search is not named: refuted by a check, or not decided by it."""
        failed = [check for check in self.checks if check.status is CheckStatus.FAIL]
        first = next(
            iter(failed or [each for each in self.checks if each.status is CheckStatus.UNDECIDED])
        )
        return Finding.of(
            Proofs.REFUTED if failed else Proofs.NOT_CONFIRMED,
            culprit=self.state.spec.culprit,
            check=first.name,
            note=first.note,
        )

    def unlikely_reason(self, *, sure: bool) -> Finding:
        """Why a culprit that the checks bear out is not named: what `likely` asks for and finds."""
        state = self._heard
        return Finding.of(
            Proofs.UNLIKELY,
            culprit=self.state.spec.culprit,
            probability=self.probability,
            asked=LEADING if sure else state.spec.confidence,
            none=state.belief.none,
            none_asked=NONE_AT_MOST,
        )

    def budget_note(self, *, late: bool = False) -> tuple[Finding, ...]:
        """What is said where the budget has ended the proof, or its `late` boots."""
        if verification.propose(self.state, late=late) is None:
            return ()
        kind = Proofs.BUDGET_ENDED_LATE if late else Proofs.BUDGET_ENDED
        return (Finding.of(kind, boots=self.steps.setup.limits.max_boots),)


def _tell_check(steps: Steps, culprit: str, check: Verification) -> None:
    steps.tell(
        Proofs.CHECK, culprit=culprit, check=check.name, status=check.status, note=check.note
    )


def _boot_request(
    spec: VerifySpec, step: verification.Boot, explain: str, probes: tuple[str, ...]
) -> BootRequest:
    """The boot of a step; those of the culprit and its parents, as they are built, also explain."""
    compared = step.purpose is BootPurpose.VERIFY
    return BootRequest(
        sha=step.revision,
        purpose=step.purpose,
        left=step.left - 1,
        most=step.most - 1,
        layout=step.layout,
        explain=explain if compared else "",
        probes=probes if compared and explain and step.revision == spec.culprit else (),
    )


def _no_boots(spec: VerifySpec) -> dict[str, Boots]:
    """No boots yet, of every kernel that a proof boots. The culprit may be the tip, too."""
    kernels = {spec.tip: Boots(role=KernelRole.TIP)}
    if spec.revert is not None:
        kernels[spec.revert] = Boots(role=KernelRole.REVERTED)
    kernels |= {sha: Boots(role=KernelRole.PARENT) for sha in spec.parents}
    return kernels | {spec.culprit: Boots(role=KernelRole.CULPRIT)}


def _of_end(steps: Steps, threshold: Threshold, search_end: SearchEnd, end: str) -> Sample:
    """What the boots of an end tell of the searched figure, at one speed of their machine."""
    state = search_end.state
    if state.two_speeds or state.drifts:
        seen = state.ledger.observations.get((end, 0), ())
        return Sample(tuple(each.value for each in seen))
    boots = steps.evidence().get(end, Boots())
    return _sample(threshold, search_end.answer.figure, boots, state.calm)


def _sample(threshold: Threshold, figure: Aspect, boots: Boots, calm: float) -> Sample:
    """What is compared of a figure, where boots of all hosts are taken as of one; without those
    whose badness is above `calm`.
    """
    told = boots.figure(threshold.key, threshold.exposure)
    counted = (each for each in told if badness(threshold, each.value) <= calm)
    seen = (figure.observation_of(threshold, each) for each in counted)
    return Sample(tuple(each.value for each in seen if each is not None))


def _spec(
    steps: Steps,
    range_ends: tuple[str, str],
    threshold: Threshold,
    search_end: SearchEnd,
    parents: tuple[str, ...],
) -> VerifySpec:
    culprit = search_end.answer.culprit
    assert culprit is not None
    revert, no_revert = _revert(steps, search_end.state.spec.graph, range_ends[1], culprit)
    ends = [_of_end(steps, threshold, search_end, end) for end in range_ends]
    needed = min(end.n for end in ends)
    return VerifySpec(
        culprit=culprit,
        parents=parents,
        threshold=threshold,
        figure=search_end.answer.figure,
        seed=steps.setup.request.seed,
        revert=revert,
        no_revert=no_revert,
        tip=range_ends[1],
        boots=steps.setup.limits.verify_boots,
        revert_boots=steps.setup.limits.revert_boots,
        builds=_builds(steps, search_end),
        endpoints=(ends[0], ends[1]),
        boots_max=max(steps.setup.limits.verify_boots, most_boots(needed)),
        strict=steps.setup.limits.strict_proof,
        share_looks=steps.setup.limits.share_looks,
        share_reach=steps.setup.limits.share_reach,
        pair_decides=steps.setup.limits.pair_decides,
        calm=search_end.state.calm_in_proof,
        before=search_end.state.before,
    )


def _builds(steps: Steps, search_end: SearchEnd) -> BuildPlan | None:
    """Which other builds decide; None where the ends differ by more than builds of one code do, as
    far as the search was sure of its commit.
    """
    answer, state = search_end.answer, search_end.state
    if not (steps.setup.limits.layout_below and builds_decide(state, sure=answer.sure)):
        return None
    assert answer.culprit is not None
    return build_plan(state, answer.culprit)


def _revert(
    steps: Steps, graph: CommitGraph, tip: str, culprit: str
) -> tuple[str | None, Finding | None]:
    """A revert that can be booted, or None with the reason."""
    if steps.outside(graph, culprit):
        # The culprit stands for commits before it, too.
        return None, Finding.of(Checks.NO_REVERT)
    revert = steps.revert(tip, culprit)
    if revert is None:
        steps.tell(Proofs.REVERT_FAILED, culprit=culprit, tip=tip)
        return None, Finding.of(Checks.NO_REVERT)
    if not steps.may_build(revert):
        return None, Finding.of(Proofs.BUDGET_ENDED_LATE, boots=steps.begun)
    built = steps.build(revert)
    if not built.ok:
        return None, Finding.of(Proofs.REVERT_NOT_BUILT)
    if steps.setup.limits.whole_proof and built.signature:
        # Of the newest commit the revert is its parent: two groups of boots of one kernel would
        # count as two builds that agree.
        for parent in graph.parents_of(culprit):
            known = steps.builds.get(parent)
            if known is not None and known.signature == built.signature:
                return None, Finding.of(Checks.REVERT_IS_PARENT, parent=parent)
    return revert, None


def _with_fresh_boots(revision: TestedRevision, state: verification.VerifyState) -> TestedRevision:
    """The fresh boots count as tests too: in the bisect log and wherever boots are told."""
    fresh = sum(
        event.revision == revision.sha and event.status is RunStatus.COMPLETE and not event.layout
        for event in state.events
        if isinstance(event, Booted)
    )
    return replace(revision, boots=revision.boots + fresh)


def _with_doubt(revision: TestedRevision, graph: CommitGraph) -> TestedRevision:
    """What the search believed of a revision, after the verification did not bear it out."""
    if revision.sha in graph.ends or revision.skipped:
        return revision
    return replace(revision, skipped=Finding.of(Proofs.DOUBTED))
