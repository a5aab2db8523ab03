# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of the search and its verification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.model.kinds.search import Checks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.words.template import Words

SENTENCES: Mapping[str, Words] = {
    Checks.PARENT: "culprit vs parent {parent}",
    Checks.NAMED: "{check}",
}
