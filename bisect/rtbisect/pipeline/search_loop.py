# SPDX-License-Identifier: GPL-2.0-or-later
"""A search carried out: what the engine proposes becomes builds and boots, and these its events."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from rtbisect.judge.boots import Boots
from rtbisect.model.campaign import Outcome
from rtbisect.model.code import CommitGraph, layout_variant
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Searches, Work
from rtbisect.model.result import CheckName, CheckStatus, Verification
from rtbisect.pipeline import first_look
from rtbisect.pipeline.boot_queue import BootRequest
from rtbisect.pipeline.expectation import BootsToCome, Expectation
from rtbisect.search import engine, verification
from rtbisect.search.events import Booted, Built, Event, Reverted
from rtbisect.search.parts import Parts
from rtbisect.search.prior import BASE_NONE
from rtbisect.search.siblings import boots_to_keep
from rtbisect.search.spec import BootPurpose, Finish, SearchAnswer, SearchSpec, Trial
from rtbisect.search.standing import Standing, spread, standing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rtbisect.model.campaign import Threshold
    from rtbisect.model.lab import Run
    from rtbisect.pipeline.budget import Budget
    from rtbisect.pipeline.steps import Steps
    from rtbisect.search.search_state import SearchState

    #: Runs that no search has used yet, keyed by revision and layout.
    Spare = dict[tuple[str, int], list[Run]]


#: Candidates of a range whose probabilities are shown anew after each run.
SHOWN_OFTEN = 20_000


@dataclass(frozen=True, slots=True)
class SearchEnd:
    """The answer of a search, and all that it knows."""

    answer: SearchAnswer
    #: The state of the search with every event that it has heard.
    state: SearchState
    #: Boots that were made before it, and that it has not heard of.
    spare: Spare = field(default_factory=dict)


def search(
    steps: Steps, graph: CommitGraph, threshold: Threshold, prior_none: float = BASE_NONE
) -> SearchEnd:
    """Search the graph on one metric. What was booted before serves it, too. `prior_none` as in
    `SearchSpec`.
    """
    # Failed boots are told already; the search asks what the valid ones say.
    limits = steps.setup.limits
    spare: Spare = defaultdict(list)
    for run in steps.alike:
        if run.complete and (limits.split_builds or not run.layout):
            spare[run.revision, run.layout].append(run)
    # Both ends first: the calibration needs them, and they tell what a build costs.
    for end in filter(steps.may_build, graph.ends):
        steps.build(end)
    budget = steps.budget
    spec = SearchSpec(
        graph=graph,
        threshold=threshold,
        seed=steps.setup.request.seed,
        confidence=limits.confidence,
        layout_below=limits.layout_below,
        calibrate_min=limits.calibrate_min,
        calibrate_max=limits.calibrate_max,
        looks_max=limits.looks_max,
        parts=Parts.of(limits, build_noise=not steps.traits.relaid),
        max_boots=max(budget.search_boots_left(), 2 * limits.calibrate_min),
        max_builds=limits.max_builds,
        prior_none=prior_none,
        built_before=() if limits.ties else steps.built_before,
    )
    state = engine.start(_with_costs(spec, budget))
    state = _with_silent_commits(steps, state)
    if silent := len(state.ledger.equal.silent):
        steps.tell(Searches.SILENT, silent=silent, commits=len(graph))
    return _searched(steps, state, spare, Expectation(steps))


def search_on(steps: Steps, before: SearchEnd, events: Iterable[Event]) -> SearchEnd:
    """Go on with a search that has ended, after it has heard these events, too."""
    state = _with_silent_commits(steps, engine.with_proof(before.state, events))
    return _searched(steps, state, before.spare, Expectation(steps, told=True))


def search_own_parents(steps: Steps, searched: SearchEnd) -> SearchEnd:
    """Go on with a search until the commit that it names has its own parents beside it, where
    candidates are those of some paths: what is between them may have made the change.
    """
    while searched.answer.outcome is Outcome.CULPRIT and searched.answer.culprit:
        graph = searched.state.spec.graph
        own = steps.with_own_parents(graph, searched.answer.culprit)
        if own == graph:
            break
        state = engine.with_graph(searched.state, own)
        searched = search_on(steps, replace(searched, state=state), ())
    return searched


def _searched(
    steps: Steps, state: SearchState, spare: Spare, expectation: Expectation
) -> SearchEnd:
    threshold, graph = state.spec.threshold, state.spec.graph
    # A search that goes on has looked.
    reproduced = looked = bool(state.ends.reproduced)
    standing_told: Standing | None = None
    closed = False
    while True:
        state = _with_asked_runs(steps, state)
        looked = looked or first_look.heed(steps, threshold, graph.older, graph.newer)
        state = _within_budget(steps, state, spare, closed=closed)
        if state.ends.reproduced and not reproduced:
            reproduced = True
            # The ends have told what a boot costs; before them it was a guess.
            state = replace(state, spec=_with_costs(state.spec, steps.budget))
        if expectation.grow(state):
            state = _within_budget(steps, state, spare, closed=closed)
        expectation.follow(state)
        standing_told = _tell_standing(steps, state, standing_told)
        trials = []
        for proposal in engine.propose(state, free_hosts=steps.width):
            if isinstance(proposal, Finish):
                steps.tell(Searches.ENDED, outcome=proposal.outcome, why=proposal.reason)
                return SearchEnd(engine.answer(state), state, spare)
            trials.append(proposal)
        if not closed and not all(steps.may_build(trial.revision) for trial in trials):
            closed = True
            continue
        over, built = steps.over, _with_builds(steps, state, trials)
        if steps.over and not over:
            # A build has outlasted the time. Whoever replays this looks at the time before it.
            continue
        state = built
        for event in _boot_events(steps, state, trials, partial(expectation.to_come, state), spare):
            state = engine.apply(state, event)


def _with_builds(steps: Steps, state: SearchState, trials: Sequence[Trial]) -> SearchState:
    """The state after the builds of these tests."""
    for trial in trials:
        sha, layout = trial.revision, trial.layout
        build = steps.build(sha, layout)
        if not engine.knows_build(state, sha, layout):
            built = Built(sha, build.ok, build.signature, build.seconds, layout)
            state = _with_silent_commits(steps, engine.apply(state, built))
    return state


def _with_asked_runs(steps: Steps, state: SearchState) -> SearchState:
    """The state with the runs of one revision that a person has asked for since."""
    graph = state.spec.graph
    for order in steps.further.take_runs(steps.begun):
        sha = order.revision
        steps.tell(Searches.ASKED, revision=sha, boots=order.runs)
        if not steps.may_build(sha):
            continue
        build = steps.build(sha)
        events: list[Event] = []
        if not engine.knows_build(state, sha):
            events.append(Built(sha, build.ok, build.signature, build.seconds))
        trial = Trial(sha, BootPurpose.ASKED)
        for left in reversed(range(order.runs)):
            if not steps.budget.boots_left:
                break
            to_come = partial(BootsToCome, left)
            events += _boot_events(steps, state, (trial,), to_come, {})
        # A part of the range does not have all commits of it.
        if sha == graph.older or sha in state.ancestry.index:
            for event in events:
                state = engine.apply(state, event)
    return state


def _tell_standing(steps: Steps, state: SearchState, told: Standing | None) -> Standing | None:
    """Show how far the candidates have narrowed, in a sentence where that has changed; gives what
    was told so.
    """
    stands = standing(state)
    if stands is None:
        return told
    moved = stands.differs(told)
    if moved:
        steps.ports.progress.tell(Finding.of(Searches.STANDS, **asdict(stands)))
    # For a large range the spread takes as long as a short run.
    often = len(state.spec.graph) <= SHOWN_OFTEN
    if (moved or often) and (spreads := spread(state)) is not None:
        steps.ports.progress.tell(Finding.of(Searches.SPREAD, moved=moved, **asdict(spreads)))
    return stands if moved else told


def _with_costs(spec: SearchSpec, budget: Budget) -> SearchSpec:
    return replace(
        spec,
        build_cost_s=budget.build_cost_s(),
        boot_cost_s=budget.boot_cost_s(),
        layout_cost_s=budget.layout_cost_s(),
    )


def _within_budget(steps: Steps, state: SearchState, spare: Spare, *, closed: bool) -> SearchState:
    """The state with what the campaign has left; no build, where it is `closed`. The log of a
    search also has boots and builds that were made before it: they cost nothing again.
    """
    budget, graph = steps.budget, state.spec.graph
    left = budget.search_boots_left(boots_to_keep(state))
    waiting = 0
    if left and state.ends.reproduced is None:
        waiting = sum(len(spare.get((end, 0), ())) for end in graph.ends)
    boots = state.ledger.boots + left + waiting
    builds = state.ledger.builds + (0 if closed else budget.builds_left)
    return state.with_limits(max_boots=boots, max_builds=builds)


def _with_silent_commits(steps: Steps, state: SearchState) -> SearchState:
    """The state with the commits that no build so far sees; every build may see more."""
    silent = steps.silent(state.spec.graph)
    return state if silent.pairs == state.ledger.equal.silent else engine.apply(state, silent)


def _boot_events(
    steps: Steps,
    state: SearchState,
    trials: Sequence[Trial],
    to_come: Callable[[], BootsToCome],
    spare: Spare,
) -> Iterable[Booted]:
    """A boot of each proposed test that has a kernel, on as many devices as there are; taken from
    `spare`, which loses it, where one is there.
    """
    threshold = state.spec.threshold
    # Told only where one is made: what is in `spare` may say more of what is to come.
    left: BootsToCome | None = None
    requests: list[tuple[BootRequest, Run | None]] = []
    for trial in trials:
        sha = trial.revision
        if not (trial.boot and steps.build(sha, trial.layout).ok):
            continue
        # A boot that was taken before says nothing of what measures now.
        fits = trial.purpose is not BootPurpose.RECHECK_END
        taken = spare.get((sha, trial.layout)) if fits else None
        ask = BootRequest(sha=sha, purpose=trial.purpose, layout=trial.layout)
        if taken:
            requests.append((ask, taken.pop(0)))
        else:
            left = left or to_come()
            requests.append((replace(ask, left=left.boots, left_s=left.time), None))
    for number, (ask, spare_run) in enumerate(requests):
        later_requests = [
            request for request, its_spare in requests[number + 1 :] if its_spare is None
        ]
        event = heard(spare_run or steps.boot(ask, later_requests), threshold)
        # The comparison has told the figures of its own boots already.
        if event.observation is not None and spare_run is None:
            steps.tell(
                Work.FIGURE,
                purpose=ask.purpose,
                revision=ask.sha,
                variant=layout_variant(ask.layout),
                metric=str(threshold.key),
                value=event.observation.value,
                unit=threshold.unit,
            )
        yield event


def heard(run: Run, threshold: Threshold) -> Booted:
    """A boot as a search hears of it."""
    seen = Boots((run,)).figure(threshold.key, threshold.exposure)
    return Booted(
        revision=run.revision,
        status=run.status,
        observation=seen[0] if seen else None,
        seconds=run.seconds,
        layout=run.layout,
    )


def proof_events(search_end: SearchEnd, state: verification.VerifyState) -> tuple[Event, ...]:
    """The boots of a proof as events that a search can use."""
    spec, ancestry = state.spec, search_end.state.ancestry
    known = {spec.culprit, *spec.parents}
    if spec.builds is not None:
        known |= {sha for sha, _ in (*spec.builds.better, *spec.builds.worse)}
    events: list[Event] = []
    # Of a part of the range the tip of the campaign is none of the candidates.
    if spec.tip in ancestry.index:
        known.add(spec.tip)
        if spec.revert is not None:
            known.add(spec.revert)
            events.append(Reverted(spec.revert, spec.tip, spec.culprit))
    events.extend(
        event
        for event in state.events
        if isinstance(event, Built | Booted) and event.revision in known
    )
    return tuple(events)


def probability_with_proof(
    search_end: SearchEnd, state: verification.VerifyState, checks: Sequence[Verification]
) -> tuple[float, bool]:
    """The probability of the culprit with the fresh boots, and whether it may be named."""
    borne_out = {check.check for check in checks if check.status is CheckStatus.PASS}
    rebuilt = not borne_out.isdisjoint((CheckName.BUILDS, CheckName.REVERT))
    events = proof_events(search_end, state)
    return engine.confidence_after(search_end.state, state.spec.culprit, events, rebuilt=rebuilt)
