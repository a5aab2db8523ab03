# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of replies, reports and those who get them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.words.template import Words

SENTENCES: Mapping[str, Words] = {}
