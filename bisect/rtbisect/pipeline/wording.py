# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures and durations as a person reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.judge.scale import unit_behind

if TYPE_CHECKING:
    from rtbisect.model.campaign import Threshold


def worded(threshold: Threshold, value: float) -> str:
    """A figure for the story; ratios have no unit to say."""
    return f"{value:.4g}{unit_behind(threshold)}"


def duration(seconds: float) -> str:
    """Seconds for a person: 45 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
