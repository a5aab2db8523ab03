# SPDX-License-Identifier: GPL-2.0-or-later
"""The benchmark of the search scores every arm alike."""

import pytest

from rtbisect.search.ancestry import Ancestry
from searchbench.arms import run
from searchbench.histories import history
from searchbench.world import Cell, world


@pytest.mark.parametrize("arm", ["ours", "oracle"])
def test_a_set_that_holds_the_culprit_is_right(arm):
    cell = Cell("sets", "linear-100", 3.0, boot=0.3, broken=0.4)
    row = run(world(cell, Ancestry(history(cell.history)), 5), arm, 5)
    assert row.outcome == "culprit_set"
    assert row.right
