# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of a campaign's story and answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.model.kinds.pipeline import Reasons

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.words.template import Words

SENTENCES: Mapping[str, Words] = {
    Reasons.JUDGED: "{metric}: {level}: {why}",
    Reasons.OBJECTION: "{gate}: {why}",
}
