# SPDX-License-Identifier: GPL-2.0-or-later
"""What the steps of a campaign may still cost, and what one of them costs, by those before it."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.model.ports import Left
from rtbisect.search.end_layouts import at_most
from rtbisect.search.outlook import Terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbisect.judge.boots import Boots
    from rtbisect.model.campaign import Limits
    from rtbisect.model.code import Build
    from rtbisect.model.setup import Setup
    from rtbisect.model.subject import Traits

#: What a boot and a build are taken to cost before the first one was timed.
FIRST_GUESS_BOOT_S = 20.0
FIRST_GUESS_BUILD_S = 30.0
FIRST_GUESS_COLD_BUILD_S = 300.0
#: And what the search is taken to plan for before it has planned a boot.
FIRST_GUESS_PLAN_S = 0.25


def first_guess(limits: Limits) -> Terms:
    """What a search is taken to cost before anything was timed."""
    layout_s = (FIRST_GUESS_COLD_BUILD_S + FIRST_GUESS_BUILD_S) / 2
    return Terms(
        build_s=FIRST_GUESS_BUILD_S,
        boot_s=FIRST_GUESS_BOOT_S,
        layout_s=layout_s if limits.layout_below else None,
        end_layouts=2 * at_most(limits.max_builds) if limits.layout_below else 0,
        confidence=limits.confidence,
    )


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The limits of a set-up, held against what its campaign has done so far."""

    setup: Setup
    traits: Traits
    #: Builds of kernels as they are configured, in their order, also those that failed.
    builds: Sequence[Build]
    #: How many were built with another layout, or without PREEMPT_RT.
    layouts: int
    #: Seconds of boots that ended, in their order, without windows that boots no longer have.
    boot_s: Sequence[float]
    #: Boots that began, also those that nobody waited for yet.
    begun: int

    @property
    def boots_left(self) -> int:
        """Boots that the budget of the campaign still allows."""
        return max(0, self.setup.limits.max_boots - self.begun)

    def search_boots_left(self, beside: int = 0) -> int:
        """The same without what is kept for the proof, and so many boots beside that."""
        return max(0, self.boots_left - self.setup.limits.kept_with(beside))

    @property
    def builds_left(self) -> int:
        """Builds that the budget of the campaign still allows."""
        return max(0, self.setup.limits.max_builds - len(self.builds) - self.layouts)

    def affords(self, evidence: Mapping[str, Boots], *ends: str) -> bool:
        """Whether enough boots are left for the first look at these ends, of which `evidence` may
        have some.
        """
        first = self.setup.limits.calibrate_min
        missing = sum(
            max(0, first - len(evidence[end].runs if end in evidence else ())) for end in ends
        )
        return 0 < self.search_boots_left() >= missing

    def boot_cost_s(self) -> float:
        """Seconds of a boot: as told, else the median so far."""
        if self.setup.given_boot_s is not None:
            return self.setup.given_boot_s
        return statistics.median(self.boot_s) if self.boot_s else FIRST_GUESS_BOOT_S

    def left(self, least: int, boots: int, most: int = 0) -> Left | None:
        """The time of so many boots, of at least and at most; None where nobody knows before the
        first one.
        """
        if not (self.boot_s or self.traits.guessed or self.setup.given_boot_s is not None):
            return None
        low, high = min(least, boots), max(boots, most)
        low_s, middle_s, high_s = (each * self.boot_cost_s() for each in (low, boots, high))
        return Left(low_s=low_s, middle_s=middle_s, high_s=high_s)

    def build_cost_s(self) -> float:
        """Seconds of an incremental build: as told, else the median so far without the first,
        cold one.
        """
        if self.setup.given_build_s is not None:
            return self.setup.given_build_s
        seconds = self._built_s()[1:]
        return statistics.median(seconds) if seconds else FIRST_GUESS_BUILD_S

    def layout_cost_s(self) -> float | None:
        """Seconds of a build with another layout: of the first, cold one and of those after it.
        None where there are no such builds.
        """
        if not (self.traits.layouts and self.setup.limits.layout_below):
            return None
        first = next(iter(self._built_s()), FIRST_GUESS_COLD_BUILD_S)
        # A culprit and its parent in two layouts: every second build starts from nothing.
        return max(self.build_cost_s(), (first + self.build_cost_s()) / 2)

    def _built_s(self) -> list[float]:
        """Seconds of what was compiled, the cold build first."""
        return [build.seconds for build in self.builds if build.ok and not build.reused]
