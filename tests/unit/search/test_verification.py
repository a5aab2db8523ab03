# SPDX-License-Identifier: GPL-2.0-or-later
import random
from dataclasses import replace

import pytest

from helpers.campaigns import RES
from helpers.searches import replayed
from rtbisect.errors import ConfigError
from rtbisect.judge import stats, verdict
from rtbisect.judge.verdict import smallest_p
from rtbisect.model.campaign import Level, Observation, Sample
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.search import Checks, Untestable
from rtbisect.model.lab import RunStatus
from rtbisect.model.result import CheckName
from rtbisect.search import verification
from rtbisect.search.events import Booted, Built
from rtbisect.search.verify_spec import VerifySpec

SPEC = VerifySpec(
    culprit="culprit",
    parents=("parent",),
    threshold=RES,
    seed=3,
    revert="revert",
    tip="tip",
    endpoints=(Sample((9, 10, 11)), Sample((49, 50, 51))),
)


def play(spec, level, status=None, place=lambda _revision, _number: ("", 1.0), *, late=True):
    """Boot what is proposed; `level` gives the median of each revision, `place` the host of a boot
    and by how much it tells more. Without `late` only what the culprit is named by is booted.
    """
    rng = random.Random(1)
    state, order = verification.start(spec), []
    while isinstance(step := verification.propose(state, late=late), verification.Boot):
        order.append(step.revision)
        assert len(order) < 200
        how = (status or {}).get(step.revision, RunStatus.COMPLETE)
        host, more = place(step.revision, len(order))
        value = level[step.revision] * more * rng.uniform(0.9, 1.1)
        seen = Observation(value=value, host=host)
        if how is not RunStatus.COMPLETE:
            seen = None
        event = Booted(
            revision=step.revision,
            status=how,
            observation=seen,
            seconds=20.0,
        )
        state = verification.apply(state, event)
    return state, order


GOOD = {"culprit": 50, "parent": 10, "revert": 10, "tip": 50}


def untestable(sha, why):
    return Finding.of(Untestable.REVISION, sha=sha, why=Finding.of(why))


def by_name(checks):
    return {check.check: check for check in checks}


def test_a_true_culprit_is_confirmed_with_its_recovery():
    state, order = play(SPEC, GOOD)
    parent, revert = verification.verifications(state)
    assert verification.confirmed(state)
    assert (parent.check, parent.parent, parent.status) == (CheckName.PARENT, "parent", "pass")
    assert (revert.check, revert.status) == (CheckName.REVERT, "pass")
    assert (order.count("culprit"), order.count("parent")) == (6, 6)
    assert (order.count("revert"), order.count("tip")) == (6, 6)
    assert parent.judgement.level is Level.REGRESSED
    assert (parent.note.kind, revert.note.kind) == (Checks.EXPLAINS, Checks.TAKES_BACK)
    assert parent.note.data["why"] == parent.judgement.reason
    assert parent.note.data["share"] == parent.recovery == pytest.approx(1, abs=0.15)


def test_a_check_passes_only_where_its_p_could_have_been_too_large():
    """Three boots a side reach p = 0.05 at best: that is no pass, however far apart they are."""
    state, order = play(SPEC, GOOD, late=False)
    revert = verification.verifications(state)[1]
    assert (order.count("revert"), order.count("tip")) == (3, 3)
    assert (revert.status, revert.judgement.p) == ("undecided", 1 / 20)
    assert verification.confirmed(state), (
        "the culprit is named by its parent, with a revert or without"
    )
    state, order = play(SPEC, GOOD)
    revert = verification.verifications(state)[1]
    assert (revert.status, order.count("revert")) == ("pass", 6)
    assert revert.judgement.p <= SPEC.look_alpha


@pytest.mark.parametrize("revert_boots", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("boots", [4, 6, 8])
@pytest.mark.parametrize("hosts", [1, 2, 3])
def test_no_check_passes_above_its_alpha(revert_boots, boots, hosts):
    spec = replace(SPEC, revert_boots=revert_boots, boots=boots, boots_max=26)
    for late in (False, True):
        state, _ = play(spec, GOOD, place=lambda _sha, n: (f"rt{n // 4 % hosts}", 1.0), late=late)
        for check in verification.verifications(state):
            assert check.status != "pass" or check.judgement.p <= spec.look_alpha
    assert [check.status for check in verification.verifications(state)] == ["pass", "pass"]


def test_a_refuted_culprit_costs_no_late_boots():
    state, order = play(SPEC, GOOD | {"parent": 50}, late=False)
    assert verification.verifications(state)[0].status == "fail"
    assert order.count("revert") == 3


def test_a_revert_is_looked_at_three_times_at_most():
    wide = {"tip": [3, 30, 300] * 4, "revert": [2, 25, 200] * 4}
    state, booted = verification.start(SPEC), []
    while isinstance(due := verification.propose(state, late=True), verification.Boot):
        booted.append(due.revision)
        value = wide[due.revision].pop() if due.revision in wide else GOOD[due.revision]
        seen = Observation(value=float(value))
        event = Booted(
            revision=due.revision,
            status=RunStatus.COMPLETE,
            observation=seen,
            seconds=1.0,
        )
        state = verification.apply(state, event)
    assert verification.verifications(state)[1].status == "undecided"
    assert booted.count("revert") == booted.count("tip") == 10
    assert verification.confirmed(state)


def test_boots_are_interleaved_in_an_order_of_the_seed():
    _, order = play(SPEC, GOOD)
    rounds = [set(order[i : i + 4]) for i in (0, 4, 8)]
    assert rounds == [set(GOOD)] * 3
    _, same = play(SPEC, GOOD)
    assert order == same
    orders = {tuple(play(replace(SPEC, seed=s), GOOD)[1]) for s in range(5)}
    assert len(orders) > 1


FAST, SLOW = ("rt01", 1.0), ("rt02", 5.0)


def test_a_slow_host_is_no_culprit():
    """All boots of one kernel on a host that tells five times as much."""
    same = dict.fromkeys(GOOD, 10)
    state, order = play(SPEC, same, place=lambda sha, _n: SLOW if sha == "culprit" else FAST)
    found = verification.verifications(state)[0]
    assert found.status == "undecided"
    assert smallest_p(found.judgement.base, found.judgement.new) > SPEC.look_alpha
    assert order.count("culprit") == SPEC.boots_max
    mixed, _ = play(SPEC, same, place=lambda _sha, n: (FAST, SLOW)[n // 4 % 2])
    assert verification.verifications(mixed)[0].status == "fail"


def test_a_culprit_is_confirmed_on_two_unlike_hosts():
    state, _ = play(SPEC, GOOD, place=lambda _sha, n: (FAST, SLOW)[n // 4 % 2])
    assert verification.confirmed(state)
    assert verification.verifications(state)[0].recovery == pytest.approx(1, abs=0.15)


def test_a_wrong_culprit_fails():
    state, _ = play(SPEC, GOOD | {"parent": 50})
    assert verification.verifications(state)[0].status == "fail"
    assert not verification.confirmed(state)


def test_every_parent_of_a_merge_is_compared():
    spec = replace(SPEC, parents=("parent", "other"))
    state, order = play(spec, GOOD | {"other": 10})
    assert [v.status for v in verification.verifications(state)] == ["pass", "pass", "pass"]
    assert order.count("culprit") == 6
    half, _ = play(spec, GOOD | {"other": 50})
    assert [v.status for v in verification.verifications(half)] == ["pass", "fail", "pass"]
    assert not verification.confirmed(half)


def test_undecided_pairs_get_a_second_look_and_no_third():
    wide = {"culprit": 16.5, "parent": 11.0}
    threshold = replace(RES, min_effect=1.45)
    state, order = play(replace(SPEC, threshold=threshold, revert=None), GOOD | wide)
    found = verification.verifications(state)[0]
    assert order.count("culprit") in (6, 10)
    assert found.judgement.base.n in (6, 10)
    noisy = {"culprit": [3, 30, 300] * 4, "parent": [2, 25, 200] * 4}
    state = verification.start(replace(SPEC, revert=None))
    for _ in range(40):
        due = verification.propose(state)
        if due is None:
            break
        seen = Observation(value=noisy[due.revision].pop())
        event = Booted(
            revision=due.revision,
            status=RunStatus.COMPLETE,
            observation=seen,
            seconds=1.0,
        )
        state = verification.apply(state, event)
    assert verification.verifications(state)[0].status == "undecided"
    assert verification.verifications(state)[0].judgement.new.n == 10
    assert not verification.confirmed(state)


def test_a_boot_that_cannot_be_compared_is_no_evidence():
    """The logarithm of a figure below the floor does not exist: such a boot is asked for again."""
    state = verification.start(replace(SPEC, revert=None))
    for step in range(40):
        due = verification.propose(state)
        if due is None:
            break
        value = -1.0 if step == 3 else float(GOOD[due.revision])
        seen = Observation(value=value)
        event = Booted(
            revision=due.revision,
            status=RunStatus.COMPLETE,
            observation=seen,
            seconds=1.0,
        )
        state = verification.apply(state, event)
    assert verification.confirmed(state)
    assert step == 13


def test_a_revert_that_does_not_apply_or_boot_does_not_hide_the_culprit():
    state, _ = play(replace(SPEC, revert=None), GOOD)
    found = verification.verifications(state)[1]
    assert (found.status, found.note) == ("n/a", Finding.of(Checks.NO_REVERT))
    assert verification.confirmed(state)
    state, order = play(SPEC, GOOD, {"revert": RunStatus.BOOT_FAILED})
    found = verification.verifications(state)[1]
    assert (found.status, found.note) == ("undecided", untestable("revert", Untestable.NO_BOOT))
    assert order.count("revert") == 3
    assert verification.confirmed(state)


def test_a_revert_without_effect_contradicts():
    state, _ = play(SPEC, GOOD | {"revert": 50})
    assert verification.verifications(state)[1].status == "fail"
    assert not verification.confirmed(state)


def by_turns(spec, values):
    """Boots of `values`, which are taken in their order and then again."""
    state, taken = verification.start(spec), dict.fromkeys(values, 0)
    while (due := verification.propose(state, late=True)) is not None:
        its = values[due.revision]
        seen = Observation(value=its[taken[due.revision] % len(its)])
        taken[due.revision] += 1
        state = verification.apply(
            state,
            Booted(revision=due.revision, status=RunStatus.COMPLETE, observation=seen, seconds=1.0),
        )
    return state, taken


def test_three_boots_of_a_revert_deny_nothing_that_luck_may_hide():
    """The bootstrap of three boots a side ends at their range, which lies below the effect."""
    level = {"culprit": [50.0, 49.0], "parent": [10.0, 9.9]}
    close = level | {"revert": [40.0, 44.0, 48.0, 10.0, 10.1, 9.8], "tip": [44.0, 48.0, 52.0]}
    state, taken = by_turns(SPEC, close)
    revert = verification.verifications(state)[1]
    assert (taken["revert"] > 3, revert.status) == (True, "undecided")
    assert verification.confirmed(state)
    stray = level | {"revert": [900.0, *[44.0, 45.0, 46.0] * 3], "tip": [44.0, 45.0, 46.0]}
    note = verification.verifications(by_turns(SPEC, stray)[0])[1].note
    assert note.data["why"].kind == Checks.NOT_RULED_OUT
    before, taken = by_turns(replace(SPEC, strict=False), close)
    assert (taken["revert"], verification.verifications(before)[1].status) == (3, "fail")


def test_a_partial_recovery_hints_at_a_second_culprit():
    state, _ = play(SPEC, GOOD | {"parent": 25})
    found = verification.verifications(state)[0]
    assert found.status == "pass"
    assert found.note.kind == Checks.EXPLAINS_PART


def test_a_share_of_boots_that_luck_makes_smaller_is_no_second_culprit():
    """Frozen in 11 of 16 boots of the end and 10 of 26 of the parent: 56%, and nobody is sure."""
    whole = (0.0,) * 16, (1.0,) * 11 + (0.0,) * 5
    part = (0.0,) * 26, (1.0,) * 10 + (0.0,) * 16
    limit, sure = verdict.FULL_RECOVERY, verdict.SURE_SHORT
    assert not stats.falls_short(whole, part, limit, level=sure, mean=True)
    few = (0.0,) * 26, (1.0,) * 3 + (0.0,) * 23
    assert stats.falls_short(whole, few, limit, level=sure, mean=True)


def test_failing_kernels_and_invalid_runs_end_undecided():
    for how, count in ((RunStatus.HUNG, 3), (RunStatus.INVALID, 4)):
        state, order = play(SPEC, GOOD, {"parent": how})
        assert verification.verifications(state)[0].status == "undecided"
        assert order.count("parent") == count
        assert not verification.confirmed(state)


def test_a_build_failure_closes_the_check():
    state = verification.apply(
        verification.start(SPEC), Built("parent", ok=False, signature="", seconds=1)
    )
    found = verification.verifications(state)[0]
    assert found.note == untestable("parent", Untestable.NO_BUILD)


def test_replay_of_any_prefix_proposes_the_same():
    state, _ = play(SPEC, GOOD)
    for cut in range(len(state.events) + 1):
        again = replayed(verification, SPEC, state.events[:cut])
        step = verification.propose(again, late=True)
        if cut < len(state.events):
            assert step.revision == state.events[cut].revision
            assert step.left >= 1
        else:
            assert step is None


@pytest.mark.parametrize("better", [10, 49.5])
def test_boots_to_come_lie_between_those_of_the_next_look_and_of_all_looks(better):
    """Of a culprit that is seen at once, and of one that its last look leaves open."""
    state, order = play(SPEC, GOOD | {"parent": better})
    for done in range(len(order)):
        step = verification.propose(replayed(verification, SPEC, state.events[:done]), late=True)
        assert step.left <= step.most
        assert len(order) - done <= step.most


def test_before_the_end_nothing_is_confirmed():
    state = verification.start(SPEC)
    checks = verification.verifications(state)
    assert [v.status for v in checks] == ["undecided", "undecided"]
    assert {v.note.kind for v in checks} == {Checks.OPEN}
    assert not verification.confirmed(state)


def test_impossible_specifications_are_refused():
    with pytest.raises(ConfigError, match="no parent"):
        verification.start(replace(SPEC, parents=()))
    with pytest.raises(ConfigError, match="cannot reach"):
        verification.start(replace(SPEC, boots=3, boots_max=3))
