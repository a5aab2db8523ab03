# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures and durations as a person reads them."""

from __future__ import annotations


def digits(value: float, sign: str = "") -> str:
    """A figure for a sentence: three digits, and never an exponent for a large one; `sign` as in a
    format.
    """
    return f"{value:{sign}.0f}" if abs(value) >= 100 else f"{value:{sign}.3g}"


def duration(seconds: float) -> str:
    """Seconds for a person: 45 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
