# SPDX-License-Identifier: GPL-2.0-or-later
from dataclasses import replace

import pytest

from helpers.searches import Toy, built, chain, event, replayed, search, spec
from rtbisect.errors import ConfigError
from rtbisect.model.campaign import Observation, Outcome
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.search import Endings, Untestable
from rtbisect.model.lab import RunStatus
from rtbisect.search import engine
from rtbisect.search.events import Booted, Built, Silent
from rtbisect.search.spec import Finish, Trial
from searchbench.simulate import rehearse


def test_calibration_builds_both_ends_and_boots_them_in_abba_order():
    world = Toy(chain(16), "c9")
    search(world)
    assert world.builds[:2] == ["good", "c15"]
    assert world.boots[:8] == ["good", "c15", "c15", "good", "good", "c15", "c15", "good"]
    assert sorted(world.boots[:12]) == ["c15"] * 6 + ["good"] * 6


def test_a_clear_culprit_is_named_with_its_parent_built():
    world = Toy(chain(16), "c9")
    _, finish, answer = search(world)
    assert (finish.outcome, answer.culprit) == (Outcome.CULPRIT, "c9")
    assert {"c8", "c9"} <= set(world.builds)
    assert answer.confidence >= 0.95
    assert answer.candidates[0] == ("c9", answer.confidence)
    assert len(world.boots) - 12 <= 7
    sides = {item.sha: item.probability_bad for item in answer.tested}
    assert sides["c8"] < 0.05
    assert sides["c9"] > 0.95
    assert sides["good"] == 0.0
    assert len(world.builds) == len(set(world.builds))


def test_the_whole_range_may_be_one_commit():
    _, finish, answer = search(Toy(chain(1), "c0"))
    assert (finish.outcome, answer.culprit) == (Outcome.CULPRIT, "c0")


def test_equal_kernels_of_the_ends_are_a_noop_without_a_boot():
    world = Toy(chain(4), "c2", signatures={"good": "same", "c3": "same"})
    state, finish, _ = search(world)
    assert finish.outcome is Outcome.NOOP
    assert world.boots == []
    assert state.ledger.builds == 2


def test_equal_ends_are_not_reproduced_after_both_looks():
    world = Toy(chain(4), "no commit")
    state, finish, answer = search(world)
    assert finish.outcome is Outcome.NOT_REPRODUCED
    assert state.ledger.boots == 20
    assert answer.culprit is None
    assert answer.candidates == ()


def test_swapped_ends_are_told():
    _, finish, _ = search(Toy(chain(4), "c2", low=5.0, high=1.0))
    assert finish.outcome is Outcome.NOT_REPRODUCED
    assert finish.reason.kind == Endings.SWAPPED


def test_a_change_below_the_floor_is_not_searched():
    _, finish, _ = search(Toy(chain(4), "c2", low=10.0, high=12.0))
    assert finish.outcome is Outcome.NOT_REPRODUCED


def test_unbuildable_commits_around_the_culprit_give_the_set():
    world = Toy(chain(16), "c6", broken=("c5", "c6", "c7"))
    _, finish, answer = search(world)
    assert finish.outcome is Outcome.CULPRIT_SET
    assert {sha for sha, _ in answer.candidates} == {"c5", "c6", "c7", "c8"}
    assert answer.culprit is None
    assert answer.confidence >= 0.95
    no_build = Finding.of(Untestable.NO_BUILD)
    assert finish.reason.kind == Endings.CULPRIT_SET
    assert {each.data["why"] for each in finish.reason.data["untestable"]} == {no_build}
    skipped = {item.sha: item.skipped for item in answer.tested}
    assert (skipped["c6"], skipped["good"]) == (no_build, None)


def test_a_culprit_with_an_unbuildable_parent_is_a_set():
    world = Toy(chain(16), "c6", broken=("c5",))
    _, finish, answer = search(world)
    assert finish.outcome is Outcome.CULPRIT_SET
    assert {sha for sha, _ in answer.candidates} == {"c5", "c6"}


@pytest.mark.parametrize("status", [RunStatus.BOOT_FAILED, RunStatus.HUNG])
def test_three_failed_boots_in_a_row_skip_a_revision(status):
    world = Toy(chain(16), "c9", status={"c7": status})
    _, _, answer = search(world)
    assert world.boots.count("c7") <= 3
    assert answer.culprit == "c9"


def test_an_end_that_does_not_boot_ends_the_search():
    _, finish, _ = search(Toy(chain(8), "c3", status={"c7": RunStatus.BOOT_FAILED}))
    assert finish.outcome is Outcome.INCONCLUSIVE
    no_boot = Finding.of(Untestable.NO_BOOT)
    assert finish.reason == Finding.of(Endings.NEWER_UNTESTABLE, sha="c7", why=no_boot)
    _, finish, _ = search(Toy(chain(8), "c3", broken=("good",)))
    no_build = Finding.of(Untestable.NO_BUILD)
    assert finish.reason == Finding.of(Endings.OLDER_UNTESTABLE, sha="good", why=no_build)


def test_invalid_runs_are_tried_again_three_times_and_are_no_evidence():
    world = Toy(chain(16), "c9", status={"c7": RunStatus.INVALID})
    state, finish, _ = search(world)
    # A revision that cannot be measured is skipped like one that does not boot.
    assert (finish.outcome, engine.answer(state).culprit) == (Outcome.CULPRIT, "c9")
    assert world.boots.count("c7") == 4
    assert "c7" not in state.ledger.values


def test_a_parent_that_is_never_booted_is_tried_before_its_child_is_named():
    """Boots are dear and builds cost nothing: the search comes by without the parent."""
    world = Toy(chain(16), "c9", status={"c8": RunStatus.SKIPPED})
    cheap = spec(chain(16), build_cost_s=0.01, boot_cost_s=0.02)
    state, finish = rehearse(cheap, world)
    assert finish.outcome is Outcome.CULPRIT_SET
    assert {sha for sha, _ in engine.answer(state).candidates} == {"c8", "c9"}
    assert "c8" in world.boots


def test_an_end_with_invalid_runs_alone_ends_the_search():
    world = Toy(chain(16), "c9", status={"c15": RunStatus.INVALID})
    _state, finish, _ = search(world)
    assert finish.outcome is Outcome.INCONCLUSIVE
    invalid = Finding.of(Untestable.INVALID, runs=4)
    end = Finding.of(Endings.NEWER_UNTESTABLE, sha="c15", why=invalid)
    assert finish.reason == Finding.of(Endings.MEASUREMENT, why=end)


def test_many_revisions_without_a_valid_run_are_skipped_while_the_ends_have_them():
    status = {f"c{i}": RunStatus.INVALID for i in (*range(1, 8), *range(10, 15))}
    world = Toy(chain(16), "c9", status=status)
    _state, finish, answer = search(world)
    assert (finish.outcome, answer.culprit) == (Outcome.CULPRIT, "c9")
    # Some of them gave nothing in a row: the good end was looked at again.
    assert world.boots.count("good") > world.boots.count("c15")


def test_a_measurement_that_breaks_is_not_the_fault_of_the_revisions():
    """From the boot on at which the disk is full nothing is valid, the ends neither."""
    graph = chain(16)

    class Broken(Toy):
        def boot(self, sha):
            status, value = super().boot(sha)
            return (status if len(self.boots) <= 12 else RunStatus.INVALID), value

    _state, finish, _answer = search(Broken(graph, "c9"))
    assert finish.outcome is Outcome.INCONCLUSIVE
    assert finish.reason.kind == Endings.MEASUREMENT
    assert finish.reason.data["why"].data["why"] == Finding.of(Untestable.INVALID, runs=4)


def test_an_end_that_is_skipped_once_is_tried_again():
    graph = chain(16)
    boots = [event(sha, 1.0 + 4 * (sha != "good")) for sha in ("good", graph.newer) * 3]
    skipped = Booted(revision=graph.newer, status=RunStatus.SKIPPED, observation=None, seconds=1.0)
    state = replayed(engine, spec(graph), [*boots, skipped])
    assert not isinstance(engine.propose(state)[0], Finish)
    state = replayed(engine, spec(graph), [*boots, skipped, skipped, skipped])
    finish = engine.propose(state)[0]
    assert isinstance(finish, Finish)
    assert finish.reason.data["why"] == Finding.of(Untestable.SKIPPED)


def test_values_without_a_logarithm_are_invalid():
    state = engine.start(spec())
    for value in (-1.0, float("nan")):
        seen = Observation(value=value)
        state = engine.apply(
            state,
            Booted(
                revision="good",
                status=RunStatus.COMPLETE,
                observation=seen,
                seconds=1.0,
            ),
        )
    assert state.ledger.invalid["good"] == 2
    assert state.ledger.values == {}


def test_a_kernel_that_equals_a_known_one_needs_no_boot():
    same = {f"c{i}": "good side" for i in range(9)} | {f"c{i}": "bad side" for i in range(9, 16)}
    world = Toy(chain(16), "c9", signatures=same | {"good": "good side"})
    _, finish, answer = search(world)
    assert (finish.outcome, answer.culprit) == (Outcome.CULPRIT, "c9")
    assert set(world.boots) == {"good", "c15"}


def test_a_commit_that_changes_no_byte_is_never_the_culprit():
    world = Toy(chain(16), "c8", signatures={"c8": "twin", "c9": "twin"})
    _, _, answer = search(world)
    assert answer.culprit == "c8"
    other = Toy(chain(16), "c8", signatures={"c7": "twin", "c6": "twin"})
    state, _, answer = search(other)
    assert answer.culprit == "c8"
    for sha in ("c6", "c7"):
        if sha not in other.builds:
            state = engine.apply(state, built(sha, "twin"))
    assert state.belief.commits[7] == 0.0


def test_commits_that_change_nothing_say_nothing_against_a_regression():
    """Whatever is known to be silent, there is one regression or none in the range."""
    values = {"good": (1.0, 1.3, 0.8, 1.1, 1.2, 0.9), "bad": (1.9, 2.2, 2.0, 1.8, 2.4, 2.1)}

    def none(size, silent):
        state = engine.start(spec(chain(size)))
        state = engine.apply(engine.apply(state, built("good", "a")), built(f"c{size - 1}", "b"))
        pairs = tuple((f"c{i}", f"c{i - 1}") for i in silent)
        state = engine.apply(state, Silent(pairs))
        for one, two in zip(values["good"], values["bad"], strict=True):
            state = engine.apply(state, event("good", one))
            state = engine.apply(state, event(f"c{size - 1}", two))
        assert state.ends.reproduced
        return state.belief.none

    alone = none(4, ())
    assert none(400, [i for i in range(1, 400) if i % 100]) == pytest.approx(alone)
    assert none(400, ()) == pytest.approx(alone)


def test_contradicting_equal_kernels_are_inconclusive():
    state = calibrated(chain(4))
    for heard in (built("c1", "kernel of good"), built("c0", "kernel of c3")):
        state = engine.apply(state, heard)
    finish = engine.propose(state)[0]
    assert finish.outcome is Outcome.INCONCLUSIVE
    assert finish.reason.kind == Endings.CONTRADICTION
    assert engine.answer(state).candidates == ()


def finished(graph, culprit):
    return rehearse(spec(graph), Toy(graph, culprit))[0]


def test_budgets_end_the_search_with_candidates():
    _, finish, answer = search(Toy(chain(64), "c40"), max_boots=14)
    assert finish.outcome is Outcome.INCONCLUSIVE
    assert finish.reason.kind == Endings.SEARCH_BUDGET
    assert "c40" in [sha for sha, _ in answer.candidates]
    world = Toy(chain(64), "c40")
    _, finish, answer = search(world, max_builds=4)
    assert finish.outcome is Outcome.INCONCLUSIVE
    assert len(world.builds) <= 4
    assert len(answer.candidates) <= 20


def test_a_root_in_the_range_has_nothing_to_be_compared_with():
    commits = (
        Commit("r", ()),
        Commit("s", ("r",)),
        Commit("a", ("good",)),
        Commit("z", ("a", "s")),
    )
    _, finish, answer = search(Toy(CommitGraph("good", "z", commits), "r"))
    assert (finish.outcome, answer.culprit) == (Outcome.CULPRIT_SET, None)
    assert [sha for sha, _ in answer.candidates] == ["r"]
    assert (finish.reason.kind, finish.reason.data["sha"]) == (Endings.ORPHAN, "r")


def test_a_merge_culprit_has_all_parents_built_also_boundary_ones():
    graph = CommitGraph(
        "good",
        "z",
        (
            Commit("a", ("good",)),
            Commit("b", ("good",)),
            Commit("m", ("a", "b", "old")),
            Commit("z", ("m",)),
        ),
    )
    world = Toy(graph, "m")
    _, finish, answer = search(world)
    assert (finish.outcome, answer.culprit) == (Outcome.CULPRIT, "m")
    assert {"a", "b", "old", "m"} <= set(world.builds)
    assert "old" not in world.boots
    assert (finish.reason.kind, finish.reason.data["parents"]) == (Endings.MERGE, 3)


def test_several_hosts_get_different_revisions_that_cut_the_range():
    state = calibrated(chain(63))
    tests = engine.propose(state, free_hosts=3, free_builders=3)
    places = sorted(int(t.revision[1:]) for t in tests)
    assert len(places) == 3
    assert places == pytest.approx([15, 31, 47], abs=3)
    assert len(engine.propose(state, free_hosts=3, free_builders=1)) <= 3
    unbuilt = [t for t in engine.propose(state, 3, 1) if not engine.knows_build(state, t.revision)]
    assert len(unbuilt) == 1


def test_idle_builders_build_what_is_wanted_next():
    state = calibrated(chain(63))
    tests = engine.propose(state, free_hosts=1, free_builders=3)
    assert [t.boot for t in tests] == [False] * 3
    assert sorted(int(t.revision[1:]) for t in tests) == pytest.approx([15, 31, 47], abs=3)
    # With the first of them built the host boots it, and the builders go on.
    state = engine.apply(state, built(tests[0].revision, "other"))
    first, *ahead = engine.propose(state, free_hosts=1, free_builders=3)
    assert (first.revision, first.boot) == (tests[0].revision, True)
    assert len(ahead) == 3
    assert not any(engine.knows_build(state, t.revision) or t.boot for t in ahead)
    last = calibrated(chain(63), max_builds=3)
    assert len(engine.propose(last, free_hosts=1, free_builders=3)) == 1


def calibrated(graph, **changes):
    state = engine.start(spec(graph, **changes))
    world = Toy(graph, graph.commits[len(graph) // 2].sha)
    full = rehearse(state.spec, world)[0]
    return replace(state, events=full.events[:14])


def test_a_cheap_known_build_is_preferred_to_a_new_one():
    state = calibrated(chain(33), build_cost_s=1000.0)
    state = engine.apply(state, built("c12", "other"))
    test = engine.propose(state)[0]
    assert test == Trial("c12", "search", boot=True)
    free = calibrated(chain(33), build_cost_s=0.0)
    free = engine.apply(free, built("c12", "other"))
    assert engine.propose(free)[0].revision in {"c15", "c16"}


def test_failures_keep_the_search_away_from_their_neighbours():
    state = calibrated(chain(64))
    first = int(engine.propose(state)[0].revision[1:])
    state = engine.apply(state, built(f"c{first}", "", ok=False))
    second = int(engine.propose(state)[0].revision[1:])
    assert abs(second - first) >= 5


def test_the_order_of_independent_events_does_not_matter():
    graph = chain(32)
    events = finished(graph, "c20").events
    head, tail = events[:14], events[14:20]
    builds = [e for e in tail if isinstance(e, Built)]
    boots = [e for e in tail if isinstance(e, Booted)]
    one = replayed(engine, spec(graph), (*head, *builds, *boots))
    other = replayed(engine, spec(graph), (*head, *builds[::-1], *boots[::-1]))
    assert engine.propose(one) == engine.propose(other)
    assert engine.answer(one).candidates == engine.answer(other).candidates


def test_states_are_values():
    state = engine.start(spec())
    after = engine.apply(state, built("good", "a"))
    assert state.events == ()
    assert after == replayed(engine, spec(), after.events)
    assert engine.answer(after).reasons == (Finding.of(Endings.NOT_OVER),)


def test_other_limits_change_nothing_of_what_the_boots_say():
    state = calibrated(chain(16))
    boots, builds = state.spec.max_boots - 3, state.spec.max_builds - 2
    belief, ends, several = state.belief, state.ends, state.two
    less = state.with_limits(max_boots=boots, max_builds=builds)
    assert (less.spec.max_boots, less.spec.max_builds) == (boots, builds)
    # The very same, not computed again.
    assert less.belief is belief
    assert less.ends is ends
    assert less.two is several
    again = replayed(engine, spec(chain(16), max_boots=boots, max_builds=builds), state.events)
    assert less == again
    assert engine.propose(less) == engine.propose(again)
    assert less.with_limits(max_boots=boots, max_builds=builds) is less


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"calibrate_max": 4, "calibrate_min": 4}, "cannot reach"),
        ({"calibrate_min": 1}, "impossible"),
        ({"max_boots": 5}, "do not cover"),
        ({"confidence": 1.0}, "confidence"),
        ({"prior_none": 0.0}, "prior_none"),
    ],
)
def test_impossible_specifications_are_refused(changes, match):
    with pytest.raises(ConfigError, match=match):
        engine.start(spec(**changes))


def test_an_empty_range_is_refused():
    with pytest.raises(ConfigError, match="no commit between"):
        engine.start(spec(CommitGraph("good", "good", ())))
