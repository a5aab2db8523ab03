# SPDX-License-Identifier: GPL-2.0-or-later
"""What the search and its verification find."""

from __future__ import annotations

from rtbisect.model.finding import Kind


class Checks(Kind):
    """What a reader calls a check."""

    PARENT = "check.parent", "parent"
    NAMED = "check.named", "check"
