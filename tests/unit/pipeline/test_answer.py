# SPDX-License-Identifier: GPL-2.0-or-later
"""The result that is made of what the parts of a campaign have found."""

from dataclasses import replace

import pytest

from helpers.campaigns import RES
from helpers.findings import said
from rtbisect.judge.verdict import judge
from rtbisect.model import result as model
from rtbisect.model.campaign import Cause, Outcome, Sample
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Parts, Proofs
from rtbisect.model.result import CheckName, CheckStatus, Verification
from rtbisect.pipeline.answer import Answer, unanswered
from rtbisect.pipeline.attribution import Attribution
from rtbisect.pipeline.proof import ProofEnd
from rtbisect.search.spec import SearchAnswer

ENDS = judge(RES, Sample((1.0, 1.1, 1.2)), Sample((9.0, 9.1, 9.2)))
FRESH = judge(RES, Sample((1.3, 1.1, 1.2)), Sample((8.0, 8.1, 8.2)))
SEARCHED = SearchAnswer(
    outcome=Outcome.CULPRIT,
    culprit="c5",
    candidates=(("c5", 0.97), ("c4", 0.02)),
    confidence=0.97,
    tested=(model.TestedRevision("c5", "five", 6, 0.99),),
    reasons=(said("searched"),),
)
BELIEVED = Attribution(cause=Cause.KERNEL, reasons=(said("caused"),))


def check(status):
    return Verification(check=CheckName.PARENT, status=status, judgement=FRESH, parent="c4")


def proof(status=CheckStatus.PASS, **more):
    fields = {"attribution": None, "merge": False, "probability": None, "table": ()} | more
    return ProofEnd(
        checks=(check(status),), tested=(model.TestedRevision("c5", "five", 12, 0.99),), **fields
    )


def answer(**more):
    return Answer(metric=RES.key, said=SEARCHED, judgements=(ENDS,), **more)


@pytest.mark.parametrize(
    ("merge", "outcome"), [(False, Outcome.CULPRIT), (True, Outcome.MERGE_CULPRIT)]
)
def test_a_believed_culprit_is_told_by_its_fresh_boots(merge, outcome):
    end = proof(attribution=BELIEVED, merge=merge, notes=(said("late"),))
    found = answer(proof=end, before=[said("first")], after=[said("last")]).result()
    assert (found.outcome, found.culprit, found.cause) == (outcome, "c5", Cause.KERNEL)
    assert (found.confidence, found.candidates) == (0.97, SEARCHED.candidates)
    assert (found.judgement, found.judgements) == (FRESH, (ENDS,))
    assert [revision.boots for revision in found.tested] == [12]
    told = ("first", "searched", "caused", "late", "last")
    assert found.reasons == tuple(map(said, told))


def test_fresh_boots_make_sure_of_what_a_search_was_not_sure_of():
    found = answer(proof=proof(attribution=BELIEVED, probability=0.99)).result()
    assert found.confidence == 0.99
    assert found.reasons[0] == Finding.of(Proofs.PROBABILITY, culprit="c5", probability=0.99)


@pytest.mark.parametrize(
    ("status", "candidates"), [(CheckStatus.FAIL, ()), (CheckStatus.UNDECIDED, SEARCHED.candidates)]
)
def test_a_culprit_that_is_not_believed_is_not_named(status, candidates):
    """What is refuted is no candidate either."""
    found = answer(proof=proof(status, doubts=(said("doubted"),))).result()
    assert (found.outcome, found.culprit) == (Outcome.INCONCLUSIVE, None)
    assert (found.confidence, found.candidates) == (0.0, candidates)
    # Its boots say nothing of the figure that is reported.
    assert found.judgement == ENDS
    assert found.reasons == (said("doubted"), said("searched"))


def test_an_effect_that_follows_the_layout_is_an_outcome_of_its_own():
    end = proof()
    layout = replace(check(CheckStatus.FAIL), check=CheckName.LAYOUT, parent="")
    found = answer(proof=replace(end, checks=(*end.checks, layout))).result()
    assert (found.outcome, found.culprit) == (Outcome.LAYOUT_SENSITIVE, None)


def test_several_culprits_are_candidates_and_what_others_tested_is_told_so():
    other = answer(proof=proof(attribution=BELIEVED))
    tested = [model.TestedRevision(sha, "subject", 6, 0.5) for sha in ("c5", "c9")]
    other.said = replace(SEARCHED, culprit="c9", confidence=0.96)
    other.proof = replace(other.proof, tested=tuple(tested))
    found = answer(proof=proof(attribution=BELIEVED), others=(other,), several=True).result()
    assert (found.outcome, found.culprit) == (Outcome.MULTIPLE_CULPRITS, "c5")
    assert found.candidates == (("c5", 0.97), ("c9", 0.96))
    assert [(each.sha, each.boots, each.skipped) for each in found.tested] == [
        ("c5", 12, None),
        ("c9", 6, Finding.of(Parts.TESTED_FOR, culprit="c9")),
    ]


def test_what_is_left_open_has_no_other_outcome():
    found = unanswered(None, said("why"))
    assert found.result().reasons == (said("why"),)
    found.said = replace(found.said, outcome=Outcome.NOT_REPRODUCED)
    assert found.outcome is Outcome.NOT_REPRODUCED
    found.left_open = True
    assert found.result().outcome is Outcome.INCONCLUSIVE
