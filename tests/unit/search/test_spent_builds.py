# SPDX-License-Identifier: GPL-2.0-or-later
"""A build whose level is known tells nothing more, however often it is booted."""

from dataclasses import replace

from rtbisect.model.campaign import Outcome
from rtbisect.search.ancestry import Ancestry
from searchbench.calibration import AMPLE, spec_of
from searchbench.histories import history
from searchbench.simulate import rehearse
from searchbench.world import Cell, world

#: Builds of one code differ, and there is no other build of a revision.
CELL = Cell("tail16", "linear-16", 2.0, build=0.1, tail="normal")


def searched(trial):
    """A search in a world where one build lies between the levels of good and bad."""
    here = world(CELL, Ancestry(history(CELL.history)), trial)
    spec = replace(spec_of(here, AMPLE), layout_cost_s=None)
    return here, *rehearse(spec, here)


def most_boots_of_one(state):
    return max(len(boots) for boots in state.ledger.views.values())


def test_a_build_between_the_levels_is_not_booted_for_ever():
    """It took 68 of 115 boots."""
    here, state, finish = searched(12)
    named = state.spec.graph.commits[state.belief.best].sha
    assert (finish.outcome, named in here.truth) == (Outcome.CULPRIT, True)
    assert most_boots_of_one(state) < 34
