# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a search stands, as it narrows."""

from dataclasses import replace

from helpers.noisy import noisy
from helpers.searches import replayed, spec
from rtbisect.search import engine
from rtbisect.search.standing import Standing, standing
from searchbench.simulate import carry_on


def test_the_candidates_narrow_to_the_one_that_is_named():
    state, world = noisy(3)
    whole = carry_on(state, world)[0]
    begun = standing(state)
    ended = standing(replayed(engine, whole.spec, whole.events))
    assert begun.candidates == ended.candidates == len(state.spec.graph.commits)
    assert 1 <= ended.holding < begun.holding <= begun.candidates
    assert begun.probability < ended.probability <= 1
    assert ended.likeliest == engine.answer(whole).culprit


def test_before_the_ends_differ_nothing_stands():
    assert standing(engine.start(spec())) is None


def test_it_is_told_again_when_it_has_changed():
    told = Standing(candidates=16, holding=5, likeliest="c3", probability=0.4)
    assert told.differs(None)
    assert not replace(told, probability=0.45).differs(told)
    assert replace(told, probability=0.52).differs(told)
    assert replace(told, holding=3).differs(told)
    assert not replace(told, holding=4).differs(told)
    assert replace(told, likeliest="c4").differs(told)
    assert not replace(told, likeliest="c4", probability=0.09).differs(
        replace(told, probability=0.08)
    )
