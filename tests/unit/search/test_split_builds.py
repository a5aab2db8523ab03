# SPDX-License-Identifier: GPL-2.0-or-later
"""A range is split where two builds of a revision say that it lies between, not by one's luck."""

import random
from dataclasses import replace

import pytest

from helpers.searches import WAIT, chain
from rtbisect.model.campaign import Outcome
from rtbisect.model.lab import RunStatus
from rtbisect.search import engine, stop
from rtbisect.search.spec import BootPurpose, Finish, SearchSpec, Trial
from searchbench.simulate import events

CULPRIT, LUCKY = 41, 29
#: Boots after which it would have split the range.
MOST = 40


class Lucky:
    """A line with one culprit of 2; the build of LUCKY is slower by 1, another one is not, unless
    that revision does lie `between`. Noise has a standard deviation of 0.3.
    """

    def __init__(self, *, between=False):
        self.between = between
        self.rng = random.Random(3)

    def build(self, sha):
        return f"kernel of {sha}"

    def level(self, sha, layout):
        number = -1 if sha == "good" else int(sha[1:])
        middle = (number == LUCKY and not layout) or (self.between and LUCKY <= number < CULPRIT)
        return 2.0 if number >= CULPRIT else float(middle)

    def boot(self, sha):
        return self.boot_layout(sha, 0)

    def boot_layout(self, sha, layout):
        return RunStatus.COMPLETE, self.level(sha, layout) + self.rng.gauss(0, 0.3)


def about_to_split(here, **parts):
    """A search that has booted LUCKY until it would split the range there."""
    spec = SearchSpec(
        graph=chain(60), threshold=WAIT, seed=0, calibrate_max=20, max_boots=200, max_builds=60,
        layout_cost_s=1.0,
    )  # fmt: skip
    spec = replace(spec, parts=replace(spec.parts, end_layouts=False, **parts))
    state = engine.start(spec)
    while not state.ends.reproduced:
        state = heard(state, here, engine.propose(state)[0])
    # Builds of these differ by nothing.
    for number in (2, 6, 10, 14, 18, 22, 44, 47, 50, 53, 56):
        state = heard(state, here, Trial(f"c{number}", BootPurpose.SEARCH))
    for _ in range(MOST):
        if not state.ledger.boots % stop.TWO_EVERY and state.two.between[1] >= stop.SPLIT:
            break
        state = heard(state, here, Trial(f"c{LUCKY}", BootPurpose.SEARCH))
    return state


def heard(state, here, trial):
    for event in events(state, here, trial):
        state = engine.apply(state, event)
    return state


def test_another_build_of_the_revision_between_comes_first():
    here = Lucky()
    state = about_to_split(here)
    assert min(state.two.probability, state.two.between[1]) >= stop.SPLIT
    (trial,) = engine.propose(state)
    assert (trial.revision, trial.layout, trial.purpose) == (f"c{LUCKY}", 1, BootPurpose.LAYOUT)
    while not isinstance(trial := engine.propose(state)[0], Finish):
        state = heard(state, here, trial)
    assert (trial.outcome, engine.answer(state).culprit) == (Outcome.CULPRIT, f"c{CULPRIT}")


def test_what_lies_between_in_two_builds_splits_the_range():
    here = Lucky(between=True)
    state = about_to_split(here)
    while not isinstance(trial := engine.propose(state)[0], Finish):
        state = heard(state, here, trial)
    assert trial.outcome is Outcome.MULTIPLE_CULPRITS


@pytest.mark.parametrize("without", [{"split_builds": False}, {"layouts": False}])
def test_without_other_builds_one_is_enough(without):
    (finish,) = engine.propose(about_to_split(Lucky(), **without))
    assert finish.outcome is Outcome.MULTIPLE_CULPRITS
