# SPDX-License-Identifier: GPL-2.0-or-later
"""The proof of a culprit: fresh boots against its parents, a revert, and the cause.

What fails here is not mailed: a culprit that does not hold on fresh boots becomes
`inconclusive` with the reason, never a report.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbisect.effects import Effects, sample, worded
from rtbisect.judge.scale import all_badness, centre, shift_of
from rtbisect.model.campaign import (
    Cause,
    MetricKey,
    Outcome,
    Result,
    Sample,
    TableRow,
    TestedRevision,
    Threshold,
)
from rtbisect.model.code import PROOF_LAYOUT
from rtbisect.search.views import WHOLE
from rtbisect.trust import cause as causes
from rtbisect.trust import verify

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rtbisect.model.campaign import Observation, Verification
    from rtbisect.model.code import CommitGraph
    from rtbisect.model.lab import Run
    from rtbisect.search.views import Figure


#: Boots a side at the last look of a verification, unless the ends took more.
MOST_BOOTS = 10


def prove(  # noqa: PLR0913  (what was searched, and what was found)
    effects: Effects,
    graph: CommitGraph,
    threshold: Threshold,
    result: Result,
    figure: Figure = WHOLE,
    ends: tuple[str, str] | None = None,
) -> Result:
    """Verify the culprit of a search by what the ends differ in; gives the result with
    verifications, cause and table. `ends` are those of the campaign where the graph is a part.
    """
    culprit = result.culprit
    assert culprit is not None
    parents = next(c.parents for c in graph.commits if c.sha == culprit)
    reach = ends or (graph.good, graph.bad)
    revert, no_revert = _revert(effects, reach[1], culprit)
    judged = _Judged(threshold, figure)
    spec = _spec(effects, reach, judged, culprit, parents, revert, no_revert)
    state, fresh = _carry_out(effects, judged, spec)
    checks = verify.verifications(state)
    for check in checks:
        said = effects.setup.in_words(check.note)
        effects.tell(f"verify: {check.name}: {check.status} {said}".rstrip())
    proved = replace(
        result,
        tested=tuple(_booted(item, fresh) for item in result.tested),
        verifications=checks,
        table=_table(effects, threshold, parents, culprit, revert, fresh),
    )
    if not verify.confirmed(state):
        gone = verify.follows_layout(checks)
        refuted = any(check.status == "fail" for check in checks)
        return replace(
            proved,
            outcome=Outcome.LAYOUT_SENSITIVE if gone else Outcome.INCONCLUSIVE,
            culprit=None,
            # What is refuted is no candidate; what is only not confirmed may still be the one.
            candidates=() if refuted else result.candidates,
            confidence=0.0,
            tested=tuple(_doubted(item, graph) for item in proved.tested),
            reasons=(_unproved(culprit, checks), *result.reasons),
        )
    cause, why = Cause.NONE, ""
    if not effects.setup.command:
        # Of any command there is no kernel to blame, and no workload to tell apart.
        cause, why = _cause(effects, threshold, parents, culprit, fresh)
        effects.tell(f"cause: {cause.value}: {why}")
    return replace(
        proved,
        table=_table(effects, threshold, parents, culprit, revert, fresh),
        outcome=Outcome.MERGE_CULPRIT if len(parents) > 1 else Outcome.CULPRIT,
        cause=cause,
        judgement=next((c.judgement for c in checks if c.judgement), result.judgement),
        reasons=(*result.reasons, why) if why else result.reasons,
    )


@dataclass(frozen=True, slots=True)
class _Judged:
    """The searched metric and what of it the ends differ in."""

    threshold: Threshold
    figure: Figure

    def observe(self, effects: Effects, run: Run) -> Observation | None:
        seen = effects.observe(run, self.threshold)
        return None if seen is None else self.figure.of(self.threshold, seen)

    def sample(self, effects: Effects, runs: Iterable[Run]) -> Sample:
        found = (self.observe(effects, run) for run in runs)
        return Sample(tuple(seen.value for seen in found if seen is not None))


def _spec(  # noqa: PLR0913  (what a verification is about)
    effects: Effects,
    reach: tuple[str, str],
    judged: _Judged,
    culprit: str,
    parents: tuple[str, ...],
    revert: str | None,
    no_revert: str,
) -> verify.VerifySpec:
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
        layout=_layout(effects, judged, ends),
        endpoints=(ends[0], ends[1]),
        # What took many boots to see between the ends takes them here.
        boots_max=max(
            MOST_BOOTS,
            effects.setup.limits.verify_boots,
            2 * needed if needed > MOST_BOOTS else 0,
        ),
    )


def _layout(effects: Effects, judged: _Judged, ends: Sequence[Sample]) -> int:
    """The layout to compare in, one that the search has not seen; 0 where the ends differ by more
    than a layout makes.
    """
    if effects.layout_cost_s() is None or not all(end.n for end in ends):
        return 0
    threshold = judged.figure.threshold(judged.threshold)
    good, bad = (all_badness(threshold, end.values) for end in ends)
    shift = centre(threshold, bad) - centre(threshold, good)
    small = shift < shift_of(threshold, good, effects.setup.limits.layout_below)
    return PROOF_LAYOUT if small else 0


def _carry_out(
    effects: Effects, judged: _Judged, spec: verify.VerifySpec
) -> tuple[verify.VerifyState, dict[str, list[Run]]]:
    """Boot what the verification asks for; its final state and the fresh boots by revision."""
    state = verify.start(spec)
    fresh: dict[str, list[Run]] = {}
    while not isinstance(step := verify.propose(state), verify.Done):
        if step.layout and not (build := effects.build(step.revision, step.layout)).ok:
            failed = verify.Built(
                step.revision, ok=False, signature="", seconds=build.seconds, layout=step.layout
            )
            state = verify.apply(state, failed)
            continue
        run = effects.boot(step.revision, step.purpose, step.left, step.layout)
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
    return state, fresh


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


def _booted(item: TestedRevision, fresh: Mapping[str, list[Run]]) -> TestedRevision:
    """The fresh boots count as tests too: in the bisect log and wherever boots are told."""
    return replace(item, boots=item.boots + sum(run.complete for run in fresh.get(item.sha, ())))


def _doubted(item: TestedRevision, graph: CommitGraph) -> TestedRevision:
    """What the search believed of a revision, after the verification did not bear it out."""
    if item.sha in (graph.good, graph.bad) or item.skipped:
        return item
    return replace(item, skipped="the verification does not bear the search out")


def _cause(
    effects: Effects,
    threshold: Threshold,
    parents: Sequence[str],
    culprit: str,
    fresh: dict[str, list[Run]],
) -> tuple[Cause, str]:
    """The workload factor: the same boots, with the workload and without it. Where they do not
    decide it, both kernels get more boots once; these are added to `fresh`.
    """
    control = control_of(effects.setup.thresholds, threshold)
    pair = (parents[0], culprit)

    def judged() -> tuple[Cause, str]:
        def both(key: MetricKey) -> tuple[Sample, Sample]:
            return sample(fresh[pair[0]], key), sample(fresh[pair[1]], key)

        on = both(threshold.key)
        if control is None:
            return causes.cause(threshold, *on, None, None, None)
        beside = both(_beside(threshold, control))
        return causes.cause(threshold, *on, control, *both(control.key), beside=beside)

    found = judged()
    if found[0] is not Cause.NONE or control is None:
        return found
    effects.tell(f"cause: {found[1]}; more boots of both kernels")
    more = MOST_BOOTS - min(sum(run.complete for run in fresh[sha]) for sha in pair)
    for turn in range(2 * max(0, more)):
        sha = pair[(turn + turn // 2) % 2]
        fresh[sha].append(effects.boot(sha, "cause", left=2 * more - turn - 1))
    return judged()


def control_of(thresholds: Sequence[Threshold], threshold: Threshold) -> Threshold | None:
    """The metric that is taken without the workload; judged like itself where it has a
    threshold of its own, else like the metric that it controls.
    """
    key = threshold.control
    if key is None:
        return None
    own = next((t for t in thresholds if t.key == key), None)
    return own or replace(threshold, key=key, control=None)


def _beside(threshold: Threshold, control: Threshold) -> MetricKey:
    """The figure of the control under the workload, so that both levels stand in one unit."""
    return replace(control.key, window=threshold.key.window)


def _table(  # noqa: PLR0913  (the factors of the table)
    effects: Effects,
    threshold: Threshold,
    parents: Sequence[str],
    culprit: str,
    revert: str | None,
    fresh: Mapping[str, list[Run]],
) -> tuple[TableRow, ...]:
    """Kernel x workload: the searched metric, its control, and the other judged metrics."""
    kernels = [("parent", parents[0]), ("culprit", culprit)]
    if revert is not None:
        kernels.append(("tip+revert", revert))
    rows = []
    windows = {window.name: window for window in effects.setup.windows}
    first, others = _metrics(effects.setup.thresholds, threshold)
    wanted = [(metric, kernel) for metric in first for kernel in kernels]
    wanted += [(metric, kernel) for metric in others for kernel in kernels[:2]]
    for metric, (name, sha) in wanted:
        found = sample(fresh.get(sha, []), metric.key)
        if found.n:
            window = windows[metric.key.window]
            rows.append(
                TableRow(name, window.name, window.workload, metric.key, metric.unit, found)
            )
    return tuple(rows)


def _metrics(
    thresholds: Sequence[Threshold], threshold: Threshold
) -> tuple[list[Threshold], list[Threshold]]:
    """What the table shows: the searched metric with its control; then the control's figure
    under the workload, so that both levels stand in one unit; then the searched figure in
    other windows and the primary metrics of other suites.
    """
    key = threshold.key
    control = control_of(thresholds, threshold)
    first = [threshold, *([control] if control else [])]
    shown = {t.key for t in first}
    beside = _beside(threshold, control) if control else None
    same = [t for t in thresholds if t.key == beside]
    same += [t for t in thresholds if (t.key.suite, t.key.name) == (key.suite, key.name)]
    primary = [t for t in thresholds if t.role == "primary" and t.key.suite != key.suite]
    others = {t.key: t for t in same + primary if t.key not in shown}
    return first, list(others.values())
