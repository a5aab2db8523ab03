# SPDX-License-Identifier: GPL-2.0-or-later
"""The total of a search that is shown while it runs."""

from types import SimpleNamespace

import pytest

from rtbisect.model.campaign import Limits
from rtbisect.pipeline import expectation
from rtbisect.pipeline.expectation import Expectation
from rtbisect.search.forecast import Expected, Forecast

PROOF = Limits().proof_boots
GRAPH = SimpleNamespace(ends=("a", "b"))


def coming(low, middle, high):
    """A forecast of so many boots."""
    nothing = Expected(0.0, 0.0, 0.0)
    boots = Expected(low, middle, high)
    return Forecast(boots=boots, builds=nothing, seconds=boots, chance=1.0)


@pytest.fixture
def shown(monkeypatch):
    """The total after so many boots of the search, with the forecast that is made then."""
    monkeypatch.setattr(expectation, "boots_to_keep", lambda _state, leads: 0)
    steps = SimpleNamespace(setup=SimpleNamespace(limits=Limits()), begun=0)
    told = Expectation(steps)

    def total(boots, forecast, *, reproduced=True):
        monkeypatch.setattr(expectation.engine, "forecast", lambda _state: forecast)
        steps.begun = boots
        ledger = SimpleNamespace(boots=boots, values={})
        state = SimpleNamespace(
            ends=SimpleNamespace(reproduced=reproduced),
            ledger=ledger,
            spec=SimpleNamespace(graph=GRAPH),
        )
        return steps.begun + 1 + told.left(state)

    return total


def test_a_total_stays_while_it_lies_where_four_of_five_searches_end(shown):
    assert shown(0, coming(10, 30, 60)) == 30 + PROOF
    # Half a boot is none, however many there were before it.
    assert {shown(n, coming(20, 40.5, 60)) for n in range(10, 13)} == {30 + PROOF}
    # It may no longer be so few.
    assert shown(24, coming(20, 40.5, 60)) == 24 + 41 + PROOF


def test_a_total_does_not_stay_once_the_ends_are_known_to_differ(shown):
    before = shown(0, coming(10, 30, 60), reproduced=False)
    assert before == 30 + PROOF + 2 * Limits().calibrate_min
    assert shown(12, coming(8, 40, 90)) == 12 + 40 + PROOF
