# SPDX-License-Identifier: GPL-2.0-or-later
"""The sum of what a search hears: which revisions are built, broken or booted."""

from __future__ import annotations

import math
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from rtbisect.judge.stats import OF_MAD, median
from rtbisect.model.code import SEARCH_LAYOUTS
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.search import Untestable
from rtbisect.model.lab import RunStatus
from rtbisect.search.disturbed import ALL_BAD, MOVED
from rtbisect.search.equal_kernels import EqualKernels
from rtbisect.search.events import Booted, Built, Event, Reverted, Silent
from rtbisect.search.likelihood.chain import told_step
from rtbisect.search.likelihood.features import (
    Kernel,
    Views,
    host_parts,
    views,
    without_host,
)
from rtbisect.search.speeds import NO_SPEEDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.campaign import Observation, Threshold
    from rtbisect.search.speeds import AtOneSpeed

#: Boots in a row that did not reach the suites' end, after which a revision is skipped.
FAILED_BOOTS = 3
#: How often a revision with an invalid run is proposed again before the search gives up.
INVALID_RERUNS = 3


class Ledger:
    """The events, summed up per revision. A revision that booted was built. A boot whose badness is
    above `most` was disturbed and is no evidence. `at_one_speed` has what some events would have
    measured at another speed of their machine; where nobody knows, they are no evidence either.
    """

    def __init__(
        self,
        threshold: Threshold,
        events: tuple[Event, ...],
        most: float = math.inf,
        at_one_speed: AtOneSpeed = NO_SPEEDS,
    ) -> None:
        self._threshold, self._events, self._most = threshold, events, most
        self._at_one_speed = at_one_speed
        #: Signature of each revision that is built as it is configured; empty where not known.
        self.signatures: dict[str, str] = {}
        self.build_failed: set[str] = set()
        #: How the boots since the last valid one ended that did not reach the suites' end.
        self.failed_boots: dict[str, list[RunStatus]] = {}
        #: Runs since the last valid one that are no evidence, and none against the kernel.
        self.invalid: dict[str, int] = {}
        #: Signatures of the kernels built with another layout, if known.
        self.layout_signatures: dict[Kernel, str] = {}
        #: Events of each kind, also those of other layouts and those that failed.
        self.builds = 0
        self.boots = 0
        #: Revisions that do not build or boot with another layout.
        self.layouts_failed: set[str] = set()
        #: Revisions given up for their invalid runs since the last valid one of any revision.
        self.invalid_streak = 0
        #: Boots of kernels outside the graph (reverts), by their own shas.
        self.reverts: dict[str, Reverted] = {}
        #: The valid boots in their order, by revision and layout, and their views.
        self.observations: dict[Kernel, list[Observation]] = {}
        self._views: dict[Kernel, list[Views]] = {}
        #: The same with those that were disturbed, and their hosts.
        self._measured: dict[Kernel, list[tuple[Views, str]]] = {}
        #: The largest badness of all of these.
        self.worst = -math.inf
        #: The revision of each of these, of all layouts, and its badness.
        self.in_order: list[tuple[str, float]] = []
        self.hosts: set[str] = set()
        self._none_disturbed()
        #: Boots in a row without evidence, of revisions in another layout.
        self._barren: dict[Kernel, int] = {}
        silent = Silent(())
        for number, event in enumerate(events):
            if isinstance(event, Silent):
                silent = event
            elif isinstance(event, Reverted):
                self.reverts[event.revision] = event
            elif isinstance(event, Built):
                self._add_build(event)
            else:
                self._add_boot(event, number)
        self.equal = EqualKernels(
            self.signatures, frozenset(self.build_failed), silent.pairs, silent.shared
        )
        #: What each host adds to the whole of a boot; empty with one host.
        self._added = host_parts(threshold, self._views, self.observations)

    @cached_property
    def views(self) -> dict[Kernel, tuple[Views, ...]]:
        """Views of `observations` without what hosts add. A layout that is built and has not booted
        has an empty entry.
        """
        return {
            kernel: tuple(
                without_host(boot, self._added.get(seen.host, 0.0))
                for boot, seen in zip(boots, self.observations.get(kernel, ()), strict=True)
            )
            for kernel, boots in self._views.items()
        }

    def without_disturbed(self, most: float) -> tuple[float, Ledger]:
        """The badness above which a boot is left out, and what is left: all, and no such limit,
        where the machine has moved.
        """
        if most >= self.worst:
            return most, self
        without = Ledger(self._threshold, self._events, most, self._at_one_speed)
        return (math.inf, self) if without.moved else (most, without)

    def _none_disturbed(self) -> None:
        #: Those that were disturbed, as long as their kernel may be better.
        self._aside: dict[Kernel, list[tuple[Views, Observation]]] = {}
        #: How many of a kernel were, and which was last: None where that was not.
        self.disturbed: Counter[Kernel] = Counter()
        self.disturbed_last: Kernel | None = None
        #: A kernel that was better has so many of these in a row that the machine has changed.
        self.moved = False
        self._in_a_row: Counter[Kernel] = Counter()

    @cached_property
    def values(self) -> Mapping[str, tuple[float, ...]]:
        """Badness (see `judge.scale`) of the boots of each revision as it is configured."""
        return {
            sha: tuple(boot[0] for boot in boots)
            for (sha, layout), boots in self.views.items()
            if not layout
        }

    @cached_property
    def _layouts_built(self) -> Counter[str]:
        return Counter(sha for sha, layout in self.views if 0 < layout <= SEARCH_LAYOUTS)

    def next_layout(self, sha: str) -> int:
        """The number of the next layout of a revision to build; 0 where it has had enough of them,
        or one has failed.
        """
        number = 1 + self._layouts_built[sha]
        return 0 if number > SEARCH_LAYOUTS or sha in self.layouts_failed else number

    def as_measured(
        self, sha: str, most: int | None = None
    ) -> tuple[tuple[Views, ...], tuple[str, ...]]:
        """The first boots of a revision as it is configured, with what hosts add, and the hosts."""
        seen = self._measured.get((sha, 0), ())[:most]
        return tuple(boot for boot, _ in seen), tuple(host for _, host in seen)

    def of_first(self, sha: str, boots: int) -> tuple[Views, ...]:
        """Of the first so many of these boots those that were not disturbed, without what hosts
        add.
        """
        first = self._measured.get((sha, 0), ())[:boots]
        return tuple(
            without_host(boot, self._added_in_steps.get(host, 0.0))
            for boot, host in first
            if boot[0] <= self._most
        )

    @cached_property
    def _added_in_steps(self) -> Mapping[str, float]:
        """What hosts add, in parts of the noise of a boot: each boot tells a little more of it, and
        the grids of a search, which lie around the first boots, would be placed anew after each.
        """
        if not self._added:
            return self._added
        away: list[float] = []
        for boots in self.views.values():
            if len(boots) > 1:
                whole = [boot[0] for boot in boots]
                middle = median(whole)
                away += (abs(value - middle) for value in whole)
        scale = OF_MAD * median(away) if away else 0.0
        if not scale:
            return self._added
        step = told_step(scale)
        return {host: step * round(added / step) for host, added in self._added.items()}

    def measured(self, sha: str) -> int:
        """Valid boots of a revision as it is configured, with those that were disturbed."""
        return len(self._measured.get((sha, 0), ()))

    def signature_of(self, kernel: Kernel) -> str:
        """Signature of the kernel of a revision; "" if it is not known."""
        sha, layout = kernel
        return self.layout_signatures.get(kernel, "") if layout else self.signatures.get(sha, "")

    def knows_build(self, sha: str, layout: int = 0) -> bool:
        """Whether it is known how the build of a revision ended; of another layout, that it did."""
        return (sha, layout) in self.views if layout else self.equal.tried(sha)

    def built(self, sha: str) -> bool:
        return sha in self.signatures

    def untestable(self, sha: str) -> Finding | None:
        """Why `sha` cannot be tested; None when it can."""
        if sha in self.build_failed:
            return Finding.of(Untestable.NO_BUILD)
        if self.invalid.get(sha, 0) > INVALID_RERUNS:
            return Finding.of(Untestable.INVALID, runs=self.invalid[sha])
        failed = self.failed_boots.get(sha, ())
        # What has worked before and is skipped once is tried again.
        if RunStatus.SKIPPED in failed and (len(failed) >= FAILED_BOOTS or sha not in self.values):
            return Finding.of(Untestable.SKIPPED)
        if len(failed) < FAILED_BOOTS:
            return None
        return Finding.of(Untestable.HUNG if RunStatus.HUNG in failed else Untestable.NO_BOOT)

    @cached_property
    def untestable_shas(self) -> frozenset[str]:
        """Shas of the revisions that cannot be tested."""
        return frozenset(
            sha
            for sha in {*self.build_failed, *self.failed_boots, *self.invalid}
            if self.untestable(sha)
        )

    def _add_build(self, event: Built) -> None:
        sha = event.revision
        self.builds += 1
        if event.layout:
            if event.ok:
                self._views.setdefault((sha, event.layout), [])
                self.layout_signatures[sha, event.layout] = event.signature
            else:
                self.layouts_failed.add(sha)
        elif event.ok:
            self.signatures[sha] = event.signature
            self.build_failed.discard(sha)
        elif sha not in self.signatures:
            self.build_failed.add(sha)

    def _add_views(self, kernel: Kernel, boot_views: Views, observation: Observation) -> None:
        self._measured.setdefault(kernel, []).append((boot_views, observation.host))
        self.worst = max(self.worst, boot_views[0])
        self.in_order.append((kernel[0], boot_views[0]))
        self.hosts.add(observation.host)
        counted, aside = [(boot_views, observation)], self._aside.setdefault(kernel, [])
        if boot_views[0] > self._most:
            known = self._views.get(kernel)
            if len(aside) < ALL_BAD - 1 if not known else known[0][0] <= self._most:
                aside += counted
                self.disturbed[kernel] += 1
                self.disturbed_last = kernel
                self._in_a_row[kernel] += 1
                self.moved |= self._in_a_row[kernel] >= MOVED
                return
            # What is never better is so bad by itself.
            if not known:
                counted = aside + counted
                aside.clear()
                self.disturbed[kernel] = 0
        else:
            self._in_a_row[kernel] = 0
            if (known := self._views.get(kernel)) and known[0][0] > self._most:
                # It is better after all: a burst was as long.
                aside += zip(known, self.observations[kernel], strict=True)
                self.disturbed[kernel] = len(aside)
                known.clear()
                self.observations[kernel].clear()
        for each, seen in counted:
            self._views.setdefault(kernel, []).append(each)
            self.observations.setdefault(kernel, []).append(seen)

    def _add_boot(self, event: Booted, number: int) -> None:
        sha = event.revision
        kernel = sha, event.layout
        self.boots += 1
        boot_views = self.disturbed_last = None
        if event.status is RunStatus.COMPLETE and event.observation is not None:
            # NaN or infinity: the run does not count.
            seen = event.observation
            at_one_speed = self._at_one_speed.get(number, seen.value)
            if at_one_speed not in (None, seen.value):
                seen = replace(seen, value=at_one_speed)
            with suppress(ValueError):
                boot_views = views(self._threshold, seen)
                self.invalid_streak = 0
                if at_one_speed is None:
                    self.disturbed[kernel] += 1
                    self.disturbed_last = kernel
                else:
                    self._add_views(kernel, boot_views, seen)
        if event.layout:
            self._barren[kernel] = 0 if boot_views else self._barren.get(kernel, 0) + 1
            if self._barren[kernel] >= FAILED_BOOTS:
                self.layouts_failed.add(sha)
            return
        self.signatures.setdefault(sha, "")
        if boot_views is not None:
            self.invalid[sha] = 0
            self.failed_boots.pop(sha, None)
        elif event.status in (RunStatus.BOOT_FAILED, RunStatus.HUNG, RunStatus.SKIPPED):
            self.failed_boots.setdefault(sha, []).append(event.status)
        else:
            self.invalid[sha] = self.invalid.get(sha, 0) + 1
            # Counted once, by the run with which it is given up.
            self.invalid_streak += self.invalid[sha] == INVALID_RERUNS + 1
