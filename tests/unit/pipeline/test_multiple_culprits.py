# SPDX-License-Identifier: GPL-2.0-or-later
"""Tested revisions that lie where one culprit does not put them, and ranges with several."""

from collections import Counter

import pytest

from helpers.campaigns import sha
from helpers.depth import deep
from helpers.findings import first
from helpers.scenarios import History
from rtbisect.model.campaign import Limits, Outcome
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Parts, Proofs
from rtbisect.model.result import CheckName
from rtbisect.pipeline import bisect, multiple_culprits
from rtbisect.pipeline.answer import Answer
from rtbisect.search.spec import SearchAnswer


def told(unlike):
    search = SearchAnswer(outcome=Outcome.CULPRIT, culprit="culprit", reasons=(), unlike=unlike)
    answer = Answer(metric=None, said=search)
    multiple_culprits.check_prediction(answer)
    found = answer.result()
    (check,) = found.verifications
    return check, found.reasons


@pytest.mark.parametrize("others", [(), (("other", 0.0002),)])
def test_a_culprit_is_no_revision_that_it_does_not_explain(others):
    check, reasons = told((("culprit", 0.0001), *others))
    assert check.status == "undecided"
    unexplained = [each for each in reasons if each.kind == Proofs.UNEXPLAINED]
    named = [off.data["revision"] for each in unexplained for off in each.data["revisions"]]
    assert named == [name for name, _ in others]
    assert Finding.of(Proofs.ITSELF_OFF, p=0.0001) in reasons


def test_others_are_told_by_name_and_none_passes():
    check, reasons = told((("other", 0.0002),))
    assert (check.status, check.note.data["findings"]) == ("undecided", reasons)
    off = Finding.of(Proofs.LIES_OFF, revision="other", p=0.0002)
    assert reasons == (Finding.of(Proofs.UNEXPLAINED, revisions=(off,)),)
    check, reasons = told(())
    assert (check.status, reasons) == ("pass", ())


def slower(*commits, count, **more):
    """A history whose wait grows by 0.3 with each of the commits."""
    return History(count, rcu=dict.fromkeys(commits, 1.3), noise=0.05, suite="rcu", **more)


@pytest.mark.parametrize("commits", deep([(7, 11)], [(4, 15), (7, 11), (1, 17)]))
def test_without_boots_to_look_into_its_branch_a_merge_is_not_blamed(tmp_path, commits):
    """1 to 9 on one branch, 10 to 18 on the other, 19 merges them; a culprit on each."""
    here = slower(*commits, count=23, parents={10: (0,), 19: (9, 18)}).world(tmp_path)
    result, _report = bisect.bisect(*here.open())
    assert len(here.lab.requests) <= here.limits.max_boots
    assert {found for found, _ in result.candidates} <= set(map(sha, commits))


@pytest.mark.parametrize(("rule", "named"), [(True, {1, 5}), *deep([], [(False, {1})])])
def test_a_branch_that_forked_behind_the_first_culprit_has_the_second(tmp_path, rule, named):
    """3 has the first one; 4 to 6 are a branch, 7 to 49 the other, which 50 merges it into. Where
    the range is split at one of these, the second one comes in by a parent as bad as its merge.
    """
    limits = Limits(max_boots=200, max_builds=60, merged_branches=rule)
    here = slower(1, 5, count=60, parents={7: (3,), 50: (49, 6)}, limits=limits).world(tmp_path)
    result, _report = bisect.bisect(*here.open())
    assert {found for found, _ in result.candidates} == set(map(sha, named))
    assert result.outcome is Outcome.MULTIPLE_CULPRITS


@pytest.mark.parametrize("most", deep([30, 50], [30, 50, 80]))
def test_the_budget_is_that_of_the_campaign(tmp_path, most):
    """Of all parts of a range with two culprits, and of their proofs."""
    limits = Limits(max_boots=most, max_builds=12)
    here = slower(7, 16, count=23, limits=limits).world(tmp_path)
    result, _report = bisect.bisect(*here.open())
    assert len(here.lab.requests) <= most
    assert {found for found, _ in result.candidates} <= set(map(sha, range(1, 24)))
    # Builds are those of the searches; a proof takes at most three more for each culprit.
    assert len(here.builder.requests) <= 12 + 3 * 2
    if most == 30:
        assert result.outcome is Outcome.INCONCLUSIVE


def test_what_a_later_commit_takes_back_is_told(tmp_path):
    """At 4 the wait grows by 50%, at 9 it shrinks by 20%: the bad end is better than commit 4."""
    here = History(12, rcu={4: 1.5, 9: 0.8}, noise=0.02, suite="rcu").world(tmp_path)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(4))
    status = {check.check: check.status for check in result.verifications}
    assert status[CheckName.KEPT] == status[CheckName.PREDICTION] == "undecided"
    assert first(result.reasons, Proofs.TAKEN_BACK)["culprit"] == sha(4)


def test_three_culprits_are_never_told_as_one(tmp_path):
    here = slower(6, 15, 25, count=32, limits=Limits(max_boots=200)).world(tmp_path)
    result, _report = bisect.bisect(*here.open())
    assert result.outcome in (Outcome.MULTIPLE_CULPRITS, Outcome.INCONCLUSIVE)
    named = {found for found, _ in result.candidates}
    assert named <= {sha(6), sha(15), sha(25)}
    assert len(named) > 1 or result.reasons[-1].kind == Parts.NO_OTHER_PROVED


@pytest.mark.parametrize(("rule", "each"), [(True, 1), *deep([], [(False, 2)])])
def test_parts_take_over_boots_of_other_builds(tmp_path, rule, each):
    limits = Limits(layout_below=5.0, max_boots=250, max_builds=100, split_builds=rule)
    here = slower(6, 17, count=24, limits=limits).world(tmp_path)
    result, _report = bisect.bisect(*here.open())
    assert {found for found, _ in result.candidates} == {sha(6), sha(17)}
    booted = Counter(run.kernel for run in here.lab.requests if run.revision == sha(0))
    # It is booted most as it is configured, and another search of it begins where one ended.
    *others, _configured = sorted(booted.values())
    assert others == [each, each]
