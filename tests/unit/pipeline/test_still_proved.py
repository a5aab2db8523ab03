# SPDX-License-Identifier: GPL-2.0-or-later
"""What is left of a proof after a person has asked for more runs, and parents that come late."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest

from rtbisect.model.campaign import Outcome
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Proofs
from rtbisect.pipeline import search_and_proof
from rtbisect.pipeline.answer import Answer
from rtbisect.pipeline.attribution import NOT_ATTRIBUTED
from rtbisect.pipeline.counts_beside import _parent_of
from rtbisect.pipeline.proof import ProofEnd
from rtbisect.pipeline.search_and_proof import _still_proved
from rtbisect.search.spec import SearchAnswer

PROOF = ProofEnd(
    attribution=NOT_ATTRIBUTED, merge=False, checks=(), table=(), tested=(), probability=0.96,
    heard=("a boot of it",),
)  # fmt: skip


def says(culprit, outcome=Outcome.CULPRIT):
    return SearchAnswer(outcome=outcome, culprit=culprit, reasons=(), confidence=0.99)


@pytest.mark.parametrize("budget_ended", [False, True])
def test_a_proof_that_has_all_its_runs_says_that_no_budget_changes_its_end(budget_ended):
    ended = Finding.of(Proofs.BUDGET_ENDED, boots=300)
    left_open = replace(PROOF, attribution=None, doubts=(ended,) * budget_ended)
    closed = left_open.closed(Proofs.LAST, proofs=3)
    assert [note.kind for note in closed.notes] == [Proofs.LAST] * (not budget_ended)
    # What is proved needs no excuse.
    assert PROOF.closed(Proofs.LAST, proofs=3) == PROOF


def test_a_proof_of_the_same_commit_stands_and_is_heard_once():
    left = _still_proved(PROOF, says("c"), "c")
    assert (left.probability, left.heard) == (0.99, ())


@pytest.mark.parametrize(
    "answer", [says("d"), says(None), says("c", Outcome.CULPRIT_SET)], ids=["other", "none", "set"]
)
def test_another_answer_is_proved_anew(answer):
    assert _still_proved(PROOF, answer, "c") is None


def test_more_runs_are_heard_before_a_commit_is_compared_with_its_own_parent(monkeypatch):
    """What more runs name may be another commit, whose own parent no path touches."""
    done = []
    heard = SimpleNamespace(disturbed=Counter(), boots=1)
    state = SimpleNamespace(
        spec=SimpleNamespace(graph=None), ledger=heard, at_one_speed={}, two_speeds={}
    )
    end = SimpleNamespace(answer=says("c"), state=state)

    def follow(name):
        return lambda *_words: done.append(name) or end

    for name in ("search", "search_on", "search_own_parents", "_proved_in_turns"):
        monkeypatch.setattr(search_and_proof, name, follow(name))
    due = [True, False]
    further = SimpleNamespace(runs_due=lambda _begun: due.pop(0))
    steps = SimpleNamespace(further=further, begun=0, outside=lambda *_words: False)
    search_and_proof.search_and_prove(steps, None, SimpleNamespace(key=None))
    assert done == [
        "search", "search_own_parents", "_proved_in_turns",
        "search_on", "search_own_parents", "_proved_in_turns",
    ]  # fmt: skip


def test_counts_beside_a_commit_are_those_of_its_own_parent():
    """It came into the graph in the course of the search."""
    commits = (Commit("parent", ("older",), "x"), Commit("culprit", ("parent",), "x"))
    answer = Answer(metric=None, said=says("culprit"))
    answer.graph = CommitGraph("older", "culprit", commits)
    of_request = SimpleNamespace(request=SimpleNamespace(older="older", newer="culprit"))
    steps = SimpleNamespace(
        setup=of_request, graph=lambda *_ends: CommitGraph("older", "newer", ())
    )
    assert _parent_of(steps, answer, "culprit") == "parent"
