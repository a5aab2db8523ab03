# SPDX-License-Identifier: GPL-2.0-or-later
"""The search: start, propose, apply, answer, forecast.

A state is a specification and a log of events. Whatever is proposed or answered is a pure
function of the two, so an interrupted search goes on where its log ends.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbisect.model.campaign import Outcome
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.search import Endings
from rtbisect.model.result import TestedRevision
from rtbisect.search import plan, stop
from rtbisect.search.ancestry import Ancestry
from rtbisect.search.calibrate import check_spec, ends_due
from rtbisect.search.end_layouts import end_layouts
from rtbisect.search.events import Booted
from rtbisect.search.forecast import Forecast, ended, expected
from rtbisect.search.predictive import contradictions
from rtbisect.search.search_state import SearchState
from rtbisect.search.spec import (
    NONE_AT_MOST,
    BootPurpose,
    Finish,
    Proposal,
    SearchAnswer,
    SearchSpec,
    Trial,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbisect.model.code import CommitGraph
    from rtbisect.search.events import Event
    from rtbisect.search.posterior import Posterior


#: Candidates that an answer names at most, outside a culprit set.
MOST_CANDIDATES = 20
#: Answers that name nothing, which a machine that changes its speed gives, too.
NOTHING = (Outcome.NOT_REPRODUCED, Outcome.LAYOUT_SENSITIVE, Outcome.INCONCLUSIVE)
#: Share of the mass on commits that the named candidates hold.
CREDIBLE = 0.9


def start(spec: SearchSpec) -> SearchState:
    """A search without events; ConfigError when the specification cannot work."""
    check_spec(spec)
    return SearchState(spec, Ancestry(spec.graph))


def apply(state: SearchState, event: Event) -> SearchState:
    """The state after one more event."""
    return replace(state, events=(*state.events, event))


def with_proof(state: SearchState, events: Iterable[Event]) -> SearchState:
    """The state of a search that has heard what was built and booted for a proof, too."""
    heard = tuple(events)
    boots = sum(isinstance(event, Booted) and not event.layout for event in heard)
    return replace(state, events=(*state.events, *heard), of_proofs=state.of_proofs + boots)


def with_graph(state: SearchState, graph: CommitGraph) -> SearchState:
    """The state of a search that goes on among the candidates of another graph, which has all that
    were heard of.
    """
    return replace(state, spec=replace(state.spec, graph=graph), ancestry=Ancestry(graph))


def knows_build(state: SearchState, sha: str, layout: int = 0) -> bool:
    """The log says how the build of `sha` ended."""
    return state.ledger.knows_build(sha, layout)


def propose(
    state: SearchState, free_hosts: int = 1, free_builders: int = 1
) -> tuple[Proposal, ...]:
    """What to do next: tests, best first, at most one a free host, and builds for builders beyond
    the number of hosts; or one Finish.
    """
    finish = stop.stop_before_search(state)
    if finish is not None:
        return (finish,)
    if state.ends.reproduced is None:
        return _calibration_trials(state, free_hosts, free_builders)
    if (end := stop.end_to_recheck(state)) is not None:
        return (Trial(end, BootPurpose.RECHECK_END),)
    proposed = _proposed_in_search(state, free_hosts, free_builders)
    first = proposed[0]
    if not isinstance(first, Finish) or first.outcome not in NOTHING:
        return proposed
    end = plan.end_before_nothing(state)
    return proposed if end is None else (Trial(end, BootPurpose.CONTROL),)


def _proposed_in_search(
    state: SearchState, free_hosts: int, free_builders: int
) -> tuple[Proposal, ...]:
    finish = stop.stop_in_search(state)
    if finish is not None:
        return (finish,)
    return (
        _trials_before_naming(state, free_hosts, free_builders)
        or end_layouts(state, free_hosts)
        or plan.choose(state, free_hosts, free_builders)
        or _trials_against_doubt(state)
        or (stop.exhausted(state),)
    )


def _trial_of_several(state: SearchState) -> Trial | None:
    """What tells whether the change came in many steps, or in two."""
    if (probe := stop.gradual_probe(state)) is not None:
        sha = state.ledger.equal.stand_in(probe)
        return Trial(sha, BootPurpose.SEARCH, boot=state.ledger.equal.tried(sha))
    return stop.split_build_now(state)


def _trials_before_naming(state: SearchState, hosts: int, builders: int) -> tuple[Trial, ...]:
    """What is due before a culprit that is likely enough is named."""
    if (trial := _trial_of_several(state)) is not None:
        return (trial,)
    missing = stop.unbuilt_neighbours(state)
    if missing:
        return tuple(
            Trial(sha, BootPurpose.SEARCH, boot=False) for sha in missing[: max(1, builders)]
        )
    if state.belief.none > NONE_AT_MOST:
        return ()
    if (suspect := stop.second_culprit_probe(state)) is not None:
        return (Trial(suspect, BootPurpose.SEARCH),)
    if unbooted := stop.unbooted(state):
        # A silent commit is booted as the kernel that it is taken to have.
        shas = dict.fromkeys(state.ledger.equal.stand_in(sha) for sha in unbooted)
        return tuple(Trial(sha, BootPurpose.SEARCH) for sha in list(shas)[: max(1, hosts)])
    layouts = stop.layouts_due(state)[: max(1, hosts)]
    return tuple(Trial(sha, BootPurpose.LAYOUT, layout=layout) for sha, layout in layouts)


def _trials_against_doubt(state: SearchState) -> tuple[Trial, ...]:
    """What still tells, when no test tells candidates apart: whether there is a regression at all,
    or a second culprit beside one that stands out.
    """
    if trial := stop.split_build(state) or plan.trial_against_none(state):
        return (trial,)
    if (sha := stop.more_boots(state)) is not None:
        return (Trial(state.ledger.equal.stand_in(sha), BootPurpose.SEARCH),)
    return ()


def answer(state: SearchState) -> SearchAnswer:
    """What the log says. Before the search is over the outcome is inconclusive."""
    proposal = propose(state)[0]
    finish = proposal if isinstance(proposal, Finish) else None
    so_far = SearchAnswer(
        outcome=finish.outcome if finish else Outcome.INCONCLUSIVE,
        tested=_tested(state),
        reasons=(finish.reason if finish else Finding.of(Endings.NOT_OVER),),
    )
    if not state.ends.reproduced or stop.stop_before_search(state) is not None:
        return so_far
    posterior, outcome = state.belief, so_far.outcome
    commits = state.spec.graph.commits
    if outcome is Outcome.CULPRIT_SET:
        members = state.likeliest_set
        confidence = float(posterior.commits[members].sum())
    else:
        members = _credible(posterior)
        confidence = float(posterior.commits[posterior.best])
    if outcome is Outcome.GRADUAL:
        confidence = state.gradual.probability
    elif outcome in (Outcome.CULPRIT, Outcome.CULPRIT_SET):
        # With another culprit beside it a commit is still one.
        confidence = min(confidence, float(state.two.commits[members].sum()))
    else:
        confidence = 0.0
    if outcome in (Outcome.NOT_REPRODUCED, Outcome.LAYOUT_SENSITIVE, Outcome.GRADUAL):
        members = []
    return replace(
        so_far,
        culprit=commits[posterior.best].sha if outcome is Outcome.CULPRIT else None,
        candidates=tuple((commits[i].sha, float(posterior.commits[i])) for i in members),
        confidence=confidence,
        figure=state.ends.figure,
        between=state.two.between[0] if outcome is Outcome.MULTIPLE_CULPRITS else "",
        unlike=_unlike(state) if outcome is Outcome.CULPRIT else (),
        sure=finish is None or finish.sure,
    )


def _unlike(state: SearchState) -> tuple[tuple[str, float], ...]:
    """Revisions that the culprit does not explain; reverts are none that anybody knows."""
    found = contradictions(state.belief)
    return tuple((sha, p) for sha, p in found if sha not in state.ledger.reverts)


def confidence_after(
    state: SearchState, culprit: str, fresh: Iterable[Event], *, rebuilt: bool
) -> tuple[float, bool]:
    """The probability of a culprit by the boots of the search and those of its proof, and whether
    that is enough to name it. `rebuilt`: a check on kernels that the search has not seen (a revert,
    another layout) has borne it out, so that the luck of two builds does not explain it; then
    "no regression" may have what the wanted probability leaves.
    """
    with_fresh = with_proof(state, fresh)
    candidate = state.ancestry.index[culprit]
    probability = stop.culprit_probability(with_fresh, candidate)
    most_none = 1 - state.spec.confidence if rebuilt else NONE_AT_MOST
    return probability, probability >= state.spec.confidence and with_fresh.belief.none <= most_none


def forecast(state: SearchState) -> Forecast:
    """What the rest takes; a guess before the ends are seen to differ."""
    proposal = propose(state)[0]
    if isinstance(proposal, Finish):
        return ended(named=proposal.outcome is Outcome.CULPRIT)
    if state.ends.reproduced:
        return expected(state)
    spec, ledger = state.spec, state.ledger
    untried = sum(not ledger.equal.tried(end) for end in spec.graph.ends)
    return expected(state, len(ends_due(spec, ledger, spec.max_boots)), untried)


def _calibration_trials(state: SearchState, hosts: int, builders: int) -> tuple[Trial, ...]:
    """Builds of both ends first: equal kernels need no boot at all."""
    graph = state.spec.graph
    unbuilt = [sha for sha in graph.ends if not knows_build(state, sha)]
    if unbuilt:
        return tuple(
            Trial(sha, BootPurpose.CALIBRATE, boot=False) for sha in unbuilt[: max(1, builders)]
        )
    # What the budget keeps for a proof is not taken because hosts are free.
    most = min(max(1, hosts), state.spec.max_boots - state.ledger.boots)
    due = ends_due(state.spec, state.ledger, most)
    return tuple(Trial(sha, BootPurpose.CALIBRATE) for sha in due)


def _credible(posterior: Posterior) -> list[int]:
    """Most likely commits that hold CREDIBLE of the mass on commits."""
    order = (-posterior.commits).argsort(kind="stable")[:MOST_CANDIDATES]
    enough = CREDIBLE * float(posterior.commits.sum())
    members: list[int] = []
    culprit_probability = 0.0
    for i in order.tolist():
        if culprit_probability >= enough or posterior.commits[i] <= 0:
            break
        members.append(i)
        culprit_probability += float(posterior.commits[i])
    return members


def _tested(state: SearchState) -> tuple[TestedRevision, ...]:
    """Every revision that was built or booted, good first, then in graph order."""
    spec, ledger, ancestry = state.spec, state.ledger, state.ancestry
    known = {*ledger.signatures, *ledger.build_failed} - ledger.reverts.keys()
    subjects = {commit.sha: commit.subject for commit in spec.graph.commits}
    outside = sorted(known - subjects.keys(), key=lambda sha: (sha != spec.graph.older, sha))
    inside = [commit.sha for commit in spec.graph.commits if commit.sha in known]
    mass = ancestry.mass(state.belief.commits) if state.ends.reproduced else None
    tested = []
    for sha in (*outside, *inside):
        # Boots of an equal kernel are boots of this one.
        boots = sum(len(ledger.values.get(twin, ())) for twin in ledger.equal.same_as(sha))
        if sha in ancestry.boundary:
            bad = 0.0
        elif mass is not None:
            bad = min(1.0, float(mass[ancestry.index[sha]]))
        else:
            bad = 1 - spec.prior_none if sha == spec.graph.newer else 0.5
        tested.append(
            TestedRevision(sha, subjects.get(sha, ""), boots, bad, ledger.untestable(sha))
        )
    return tuple(tested)
