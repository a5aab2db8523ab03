# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs beside those of a search, when it has its answer: a person may end them, and so may time."""

import pytest

from helpers.campaigns import line_of
from helpers.commanded import Commanded, searched
from rtbisect.errors import Interrupted
from rtbisect.model.campaign import Outcome
from rtbisect.model.kinds.counts import Counts
from rtbisect.pipeline.further import FurtherBudgets
from rtbisect.program.worktree_run import traits_of


class Slow(Commanded):
    """Runs beside those of the search take 100 s."""

    now_s = 0.0

    def run(self, build, order, note):
        self.now_s += 100.0 * (order.count or bool(order.linked_as))
        return super().run(build, order, note)


def stepping(number, run):
    return 10 + 5 * (number >= 4) + ((7 * number + 5 * run) % 10) / 10


def alike(number, run):
    return 10 + ((7 * number + 5 * run) % 10) / 10


def counted():
    return Slow(lambda _number, _run: 1e6, stepping), {"metric": "ms"}


def relaid():
    subject = Slow(None, alike, signature=str, traits=traits_of(built=True, relaid=True))
    return subject, {"metric": "ms", "count": "", "relayout": True, "build": ("make",)}


@pytest.mark.parametrize(
    ("made", "outcome"), [(counted, Outcome.CULPRIT), (relaid, Outcome.NOT_REPRODUCED)]
)
def test_no_further_one_begins_when_the_time_is_over(tmp_path, made, outcome):
    subject, asked = made()
    further = FurtherBudgets(time_s=50.0, clock=lambda: subject.now_s)
    result = searched(tmp_path, subject, line_of(6), further=further, **asked)
    assert (result.outcome, subject.now_s) == (outcome, 100.0)
    assert not {Counts.SAME, Counts.UNCOUNTED} & {each.kind for each in result.reasons}


@pytest.mark.parametrize("made", [counted, relaid])
def test_a_person_ends_them(tmp_path, made):
    subject, asked = made()
    further = FurtherBudgets(stop_asked=lambda: subject.now_s > 0)
    with pytest.raises(Interrupted):
        searched(tmp_path, subject, line_of(6), further=further, **asked)
    assert subject.now_s == 100.0
