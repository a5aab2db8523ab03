# SPDX-License-Identifier: GPL-2.0-or-later
"""A commit that fresh boots do not bear out: the search goes on with them, as long as it can."""

import json
from dataclasses import replace

import pytest

from helpers.campaigns import boots, sha, world
from helpers.findings import first
from helpers.scenarios import History
from rtbisect.campaign.fingerprint import Fingerprint, keep_setup
from rtbisect.lab.fake import FakeLab
from rtbisect.model.campaign import FIRST_RULES, GROWN_BOOTS, Outcome
from rtbisect.model.kinds.pipeline import Proofs, Searches
from rtbisect.model.kinds.search import Checks
from rtbisect.pipeline import bisect, search_and_proof
from rtbisect.search import engine
from rtbisect.search.stop import LEADING

#: The search names it, by boots that happened to be bad.
LUCKY = 4


def misled(state, truth):
    """A world where the first two boots of LUCKY are bad, and its others as of `truth`, the
    culprit.
    """
    here = world(state, truth)
    seen = {}

    def draw(request, random):
        count = seen[request.revision] = seen.get(request.revision, 0) + 1
        lucky = request.revision == sha(LUCKY) and count <= 2
        return boots(LUCKY if lucky else truth)(request, random)

    here.lab = FakeLab(draw)
    return here


def found_in(here, **limits):
    setup, parts = here.open()
    setup = replace(setup, limits=replace(setup.limits, **limits))
    result, _ = bisect.bisect(setup, parts)
    return result, parts.journal.story()


def found(tmp_path, *, truth, **limits):
    """What is found of a range that misleads."""
    return found_in(misled(tmp_path, truth), **limits)


def test_the_search_goes_on_with_the_boots_of_a_proof(tmp_path):
    result, story = found(tmp_path, truth=LUCKY + 1)
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(LUCKY + 1))
    assert result.confidence >= 0.95
    assert first(story, Searches.OUTCOME)["why"] is None
    # Who reads it sees that another one was named before, and why it is not now.
    told = first(result.reasons[:1], Proofs.SEARCHED_ON)
    assert (told["culprit"], told["why"].kind) == (sha(LUCKY), Proofs.REFUTED)
    assert first(story, Proofs.SEARCHED_ON) == told
    # What it costs is said once.
    assert sum(line.kind == Searches.EXPECTED for line in story) == 1
    # The proof of the first one counts as boots of its revision.
    boots_of = {each.sha: each.boots for each in result.tested}
    assert boots_of[sha(LUCKY)] >= 2 + 6 + 6


@pytest.mark.parametrize("most", [36, 40, 48])
def test_a_budget_grows_where_a_search_needs_more(tmp_path, most):
    here = misled(tmp_path, LUCKY + 1)
    result, story = found_in(here, max_boots=most, grows_to=200)
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(LUCKY + 1))
    budgets = [each.data for each in story if each.kind == Searches.GROWN]
    assert budgets[0]["before"] == most < len(here.lab.requests) <= budgets[-1]["most"] <= 200
    # Who resumes it hears of it at the same place, and boots nothing again.
    booted = len(here.lab.requests)
    assert found_in(here, max_boots=most, grows_to=200) == (result, story)
    assert len(here.lab.requests) == booted


def test_what_the_budget_ends_is_open_between_those_that_are_left(tmp_path):
    result, story = found(tmp_path, truth=LUCKY + 1, max_boots=48)
    assert (result.outcome, result.culprit) == (Outcome.INCONCLUSIVE, None)
    # The line of the outcome says why, and not of the commit that was given up on the way.
    assert result.reasons[1] == first(story, Searches.OUTCOME)["why"]
    assert first(result.reasons[:1], Proofs.SEARCHED_ON)["culprit"] == sha(LUCKY)
    assert first(result.reasons, Searches.KEPT_BOOTS)["most"] == 48
    candidates = {candidate for candidate, _ in result.candidates}
    assert sha(LUCKY + 1) in candidates <= {sha(n) for n in range(5, 9)}


def test_a_culprit_that_its_only_proof_refutes_is_not_reported_as_one(tmp_path):
    result, story = found(tmp_path, truth=LUCKY + 1, proofs=1)
    assert (result.outcome, result.culprit) == (Outcome.INCONCLUSIVE, None)
    refuted = first(result.reasons[:1], Proofs.REFUTED)
    assert refuted["check"].kind == Checks.PARENT
    # Nobody believes the search any more: neither its confidence nor its sides.
    assert (result.confidence, result.candidates) == (0.0, ())
    # Nor does a larger budget make another proof.
    assert first(result.reasons, Proofs.LAST) == {"proofs": 1}
    assert all(t.skipped for t in result.tested if t.sha not in (sha(0), sha(8)))
    assert not any(line.kind == Proofs.SEARCHED_ON for line in story)


@pytest.mark.parametrize("undecided", [0, 1, 2])
@pytest.mark.parametrize("rule", [True, False])
def test_what_a_proof_left_undecided_is_proved_once_more(tmp_path, monkeypatch, rule, undecided):
    setup, parts = world(tmp_path, LUCKY).open()
    setup = replace(setup, limits=replace(setup.limits, proves_again=rule))
    proofs = []

    def prove(*given):
        proofs.append(search_and_proof_prove(*given))
        bears_out = len(proofs) > undecided
        return proofs[-1] if bears_out else replace(proofs[-1], attribution=None)

    search_and_proof_prove = search_and_proof.prove
    monkeypatch.setattr(search_and_proof, "prove", prove)
    result, _ = bisect.bisect(setup, parts)
    assert len(proofs) == min(undecided, rule) + 1
    named = undecided <= rule
    assert result.outcome is (Outcome.CULPRIT if named else Outcome.INCONCLUSIVE)
    assert result.culprit == (sha(LUCKY) if named else None)
    same = {each.data["culprit"] for each in result.reasons if each.kind == Proofs.SAME}
    assert same == (set() if named else {sha(LUCKY)})


def test_what_fresh_boots_leave_too_unlikely_is_told_with_what_is_asked(tmp_path, monkeypatch):
    told = iter([(0.694, False)])
    before = engine.confidence_after
    monkeypatch.setattr(
        engine, "confidence_after", lambda *a, **k: next(told, None) or before(*a, **k)
    )
    setup, parts = world(tmp_path, LUCKY).open()
    bisect.bisect(setup, parts)
    why = first(parts.journal.story(), Proofs.SEARCHED_ON)["why"]
    assert (why.kind, why.data["culprit"]) == (Proofs.UNLIKELY, sha(LUCKY))
    assert why.data["probability"] == 0.694
    assert why.data["asked"] in (LEADING, setup.limits.confidence)


@pytest.mark.parametrize(("rule", "first_rule"), FIRST_RULES.items())
def test_a_campaign_keeps_the_rules_that_it_began_with(tmp_path, rule, first_rule):
    setup, parts = world(tmp_path, LUCKY).open()
    assert keep_setup(setup, parts.journal).limits == setup.limits
    kept = parts.journal.step("setup", Fingerprint, lambda _note: None)
    document = json.loads(kept.document)
    del document["limits"][rule]
    parts.journal.rewrite("setup", Fingerprint, replace(kept, document=json.dumps(document)))
    assert keep_setup(setup, parts.journal).limits == replace(setup.limits, **{rule: first_rule})


def test_a_campaign_that_began_before_budgets_grew_does_not_grow(tmp_path):
    setup, parts = world(tmp_path, LUCKY).open()
    began = replace(setup, limits=replace(setup.limits, grows_to=0))
    keep_setup(began, parts.journal)
    grows = replace(setup, limits=replace(setup.limits, grows_to=GROWN_BOOTS))
    assert keep_setup(grows, parts.journal) == began


def test_where_nothing_has_booted_nothing_was_disturbed(tmp_path):
    here = world(tmp_path, 4)
    here.builder.failing = {sha(0): "error: no"}
    result, _ = bisect.bisect(*here.open())
    assert result.outcome is Outcome.INCONCLUSIVE
    assert Searches.DISTURBED not in {reason.kind for reason in result.reasons}


@pytest.mark.parametrize("ratio", [0.7, 1.0])
def test_of_two_builds_of_two_codes_nobody_says_that_layout_makes_them_differ(tmp_path, ratio):
    """Ends that are alike, or of which the newer one is better."""
    here = History(8, rcu={3: ratio}, noise=0.002, suite="rcu").world(tmp_path)
    result, _ = bisect.bisect(*here.open())
    assert (result.outcome, result.difference) == (Outcome.NOT_REPRODUCED, None)
