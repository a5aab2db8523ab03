# SPDX-License-Identifier: GPL-2.0-or-later
"""An axis of a picture: where a value lies on it, and which round values are written there."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: Least distance of two labels, as a share of the axis.
_APART = 0.17
_ROUND = (1.0, 2.0, 5.0)
#: The largest number that a float holds.
_MOST = sys.float_info.max


@dataclass(frozen=True, slots=True)
class Axis:
    """From `low` to `high`, in the unit of the figure; both are finite."""

    low: float
    high: float
    #: Added before the logarithm, as the figure is judged; None: the axis is linear.
    floor: float | None = None

    @property
    def log(self) -> bool:
        return self.floor is not None

    def place(self, value: float) -> float:
        """0 at the low end, 1 at the high one; the middle where both are the same."""
        low, high, at = map(self._scaled, (self.low, self.high, value))
        # By halves: the distance of two numbers may be more than a number holds.
        span = high / 2 - low / 2
        return (at / 2 - low / 2) / span if span > 0 else 0.5

    def ticks(self) -> tuple[float, ...]:
        """Round values on it, few, and so far from each other that their labels have room."""
        ticks = self._with_room(_decades(self.low, self.high)) if self.log else ()
        # Within a decade there are too few of them.
        if len(ticks) < 2:
            ticks = self._with_room(_linear(self.low, self.high)) or ticks
        return ticks or (self.low,)

    def _with_room(self, values: Iterable[float]) -> tuple[float, ...]:
        chosen: list[float] = []
        on_it = (value for value in values if self.low <= value <= self.high)
        for value in sorted(on_it, key=_roundness):
            if all(abs(self.place(value) - self.place(other)) >= _APART for other in chosen):
                chosen.append(value)
        return tuple(sorted(chosen))

    def _scaled(self, value: float) -> float:
        return value if self.floor is None else math.log(value + self.floor)


def axis_of(values: Sequence[float], floor: float | None = None) -> Axis:
    """An axis with room for these finite values; `floor` of a figure that is judged by ratios,
    where it is linear all the same if one of them has no logarithm.
    """
    low, high = min(values), max(values)
    if low == high:
        wider = abs(low) / 2 or 1.0
        low, high = max(low - wider, -_MOST), min(high + wider, _MOST)
    if floor is not None and low + floor <= 0:
        floor = None
    return Axis(low, high, floor)


def _linear(low: float, high: float) -> Iterator[float]:
    """All multiples from `low` to `high` of the least step of 1, 2 or 5 times a power of ten that
    gives their labels room.
    """
    step = _round_step((high / 2 - low / 2) * (2 * _APART))
    # Numbers next to each other, and the least there are, have nothing between them.
    if not step > 0:
        return
    first = math.ceil(low / step)
    for count in range(math.ceil(1 / _APART) + 1):
        yield (first + count) * step


def _round_step(least: float) -> float:
    """1, 2 or 5 times a power of ten, not below `least`; 0 where there is none."""
    if not least > 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(least))
    return next((each * power for each in (*_ROUND, 10.0) if each * power >= least), 0.0)


def _decades(low: float, high: float) -> Iterable[float]:
    """1, 2 and 5 times the powers of ten, and nothing at all."""
    yield 0.0
    if high <= 0:
        return
    least = low if low > 0 else high / 1e6
    for exponent in range(math.floor(math.log10(least)), math.floor(math.log10(high)) + 1):
        yield from (each * 10.0**exponent for each in _ROUND)


def _roundness(value: float) -> tuple[int, float]:
    """Sort key: 0 first, then powers of ten, then 2 and 5 times those, then the rest."""
    if value == 0:
        return 0, 0.0
    power = 10.0 ** math.floor(math.log10(abs(value)))
    # For the smallest floats the power is 0.
    for rank, each in enumerate(_ROUND, 1):
        if math.isclose(abs(value), each * power):
            return rank, value
    return 4, value
