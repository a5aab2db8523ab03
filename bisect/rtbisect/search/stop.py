# SPDX-License-Identifier: GPL-2.0-or-later
"""When the search is over, and what it then says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.model.campaign import Outcome
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.search import Costs, Endings, Untestable
from rtbisect.search.calibrate import asked_p
from rtbisect.search.gradual import LIKELIER, farthest, stretches_of
from rtbisect.search.ledger import INVALID_RERUNS
from rtbisect.search.little import LITTLE, RATHER_NONE, chance_of_little
from rtbisect.search.spec import NONE_AT_MOST, BootPurpose, Finish, Trial

if TYPE_CHECKING:
    from rtbisect.search.search_state import SearchState

#: Posterior of "no regression" at which the search stops without a culprit.
NONE_ENOUGH = 0.95
#: The same when no boot tells anything more.
NONE_LEFT = 0.9
#: Probability of two culprits, and of a kernel between the levels, at which the range is split.
SPLIT = 0.95
#: Probability of many steps at which the search ends so, and kernels that have to lie between the
#: levels of the ends. With 0.95 and five a single boot of each made a line of two culprits by luck.
GRADUAL_ENOUGH = 0.99
INSIDE = 8
#: A change that may have come gradually is looked for from this probability on, by one boot of so
#: many.
SUSPECTED = 0.2
PROBE_EVERY = 4
#: Two culprits are thought of at every so many-th boot; it takes longer than the rest of a step.
TWO_EVERY = 8
#: Boots of a kernel that might lie between, after which it is left alone.
SUSPECT_BOOTS = 16
#: After so many revisions without a valid run of any an end is looked at again: is it them, or what
#: measures them?
BARREN = 4
#: Builds with another layout that a culprit and its parents have to hold in.
LAYOUTS = 2
#: A commit of at least this probability is not left open: when no test of the search tells more
#: about it, or the boots of the search are spent, the proof decides.
LEADING = 0.8


def stop_before_search(state: SearchState) -> Finish | None:
    """Reasons to stop that need no posterior."""
    graph = state.spec.graph
    if graph.newer in state.ledger.equal.same_as(graph.older):
        return Finish(Outcome.NOOP, Finding.of(Endings.EQUAL))
    return _untestable_end(state) or _ends_alike(state)


def _untestable_end(state: SearchState) -> Finish | None:
    """An end that cannot be tested, or a measurement that gives nothing."""
    graph, ledger = state.spec.graph, state.ledger
    for kind, sha in (
        (Endings.OLDER_UNTESTABLE, graph.older),
        (Endings.NEWER_UNTESTABLE, graph.newer),
    ):
        if why := ledger.untestable(sha):
            reason = Finding.of(kind, sha=sha, why=why)
            if ledger.invalid.get(sha, 0) > INVALID_RERUNS:
                reason = Finding.of(Endings.MEASUREMENT, why=reason)
            return Finish(Outcome.INCONCLUSIVE, reason)
    # A revision may break what measures it. One that has worked does not.
    for sha in sorted(sha for sha, times in ledger.invalid.items() if times > INVALID_RERUNS):
        if sha in ledger.values:
            revision = Finding.of(Untestable.REVISION, sha=sha, why=ledger.untestable(sha))
            reason = Finding.of(Endings.MEASUREMENT, why=revision)
            return Finish(Outcome.INCONCLUSIVE, reason)
    return None


def _ends_alike(state: SearchState) -> Finish | None:
    """The looks at the ends are over without a difference, or the budget is."""
    ends = state.ends
    boots, p, asked = ends.used, ends.p, asked_p(state.spec)
    if ends.reproduced is False:
        reason = Finding.of(Endings.ALIKE, boots=boots, p=p, asked=asked)
        if ends.open:
            return Finish(
                Outcome.INCONCLUSIVE, Finding.of(Endings.MAY_DIFFER, boots=boots, p=p, asked=asked)
            )
        if ends.still:
            reason = Finding.of(Endings.STILL, boots=boots)
        if ends.swapped:
            reason = Finding.of(Endings.SWAPPED)
        return Finish(Outcome.NOT_REPRODUCED, reason)
    if ends.reproduced is None and state.ledger.boots >= state.spec.max_boots:
        spent = _spent(state)
        reason = Finding.of(Endings.CALIBRATION_BUDGET, spent=spent)
        if boots:
            reason = Finding.of(Endings.ALIKE_BUDGET, boots=boots, p=p, asked=asked, spent=spent)
        return Finish(Outcome.INCONCLUSIVE, reason)
    return None


def stop_in_search(state: SearchState) -> Finish | None:
    """Reasons to stop after the calibration."""
    spec, ledger = state.spec, state.ledger
    if not state.belief.possible:
        return Finish(Outcome.INCONCLUSIVE, Finding.of(Endings.CONTRADICTION))
    if (finish := _nothing_found(state)) is not None:
        return finish
    if finish := _named_culprit(state):
        return finish
    missing = unbuilt_neighbours(state)
    layouts = [] if missing else layouts_due(state)
    no_build = ledger.builds >= spec.max_builds and bool(missing or layouts)
    no_boot = ledger.boots >= spec.max_boots and not missing
    # A proof takes its own boots, and may build where the builds of the search are spent.
    spent = no_boot or (bool(layouts) and no_build and spec.parts.whole_proof)
    if spent and (finish := gradual_finish(state) or leading_culprit(state)):
        return finish
    if no_build or no_boot:
        reason = Finding.of(Endings.SEARCH_BUDGET, spent=_spent(state))
        if missing:
            reason = Finding.of(Endings.NOT_BUILT, why=reason, sha=missing[0])
        if layouts:
            reason = Finding.of(Endings.NO_LAYOUT, why=reason, sha=layouts[0][0])
        return Finish(Outcome.INCONCLUSIVE, reason)
    return None


def _named_culprit(state: SearchState) -> Finish | None:
    """One commit, or one of a few that no test tells apart, is likely enough, or two, or many."""
    members = state.likeliest_set
    if not _sure(state):
        return several_finish(state) if state.ledger.boots % TWO_EVERY == 0 else None
    mass = float(min(each.commits[members].sum() for each in (state.belief, state.two)))
    if mass < state.spec.confidence:
        return several_finish(state)
    if len(members) > 1 or not _verifiable(state, members[0]):
        return Finish(Outcome.CULPRIT_SET, _set_reason(state, members, mass))
    if unbuilt_neighbours(state) or unbooted(state) or layouts_due(state):
        return None
    return Finish(Outcome.CULPRIT, _culprit_reason(state, members[0], mass))


def _sure(state: SearchState) -> bool:
    """The likeliest commits would be named, were there no second culprit."""
    mass = float(state.belief.commits[state.likeliest_set].sum())
    return mass >= state.spec.confidence and state.belief.none <= NONE_AT_MOST


def end_to_recheck(state: SearchState) -> str | None:
    """The end to be booted again before anything else: so many revisions gave no valid run in a row
    that what measures them may be broken.
    """
    spec, ledger = state.spec, state.ledger
    if ledger.invalid_streak < BARREN or ledger.boots >= spec.max_boots:
        return None
    return spec.graph.older


def second_culprit_probe(state: SearchState) -> str | None:
    """The revision to boot again when a commit would be named but for a second culprit that
    cannot be ruled out: the one that might lie between the levels. None where many boots of it
    did not decide.
    """
    members = state.likeliest_set
    enough = state.spec.confidence
    if (
        state.ledger.boots >= state.spec.max_boots
        or float(state.belief.commits[members].sum()) < enough
    ):
        return None
    if float(state.two.commits[members].sum()) >= enough:
        return None
    sha, _chance = state.two.between
    if state.spec.parts.whole_proof and state.ledger.untestable(sha):
        return None
    kernel = next((kernel for kernel in state.belief.kernels if sha in kernel.shas), None)
    return sha if kernel is not None and len(kernel.boots) < SUSPECT_BOOTS else None


def several_finish(state: SearchState) -> Finish | None:
    """The change came in many steps, or in two."""
    return gradual_finish(state) or _two_culprits(state)


def gradual_finish(state: SearchState) -> Finish | None:
    """Many small steps: no commit is to be found."""
    gradual = state.gradual
    if gradual.probability < GRADUAL_ENOUGH or gradual.inside < INSIDE:
        return None
    reason = Finding.of(
        Endings.GRADUAL,
        probability=gradual.probability,
        boots=state.ledger.boots,
        kernels=gradual.inside,
        stretches=tuple(
            Finding.of(
                Endings.STRETCH,
                older=each.older,
                newer=each.newer,
                share=each.share,
                low=each.low,
                high=each.high,
            )
            for each in stretches_of(state.ledger, state.ancestry, gradual)
        ),
    )
    return Finish(Outcome.GRADUAL, reason)


def gradual_probe(state: SearchState) -> str | None:
    """A revision to boot where the change may have come in many steps: the search for one culprit
    looks at one place too much to tell. None where that is not likely, or not asked now.
    """
    spec, ledger, belief = state.spec, state.ledger, state.belief
    asked = ledger.boots % PROBE_EVERY == 0 or belief.none >= NONE_ENOUGH
    if not asked or ledger.boots >= spec.max_boots or state.gradual.probability < SUSPECTED:
        return None
    build = ledger.builds < spec.max_builds
    return farthest(ledger, state.ancestry, belief, build=build)


def _two_culprits(state: SearchState) -> Finish | None:
    """Two culprits: each side of a kernel between the levels is a search of its own."""
    two = state.two
    sha, chance = two.between
    if min(two.probability, chance) < SPLIT or split_build(state) is not None:
        return None
    reason = Finding.of(Endings.TWO_CULPRITS, probability=two.probability, sha=sha)
    return Finish(Outcome.MULTIPLE_CULPRITS, reason)


def split_build_now(state: SearchState) -> Trial | None:
    """`split_build` at a boot at which a second culprit is thought of."""
    thought_of = state.ledger.boots % TWO_EVERY == 0 or _sure(state)
    return split_build(state) if thought_of else None


def split_build(state: SearchState) -> Trial | None:
    """The next layout of the revision at which the range would be split, where one build alone says
    that it lies between and builds may differ as much. None where it cannot be had.
    """
    spec, ledger = state.spec, state.ledger
    if not (spec.parts.split_builds and state.layouts):
        return None
    sha, chance = state.two.between
    if min(state.two.probability, chance) < SPLIT:
        return None
    other = any(kernel.layout and sha in kernel.shas for kernel in state.belief.kernels)
    if other or ledger.boots >= spec.max_boots or ledger.builds >= spec.max_builds:
        return None
    number = ledger.next_layout(sha)
    return Trial(sha, BootPurpose.LAYOUT, layout=number) if number else None


def exhausted(state: SearchState) -> Finish:
    """What is said when no further boot tells anything."""
    if finish := several_finish(state):
        return finish
    if state.belief.none >= NONE_LEFT:
        return _no_change(state)
    if finish := leading_culprit(state):
        return finish
    return Finish(Outcome.INCONCLUSIVE, Finding.of(Endings.INSEPARABLE))


def leading_candidate(state: SearchState) -> int | None:
    """The candidate that stands out although it cannot be named: LEADING, alone, and it and its
    parents are built and can be compared. None where there is no such one.
    """
    members = state.likeliest_set
    if len(members) > 1 or float(state.belief.commits[members[0]]) < LEADING:
        return None
    if state.gradual.probability >= LIKELIER:
        return None
    ready = all(state.ledger.built(sha) for sha in state.related(members[0]))
    return members[0] if ready and _verifiable(state, members[0]) else None


def leading_culprit(state: SearchState) -> Finish | None:
    """The likeliest commit as a culprit that the proof has to make sure of."""
    best = leading_candidate(state)
    if best is None:
        return None
    reason = Finding.of(
        Endings.LIKELY_CULPRIT,
        sha=state.spec.graph.commits[best].sha,
        probability=culprit_probability(state, best),
        none=state.belief.none,
        boots=state.ledger.boots,
    )
    return Finish(Outcome.CULPRIT, reason, sure=False)


def culprit_probability(state: SearchState, candidate: int) -> float:
    """The probability of a candidate (its index), also where another culprit is beside it."""
    return min(float(state.belief.commits[candidate]), float(state.two.commits[candidate]))


def more_boots(state: SearchState) -> str | None:
    """A revision to boot again, when only a second culprit keeps the likeliest commit from being
    named and its suspect was booted often enough: whether that lies between the levels is
    also a question of where good, bad, the commit and its parents lie.
    """
    best = leading_candidate(state)
    enough = state.spec.confidence
    if best is None or state.ledger.boots >= state.spec.max_boots:
        return None
    if float(state.belief.commits[best]) < enough or float(state.two.commits[best]) >= enough:
        return None
    graph = state.spec.graph
    shas = dict.fromkeys((graph.older, *state.related(best), graph.newer))
    kernels = {
        sha: kernel for kernel in state.belief.kernels for sha in kernel.shas if not kernel.layout
    }
    boots = {sha: len(kernels[sha].boots) if sha in kernels else 0 for sha in shas}
    bootable = [
        sha for sha in boots if boots[sha] < SUSPECT_BOOTS and not state.ledger.untestable(sha)
    ]
    return min(bootable, key=lambda sha: boots[sha], default=None)


def _family(state: SearchState) -> tuple[str, ...]:
    """A culprit that is likely enough, then its parents; nothing while no commit is."""
    if float(state.belief.commits[state.belief.best]) < state.spec.confidence:
        return ()
    return state.related(state.belief.best)


def unbuilt_neighbours(state: SearchState) -> list[str]:
    """Of a culprit that is likely enough: itself, its parents and everything that is only taken
    to be the same kernel, as far as nobody tried to build it and builds do not prove it. So the
    verification cannot fail late for a trivial reason, and no commit hides behind another one.
    """
    family, ledger = _family(state), state.ledger
    missing = [
        sha for sha in family if not ledger.equal.tried(sha) and sha not in ledger.equal.spanned
    ]
    if missing or not family:
        return missing
    return ledger.equal.to_prove(ledger.equal.same_as(family[0]))


def unbooted(state: SearchState) -> list[str]:
    """Of a culprit that is likely enough: itself and those parents that are candidates too, as far
    as their kernels never booted. A parent that cannot be tested makes a set of the culprit, not an
    open question.
    """
    ledger = state.ledger
    return [
        sha
        for sha in _family(state)
        if sha in state.ancestry.index
        and not any(ledger.views.get((twin, 0)) for twin in ledger.equal.same_as(sha))
        and not ledger.untestable(sha)
    ]


def layouts_due(state: SearchState) -> list[tuple[str, int]]:
    """Other layouts of a likely culprit and of its parents that have not booted, where there are
    such builds: two groups of builds that differ by luck do not go on doing so.
    """
    ledger = state.ledger
    return [
        (sha, layout)
        for layout in range(1, LAYOUTS + 1 if state.layouts else 1)
        for sha in _family(state)
        if not ledger.views.get((sha, layout))
        and sha not in ledger.layouts_failed
        and not ledger.untestable(sha)
    ]


def _nothing_found(state: SearchState) -> Finish | None:
    """No regression is likely enough, or one so small that nobody finds it among builds that
    differ.
    """
    none = state.belief.none
    if none < RATHER_NONE or state.gradual.probability >= 1 - NONE_ENOUGH:
        return None
    if none >= NONE_ENOUGH:
        return _no_change(state)
    if not (state.spec.parts.end_layouts and state.layouts and state.belief.layout >= NONE_ENOUGH):
        return None
    if (little := chance_of_little(state)) < NONE_ENOUGH:
        return None
    reason = Finding.of(
        Endings.LITTLE, probability=little, none=none, share=LITTLE, boots=state.ledger.boots
    )
    return Finish(Outcome.LAYOUT_SENSITIVE, Finding.of(Endings.BUILDS_DIFFER, why=reason))


def _no_change(state: SearchState) -> Finish:
    """Nothing regressed: by luck, or because builds of the same code differ as much."""
    reason = Finding.of(Endings.NO_CHANGE, probability=state.belief.none, boots=state.ledger.boots)
    if state.belief.layout >= NONE_ENOUGH:
        return Finish(Outcome.LAYOUT_SENSITIVE, Finding.of(Endings.BUILDS_DIFFER, why=reason))
    return Finish(Outcome.NOT_REPRODUCED, reason)


def _verifiable(state: SearchState, culprit: int) -> bool:
    """The culprit has parents, and it and all of them can be tested, as far as known."""
    family = state.related(culprit)
    return len(family) > 1 and not any(state.ledger.untestable(sha) for sha in family)


def _set_reason(state: SearchState, members: list[int], probability: float) -> Finding:
    commits = state.spec.graph.commits
    shas = [commits[i].sha for i in members] + list(commits[members[0]].parents)
    if len(members) == 1 and not commits[members[0]].parents:
        return Finding.of(Endings.ORPHAN, sha=shas[0], probability=probability)
    return Finding.of(
        Endings.CULPRIT_SET,
        commits=len(members),
        probability=probability,
        untestable=tuple(
            Finding.of(Untestable.REVISION, sha=sha, why=why)
            for sha in dict.fromkeys(shas)
            if (why := state.ledger.untestable(sha))
        ),
    )


def _culprit_reason(state: SearchState, culprit: int, probability: float) -> Finding:
    commit = state.spec.graph.commits[culprit]
    reason = Finding.of(
        Endings.CULPRIT, sha=commit.sha, probability=probability, boots=state.ledger.boots
    )
    if len(commit.parents) > 1:
        return Finding.of(Endings.MERGE, why=reason, parents=len(commit.parents))
    return reason


def _spent(state: SearchState) -> Finding:
    return Finding.of(Costs.WORK, builds=state.ledger.builds, boots=state.ledger.boots)
