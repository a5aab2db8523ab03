# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of judgements, of their cause and of the gates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.model.kinds.judge import Figures, Told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.words.template import Words

SENTENCES: Mapping[str, Words] = {
    Told.RATIO: "new/base = {ratio:.3g}",
    Told.DIFFERENCE: "new - base = {difference:+digits}{unit:unit}",
    Figures.SPREAD: "in the spread of the {voice.run}s",
    Figures.MEAN: "in the mean of the {voice.run}s, not in their median",
    Figures.ONE_CPU: "on the watched CPU number {number} beside the others",
}
