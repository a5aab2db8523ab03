# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures and durations as a person reads them."""

from __future__ import annotations

import math


def figure(value: float, sign: str = "", *, whole: bool = False) -> str:
    """Three significant digits: 6.00, 59.8, 0.795; `whole` gives whole numbers below a million as
    they are; `sign` as in a format.
    """
    if not math.isfinite(value):
        return f"{value:{sign}}" if math.isinf(value) else "nan"
    if value == 0 or (whole and value == int(value) and abs(value) < 1e6):
        return f"{value:{sign}.0f}" if value else "0"
    if 1e-3 <= abs(value) < 1e6:
        # Of what is rounded first: 9.999 is 10.0.
        places = max(0, 2 - math.floor(math.log10(abs(float(f"{value:.2e}")))))
        return f"{value:{sign}.{places}f}"
    return f"{value:{sign}.3g}"


#: Units that read as a suffix, and those that say nothing.
_UNITS = {"1/s": "/s", "1/ms": "/ms", "per_s": "/s", "1": "", "ratio": "", "count": "", "none": ""}


def unit(name: str, before: str = " ") -> str:
    """A unit behind a number: ` ms`, `/s`; nothing where it says nothing."""
    text = _UNITS.get(name, name)
    return text if not text or text.startswith("/") else f"{before}{text}"


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
