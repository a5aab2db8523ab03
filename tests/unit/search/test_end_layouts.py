# SPDX-License-Identifier: GPL-2.0-or-later
"""Where builds may differ as much as the ends do, other builds of these come before the search."""

from dataclasses import replace
from itertools import takewhile
from types import SimpleNamespace

import pytest

from rtbisect.model.campaign import Outcome
from rtbisect.model.kinds.search import Endings
from rtbisect.search import engine
from rtbisect.search.ancestry import Ancestry
from rtbisect.search.end_layouts import END_LAYOUTS, FEWEST, layouts_of_end
from rtbisect.search.events import Booted
from rtbisect.search.forecast import expected
from rtbisect.search.likelihood.features import Aspect
from rtbisect.search.little import chance_of_little
from rtbisect.search.spec import BootPurpose
from searchbench.calibration import AMPLE, spec_of
from searchbench.histories import history
from searchbench.simulate import events, rehearse
from searchbench.world import Cell, world

#: Nothing regressed, and builds differ as much as the ends.
NOTHING = Cell("nothing100", "linear-100", 2.0, build=0.3, tail="normal", none=1.0)
CULPRIT = replace(NOTHING, name="culprit100", none=0.0)


def world_of(cell, trial):
    return world(cell, Ancestry(history(cell.history)), trial)


def layouts_first(cell, trial):
    """The layouts of the ends that were booted after the looks and before anything else."""
    here = world_of(cell, trial)
    state, _finish = rehearse(spec_of(here, AMPLE), here)
    graph = state.spec.graph
    boots = [event for event in state.events if isinstance(event, Booted)]
    after = boots[2 * state.ends.used :]
    others = takewhile(lambda boot: boot.layout and boot.revision in graph_ends(graph), after)
    return graph_ends(graph), [(boot.layout, boot.revision) for boot in others]


def graph_ends(graph):
    return sorted(graph.ends)


@pytest.mark.parametrize(
    ("cell", "trial", "each"),
    [(NOTHING, 13, END_LAYOUTS), (CULPRIT, 0, FEWEST)],
    ids=["a doubt", "hardly a doubt"],
)
def test_they_come_in_turns_before_the_search(cell, trial, each):
    ends, booted = layouts_first(cell, trial)
    wanted = [(number, end) for number in range(1, each + 1) for end in ends]
    assert booted == wanted


@pytest.mark.parametrize(
    ("changed", "each"),
    [({}, 6), ({"max_builds": 20}, 2), ({"max_builds": 3}, 0), ({"layout_cost_s": None}, 0)],
    ids=["ample", "few builds", "hardly any builds", "no such builds"],
)
def test_they_take_a_part_of_the_builds(changed, each):
    here = world_of(CULPRIT, 0)
    assert layouts_of_end(replace(spec_of(here, AMPLE), **changed)) == each


def test_hosts_get_one_each_at_a_time():
    state = after_the_looks(world_of(CULPRIT, 0))
    trials = engine.propose(state, free_hosts=3)
    ends = {state.spec.graph.older, state.spec.graph.newer}
    assert [trial.layout for trial in trials] == [1, 1, 2]
    assert {trial.purpose for trial in trials} == {BootPurpose.LAYOUT}
    assert {trial.revision for trial in trials} == ends


def after_the_looks(here):
    """A search that has just seen the ends differ."""
    state = engine.start(spec_of(here, AMPLE))
    while not state.ends.reproduced:
        for event in events(state, here, engine.propose(state)[0]):
            state = engine.apply(state, event)
    return state


def test_the_forecast_counts_those_that_are_due():
    state = after_the_looks(world_of(CULPRIT, 0))
    parts = replace(state.spec.parts, end_layouts=False)
    without = replace(state, spec=replace(state.spec, parts=parts))
    more = expected(state).builds.low - expected(without).builds.low
    assert more == pytest.approx(2 * FEWEST)


def test_a_range_in_which_only_builds_differ_ends_soon():
    """It took 77 to 270 boots of these ranges before."""
    ended = []
    for trial in range(6):
        here = world_of(NOTHING, trial)
        state, finish = rehearse(spec_of(here, AMPLE), here)
        if state.ends.reproduced:
            ended.append((finish.outcome, len([e for e in state.events if isinstance(e, Booted)])))
    assert {outcome for outcome, _boots in ended} == {Outcome.LAYOUT_SENSITIVE}
    assert ended
    assert sum(boots for _outcome, boots in ended) / len(ended) < 77


def test_a_little_rest_of_a_change_is_told_as_such():
    said = []
    for trial in (1, 6, 8):
        here = world_of(NOTHING, trial)
        state, finish = rehearse(spec_of(here, AMPLE), here)
        if finish.outcome is Outcome.LAYOUT_SENSITIVE:
            said.append((finish.reason.data["why"], state.belief.none))
    little = [(why, none) for why, none in said if why.kind == Endings.LITTLE]
    assert little
    for why, none in little:
        assert 0.5 <= none < 0.95 <= why.data["probability"]
        assert why.data["none"] == none


def test_what_is_little_is_asked_of_levels_alone():
    """Where the ends differ in their spread, both levels are the same, and that is not little."""
    state, _finish = rehearse(spec_of(world_of(NOTHING, 6), AMPLE), world_of(NOTHING, 6))
    assert chance_of_little(state) > state.belief.none
    ends = replace(state.ends, figure=Aspect(around=0.0))
    other = SimpleNamespace(belief=state.belief, ends=ends)
    assert chance_of_little(other) == state.belief.none
