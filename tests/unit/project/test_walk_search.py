# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/walk_search.py shows a search from its first build to its end."""

import xml.etree.ElementTree as ET
from itertools import islice

import pytest

import walk_search
from rtbisect.search.spec import BootPurpose, Finish

#: Steps with the looks at the ends and some tests behind them.
SOME = 34


@pytest.fixture(scope="module")
def some():
    return list(islice(walk_search.walk(1), SOME))


def searching(steps):
    return [step for step in steps if step.state.ends.reproduced]


def test_a_walk_is_a_function_of_its_seed(some):
    again = list(islice(walk_search.walk(1), SOME))
    assert [list(walk_search.told(step)) for step in again] == [
        list(walk_search.told(step)) for step in some
    ]
    other = next(walk_search.walk(2))
    assert other.play.seed != some[0].play.seed


def test_what_comes_next_tells_most_for_its_time(some):
    chosen = [s for s in searching(some) if s.next.purpose is BootPurpose.SEARCH]
    assert len(chosen) > 5
    assert [step.next.revision for step in chosen] == [step.best_worth for step in chosen]


def test_each_step_has_every_commit_and_none(some):
    step = searching(some)[-1]
    belief = step.state.belief
    assert len(step.worths) == walk_search.COMMITS == belief.commits.size
    assert belief.commits.sum() + belief.none == pytest.approx(1.0)
    assert [density.sum() for *_named, density in step.predictions()] == pytest.approx([1.0] * 3)


def test_pictures_of_a_whole_walk_are_svg(tmp_path, capsys):
    out = tmp_path / "pictures"
    assert walk_search.main(["--seed", "1", "--out", str(out)]) == 0
    pictures = sorted(out.iterdir())
    steps = list(walk_search.walk(1))
    assert isinstance(steps[-1].next, Finish)
    assert len(pictures) == len(searching(steps))
    assert all(ET.parse(picture).getroot().tag.endswith("svg") for picture in pictures)
    assert len(capsys.readouterr().out.splitlines()) > len(steps)
