# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run takes beside its command, for the time that is shown."""

from __future__ import annotations

import statistics
import time
from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbisect.model.ports import Left

#: The last runs tell; now and then the search plans longer.
LAST = 20


@dataclass(kw_only=True)
class Pace:
    """Seconds from the begin of a run to that of the next one, less those of its command: a
    checkout, and the search that chooses what is run. Builds count elsewhere. Nothing that is
    recorded depends on it.
    """

    clock: Callable[[], float] = time.monotonic
    #: Seconds beside a command, the newest last.
    _beside_s: deque[float] = field(default_factory=lambda: deque(maxlen=LAST))
    #: The begin of the last run, and the seconds since then of its command and of builds.
    _last: tuple[float, float] | None = None

    def ran(self, begun_s: float, seconds: float) -> None:
        """A run began then, by `clock`, and its command took so long."""
        if self._last is not None:
            before_s, took_s = self._last
            self._beside_s.append(max(0.0, begun_s - before_s - took_s))
        self._last = begun_s, seconds

    def built(self, seconds: float) -> None:
        """Since the last run something was built, in so many seconds."""
        if self._last is not None:
            begun_s, took_s = self._last
            self._last = begun_s, took_s + seconds

    def left(self, left: Left | None, runs: int) -> Left | None:
        """The time of so many runs to come, of which `left` knows the commands and builds."""
        if left is None or not self._beside_s or left.middle_s <= 0:
            return left
        # The longest one may be what comes once, as the first plan of a search.
        beside_s = sorted(self._beside_s)[: max(1, len(self._beside_s) - 1)]
        share = 1 + runs * statistics.fmean(beside_s) / left.middle_s
        return replace(
            left,
            low_s=left.low_s * share,
            middle_s=left.middle_s * share,
            high_s=left.high_s * share,
        )
