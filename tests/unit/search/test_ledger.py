# SPDX-License-Identifier: GPL-2.0-or-later
"""What a search has heard, by kernel."""

import pytest

from helpers.searches import WAIT
from rtbisect.model.campaign import Observation
from rtbisect.model.code import PROOF_LAYOUTS
from rtbisect.model.lab import RunStatus
from rtbisect.search.events import Booted
from rtbisect.search.ledger import Ledger


def boot(sha, value, host="", layout=0):
    seen = Observation(value=value, host=host)
    return Booted(
        revision=sha, status=RunStatus.COMPLETE, observation=seen, seconds=1.0, layout=layout
    )


def test_the_first_boots_of_a_kernel_lack_what_their_hosts_add():
    """As all boots do: where the grids of a search lie is read from these, and held against all."""
    levels = {("good", "slow"): 9000, ("good", "fast"): 6000, ("bad", "slow"): 9400}
    levels["bad", "fast"] = 6400
    heard = [boot(sha, level + n, host) for n in range(4) for (sha, host), level in levels.items()]
    ledger = Ledger(WAIT, heard)
    for sha in ("good", "bad"):
        first = [views[0] for views in ledger.of_first(sha, 99)]
        # To a part of the noise, so that a boot more does not move them.
        assert first == pytest.approx(ledger.values[sha], abs=0.25)
        assert max(first) - min(first) < 100


def test_layouts_that_a_proof_has_built_are_not_those_of_a_search():
    heard = [boot("c", 6000, layout=layout) for layout in (1, 2, *PROOF_LAYOUTS)]
    assert Ledger(WAIT, heard).next_layout("c") == 3
