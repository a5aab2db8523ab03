# SPDX-License-Identifier: GPL-2.0-or-later
"""A small change is proved on builds, each of which is one observation."""

import random
from dataclasses import replace

import pytest

from helpers.campaigns import RES, line_of, sha
from helpers.findings import Like
from helpers.searches import replayed
from rtbisect.model.campaign import Better, Level, Observation, Sample, Scale
from rtbisect.model.code import PROOF_LAYOUTS
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Judged, Told
from rtbisect.model.kinds.search import Checks
from rtbisect.model.lab import RunStatus
from rtbisect.model.result import CheckName, CheckStatus
from rtbisect.search import build_groups, engine, verification
from rtbisect.search.build_groups import ENOUGH, FEWEST, MOST, BuildPlan
from rtbisect.search.events import Booted, Built
from rtbisect.search.ledger import Ledger
from rtbisect.search.likelihood.features import Aspect
from rtbisect.search.parts import Parts
from rtbisect.search.siblings import build_plan, noise
from rtbisect.search.spec import BootPurpose, SearchSpec
from rtbisect.search.verify_spec import VerifySpec

FIGURE = replace(RES, scale=Scale.LINEAR, min_effect=0.25, floor=0.0)
PLAN = BuildPlan(
    better=tuple((f"g{n}", 0) for n in range(20)),
    worse=tuple((f"b{n}", 0) for n in range(20)),
    boots=3,
    builds=6,
    shift=1.0,
)
SPEC = VerifySpec(
    culprit="culprit",
    parents=("parent",),
    threshold=FIGURE,
    seed=3,
    revert="revert",
    tip="tip",
    endpoints=(Sample((9, 10, 11)), Sample((11, 12, 13))),
    builds=PLAN,
)


def boot(kernel, value):
    revision, layout = kernel
    return Booted(
        revision=revision,
        status=RunStatus.COMPLETE,
        observation=Observation(value=value),
        seconds=1.0,
        layout=layout,
    )


def examined(plan, level, failing=()):
    """The end of a comparison, and the log of it; `level(kernel, rng)` is a boot."""
    rng, events = random.Random(4), []
    for _ in range(300):
        groups = build_groups.examine(plan, Ledger(FIGURE, tuple(events)), FIGURE)
        if not groups.wanted:
            return groups, events
        booted = [(e.revision, e.layout) for e in events if isinstance(e, Booted)]
        kernel = next(k for k, boots in groups.wanted if booted.count(k) < boots)
        if kernel in failing:
            events.append(Built(kernel[0], ok=False, signature="", seconds=1.0, layout=kernel[1]))
        else:
            events.append(boot(kernel, level(kernel, rng)))
    raise AssertionError("it does not end")


def of_side(kernel, rng):
    return 10.0 + (kernel[0][0] == "b") + rng.gauss(0, 0.1)


def test_builds_of_two_codes_are_told_apart_at_the_first_look():
    groups, events = examined(PLAN, of_side)
    assert groups.judgement.level is Level.REGRESSED
    assert (groups.judgement.base.n, groups.judgement.new.n) == (6, 6)
    assert groups.judgement.effect == pytest.approx(1.0, abs=0.2)
    assert len(events) == 2 * 6 * PLAN.boots


def test_boots_of_a_build_are_one_observation():
    """Two builds that lie one unit apart, whose boots hardly scatter, are two of many such."""
    offsets = {}

    def level(kernel, rng):
        return 10.0 + offsets.setdefault(kernel, rng.gauss(0, 1.0)) + rng.gauss(0, 0.01)

    groups, events = examined(PLAN, level)
    assert groups.judgement.level is not Level.REGRESSED
    assert groups.judgement.p > build_groups.ALPHA / build_groups.LOOKS
    assert 0.5 < groups.spread < 2.0
    assert len({(e.revision, e.layout) for e in events}) <= 2 * build_groups.LAST


def test_the_last_look_sees_half_of_what_the_ends_show():
    """They were booted because they differ, by luck, too."""

    def level(kernel, _rng):
        side, number = kernel[0][0], int(kernel[0][1:])
        return 10.0 + 0.5 * (side == "b") + (0.5 if number % 2 else -0.5)

    groups, events = examined(replace(PLAN, boots=1, builds=FEWEST), level)
    assert groups.judgement.level is Level.REGRESSED
    # One that sees all of it would not have had so many.
    assert len(events) == 2 * build_groups.LAST
    assert build_groups.builds_needed(1.0, groups.spread) < MOST


def test_equal_builds_refute():
    groups, _ = examined(PLAN, lambda _kernel, rng: 10.0 + rng.gauss(0, 0.1))
    assert (groups.judgement.level, groups.judgement.reason.kind) == (Level.PASS, Judged.EXCLUDED)


def test_so_do_builds_that_show_surely_less_than_half_of_what_the_ends_do():
    """That is not below the smallest change that counts, and not told so."""

    def level(kernel, _rng):
        side, number = kernel[0][0], int(kernel[0][1:])
        return 10.0 + 0.2 * (side == "b") + (0.3 if number % 2 else -0.3)

    groups, _ = examined(replace(PLAN, shift=2.0), level)
    reason = groups.judgement.reason
    assert (groups.judgement.level, reason.kind) == (Level.PASS, Checks.SURELY_LESS)


def test_the_reason_tells_a_part_of_a_figure_as_a_reader_knows_it():
    """Of a logarithm a ratio; its threshold as it is judged has a difference."""
    spec = replace(SPEC, threshold=RES, figure=Aspect(mean=True), revert=None)
    state, _ = proved(lambda k, rng: ordinary(k, rng) + 20 * (k[0][0] in "bc"), spec)
    check = verification.verifications(state)[1]
    assert check.judgement.reason.data["effect"].kind == Told.RATIO
    assert check.note.data["spread"].kind == Told.SHIFT_RATIO


def test_a_build_that_fails_or_is_no_further_build_makes_room_for_the_next():
    groups, events = examined(PLAN, of_side, failing={("g0", 0), ("b2", 0)})
    booted = {e.revision for e in events if isinstance(e, Booted)}
    assert booted == {f"g{n}" for n in range(1, 7)} | {f"b{n}" for n in (0, 1, 3, 4, 5, 6)}
    assert groups.judgement.level is Level.REGRESSED
    same = (Built("g1", ok=True, signature="one", seconds=1.0),)
    first = (Built("g0", ok=True, signature="one", seconds=1.0),)
    known = replace(PLAN, known=frozenset({"one"}))
    wanted = build_groups.examine(known, Ledger(FIGURE, same), FIGURE).wanted
    assert ("g1", 0) not in dict(wanted)
    wanted = build_groups.examine(PLAN, Ledger(FIGURE, (*first, *same)), FIGURE).wanted
    assert ("g0", 0) in dict(wanted)
    assert ("g1", 0) not in dict(wanted)


def test_what_fails_later_takes_no_look_back():
    better, worse = (tuple((side, number) for number in range(1, 9)) for side in "gb")
    plan = replace(PLAN, better=better, worse=worse, builds=FEWEST)
    groups, events = examined(plan, of_side)
    later = Built("b", ok=False, signature="", seconds=1.0, layout=8)
    assert build_groups.examine(plan, Ledger(FIGURE, (*events, later)), FIGURE) == groups


@pytest.mark.parametrize("builds", [1, 2])
def test_too_few_builds_say_nothing(builds):
    few = replace(PLAN, better=PLAN.better[: ENOUGH - builds - 1], worse=PLAN.worse[:builds])
    groups, events = examined(few, of_side)
    assert (groups.judgement, events) == (None, [])
    one = replace(PLAN, worse=PLAN.worse[:1])
    groups, _ = examined(one, lambda k, rng: of_side(k, rng) + 4 * (k[0][0] == "b"))
    assert groups.judgement.level is Level.REGRESSED


def test_more_builds_and_more_boots_where_they_tell_more():
    assert build_groups.builds_needed(1.0, 0.0) == FEWEST
    needed = [build_groups.builds_needed(1.0, spread) for spread in (0.1, 0.5, 0.7, 9.0)]
    assert needed == sorted(needed)
    assert needed[-1] == MOST
    quick, slow = (
        build_groups.cheapest(1.0, 0.2, 0.5, build_s=build_s, boot_s=600) for build_s in (10, 9000)
    )
    assert quick[0] < slow[0]
    assert quick[1] >= slow[1]


def proved(level, spec=SPEC):
    """A verification whose boots are `level(kernel, rng)`."""
    rng, state = random.Random(5), verification.start(spec)
    purposes = {}
    for _ in range(400):
        step = verification.propose(state, late=True)
        if step is None:
            return state, purposes
        kernel = step.revision, step.layout
        purposes[kernel] = step.purpose
        state = verification.apply(state, boot(kernel, level(kernel, rng)))
    raise AssertionError("it does not end")


LEVEL = {"culprit": 11.0, "tip": 11.0, "parent": 10.0, "revert": 10.0}


def ordinary(kernel, rng):
    return LEVEL.get(kernel[0], 10.0 + (kernel[0][0] == "b")) + rng.gauss(0, 0.2)


def statuses(state):
    return {check.check: check.status for check in verification.verifications(state)}


def test_other_builds_decide_where_builds_differ():
    state, purposes = proved(ordinary)
    assert verification.confirmed(state)
    assert statuses(state)[CheckName.BUILDS] is CheckStatus.PASS
    assert purposes["g0", 0] == purposes["b0", 0] == BootPurpose.BUILDS
    check = verification.verifications(state)[1]
    assert (check.note.kind, check.judgement.base.n) == (Checks.BUILDS, PLAN.builds)
    assert check.note.data["spread"] == Like(Told.SHIFT, unit=FIGURE.unit)


@pytest.mark.parametrize("scale", Scale)
def test_builds_of_one_side_differ_without_a_direction(scale):
    """Of a figure that is better where it is higher, too."""
    figure = replace(FIGURE, better=Better.HIGHER, scale=scale, min_effect=1.02)
    spec = replace(SPEC, threshold=figure, revert=None)
    state, _ = proved(lambda k, rng: 30 - ordinary(k, rng), spec)
    spread = verification.verifications(state)[1].note.data["spread"].data
    assert spread["ratio"] > 1 if scale is Scale.LOG else spread["difference"] > 0


def test_two_builds_that_differ_by_luck_do_not_name_a_commit():
    state, _ = proved(lambda k, rng: LEVEL.get(k[0], 10.0) + rng.gauss(0, 0.2))
    assert statuses(state)[CheckName.PARENT] is CheckStatus.PASS
    assert not verification.confirmed(state)
    assert verification.follows_layout(verification.verifications(state))


def test_two_builds_that_are_equal_by_luck_do_not_refute_one():
    """The parent happens to be as slow as the culprit; other builds show what the code does."""
    rng = random.Random(6)
    offsets = {"parent": 0.9, "culprit": 0.0}

    def level(kernel, draw):
        offset = offsets.setdefault(kernel[0], rng.gauss(0, 0.4))
        return 10.0 + (kernel[0][0] in "bct") + offset + draw.gauss(0, 0.1)

    state, _ = proved(level, replace(SPEC, revert=None))
    assert statuses(state)[CheckName.PARENT] is CheckStatus.UNDECIDED
    assert statuses(state)[CheckName.BUILDS] is CheckStatus.PASS
    assert verification.confirmed(state)


@pytest.mark.parametrize("strict", [True, False])
def test_without_other_builds_boots_decide(strict):
    """Who names the culprit asks for its probability, which knows of noise of builds. Before, such
    a range was never answered.
    """
    bare = replace(PLAN, better=(("parent", 0),), worse=(("culprit", 0),))
    state, _ = proved(ordinary, replace(SPEC, builds=bare, strict=strict))
    check = verification.verifications(state)[1]
    assert (check.status, check.note) == ("undecided", Finding.of(Checks.TOO_FEW_BUILDS))
    assert state.groups.exhausted
    assert verification.confirmed(state) is strict


@pytest.mark.parametrize("rule", [True, False])
def test_where_no_other_builds_are_left_the_pair_is_booted_on(rule):
    """A step of one standard deviation: six boots a side do not tell it, those of the last look
    do.
    """
    bare = replace(PLAN, better=PLAN.better[:4], worse=PLAN.worse[:1])
    spec = replace(SPEC, builds=bare, boots_max=40, revert=None, pair_decides=rule)
    state, purposes = proved(lambda k, rng: ordinary(k, rng) + rng.gauss(0, 1), spec)
    boots = {sha: len(state.ledger.values[sha]) for sha in ("parent", "culprit")}
    assert state.groups.exhausted
    assert purposes["g0", 0] == BootPurpose.BUILDS
    assert boots == dict.fromkeys(boots, 40 if rule else 6)
    assert verification.confirmed(state) is rule


def test_two_builds_are_not_booted_on_while_others_can_decide():
    state, _ = proved(lambda k, rng: ordinary(k, rng) + rng.gauss(0, 1), replace(SPEC, revert=None))
    assert not state.groups.exhausted
    assert len(state.ledger.values["culprit"]) == SPEC.boots


def searched(places=(0, 40, 10, 15, 18, 19, 20, 21, 23, 30), **costs):
    """A search over forty commits whose ends and some between have booted; commit 20 did it."""
    graph = line_of(40)
    state = engine.start(SearchSpec(graph=graph, threshold=FIGURE, seed=0, **costs))
    rng, events = random.Random(7), []
    for place in places:
        events.append(Built(sha(place), ok=True, signature=f"k{place}", seconds=9.0))
        offset = rng.gauss(0, 0.3)
        for _ in range(6):
            value = 10.0 + (place >= 20) + offset + rng.gauss(0, 0.1)
            events.append(boot((sha(place), 0), value))
    return replayed(engine, state.spec, events)


def test_neighbours_that_never_booted_stand_for_both_sides():
    plan = build_plan(searched(), sha(20))
    assert plan.better[:4] == tuple((sha(n), 0) for n in (17, 16, 14, 13))
    assert plan.worse[:4] == tuple((sha(n), 0) for n in (22, 24, 25, 26))
    assert plan.known == {f"k{n}" for n in (0, 40, 10, 15, 18, 19, 20, 21, 23, 30)}
    assert FEWEST <= plan.builds <= MOST


def test_neighbours_that_likely_fail_come_last():
    state = searched()
    for place in (24, 26, 29):
        state = engine.apply(state, Built(sha(place), ok=False, signature="", seconds=9.0))
    worse = [revision for revision, _ in build_plan(state, sha(20)).worse]
    broken = [sha(n) for n in (25, 27, 28)]
    assert worse[0] == sha(22)
    assert min(worse.index(each) for each in broken) > worse.index(sha(39))
    state = replace(state, spec=replace(state.spec, parts=Parts(failing_last=False)))
    assert [revision for revision, _ in build_plan(state, sha(20)).worse][1:4] == broken


def test_other_layouts_come_before_neighbours():
    plan = build_plan(searched(layout_cost_s=90.0), sha(20))
    assert plan.better[:12] == tuple((sha(19), n) for n in PROOF_LAYOUTS)
    assert plan.worse[:12] == tuple((sha(20), n) for n in PROOF_LAYOUTS)
    assert (sha(17), 0) in plan.better


def test_the_newest_commit_has_no_neighbour_but_itself():
    plan = build_plan(searched(), sha(40))
    assert plan.worse == ((sha(40), 0),)
    assert plan.better[0] == (sha(39), 0)


def test_how_builds_and_boots_scatter_is_seen_in_the_kernels_of_the_search():
    seen = noise(searched(), sha(20))
    assert 0.15 < seen.tau < 0.6
    assert seen.sigma == pytest.approx(0.1, abs=0.03)
    assert 0.5 < seen.shift <= searched().ends.shift
    # A few kernels do not show how builds differ: by half of what the ends do, then.
    few = noise(searched((0, 40, 19, 20)), sha(20))
    assert few.tau == few.shift / 2
