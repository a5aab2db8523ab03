# SPDX-License-Identifier: GPL-2.0-or-later
"""Windows by their names."""

from rtbisect.lab.windows import ALL_WINDOWS


def select(names):
    """The windows of these names in the order of ALL_WINDOWS."""
    found = tuple(window for window in ALL_WINDOWS if window.name in names)
    assert {window.name for window in found} == set(names)
    return found
