# SPDX-License-Identifier: GPL-2.0-or-later
"""Each part of the model can be switched off, alone, and is on where nobody says otherwise."""

from dataclasses import fields, replace

import numpy as np
import pytest

from helpers.searches import CULPRIT, SIZE, built, chain, spec
from rtbisect.model.campaign import Limits, Observation, Scale
from rtbisect.model.lab import RunStatus
from rtbisect.search import engine
from rtbisect.search.events import Booted
from rtbisect.search.likelihood import hypotheses
from rtbisect.search.likelihood.mixture import StateGrid
from rtbisect.search.parts import RULES, WHOLE_MODEL, Parts
from rtbisect.search.spec import BootPurpose
from searchbench.arms import ARMS, PARTS

FIGURE = replace(spec(chain(2)).threshold, scale=Scale.LINEAR, min_effect=0.5, floor=0.0)
#: A revision in the middle, and the bad end.
MIDDLE, BAD = "c14", f"c{SIZE - 1}"


def noisy(rng, bad):
    return float(rng.standard_normal() + 1.8 * bad), ()


def searching(draw=noisy, middle=3, **changes):
    """A search that has booted its ends ten times each, and a revision in the middle."""
    state = engine.start(replace(spec(chain(SIZE)), threshold=FIGURE, **changes))
    rng = np.random.default_rng(1)
    events = [built("good", ""), built(BAD, "")]
    for sha in ["good", BAD] * 10 + [MIDDLE] * middle:
        value, cpus = draw(rng, sha != "good" and int(sha[1:]) >= CULPRIT)
        seen = Observation(value=value, per_cpu=cpus)
        events.append(
            Booted(revision=sha, status=RunStatus.COMPLETE, observation=seen, seconds=1.0)
        )
    state = replace(state, events=tuple(events))
    assert state.ends.reproduced
    return state


def test_all_parts_are_on():
    assert all(getattr(spec(chain(2)).parts, part.name) for part in fields(Parts))


@pytest.mark.parametrize("rule", RULES)
def test_a_campaign_lacks_what_it_did_not_know_when_it_began(rule):
    assert Parts.of(Limits(), build_noise=True) == WHOLE_MODEL
    before = Parts.of(replace(Limits(), **{rule: False}), build_noise=True)
    assert before == replace(WHOLE_MODEL, **{rule: False})


def test_rules_of_a_search_are_those_of_its_parts():
    assert {"ties", "failing_last", "gradual", "disturbed"} <= {*RULES}
    assert "controls" not in RULES


def test_without_controls_an_end_is_not_booted_again():
    # Some boots of the ends came after the look that told them apart: they are controls.
    due = engine.propose(searching(middle=27))[0]
    assert due.purpose is BootPurpose.CONTROL
    without = engine.propose(searching(middle=27, parts=Parts(controls=False)))[0]
    assert without.purpose is BootPurpose.SEARCH


def test_without_noise_of_builds_tau_is_zero():
    without = searching(parts=Parts(build_noise=False)).belief
    assert without.grid.good.tau.tolist() == [0.0]
    assert without.none_grid.shared.tau.tolist() == [0.0]
    assert searching().belief.grid.good.tau.size > 1


def test_without_h0_something_has_regressed():
    without = searching(parts=Parts(none=False)).belief
    assert without.none == 0.0
    assert without.commits.sum() == pytest.approx(1.0)
    assert searching().belief.none > 0.0


@pytest.mark.parametrize("layouts", [True, False])
def test_other_layouts_are_measured_or_not(layouts):
    parts = Parts(layouts=layouts, controls=False)
    state = searching(layout_cost_s=1.0, build_cost_s=1e6, parts=parts)
    assert state.layouts is layouts
    assert (engine.propose(state)[0].layout > 0) is layouts


def test_without_costs_what_a_build_takes_decides_nothing():
    def revisions(*, costs):
        parts = Parts(costs=costs, controls=False)
        return [
            engine.propose(searching(middle=1, build_cost_s=cost_s, parts=parts))[0].revision
            for cost_s in (1.0, 1e6)
        ]

    assert revisions(costs=True)[1] == MIDDLE
    cheap, dear = revisions(costs=False)
    assert cheap == dear != MIDDLE


def test_without_pairs_the_posterior_stands():
    state = searching(parts=Parts(two_culprits=False))
    assert (state.two.probability, state.two.between) == (0.0, ("", 0.0))
    assert state.two.commits is state.belief.commits
    assert searching().two.probability > 0.0


def lenses_of(state):
    graph, ledger = state.spec.graph, state.ledger
    good, bad = (ledger.views[end, 0][: state.ends.used] for end in graph.ends)
    return hypotheses.lenses(
        FIGURE, (good, bad), ledger.views.values(), shifted=True, parts=state.spec.parts
    )


def one_cpu(rng, bad):
    cpus = rng.standard_normal(4) + 4.0 * bad * (np.arange(4) == 2)
    return float(np.median(cpus)), tuple(cpus.tolist())


def test_without_figures_of_cpus_the_whole_is_looked_at():
    with_them, without = (
        {lens.view for lens in lenses_of(searching(one_cpu, parts=parts))}
        for parts in (WHOLE_MODEL, Parts(cpus=False))
    )
    assert 3 in with_them
    assert without == {0}


def in_two_states(rng, bad):
    slow = rng.random() < (0.9 if bad else 0.1)
    return float(0.05 * rng.standard_normal() + 3.0 * slow), ()


@pytest.mark.parametrize("states", [True, False])
def test_boots_have_states_or_the_usual_shape(states):
    lenses = lenses_of(searching(in_two_states, parts=Parts(states=states)))
    assert any(isinstance(lens.grid.good, StateGrid) for lens in lenses) is states


def test_each_arm_of_the_benchmark_is_without_one_part():
    for arm, parts in PARTS.items():
        assert arm in ARMS
        base, without, _part = arm.partition("-no-")
        whole = PARTS.get(base, WHOLE_MODEL) if without else WHOLE_MODEL
        assert sum(getattr(whole, p.name) > getattr(parts, p.name) for p in fields(Parts)) == 1
