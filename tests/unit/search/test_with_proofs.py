# SPDX-License-Identifier: GPL-2.0-or-later
"""A search that has heard a proof, and what it leaves for the next one."""

from dataclasses import replace

from helpers.noisy import noisy
from helpers.searches import CULPRIT, boots_until_the_end, event
from rtbisect.pipeline.search_and_proof import tells_more
from rtbisect.pipeline.search_loop import SearchEnd
from rtbisect.search import engine, plan, siblings
from rtbisect.search.engine import with_proof
from rtbisect.search.events import Built, Reverted
from rtbisect.search.parts import Parts
from rtbisect.search.predictive import contradictions
from rtbisect.search.siblings import boots_to_keep, builds_decide

NAMED, BEFORE = f"c{CULPRIT}", f"c{CULPRIT - 1}"
REVERT = "f" * 40


def whole(rng, bad):
    return float(10 * (3 if bad else 1) * rng.lognormal(0, 0.1)), ()


def ended():
    state, answer = boots_until_the_end(whole)
    assert answer.culprit == NAMED
    return SearchEnd(answer, state)


def boots(state):
    return len(state.ledger.observations[state.spec.graph.older, 0])


def test_while_no_commit_leads_the_search_may_take_what_a_proof_would():
    state = ended().state
    assert boots_to_keep(state) >= 2 * state.ends.used
    calibrated = next(
        early
        for number in range(len(state.events))
        if (early := replace(state, events=state.events[:number])).ends.reproduced
    )
    assert boots_to_keep(calibrated) == 0
    # What the ends say of it was said at their last look.
    later = [event(state.spec.graph.older, value) for value in (1.0, 500.0, 0.1)]
    assert boots_to_keep(with_proof(state, later)) == boots_to_keep(state)


def test_a_revert_is_no_revision_that_the_culprit_does_not_explain():
    state = ended().state
    far_off = [event(REVERT, 9000.0) for _ in range(6)]
    heard = with_proof(state, [Reverted(REVERT, state.spec.graph.newer, NAMED), *far_off])
    assert REVERT in dict(contradictions(heard.belief))
    assert REVERT not in dict(engine._unlike(heard))


def test_boots_of_a_proof_ask_for_no_controls(monkeypatch):
    monkeypatch.setattr(plan, "capacity", lambda _belief: 0.0)
    state = ended().state
    fresh = [event(sha, 10.0) for sha in (NAMED, BEFORE) * 8]
    assert plan._control_end(replace(state, events=(*state.events, *fresh))) is not None
    assert plan._control_end(with_proof(state, fresh)) == plan._control_end(state)


def test_to_boot_an_end_again_tells_nothing_more_of_a_commit():
    before = ended()
    heard = (event(NAMED, 30.0),)
    state = with_proof(before.state, heard)
    end, between = state.spec.graph.older, f"c{CULPRIT - 4}"
    for more, tells in (([], False), ([event(end, 10.0)], False), ([event(between, 10.0)], True)):
        after = replace(state, events=(*state.events, Built(between, True, "k", 1.0), *more))  # noqa: FBT003
        said = SearchEnd(replace(before.answer), after)
        assert tells_more(before, heard, said) is tells


def test_runs_that_pass_or_fail_have_no_controls_and_no_other_builds():
    state, _ = noisy(0, failures=True)
    assert not state.spec.controls
    assert not builds_decide(state, sure=False)
    before = replace(state, spec=replace(state.spec, parts=Parts(share_looks=False)))
    assert before.spec.controls
    assert builds_decide(before, sure=False)


def test_after_a_proof_a_search_for_a_flaky_test_goes_on_with_half_of_what_it_kept(monkeypatch):
    state, _ = noisy(0, failures=True)
    monkeypatch.setattr(siblings, "leading_candidate", lambda _state: 0)
    assert boots_to_keep(state) == 2 * boots_to_keep(state, proved=True) == 2 * state.ends.used
    assert boots_to_keep(with_proof(state, [event("c1", 0.0)])) == state.ends.used
