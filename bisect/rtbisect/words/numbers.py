# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures and durations as a person reads them."""

from __future__ import annotations

import math

#: From here on a figure has an exponent.
_LONGEST = 1e9


def figure(value: float, sign: str = "", *, whole: bool = False) -> str:
    """Three significant digits, and all of those before the point: 6.00, 59.8, 0.795, 1972757;
    `whole` gives whole numbers below a million as they are; `sign` as in a format.
    """
    if not math.isfinite(value):
        return f"{value:{sign}}" if math.isinf(value) else "nan"
    if value == 0 or (whole and value == int(value) and abs(value) < 1e6):
        return f"{value:{sign}.0f}" if value else "0"
    if 1e-3 <= abs(value) < _LONGEST:
        # Of what is rounded first: 9.999 is 10.0.
        places = max(0, 2 - math.floor(math.log10(abs(float(f"{value:.2e}")))))
        return f"{value:{sign}.{places}f}"
    return f"{value:{sign}.3g}"


#: Units that read as a suffix, and those that say nothing.
_UNITS = {
    "1/s": "/s", "1/ms": "/ms", "per_s": "/s", "1": "", "ratio": "", "count": "", "none": "",
    "instructions": "", "k instructions": "k", "M instructions": "M", "G instructions": "G",
}  # fmt: skip


def unit(name: str, before: str = " ") -> str:
    """A unit behind a number: ` ms`, `/s`; nothing where it says nothing."""
    text = _UNITS.get(name, name)
    return text if not text or text.startswith("/") else f"{before}{text}"


#: From here on a time is told in the next larger unit.
_LARGE = 1000.0
_LARGER = {
    "ns": "us", "us": "ms",
    "instructions": "k instructions", "k instructions": "M instructions",
    "M instructions": "G instructions",
}  # fmt: skip


def readable(name: str, *values: float) -> tuple[str, float]:
    """The unit that figures like these are told in, and by what they are multiplied for it: 9000 us
    are 9.00 ms.
    """
    larger = _LARGER.get(name)
    if larger is not None and values and min(abs(value) for value in values) >= _LARGE:
        name, factor = readable(larger, *(value / _LARGE for value in values))
        return name, factor / _LARGE
    return name, 1.0


def measured(value: float, name: str, sign: str = "", *, wanted: str = "") -> str:
    """A figure with its unit, the `wanted` one where that is a larger one of the same kind, else
    the one that it is best read in: `6.12 ms`, `1.33/s`.
    """
    factor = _factor(name, wanted)
    shown, factor = (wanted, factor) if factor else readable(name, value)
    return figure(value * factor, sign, whole=True) + unit(shown)


def _factor(name: str, wanted: str) -> float | None:
    """What makes the wanted unit of one; None where nothing does."""
    if name == wanted:
        return 1.0
    larger = _LARGER.get(name)
    factor = _factor(larger, wanted) if larger else None
    return factor and factor / _LARGE


def size(in_bytes: float) -> str:
    """Bytes as disks are sold: 1.2 GB."""
    for name in ("kB", "MB", "GB"):
        in_bytes /= _LARGE
        if in_bytes < _LARGE:
            return f"{in_bytes:.1f} {name}"
    return f"{in_bytes / _LARGE:.1f} TB"


def tick(value: float) -> str:
    """A round value as an axis has it, with no digit that says nothing: 0.05, 200."""
    return f"{value:g}"


def probability(value: float) -> str:
    """Three decimals, never a false certainty: 0.9997 is printed as >0.999.

    What is no probability is printed as a question mark.
    """
    if not -1e-9 <= value <= 1 + 1e-9:
        return "?"
    if value > 0.9995:
        return ">0.999"
    return "<0.001" if 0 < value < 0.0005 else f"{value:.3f}"


def stated(value: float) -> float:
    """A probability as a program reads it, four decimals, and no certainty either: 0.0001 to
    0.9999. 0 and what is no probability stay as they are.
    """
    return min(max(round(value, 4), 0.0001), 0.9999) if 0 < value <= 1 else value


def further(left: int, what: str = "") -> str:
    """Behind a part of a list, how many are left out: `and 3 more`, or `what` these are; "" for
    none.
    """
    return f"and {what or left} more" if left > 0 else ""


def duration(seconds: float) -> str:
    """Seconds for a person: 45 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
