# SPDX-License-Identifier: GPL-2.0-or-later
"""What a search leaves to its proof: likely commits, and boots as they were measured."""

import math
from dataclasses import replace

import pytest

from helpers.searches import Toy, chain, on_machine, spec
from rtbisect.model.campaign import Outcome
from rtbisect.model.lab import RunStatus
from rtbisect.search import engine, stop
from rtbisect.search.events import Booted
from rtbisect.search.parts import Parts
from rtbisect.search.spec import BootPurpose, Finish
from searchbench.simulate import events

BEFORE = Parts(whole_proof=False)


class Layouts(Toy):
    """Kernels whose layout makes no difference."""

    def boot_layout(self, sha, _layout):
        return self.boot(sha)


def sure_but_for_layouts():
    """A search that is sure of its commit, before this has booted in other layouts."""
    world = Layouts(chain(24), "c11")
    state = engine.start(spec(world.graph, layout_cost_s=300.0))
    while not stop.layouts_due(state):
        first = engine.propose(state)[0]
        assert not isinstance(first, Finish)
        for event in events(state, world, first):
            state = engine.apply(state, event)
    return state


@pytest.mark.parametrize(
    ("parts", "outcome", "sure"),
    [(Parts(), Outcome.CULPRIT, False), (BEFORE, Outcome.INCONCLUSIVE, True)],
    ids=["now", "campaigns that began before"],
)
def test_a_likely_commit_is_proved_where_only_builds_are_spent(parts, outcome, sure):
    state = sure_but_for_layouts()
    assert engine.propose(state)[0].purpose is BootPurpose.LAYOUT
    spent = replace(state.spec, max_builds=state.ledger.builds, parts=parts)
    finish = engine.propose(replace(state, spec=spent))[0]
    assert (finish.outcome, finish.sure) == (outcome, sure)


@pytest.mark.parametrize(("parts", "left_alone"), [(Parts(), True), (BEFORE, False)])
def test_a_suspect_that_boots_no_more_is_left_alone(monkeypatch, parts, left_alone):
    state = sure_but_for_layouts()
    state = replace(state, spec=replace(state.spec, parts=parts))
    suspect = next(
        sha for sha in state.ledger.values if sha not in (*state.spec.graph.ends, "c10", "c11")
    )
    hung = Booted(revision=suspect, status=RunStatus.HUNG, observation=None, seconds=1.0)
    for _ in range(3):
        state = engine.apply(state, hung)
    assert state.ledger.untestable(suspect)
    two = replace(
        state.two, between=(suspect, 0.5), commits=0.5 * state.two.commits, probability=0.5
    )
    monkeypatch.setitem(vars(state), "two", two)
    assert (stop.second_culprit_probe(state) is None) is left_alone


@pytest.fixture(scope="module")
def drifted():
    """A search on a machine that drifts, of which some boots were slowed by something else."""
    return on_machine(
        lambda boot: (1 + 0.001 * boot) * (1.4 if boot in {51, 83} else 1.0), step=2.0
    )


def test_where_the_machine_drifts_a_proof_has_no_limit_of_disturbed_boots(drifted):
    """The limit of the search is one at the level of its first boots."""
    assert drifted.drift
    assert math.isfinite(drifted.calm)
    assert drifted.calm_in_proof == math.inf
    before = replace(drifted, spec=replace(drifted.spec, parts=BEFORE))
    assert before.calm_in_proof == before.calm
