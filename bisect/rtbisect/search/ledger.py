# SPDX-License-Identifier: GPL-2.0-or-later
"""The sum of what a search hears: which revisions are built, broken or booted."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from rtbisect.model.lab import RunStatus
from rtbisect.search.equal_kernels import EqualKernels
from rtbisect.search.events import Booted, Built, Event, Reverted, Silent
from rtbisect.search.likelihood.features import Views, views, without_hosts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.campaign import Threshold

#: Boots in a row that did not reach the suites' end, after which a revision is skipped.
FAILED_BOOTS = 3
#: How often a revision with an invalid run is proposed again before the search gives up.
INVALID_RERUNS = 3


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """The events, summed up per revision."""

    #: Signature of each revision that is built as it is configured; empty where it is not known.
    signatures: Mapping[str, str]
    build_failed: frozenset[str]
    #: How the boots since the last valid one ended that did not reach the suites' end.
    failed_boots: Mapping[str, tuple[RunStatus, ...]]
    #: Runs since the last valid one that are no evidence, and none against the kernel.
    invalid: Mapping[str, int]
    #: Events of each kind, also those of other layouts and those that failed.
    builds: int
    boots: int
    equal: EqualKernels
    #: Of the valid boots in their order, by revision and layout, without what hosts add. A layout
    #: that is built and has not booted has an empty entry.
    views: Mapping[tuple[str, int], tuple[Views, ...]] = field(default_factory=dict)
    #: Revisions that do not build or boot with another layout.
    layouts_failed: frozenset[str] = frozenset()
    #: Revisions that were given up for their invalid runs since the last valid one of any revision.
    invalid_streak: int = 0
    #: By their own shas, which no graph has.
    reverts: Mapping[str, Reverted] = field(default_factory=dict)

    @cached_property
    def values(self) -> Mapping[str, tuple[float, ...]]:
        """Badness (see `judge.scale`) of the boots of each revision as it is configured."""
        return {
            sha: tuple(boot[0] for boot in boots)
            for (sha, layout), boots in self.views.items()
            if not layout
        }

    def built(self, sha: str) -> bool:
        return sha in self.signatures

    def untestable(self, sha: str) -> str:
        """Why `sha` cannot be tested; empty when it can."""
        if sha in self.build_failed:
            return "does not build"
        if self.invalid.get(sha, 0) > INVALID_RERUNS:
            return f"has {self.invalid[sha]} invalid runs in a row"
        failed = self.failed_boots.get(sha, ())
        # What has worked before and is skipped once is tried again.
        if RunStatus.SKIPPED in failed and (len(failed) >= FAILED_BOOTS or sha not in self.values):
            return "is skipped by the command"
        if len(failed) < FAILED_BOOTS:
            return ""
        return "hangs in the suites" if RunStatus.HUNG in failed else "does not boot"

    @cached_property
    def untestable_shas(self) -> frozenset[str]:
        """The revisions that cannot be tested."""
        return frozenset(
            sha
            for sha in {*self.build_failed, *self.failed_boots, *self.invalid}
            if self.untestable(sha)
        )


def ledger(threshold: Threshold, events: tuple[Event, ...]) -> Ledger:
    """Sum up a log of builds and boots. A revision that booted was built."""
    tally = _Tally(threshold=threshold)
    for event in events:
        if isinstance(event, Silent):
            tally.silent, tally.shared = event.pairs, event.shared
        elif isinstance(event, Reverted):
            tally.reverts[event.revision] = event
        elif isinstance(event, Built):
            tally.built(event)
        else:
            tally.booted(event)
    failed = frozenset(tally.build_failed)
    return Ledger(
        signatures=tally.signatures,
        build_failed=failed,
        failed_boots={sha: tuple(statuses) for sha, statuses in tally.failed.items()},
        invalid=tally.invalid,
        builds=tally.builds,
        boots=tally.boots,
        equal=EqualKernels(tally.signatures, failed, tally.silent, tally.shared),
        views=without_hosts(threshold, tally.views, tally.hosts),
        layouts_failed=frozenset(tally.layouts_failed),
        invalid_streak=tally.given_up,
        reverts=tally.reverts,
    )


@dataclass(kw_only=True)
class _Tally:
    """What the events say so far; what is not told here is as in Ledger."""

    threshold: Threshold
    signatures: dict[str, str] = field(default_factory=dict)
    build_failed: set[str] = field(default_factory=set)
    #: Views and hosts of the valid boots, side by side.
    views: dict[tuple[str, int], list[Views]] = field(default_factory=dict)
    hosts: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    #: `failed_boots`.
    failed: dict[str, list[RunStatus]] = field(default_factory=dict)
    invalid: dict[str, int] = field(default_factory=dict)
    #: Of the last event Silent.
    silent: tuple[tuple[str, str], ...] = ()
    shared: Mapping[str, frozenset[int]] = field(default_factory=dict)
    layouts_failed: set[str] = field(default_factory=set)
    #: Boots in a row without evidence, of revisions in another layout.
    barren: dict[tuple[str, int], int] = field(default_factory=dict)
    #: `invalid_streak`.
    given_up: int = 0
    reverts: dict[str, Reverted] = field(default_factory=dict)
    builds: int = 0
    boots: int = 0

    def built(self, event: Built) -> None:
        sha = event.revision
        self.builds += 1
        if event.layout:
            if event.ok:
                self.views.setdefault((sha, event.layout), [])
            else:
                self.layouts_failed.add(sha)
        elif event.ok:
            self.signatures[sha] = event.signature
            self.build_failed.discard(sha)
        elif sha not in self.signatures:
            self.build_failed.add(sha)

    def booted(self, event: Booted) -> None:
        sha = event.revision
        self.boots += 1
        boot_views = valid_views(self.threshold, event)
        if boot_views is not None:
            self.given_up = 0
            assert event.observation is not None
            self.views.setdefault((sha, event.layout), []).append(boot_views)
            self.hosts.setdefault((sha, event.layout), []).append(event.observation.host)
        if event.layout:
            key = (sha, event.layout)
            self.barren[key] = 0 if boot_views else self.barren.get(key, 0) + 1
            if self.barren[key] >= FAILED_BOOTS:
                self.layouts_failed.add(sha)
            return
        self.signatures.setdefault(sha, "")
        if boot_views is not None:
            self.invalid[sha] = 0
            self.failed.pop(sha, None)
        elif event.status in (RunStatus.BOOT_FAILED, RunStatus.HUNG, RunStatus.SKIPPED):
            self.failed.setdefault(sha, []).append(event.status)
        else:
            self.invalid[sha] = self.invalid.get(sha, 0) + 1
            # Counted once, by the run with which it is given up.
            self.given_up += self.invalid[sha] == INVALID_RERUNS + 1


def valid_views(threshold: Threshold, event: Booted) -> Views | None:
    """Views of a boot; None when the boot is no evidence."""
    try:
        complete = event.status is RunStatus.COMPLETE and event.observation is not None
        return views(threshold, event.observation) if complete and event.observation else None
    except ValueError:
        return None
